"""The table of people: what it prints, and that a promise to people is cheaper than one to ten rows each."""

from dataclasses import replace

from benchmarks import people
from dpgp_core.accounting.gaussian import epsilon_of, noise_multiplier
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking


def test_a_promise_to_people_costs_less_than_one_to_ten_rows():
    mechanism = BayesCloaking(epsilon=1.0, delta=0.01, protects="inputs and outputs")
    group = replace(mechanism, epsilon=epsilon_of(people.MOST * noise_multiplier(1.0, 0.01), 0.01))
    counted_once = people.measured(mechanism, 300, 4, people=True)
    ten_rows = people.measured(group, 300, 4, people=False)
    assert counted_once.error < 0.8 * ten_rows.error
    assert counted_once.inside >= 0.85

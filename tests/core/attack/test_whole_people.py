"""Attacks on a whole person with many rows: a promise to people holds, and one to rows was never one to people.

The attacker knows everybody else and compares the numbers measured from two tables: all rows of the victim at the upper
bound, or all at the lower one. The noise is Gaussian, so no test is better than the linear one along the shift.
"""

from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.accounting.tradeoff import gaussian_tradeoff
from dpgp_core.attack.audit import epsilon_lower_bound
from dpgp_core.bayes.cells import CellGrid
from dpgp_core.measurement.integers import person_weights
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from tests.core import tables

X_TEST = np.linspace(0.5, 9.5, 5)[:, None]
VICTIM, MANY, PLACE, DRAWS = 3, 40, 5.0, 4000


@pytest.fixture(scope="module")
def table():
    """30 people of 1 to 3 rows, and one of 40; yes or no."""
    rng = np.random.default_rng(5)
    rows = rng.integers(1, 4, 31)
    rows[VICTIM] = MANY
    person = rng.permutation(np.repeat(np.arange(31), rows))
    X = rng.uniform(0, 10, (len(person), 1))
    X[person == VICTIM] = PLACE  # all at one place, where they add up
    y = rng.integers(0, 2, len(person)).astype(float)
    return tables.table(X, y, y_bounds=(0.0, 1.0), x_box=((0.0, 10.0),), y_kind="yes/no", person=person)


def scores(mechanism, table):
    """Scores of the best attack on what is measured, of releases (in, out), and how far the two tables are apart."""
    stage = mechanism.release(table, X_TEST).statistics[0]
    [measurement] = stage.measurements
    cells = CellGrid(box=table.x_box, per_side=stage.per_side).place(table.X)
    weights = None if table.person is None else person_weights(table.person)
    victims = table.X[:, 0] == PLACE
    ends = [np.where(victims, end, table.y) - 0.5 for end in (1.0, 0.0)]
    rng = np.random.default_rng(6)
    pair = [measurement.teaching(each, rng, DRAWS, cells=cells, weights=weights) for each in ends]
    exact = [np.array([float(x) for x in measurement._exact(each, cells, weights)]) for each in ends]
    shift = (exact[0] - exact[1]) / measurement.noise.sd
    mu = float(np.linalg.norm(shift))
    return [draws @ shift / (mu * measurement.noise_sd) for draws in pair], mu


@pytest.mark.parametrize("epsilon", [1.0, pytest.param(3.0, marks=pytest.mark.full)])
def test_all_rows_of_a_person_are_hidden_and_row_by_row_they_are_not(table, epsilon):
    mechanism = BayesCloaking(epsilon=epsilon, delta=1e-3, binned=True)
    people, rows = replace(mechanism, binned=None), replace(table, person=None)
    promise = people.promise_for(table)
    (inside, outside), mu = scores(people, table)
    assert mu <= promise.loss.mu * (1 + 1e-9)
    assert mu > 0.3 * promise.loss.mu  # the attack is a real one
    # a bound is missed with probability 1e-6
    assert epsilon_lower_bound(inside, outside, 1e-3, 1 - 1e-6) <= epsilon
    (found, missed), far = scores(mechanism, rows)
    assert mechanism.promise_for(rows).rows == 1
    assert far > 3 * promise.loss.mu
    assert epsilon_lower_bound(found, missed, 1e-3, 1 - 1e-6) > epsilon
    alarms = float((missed > np.quantile(missed, 0.95)).mean())
    hit = float((found > np.quantile(missed, 0.95)).mean())
    assert hit > 1 - gaussian_tradeoff(np.array([alarms]), promise.loss.mu)[0] + 0.2

"""The table of groups: a small group is known better beside a large one, and the large one is not known worse."""

from benchmarks import groups
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking


def test_a_small_group_gains_by_being_released_together():
    mechanism = BayesCloaking(epsilon=1.0, delta=1e-5)
    together, apart = groups.measured(mechanism, (400, 0.1, "7 cm apart"), 6).values()
    assert together[1].error < 0.8 * apart[1].error
    assert together[0].error < 1.15 * apart[0].error
    assert min(each.inside for each in together) > 0.9

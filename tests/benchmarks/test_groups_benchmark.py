"""The table of groups: a small group is known better beside a large one, and the large one is not known worse."""

from benchmarks import groups
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking


def test_a_small_group_gains_by_being_released_together():
    mechanism = BayesCloaking(epsilon=1.0, delta=1e-5, stages=3, binned=True, gap=0.03)
    together, apart = groups.measured(mechanism, (400, 0.1, "7 cm apart"), 3)
    assert together.error[1] < 0.8 * apart.error[1]
    assert together.error[0] < 1.15 * apart.error[0]
    assert together.inside.min() > 0.9

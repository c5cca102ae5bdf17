import math

import numpy as np
import pytest

from dpgp_core.accounting.best_of_many import ParallelLoss, best_of_runs, liu_talwar_constants, zcdp_of
from dpgp_core.accounting.losses import GaussianLoss, PureLoss


def test_constants_of_liu_and_talwar():
    found = liu_talwar_constants(1.0, 1e-4, 0.01)
    assert found.t == pytest.approx(7.84e-6, rel=1e-3)
    assert found.delta == pytest.approx(3.07e-15, rel=2e-3)
    assert found.draws == 1176
    assert found.t * (1 - math.log(found.t)) == pytest.approx(1e-4)
    assert 3 * found.epsilon + 3 * math.sqrt(2 * found.delta) == pytest.approx(1.0)
    # delta_2 = exp(-gamma T) <= t, and delta = sqrt(2 d) T + delta_2
    assert math.exp(-0.01 * found.draws) <= found.t


def test_zcdp_of():
    rho = zcdp_of(0.5, 1e-6)
    assert rho + 2 * math.sqrt(rho * math.log(1e6)) == pytest.approx(0.5)


def test_the_worst_part_counts():
    either = ParallelLoss((GaussianLoss(1.0), PureLoss(0.1)))
    orders = np.array([1.01, 2.0, 50.0])
    np.testing.assert_array_equal(either.rdp(orders), GaussianLoss(1.0).rdp(orders))
    assert either.epsilon(1e-5) == GaussianLoss(1.0).epsilon(1e-5)
    assert ParallelLoss((GaussianLoss(1e-3), PureLoss(0.7))).epsilon(1e-5) == PureLoss(0.7).epsilon(1e-5)
    np.testing.assert_allclose(either.repeated(4).rdp(orders), 4 * either.rdp(orders))


def test_best_of_runs():
    outcomes = iter([None, (1.0, "a"), (3.0, "b"), None, (2.0, "c")])
    assert best_of_runs(lambda: next(outcomes), 5) == (3.0, "b")
    assert best_of_runs(lambda: None, 4) is None

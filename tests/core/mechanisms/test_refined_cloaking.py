import math

import numpy as np
import pytest

from dpgp_core.accounting.losses import GaussianLoss
from dpgp_core.gp.regression import cloaking_matrix
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking, RefinedCloaking
from dpgp_core.mechanisms.cloaking import FIXED_STAGES
from dpgp_core.mechanisms.gaussian import simulate_measurement
from dpgp_core.strategies.noise_design import design_noise
from tests.core.mechanisms.cases import X_TEST

MODEL = {"epsilon": 1.0, "delta": 0.01, "kernel": EQ(lengthscale=2.0), "noise_variance": 0.3}
S_PRIME = 1.87787556  # s'(1, 0.01), root of theorem 8 found by mpmath


def run(mechanism, data, draws, seed=1, X_test=X_TEST):
    plan, rng = mechanism.plan(data.X, X_test), np.random.default_rng(seed)
    return list(
        mechanism.measured(plan, data, lambda stage: simulate_measurement(stage, data.clipped_y[None], rng, draws))
    )


# ---- the formulas


def test_release_is_the_two_stages_by_hand(make_dataset):
    data, X, n = make_dataset(), make_dataset().X, 12

    def C(lengthscale, points, noise_variance):
        return cloaking_matrix(EQ(variance=2.5, lengthscale=lengthscale), X, points, noise_variance)

    mechanism = RefinedCloaking(**MODEL | {"kernel": EQ(variance=2.5, lengthscale=2.0)})
    found = mechanism.release(data, X_TEST, np.random.default_rng(3))
    z = np.random.default_rng(3)
    y = np.clip((data.y - 1) / 2, -1, 1)  # bounds (-1, 3), midpoint 1, scale 2
    # stage 1: twice the lengthscale, noise of the kernel's variance, a quarter of mu^2, d = 2
    smoother = C(4.0, np.vstack([X, X_TEST]), 2.5)
    first = design_noise(smoother)
    A = first.project(smoother)
    g = np.clip(A @ y + 2 * S_PRIME / math.sqrt(0.25) * first.factor @ z.standard_normal(first.rank), -1, 1)
    # stage 2: intervals of 1.5 sigma_n about g, cut to the range
    B = 1.5 * math.sqrt(0.3)
    low, high = np.maximum(g[:n] - B, -1), np.minimum(g[:n] + B, 1)
    second = design_noise(C(2.0, X_TEST, 0.3))
    mean = g[n:] + second.project(C(2.0, X_TEST, 0.3)) @ (np.clip(y, low, high) - g[:n])
    factor = (high - low).max() * S_PRIME / math.sqrt(0.75) * second.factor
    np.testing.assert_allclose(found.mean, 1 + 2 * mean, rtol=1e-6)
    np.testing.assert_allclose(found.samples[0], 1 + 2 * (mean + factor @ z.standard_normal(second.rank)), rtol=1e-6)


def test_training_and_test_inputs_share_one_release(make_dataset):
    data = make_dataset()
    (first, z), (second, _) = run(RefinedCloaking(**MODEL), data, draws=5, X_test=data.X)
    g = np.clip(first.curve(z)[:, :12], -2, 2)  # about the midpoint 1, the range is 4
    np.testing.assert_allclose(second.low, np.clip(g + 1 - 3 * math.sqrt(0.3), -1, 3))
    np.testing.assert_allclose(first.curve(z)[:, :12], first.curve(z)[:, 12:], atol=1e-12)
    assert np.ptp(z, axis=0).min() > 0  # and every draw has its own


@pytest.mark.parametrize("options", [{}, {"clip": 0.5}, {"rank_tolerance": 0.1}, {"clip": 9.0}], ids=str)
def test_intervals_stay_in_the_bounds(options, make_dataset):
    *_, (last, _) = run(RefinedCloaking(**MODEL, **options), make_dataset(), draws=200)
    assert (last.low.min(), last.high.max()) == (-1, 3)
    assert (last.low < last.high).all()


# ---- the guarantee


def test_shares_of_the_budget_add_up():
    mechanism = RefinedCloaking(**MODEL)
    # 02: mu = 1 / s'(epsilon, delta), mu_i^2 = share_i mu^2
    squares = 1 / np.square(mechanism.stage_multipliers)
    np.testing.assert_allclose(squares, np.array([0.25, 0.75]) / S_PRIME**2, rtol=1e-8)
    assert math.fsum(squares) <= mechanism.guarantee.loss.mu**2 * (1 + 1e-15)
    assert mechanism.guarantee.loss == GaussianLoss(1 / mechanism.noise_multiplier)


def test_guarantee_says_that_releases_were_composed():
    guarantee = RefinedCloaking(**MODEL).guarantee
    assert guarantee.theorem.startswith("2 releases composed, each chosen after the ones before it: ")
    assert "Dong, Roth & Su 2022, corollary 3.3" in guarantee.theorem
    assert "Balle & Wang 2018" in guarantee.theorem
    assert FIXED_STAGES in guarantee.assumptions
    assert guarantee.assumptions[:-1] == Cloaking(**MODEL).guarantee.assumptions
    assert guarantee.releases == 1
    assert guarantee.established


def test_weights_are_those_of_the_test_points(make_dataset):
    data = make_dataset()
    uniform, scaled, focused = (
        RefinedCloaking(**MODEL, weights=weights).plan(data.X, X_TEST).design.variance()
        for weights in (None, [7.0] * 9, [1.0] * 8 + [1000.0])
    )
    np.testing.assert_allclose(scaled, uniform, rtol=1e-6)
    assert focused[-1] < uniform[-1]

import math

import numpy as np
import pytest
from scipy.stats import beta

from dpgp_core.accounting.losses import GaussianLoss
from dpgp_core.gp.regression import cloaking_matrix
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking, RefinedCloaking
from dpgp_core.mechanisms.cloaking import FIXED_STAGES
from dpgp_core.mechanisms.gaussian import noiseless, simulate_measurement
from dpgp_core.strategies.noise_design import design_noise
from tests.core.mechanisms.cases import X_TEST, with_output

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


# ---- audit: what an attacker can tell from all stages of 10^5 releases; test_audit.py asks what is published


class Halved(RefinedCloaking):
    """Deliberately wrong: half the noise in every stage."""

    @property
    def stage_multipliers(self):
        return tuple(s / 2 for s in super().stage_multipliers)


RELEASES = 100_000
ALARM = 5e-7  # of each of the two Clopper-Pearson bounds: an audit cries wolf with probability 1e-6 at most


def proven_epsilon(hits, false_hits, delta):
    """Lower bound on epsilon: P(hit | in) <= e^epsilon P(hit | out) + delta, from RELEASES of either."""
    least = beta.ppf(ALARM, hits, RELEASES - hits + 1) if hits else 0.0
    most = beta.ppf(1 - ALARM, false_hits + 1, RELEASES - false_hits)
    return math.log(max(least - delta, 1e-300) / most)


def log_odds(mechanism, pair, truth, seed):
    """Exact log likelihood ratio of all stages, upper against lower bound, of RELEASES from ``truth``."""
    total = np.zeros(RELEASES)
    for stage, z in run(mechanism, truth, RELEASES, seed, X_test=np.zeros((1, 1))):
        for sign, one in zip((-1, 1), pair, strict=True):
            residual = (z - noiseless(stage, one.clipped_y[None])) / stage.noise_multiplier
            total -= sign * (residual**2).sum(axis=1) / 2
    return total


def quiet_at_first(kind):
    """The mechanism with a noise variance of 100 in its early stages."""

    def cloaking_matrix(self, kernel, X, X_test, noise_variance, executor=None):
        early = noise_variance == kernel.variance
        return kind.cloaking_matrix(self, kernel, X, X_test, 100.0 if early else noise_variance, executor)

    return type("Quiet", (kind,), {"cloaking_matrix": cloaking_matrix})


@pytest.fixture(scope="module")
def full_audit(make_dataset):
    """Audit all stages of a lone record, whose shift in either stage is all that the share allows.

    Stage 1 hardly speaks (noise variance 100), so its curve stays clear of the bounds, and +-0.01 sigma_n clips
    either residual: the loss is that of the claim, and the most powerful test is the likelihood ratio.
    """

    def run_audit(kind, level):
        data = make_dataset(X=np.zeros((1, 1)), y=np.array([1.0]))
        mechanism = quiet_at_first(kind)(**MODEL, clip=0.01)
        pair = [with_output(data, 0, bound) for bound in data.y_bounds]
        out, inside = (log_odds(mechanism, pair, one, seed) for seed, one in enumerate(pair))
        return proven_epsilon((inside > level).sum(), (out > level).sum(), 0.01)

    return run_audit


def test_the_audit_stays_just_below_the_claim(full_audit):
    # 0.79 with the sampling error of 10^5 releases at a false alarm of 1e-6
    assert 0.7 <= full_audit(RefinedCloaking, level=1.0) <= 1.0


def test_audit_of_all_stages_detects_half_the_noise(full_audit):
    assert full_audit(Halved, level=2.0) > 1.5  # half the noise is epsilon 2.3; 2.1 of it is proven


def test_weights_are_those_of_the_test_points(make_dataset):
    data = make_dataset()
    uniform, scaled, focused = (
        RefinedCloaking(**MODEL, weights=weights).plan(data.X, X_TEST).design.variance()
        for weights in (None, [7.0] * 9, [1.0] * 8 + [1000.0])
    )
    np.testing.assert_allclose(scaled, uniform, rtol=1e-6)
    assert focused[-1] < uniform[-1]


# ---- numbers of 07 on the shipped data

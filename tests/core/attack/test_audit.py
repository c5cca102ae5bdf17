import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.attacks.audit import audit, fitted_attack
from dpgp_core.accounting.gaussian import epsilon_of
from dpgp_core.attack.audit import epsilon_lower_bound
from dpgp_core.attack.linear import linear_attack, output_neighbours
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import (
    MECHANISMS,
    BayesCloaking,
    Cloaking,
    CloakingInducing,
    GPPrior,
    HallPosterior,
    IntegralBinning,
    LaplaceBinning,
    PosteriorSampling,
    RefinedCloaking,
    SparseVariational,
)

TRIALS = 100_000
KERNEL = EQ(lengthscale=2.0)
MODEL = {"epsilon": 1.0, "delta": 0.01, "kernel": KERNEL, "noise_variance": 0.3}
PATHS = {"kernel": KERNEL, "delta": 0.01, "n": 12, "x_box": ((0.0, 10.0),)}
SETTINGS = {  # class: arguments at which the claim is nearly tight, so that half the noise can be found out
    GPPrior: MODEL,
    Cloaking: MODEL,
    CloakingInducing: MODEL | {"n_inducing": 4},
    HallPosterior: {"epsilon": 1.0, "delta": 0.01, "kernel": KERNEL, "r": 3.0},
    # for r^2 >> n, paths are kernel sums with Gaussian noise of scale sigma r^2 = 3.76: epsilon 1.0, 1.22 claimed
    PosteriorSampling: PATHS | {"r": 300.0, "sigma": 3.76 / 300**2},
}


@dataclass(frozen=True)
class Scaled:
    """A mechanism that claims what another does, with its noise multiplied by ``factor``."""

    mechanism: Any
    factor: float

    @property
    def guarantee(self):
        return self.mechanism.guarantee

    def release(self, dataset, X_test, rng, draws=1):
        released = self.mechanism.release(dataset, X_test, rng, draws)
        samples = released.mean + self.factor * (released.samples - released.mean)
        return replace(released, samples=samples, noise_factor=self.factor * released.noise_factor)


def exact_mu(mechanism, pair):
    """Distance of the releases at the training inputs in units of the noise."""
    return linear_attack(*(mechanism.release(data, data.X, np.random.default_rng(0)) for data in pair)).mu


def hardest_neighbours(mechanism, data):
    """Both bounds of the record that moves the release most."""
    return max((output_neighbours(data, j) for j in range(data.n)), key=lambda pair: exact_mu(mechanism, pair))


@pytest.fixture(scope="module", params=SETTINGS.items(), ids=lambda item: item[0].__name__)
def mechanism(request):
    kind, arguments = request.param
    return kind(**arguments)


@pytest.fixture(scope="module")
def pair(mechanism, make_dataset):
    return hardest_neighbours(mechanism, make_dataset())


def test_every_mechanism_is_audited():
    """Refined cloaking by exact odds of both stages, in its own file."""
    assert {*SETTINGS, LaplaceBinning, IntegralBinning, SparseVariational, RefinedCloaking, BayesCloaking} == set(
        MECHANISMS
    )


@pytest.mark.full
def test_stages_of_bayes_cloaking_keep_their_claim(make_dataset):
    data = make_dataset(x_box=((0.0, 10.0),))
    mechanism = BayesCloaking(epsilon=1.0, delta=0.01, stages=2, gap=0.1)
    # the record at an end, whose neighbours say least about it; the contract test has the exact shift of every record
    found = audit(mechanism, *output_neighbours(data, 0), data.X, np.random.default_rng(13), 4000, score="fitted")
    assert 0 <= found.epsilon_lower <= found.claimed == 1.0


@pytest.mark.full_for("Cloaking-fitted", "CloakingInducing-fitted")
@pytest.mark.parametrize("score", [pytest.param("known noise", marks=pytest.mark.full), "fitted"])
def test_releases_do_not_contradict_the_claim(mechanism, pair, score):
    # false-alarm rate of the default confidence: 1e-6
    found = audit(mechanism, *pair, pair[0].X, np.random.default_rng(1), TRIALS, score=score)
    assert not found.refuted
    # the noise really costs this much; 50,000 trials lose a quarter to the confidence limits
    exact = epsilon_of(1 / exact_mu(mechanism, pair), 0.01)
    assert 0.6 * exact < found.epsilon_lower <= exact <= found.claimed * (1 + 1e-6)
    assert (found.claimed, found.delta, found.trials) == (mechanism.guarantee.budget.epsilon, 0.01, TRIALS)


@pytest.mark.full_for("CloakingInducing-fitted")
@pytest.mark.parametrize("score", [pytest.param("known noise", marks=pytest.mark.full), "fitted"])
def test_half_the_noise_is_found_out(mechanism, pair, score):
    scaled = Scaled(mechanism, 0.5)
    found = audit(scaled, *pair, pair[0].X, np.random.default_rng(2), TRIALS, score=score)
    assert found.refuted
    assert found.claimed < found.epsilon_lower <= epsilon_of(1 / exact_mu(scaled, pair), 0.01)


@dataclass(frozen=True)
class Sums:
    """The sums that the sparse DP-GP releases, A and (diagonal, sqrt(2) upper triangle) of B, as one vector."""

    mechanism: Any

    @property
    def guarantee(self):
        return self.mechanism.guarantee

    def release(self, dataset, X_test, rng, draws=1):
        A, B = self.mechanism.exact_statistics(dataset)
        noise = self.mechanism.noise(dataset)
        upper = np.sqrt(2) * B[np.triu_indices_from(B, 1)]
        mean = np.concatenate([A, np.diag(B), upper])
        sd = np.concatenate([np.full(len(A), noise.sa), np.full(len(mean) - len(A), noise.sb)])
        samples = mean + sd * rng.standard_normal((draws, len(mean)))
        return replace(
            Cloaking(**MODEL).release(dataset, X_test, rng), mean=mean, noise_factor=np.diag(sd), samples=samples
        )


def sums(variant):
    return Sums(SparseVariational(**MODEL, n_inducing=4, variant=variant))


@pytest.mark.full_for("IntegralBinning", "LaplaceBinning", "whitened")
@pytest.mark.parametrize(
    ("mechanism", "least", "most"),  # Laplace noise: a linear score is valid, not the best
    [
        (LaplaceBinning(epsilon=1.0, bins=4), 0.6, 2.0),
        (IntegralBinning(epsilon=1.0, bins=4, kernel_variance=1.0, lengthscale=2.0), 0.6, 2.0),
        (sums("whitened"), 0.3, 2.4),
        pytest.param(sums("paper"), 0.3, 2.4, marks=pytest.mark.full),
    ],
    ids=["LaplaceBinning", "IntegralBinning", "whitened", "paper"],
)
def test_the_audit_refutes_half_the_noise_only(make_dataset, mechanism, least, most):
    data = make_dataset()
    pair = hardest_neighbours(mechanism, data)
    found = audit(mechanism, *pair, data.X, np.random.default_rng(8), TRIALS)
    assert least < found.epsilon_lower <= found.claimed == 1.0
    half = audit(Scaled(mechanism, 0.5), *pair, data.X, np.random.default_rng(9), TRIALS)
    assert max(1.0, 2 * least) < half.epsilon_lower <= most
    assert half.refuted


@pytest.mark.full_for("1.0-2.0-0.0")
@pytest.mark.parametrize(("r", "sigma", "eta"), [(1.0, 2.0, 0.0), (2.0, 0.5, 0.0), (1.0, 1.0, 0.5), (3.0, 0.2, 0.0)])
def test_moved_inputs_do_not_contradict_posterior_sampling(make_dataset, r, sigma, eta):
    mechanism, data = PosteriorSampling(**PATHS | {"r": r, "sigma": sigma, "eta": eta}), make_dataset()
    low, high = data.y_bounds
    X, y = data.X.copy(), np.full(12, low)
    X[5], y[5] = 10.0, high
    pair = replace(data, y=np.full(12, low)), replace(data, X=X, y=y)
    for score in ("known noise", "fitted"):
        found = audit(mechanism, *pair, X, np.random.default_rng(3), TRIALS, score=score)
        assert 0 < found.epsilon_lower <= found.claimed


@pytest.mark.full
def test_false_alarms_are_rare_as_stated():
    # Gaussian with mu = 1 at delta 0.05; promise 20 %, conservative. Binomial(400, .2): 120 has probability 1e-6
    truth, rng = epsilon_of(1.0, 0.05), np.random.default_rng(6)
    found = [epsilon_lower_bound(rng.normal(1, 1, 2_000), rng.normal(0, 1, 2_000), 0.05, 0.8) for _ in range(400)]
    assert np.mean(np.array(found) > truth) <= 0.3
    assert np.median(found) > 0.6 * truth


@pytest.mark.full
@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("size", [40, 400])
def test_identical_data_sets_are_seldom_distinguished(confidence, size):
    """The truth is epsilon 0, and any bound above it a false alarm: fails by chance once in 10^6 runs, seeds fixed."""
    rng, runs = np.random.default_rng(14), 1000
    alarms = sum(
        epsilon_lower_bound(rng.normal(size=size), rng.normal(size=size), 0.0, confidence) > 0 for _ in range(runs)
    )
    assert alarms <= binom.isf(1e-6, runs, 1 - confidence)


@pytest.mark.full
def test_retrained_scores_seldom_succeed_by_chance(make_dataset):
    """The same with releases of a mechanism and a score fitted to others of them; false-alarm rate 1e-6 again."""
    data, runs, rng = make_dataset(), 300, np.random.default_rng(15)
    mechanism = Cloaking(**MODEL)
    plan = mechanism.plan(data.X, data.X)

    def draws(count):
        return mechanism.measure(plan, data, data.X, rng, count).samples

    alarms = 0
    for _ in range(runs):
        attack = fitted_attack(draws(60), draws(60))
        alarms += epsilon_lower_bound(attack.score(draws(200)), attack.score(draws(200)), 0.0, 0.8) > 0
    assert alarms <= binom.isf(1e-6, runs, 0.2)


def test_perfect_scores_reach_the_trials_limit():
    # 5,000 of 5,000 against 0: log((tail^(1/n)) / (1 - tail^(1/n)))
    edge = (0.025) ** (1 / 5_000)
    found = epsilon_lower_bound(np.ones(10_000), np.zeros(10_000), 0.0, 0.95)
    assert found == pytest.approx(math.log(edge / (1 - edge)), rel=1e-9)
    assert epsilon_lower_bound(np.zeros(100), np.zeros(100), 0.01, 0.95) == 0


def test_either_direction_counts():
    # "out" scores are sometimes certain: only P_out(A) <= e^epsilon P_in(A) + delta is violated, below a threshold
    rng = np.random.default_rng(8)
    inside, outside = rng.random(20_000), rng.random(20_000) - 0.2
    forward = epsilon_lower_bound(inside, outside, 0.05, 0.95)
    backward = epsilon_lower_bound(-outside, -inside, 0.05, 0.95)
    assert min(forward, backward) > 4
    assert forward == pytest.approx(backward, rel=0.2)

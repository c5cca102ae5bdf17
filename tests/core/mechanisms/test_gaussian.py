import math

import numpy as np
import pytest

from dpgp_core.accounting.gaussian import epsilon_of, noise_multiplier
from dpgp_core.mechanisms.base import Plan
from dpgp_core.mechanisms.gaussian import GaussianMechanism


class Plain(GaussianMechanism):
    label = "plain"
    theorem = "made for the tests"

    def plan(self, X, X_test):
        return None


@pytest.fixture
def plan():
    rng = np.random.default_rng(1)
    B = rng.normal(size=(3, 12))
    return Plan(strategy=B / np.linalg.norm(B, axis=0), factor=rng.normal(size=(4, 3)))


def test_release_is_the_map_of_the_measured_places_and_noise(make_dataset, plan):
    data, mechanism = make_dataset(), Plain(epsilon=0.5, delta=0.01)
    release = mechanism.measure(plan, data, np.zeros((4, 1)), np.random.default_rng(3), draws=2)
    q = (np.minimum(np.maximum(data.y, -1), 3) - 1) / 4  # midpoint 1, range 4
    mean = 1 + 4 * plan.factor @ (plan.strategy @ q)
    noise = np.random.default_rng(3).standard_normal((2, 3)) @ plan.factor.T * mechanism.noise_multiplier * 4
    np.testing.assert_allclose(release.mean, mean, rtol=1e-13)
    np.testing.assert_allclose(release.samples, mean + noise, rtol=1e-8)  # the multiplier is rounded up by 1e-9


def test_statistics_give_the_released_values_again(make_dataset, plan):
    data, mechanism = make_dataset(), Plain(epsilon=0.5, delta=0.01)
    release = mechanism.measure(plan, data, np.zeros((4, 1)), draws=3)
    assert len(release.statistics) == 3
    for draw in range(3):
        offset, factor, z = release.statistics.mapped(draw)
        np.testing.assert_allclose(offset + factor @ z, release.samples[draw], rtol=1e-12)
        (stage,) = release.statistics[draw].stages
        np.testing.assert_array_equal(stage.z, z)
        np.testing.assert_allclose(stage.measurement.B, plan.strategy, atol=1e-6)
    assert len(release.statistics[:2]) == 2


def test_guarantee_can_be_recomputed_from_itself():
    guarantee = Plain(epsilon=2.0, delta=1e-3).guarantee
    assert guarantee.loss.mu == pytest.approx(1 / noise_multiplier(2.0, 1e-3))
    assert epsilon_of(1 / guarantee.loss.mu, guarantee.budget.delta) == pytest.approx(guarantee.budget.epsilon)
    assert guarantee.established
    assert guarantee.protects == "outputs"
    assert "Balle & Wang" in guarantee.theorem


def test_hall_below_one_is_established_and_conservative():
    guarantee = Plain(epsilon=0.5, delta=0.01, calibration="hall").guarantee
    assert guarantee.established
    assert guarantee.proven_epsilon < 0.5
    assert "Hall et al." in guarantee.theorem


def test_hall_above_one_is_marked_as_no_promise():
    guarantee = Plain(epsilon=10, delta=0.01, calibration="hall", unproven=True).guarantee
    assert not guarantee.established
    assert guarantee.proven_epsilon > 10  # too little noise: docs/targets.md
    assert guarantee.loss.mu == pytest.approx(10 / math.sqrt(2 * math.log(200)))


def test_unproven_changes_nothing_for_the_analytic_formula():
    one, other = Plain(epsilon=10, delta=0.01), Plain(epsilon=10, delta=0.01, unproven=True)
    assert one.guarantee == other.guarantee


def test_parameters_are_keyword_only():
    with pytest.raises(TypeError, match="positional"):
        Plain(1.0, 0.01)

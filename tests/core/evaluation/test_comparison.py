from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import datasets
from dpgp_core.evaluation.comparison import (
    epsilon_for_error,
    epsilon_on_curve,
    held_out_errors,
    hold_out,
    sweep,
    with_epsilon,
)
from dpgp_core.evaluation.cross_validation import k_folds
from dpgp_core.evaluation.errors import expected_rmse
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking, LaplaceBinning, RefinedCloaking

TOY = datasets.load("toy_1d")
FOLDS = k_folds(TOY.n, 4, np.random.default_rng(0))
CLOAKING = Cloaking(kernel=EQ(lengthscale=1.0), noise_variance=0.3, epsilon=1.0, delta=0.01)
EVERY_KIND = [
    CLOAKING,
    RefinedCloaking(kernel=EQ(lengthscale=1.0), noise_variance=0.3, epsilon=1.0, delta=0.01),
    LaplaceBinning(epsilon=1.0, bins=5),
]


def test_expected_squared_error_is_bias_plus_noise_over_all_folds():
    held = hold_out(CLOAKING, TOY, FOLDS)
    bias, sd = [], []
    for fold in held:
        release = CLOAKING.release(fold.train, fold.X_test, np.random.default_rng(0))
        bias.append(release.mean - fold.truth)
        sd.append(release.noise_sd)
    exact = expected_rmse(np.concatenate(bias), np.concatenate(sd))
    errors = held_out_errors(CLOAKING, held, 20_000, 1).rmse
    squared = errors**2
    # mean of 20,000 squared errors within 6 standard errors: false alarm below 1e-8
    assert abs(squared.mean() - exact**2) <= 6 * squared.std() / math.sqrt(len(squared))
    widths = held_out_errors(CLOAKING, held, 1, 1).half_width
    # noise, what the model leaves unknown, and one output's own variance 0.3, in model units of y_scale
    assert widths > 1.96 * math.hypot(np.median(np.concatenate(sd)), math.sqrt(0.3) * TOY.y_scale) * 0.99


@pytest.mark.parametrize("mechanism", EVERY_KIND, ids=lambda mechanism: mechanism.label)
def test_records_tested_are_not_trained_on(mechanism):
    # poison every output of the first fold: what is released for that fold must not change
    poisoned = TOY.y.copy()
    poisoned[FOLDS[0]] = TOY.y_bounds[1]
    before = hold_out(mechanism, TOY, FOLDS)[0]
    after = hold_out(mechanism, replace(TOY, y=poisoned), FOLDS)[0]
    np.testing.assert_array_equal(before.train.y, after.train.y)
    assert not np.array_equal(before.truth, after.truth)
    assert sorted(np.concatenate([before.train.X[:, 0], before.X_test[:, 0]])) == sorted(TOY.X[:, 0])


@pytest.mark.parametrize("mechanism", EVERY_KIND, ids=lambda mechanism: mechanism.label)
def test_plans_made_at_one_epsilon_serve_another(mechanism):
    tighter = with_epsilon(mechanism, 0.3)
    reused = held_out_errors(tighter, hold_out(mechanism, TOY, FOLDS), 5, 3)
    fresh = held_out_errors(tighter, hold_out(tighter, TOY, FOLDS), 5, 3)
    np.testing.assert_allclose(reused.rmse, fresh.rmse)
    assert reused.rmse.mean() > held_out_errors(mechanism, hold_out(mechanism, TOY, FOLDS), 5, 3).rmse.mean()


def test_same_seed_makes_error_smooth_in_epsilon():
    held = hold_out(CLOAKING, TOY, FOLDS)
    errors = [held_out_errors(with_epsilon(CLOAKING, e), held, 3, 5).rmse.mean() for e in (1.0, 1.0001)]
    assert abs(errors[1] - errors[0]) < 1e-3 * errors[0]


@pytest.mark.parametrize("mechanism", EVERY_KIND, ids=lambda mechanism: mechanism.label)
def test_a_sweep_is_the_errors_at_every_epsilon(mechanism):
    epsilons = (0.5, 3.0)
    found = sweep(mechanism, TOY, FOLDS, epsilons, 7, 11)
    held = hold_out(mechanism, TOY, FOLDS)
    for errors, epsilon in zip(found.errors, epsilons, strict=True):
        alone = held_out_errors(with_epsilon(mechanism, epsilon), held, 7, 11)
        np.testing.assert_array_equal(errors.rmse, alone.rmse)
        np.testing.assert_array_equal(errors.half_width, alone.half_width)  # nan for bins
    assert found.seconds > 0


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
@pytest.mark.parametrize("mechanism", EVERY_KIND, ids=lambda mechanism: mechanism.label)
def test_a_sweep_gives_the_same_numbers_wherever_its_folds_are_computed(mechanism, kind):
    epsilons = (0.5, 3.0)
    here = sweep(mechanism, TOY, FOLDS, epsilons, 7, 11)
    with kind(2) as executor:
        there = sweep(mechanism, TOY, FOLDS, epsilons, 7, 11, executor)
    for one, other in zip(here.errors, there.errors, strict=True):
        np.testing.assert_allclose(one.rmse, other.rmse, rtol=1e-10, atol=0)
        assert one.half_width == pytest.approx(other.half_width, rel=1e-10, nan_ok=True)


def test_a_bad_epsilon_of_a_sweep_is_named_from_a_worker_too():
    with ThreadPoolExecutor(2) as executor, pytest.raises(ValueError, match="epsilon must be a finite number above 0"):
        sweep(CLOAKING, TOY, FOLDS, (1.0, -1.0), 3, 1, executor)


def test_epsilon_for_error_inverts_a_known_error():
    def error(epsilon: float) -> float:
        return 2 + 3 / epsilon

    assert epsilon_for_error(error, 2.5) == pytest.approx(6.0, rel=2e-3)
    assert error(epsilon_for_error(error, 5.0)) == pytest.approx(5.0, rel=2e-3)
    assert epsilon_for_error(error, 1.9) is None
    assert epsilon_for_error(error, 1e6) == 0.05


def test_an_epsilon_is_read_off_a_curve():
    """3 / epsilon is straight on logarithmic axes."""
    epsilons = [0.1, 0.5, 2.0, 10.0]
    errors = 3 / np.array(epsilons)
    assert epsilon_on_curve(epsilons, errors, 2.0) == pytest.approx(1.5)
    assert epsilon_on_curve(epsilons, errors, 6.0) == pytest.approx(0.5)
    assert epsilon_on_curve(epsilons, errors, 100.0) == 0.1
    assert epsilon_on_curve(epsilons, errors, 0.2) is None


def test_a_sweep_tells_how_far_it_is():
    here, there = [], []
    sweep(CLOAKING, TOY, FOLDS, (0.5, 3.0), 2, 1, progress=here.append)
    np.testing.assert_allclose(here, np.arange(1, 9) / 8)
    with ThreadPoolExecutor(2) as executor:
        sweep(CLOAKING, TOY, FOLDS, (0.5, 3.0), 2, 1, executor, there.append)
    np.testing.assert_allclose(there, np.arange(1, 5) / 4)


def test_bad_epsilon_is_named():
    with pytest.raises(ValueError, match="epsilon must be a finite number above 0, got -1"):
        with_epsilon(CLOAKING, -1)


def test_subset_keeps_the_public_description():
    hexes = datasets.load("london_hexes")
    part = hexes.subset(np.array([5, 2]))
    np.testing.assert_array_equal(part.X, hexes.X[[5, 2]])
    assert part.y_bounds == hexes.y_bounds
    assert list(part.labels["cell"]) == list(hexes.labels["cell"][[5, 2]])

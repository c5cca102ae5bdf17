from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import datasets
from dpgp_core.evaluation.comparison import held_out_errors, hold_out, with_epsilon
from tests.core.evaluation.simulated import expected_rmse
from tests.core.evaluation.toys import CLOAKING, EVERY_KIND, FOLDS, TOY


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
    found = held_out_errors(CLOAKING, held, 1, 1)
    widths, truth = found.half_width, np.concatenate([fold.truth for fold in held])
    ends = [
        CLOAKING.release(f.train, f.X_test, np.random.default_rng([1, k])).interval(0.95) for k, f in enumerate(held)
    ]
    low, high = (np.concatenate([end[side][0] for end in ends]) for side in (0, 1))
    outside = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
    assert found.half_score == pytest.approx(((high - low) / 2 + 20 * outside).mean())
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


def test_bad_epsilon_is_named():
    with pytest.raises(ValueError, match="epsilon must be a finite number above 0, got -1"):
        with_epsilon(CLOAKING, -1)


def test_subset_keeps_the_public_description():
    hexes = datasets.load("london_hexes")
    part = hexes.subset(np.array([5, 2]))
    np.testing.assert_array_equal(part.X, hexes.X[[5, 2]])
    assert part.y_bounds == hexes.y_bounds
    assert list(part.labels["cell"]) == list(hexes.labels["cell"][[5, 2]])

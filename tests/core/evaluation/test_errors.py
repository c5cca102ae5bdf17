import math

import numpy as np
import pytest
from scipy.stats import norm

from dpgp_core.evaluation.errors import coverage, interval_score, nlpd, rmse
from tests.core.evaluation.simulated import draw_errors, expected_rmse


def test_rmse_by_hand():
    assert rmse(np.array([1.0, 2.0, 5.0]), np.array([1.0, 4.0, 4.0])) == pytest.approx(math.sqrt(5 / 3))


def test_rmse_of_several_draws():
    found = rmse(np.array([[1.0, 1.0], [0.0, 2.0]]), np.array([0.0, 0.0]))
    np.testing.assert_allclose(found, [1.0, math.sqrt(2)])


def test_expected_rmse_is_the_root_of_the_mean_over_draws():
    rng = np.random.default_rng(1)
    bias, sd = np.array([0.5, -1.0, 0.0]), np.array([1.0, 0.2, 2.0])
    errors = draw_errors(bias, np.diag(sd), np.zeros(3), rng, 100_000)
    squared = errors**2
    # 5 standard errors: false alarm 6e-7
    tolerance = 5 * squared.std() / math.sqrt(len(squared))
    assert squared.mean() == pytest.approx(expected_rmse(bias, sd) ** 2, abs=tolerance)
    assert errors.mean() < expected_rmse(bias, sd)


def test_nlpd_is_minus_the_log_density():
    mean, variance, truth = np.array([0.0, 1.0]), np.array([1.0, 4.0]), np.array([0.3, -2.0])
    expected = -norm.logpdf(truth, mean, np.sqrt(variance)).mean()
    assert nlpd(mean, variance, truth) == pytest.approx(expected, rel=1e-14)


def test_coverage_counts_truths_inside_the_interval():
    # central 95 % interval: +-1.96 sd, here +-3.92
    truth = np.array([3.9, -3.9, 3.95, -3.95, 0.0])
    assert coverage(np.zeros(5), np.full(5, 4.0), truth, 0.95) == pytest.approx(3 / 5)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 1.5, math.nan])
def test_bad_level_is_named(level):
    with pytest.raises(ValueError, match=f"level must lie strictly between 0 and 1, got {level}"):
        coverage(np.zeros(1), np.ones(1), np.zeros(1), level)


def test_draw_errors_is_the_rmse_of_mean_plus_factor_times_normals():
    rng = np.random.default_rng(4)
    mean, L, truth = rng.normal(size=5), rng.normal(size=(5, 2)), rng.normal(size=5)
    found = draw_errors(mean, L, truth, np.random.default_rng(7), 3)
    z = np.random.default_rng(7).standard_normal((3, 2))
    by_hand = [math.sqrt(np.mean((mean + L @ row - truth) ** 2)) for row in z]
    np.testing.assert_allclose(found, by_hand, rtol=1e-13)


def test_interval_score_is_width_and_twenty_or_forty_times_what_lies_outside():
    low, high, truth = np.array([0.0, 0.0, 0.0]), np.array([2.0, 2.0, 2.0]), np.array([1.0, 2.5, -1.0])
    np.testing.assert_allclose(interval_score(low, high, truth, 0.95), [2.0, 22.0, 42.0])
    np.testing.assert_allclose(interval_score(low, high, truth, 0.9), [2.0, 12.0, 22.0])
    with pytest.raises(ValueError, match="level must lie strictly between 0 and 1, got 1"):
        interval_score(low, high, truth, 1)


def test_interval_score_is_least_for_the_true_quantiles():
    truth = np.random.default_rng(0).standard_normal(100_000)
    scores = [interval_score(np.full(1, -h), np.full(1, h), truth, 0.95).mean() for h in (1.5, 1.96, 2.5)]
    assert scores[1] == min(scores)

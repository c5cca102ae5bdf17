import math

import numpy as np
import pytest
from scipy.stats import norm

from dpgp_core.excursion.sets import (
    PROBABILITY_FLOOR,
    Targets,
    binary_cross_entropy,
    choose_cutoff,
    effective_dimension,
    excursion_probability,
    iou,
    smoothed,
    vote_share,
)
from dpgp_core.kernels import Matern12


def make_targets(**changes):
    parts = {"X": np.zeros((2, 3, 1)), "y": np.zeros((2, 3)), "grid": np.zeros((4, 1)), "truth": np.ones((2, 4), bool)}
    return Targets(**(parts | changes))


def test_excursion_probability_is_the_normal_tail():
    mean, variance = np.array([0.3, -1.0, 2.0]), np.array([1.0, 0.25, 4.0])
    expected = norm.sf(0.5, loc=mean, scale=np.sqrt(variance))
    np.testing.assert_allclose(excursion_probability(mean, variance, 0.5), expected, rtol=1e-14)


def test_excursion_probability_at_the_threshold_and_far_from_it():
    np.testing.assert_allclose(excursion_probability(np.array([1.0, 101.0, -99.0]), np.ones(3), 1.0), [0.5, 1, 0])


def test_iou_by_hand():
    a = np.array([1, 1, 0, 0], bool)
    b = np.array([[1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]], bool)
    np.testing.assert_allclose(iou(a, b), [1 / 3, 1, 0])


def test_iou_of_two_empty_sets_is_one():
    assert iou(np.zeros(3, bool), np.zeros(3, bool)) == 1


def test_iou_is_symmetric_bounded_and_matches_python_sets():
    rng = np.random.default_rng(1)
    a, b = rng.random((2, 200, 6)) < 0.4
    np.testing.assert_array_equal(iou(a, b), iou(b, a))
    for row_a, row_b, found in zip(a, b, iou(a, b), strict=True):
        left, right = set(np.flatnonzero(row_a)), set(np.flatnonzero(row_b))
        assert found == (len(left & right) / len(left | right) if left | right else 1)
    assert iou(a[:, None], b).shape == (200, 200)


def test_bce_by_hand():
    found = binary_cross_entropy(np.array([0.9, 0.2, 0.5]), np.array([True, False, True]))
    assert found == pytest.approx(-(math.log(0.9) + math.log(0.8) + math.log(0.5)) / 3, rel=1e-14)


def test_bce_of_a_sure_error_is_the_floor():
    found = binary_cross_entropy(np.array([[0.0], [1.0]]), np.array([True]))
    np.testing.assert_allclose(found, [-math.log(PROBABILITY_FLOOR), PROBABILITY_FLOOR], rtol=1e-6)


def test_bce_is_least_at_the_true_frequency():
    truth = np.arange(10) < 3
    p = np.linspace(0.05, 0.95, 19)
    assert p[binary_cross_entropy(np.tile(p[:, None], 10), truth).argmin()] == pytest.approx(0.3)


def test_cutoff_is_the_best_by_brute_force():
    rng = np.random.default_rng(2)
    truth = rng.random((5, 40)) < 0.5
    p = np.clip(0.7 * truth + rng.normal(0.1, 0.2, truth.shape), 0, 1)
    cutoff = choose_cutoff(p, truth)
    best = max(iou(p >= each, truth).mean() for each in np.linspace(0.01, 0.99, 99))
    assert iou(p >= cutoff, truth).mean() == best


def test_among_equal_cutoffs_the_one_nearest_to_half_wins():
    assert choose_cutoff(np.array([[0.0, 1.0]]), np.array([[False, True]])) == pytest.approx(0.5)


def test_vote_share_counts_paths_at_or_above():
    paths = np.array([[0.0, 1.0], [-1.0, 2.0], [-2.0, 0.0]])
    np.testing.assert_allclose(vote_share(paths, 0.0), [1 / 3, 1])
    assert vote_share(np.zeros((4, 3, 7)), 0.0).shape == (4, 7)


def test_smoothing_keeps_constants_and_spreads_a_spike_evenly():
    np.testing.assert_allclose(smoothed(np.full((2, 3, 49), 4.0), 7), 4.0)
    spike = np.zeros((1, 21 * 21))
    spike[0, 10 * 21 + 10] = 1
    found = smoothed(spike, 21).reshape(21, 21)
    assert found.sum() == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(found, found.T)
    # Gaussian of sd 2 pixels: ratio one pixel away exp(-1 / (2 2^2))
    assert found[10, 11] / found[10, 10] == pytest.approx(math.exp(-1 / 8), rel=1e-9)


@pytest.mark.parametrize("ridge", [0.1, 1.0, 30.0])
def test_effective_dimension_is_the_trace(ridge):
    K = Matern12()(np.linspace(0, 3, 15)[:, None], np.linspace(0, 3, 15)[:, None])
    direct = np.trace(K @ np.linalg.inv(K + ridge * np.eye(15)))
    assert effective_dimension(K, ridge) == pytest.approx(direct, rel=1e-12)


def test_effective_dimension_refuses_no_ridge():
    with pytest.raises(ValueError, match="ridge must be a finite number above 0, got 0"):
        effective_dimension(np.eye(2), 0.0)


def test_targets_know_their_number():
    assert len(make_targets()) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": np.zeros((2, 3))}, r"X must be \(T, n, D\) and grid \(P, D\)"),
        ({"grid": np.zeros((4, 2))}, r"X must be \(T, n, D\) and grid \(P, D\)"),
        ({"y": np.zeros((2, 4))}, r"y must have shape \(2, 3\)"),
        ({"truth": np.ones((1, 4), bool)}, r"truth must have shape \(2, 4\)"),
    ],
)
def test_targets_refuse_shapes_that_disagree(changes, message):
    with pytest.raises(ValueError, match=message):
        make_targets(**changes)

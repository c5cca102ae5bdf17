"""What inference refuses, and in which words."""

import math

import numpy as np
import pytest

from dpgp_core.gp.grid import Grid, check_bins, k_FF, k_Ff
from dpgp_core.gp.inducing import choose_inducing, inducing_matrix, inducing_root, posterior, sum_statistics
from dpgp_core.gp.paths import draw_paths
from dpgp_core.gp.pivoted import factorise
from dpgp_core.gp.regression import InferenceChoice, cloaking_matrix
from dpgp_core.gp.regression import posterior as exact_posterior
from dpgp_core.gp.uncertainty import NoInterval
from dpgp_core.kernels import EQ, Matern12
from tests.core.gp.test_grid import BOX, A
from tests.core.gp.test_lowrank import X_TEST, inputs
from tests.core.gp.test_paths import process
from tests.refusals import each, told

RNG = np.random.default_rng(0)
X, Y = inputs(15), np.zeros(15)
NOISE = "noise_variance must be a finite number above 0, got {}"
COLUMNS = "equally many columns, got shapes"
REFUSALS = [
    # grid
    *each(
        check_bins,
        "bins must be a whole number of at least 1, or one such number",
        [0, -1, 2.0, "3", True, None, (), (3, 0), [2, 2.5], (True,), np.nan],
    ),
    (lambda: Grid(box=BOX, bins=(2, 2, 2)), "3 numbers of bins for 2 input columns; give one, or one per column"),
    (lambda: Grid(box=((1.0, 0.0),), bins=2), r"each entry of box must be \(low, high\) with low < high"),
    (lambda: Grid(box=BOX * 4, bins=1000), r"bins must be at most 1e\+12 in all, got 1e\+24; use fewer"),
    (lambda: Grid(box=BOX, bins=2).index(np.zeros((3, 1))), r"points must have shape \(n, 2\) to match the box"),
    (
        lambda: Grid(box=BOX, bins=2).index(np.array([[0, 0], [10.1, 0], [0, -2], [np.nan, 0]])),
        "3 of 4 points lie outside the box .*Leave them out, or declare a wider box",
    ),
    *told(
        lambda call: call(EQ(), np.array([A[:2]])),
        [
            (lambda k, b: k_FF(k, b[0], b), r"boxes must have shape \(b, D, 2\) with D >= 1, got \(2, 2\)"),
            (lambda k, b: k_FF(k, b[..., ::-1], b), "every box must have low < high in every dimension"),
            (lambda k, b: k_FF(k, b, b[:, :1]), "both sets of boxes must have equally many dimensions"),
            (lambda k, b: k_Ff(k, b, np.zeros((3, 1))), r"X must have shape \(P, 2\) to match the boxes, got \(3, 1\)"),
            (lambda k, b: k_FF(EQ(lengthscale=[1, 1, 1]), b, b), "3 lengthscales for boxes of 2 dimensions"),
        ],
    ),
    (
        lambda: Grid(box=BOX[:1], bins=10).index(np.array([[0.5], [np.nan]])),
        "1 of 2 points lie outside the box",
    ),
    # inducing
    *each(
        lambda shape: inducing_matrix(EQ(), X, X_TEST, np.zeros(shape), 0.2),
        r"Z must be one or more rows of 2 columns, like X, got shape \(",
        [(5,), (5, 3), (0, 2)],
    ),
    *each(lambda noise: inducing_matrix(EQ(), X, X_TEST, X[:5], noise), NOISE, [0.0]),
    *each(lambda noise: posterior(EQ(), X, Y, X_TEST, X[:5], noise), NOISE, [0]),
    (lambda: inducing_matrix(EQ(), X, X_TEST[:, :1], X[:5], 0.2), COLUMNS + r" \(15, 2\) and \(2, 1\)"),
    (lambda: posterior(EQ(), X, Y, X_TEST, X[:3, :1], 0.1), COLUMNS + r" \(15, 2\) and \(3, 1\)"),
    (lambda: choose_inducing(X, 0, RNG), "m must be at least 1 inducing input, got 0"),
    (lambda: choose_inducing(np.zeros((0, 2)), 1, RNG), r"X must be a finite matrix .* D >= 1, got shape \(0, 2\)"),
    (lambda: choose_inducing(np.array([[np.nan]]), 1, RNG), "X must be a finite matrix"),
    (lambda: inducing_root(EQ(), np.zeros((0, 2))), "Z must be one or more rows of inducing inputs"),
    (lambda: sum_statistics(lambda rows: rows, []), "there are no records"),
    # lowrank
    *told(
        lambda choice: InferenceChoice(**choice).check_inference(),
        [
            ({"inference": "fast"}, "inference must be one of 'auto', 'exact', 'lowrank', got 'fast'"),
            ({"tolerance": 0.0}, r"tolerance must be in \[1e-13, 1\), got 0.0"),
        ],
    ),
    (lambda: InferenceChoice().cloaking_matrix(EQ(), X, X_TEST, 0.0), "noise_variance must be a finite number above 0"),
    (lambda: InferenceChoice().cloaking_matrix(EQ(), X, X_TEST[:, :1], 0.3), COLUMNS),
    (lambda: factorise(Matern12(), inputs(50), 1e-6, largest_rank=5), "with 5 pivots; use a longer lengthscale, a smo"),
    *each(
        lambda tolerance: factorise(EQ(), inputs(5), tolerance),
        r"tolerance must be in \[1e-13, 1\), got",
        [0.0, 1.0, 1e-14, math.nan],
    ),
    # paths
    (
        lambda: draw_paths(process(), np.arange(3.0)[:, None], 1, np.random.default_rng(7)),
        r"equally many columns, got shapes \(8, 2\) and \(3, 1\)",
    ),
    # regression
    *each(lambda noise: exact_posterior(EQ(), X, Y, X_TEST, noise), NOISE, [0.0, -1.0, np.nan, np.inf]),
    *each(
        lambda shape: cloaking_matrix(EQ(), X, np.zeros(shape), 0.3), COLUMNS + r" \(15, 2\) and \(6,", [(6, 3), (6,)]
    ),
    (
        lambda: NoInterval(reason="no model was declared").interval(0.95, "outputs"),
        "there is no interval: no model was declared",
    ),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS)
def test_bad_input_is_refused_with_these_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()

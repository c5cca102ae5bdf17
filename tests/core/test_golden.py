"""Numbers of docs/targets.md on the shipped data: each row's provenance stands beside it."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from dpgp_core.evaluation.errors import rmse
from dpgp_core.gp.regression import InferenceChoice
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking, GPPrior
from dpgp_core.mechanisms.gp_prior import exact_sensitivity
from dpgp_core.strategies.noise_design import design_noise
from tests.core.evaluation.simulated import draw_errors

DELTA = 0.01
PUBLISHED = {"objective": "logdet", "calibration": "hall", "unproven": True, "rank_tolerance": 1e-10}


@pytest.fixture(params=["exact", "lowrank"], scope="module")
def inference(request):
    """Every figure is asked of both ways to compute C."""
    return request.param


@pytest.fixture(scope="module")
def planned(inference):
    """A release at the inputs of a data set; plans, which know no budget, are made once."""

    @cache
    def plan(data, kernel, noise_variance, options):
        mechanism = Cloaking(
            epsilon=1, delta=DELTA, kernel=kernel, noise_variance=noise_variance, inference=inference, **dict(options)
        )
        return mechanism, mechanism.plan(data.X, data.X)

    def release(data, epsilon, *, kernel, noise_variance=0.3, calibration="analytic", unproven=False, **options):
        mechanism, made = plan(data, kernel, noise_variance, tuple(options.items()))
        mechanism = replace(mechanism, epsilon=epsilon, calibration=calibration, unproven=unproven)
        return mechanism.measure(made, data, data.X, np.random.default_rng(0))

    return release


@pytest.fixture(scope="module")
def errors(kung_data, kung_model, planned):
    """Per-draw RMSE [cm] at the training ages against the clipped heights, 8,000 simulated draws."""

    @cache
    def simulate(epsilon, **options):
        released = planned(kung_data, epsilon, **kung_model, **options)
        rng = np.random.default_rng(1)
        return draw_errors(released.mean, released.noise_factor, kung_data.clipped_y, rng, 8000)

    return simulate


# ---- !Kung: GP prior


def paper_bound(kernel, X, noise_variance):
    """b(K^-1): over columns of K^-1, the larger of the sums of its positive and of its negative parts.

    Bounds the RKHS sensitivity only while 0 <= k(x, x') <= 1. Source: Smith et al. 2018, after eq. 4.
    """
    inverse = np.linalg.inv(kernel(X, X) + noise_variance * np.eye(len(X)))
    return max(np.maximum(inverse, 0).sum(axis=0).max(), np.maximum(-inverse, 0).sum(axis=0).max())


def test_kung_sensitivities(kung_data, kung_model):
    # targets: 0.49864 and 4.38164, computed on unrounded ages; the shipped file rounds them: 0.498674, 4.381627
    arguments = (kung_model["kernel"], kung_data.X, kung_model["noise_variance"])
    assert exact_sensitivity(*arguments) == pytest.approx(0.49864, rel=1e-4)
    assert paper_bound(*arguments) == pytest.approx(4.38164, rel=1e-4)


def test_kung_noise_scale_by_the_papers_formulas(kung_data, kung_model):
    # targets: 28.53 cm at epsilon = 50, = 4.38164 * 100 cm * sqrt(2 ln 200) / 50
    ours = GPPrior(epsilon=50, delta=DELTA, calibration="hall", unproven=True, **kung_model)
    released = ours.release(kung_data, np.array([[20.0], [60.0]]), np.random.default_rng(1))
    arguments = (kung_model["kernel"], kung_data.X, kung_model["noise_variance"])
    np.testing.assert_allclose(
        released.noise_sd * paper_bound(*arguments) / exact_sensitivity(*arguments), 28.53, atol=0.005
    )
    assert not released.guarantee.established


# ---- !Kung: cloaking at the training ages


def test_kung_fit_without_privacy(kung_data, kung_model, planned):
    # targets: 6.64-6.68 cm against clipped heights, 6.83 unclipped (ours 6.78 with the clipped fit)
    released = planned(kung_data, 1, **kung_model)
    assert rmse(released.mean, kung_data.clipped_y) == pytest.approx(6.64, abs=0.01)
    assert rmse(released.mean, kung_data.y) == pytest.approx(6.83, abs=0.06)


@pytest.mark.parametrize(("epsilon", "expected"), [(0.2, 66.6), (0.5, 27.5), (1.0, 15.1), (2.0, 9.6), (5.0, 7.2)])
def test_kung_published_method(errors, epsilon, expected):
    # targets, row "66.6, 27.5, 15.0-15.3, 9.6, 7.2" (rank tolerance 1e-10; published code, 1000 steps). The spread of
    # one draw's RMSE is at most 0.4 of its mean: 5 standard errors are 2.2 %, false alarm 6e-7; 1 % for rounding
    assert errors(epsilon, **PUBLISHED).mean() == pytest.approx(expected, rel=0.032)


def test_kung_published_method_spread(errors):
    # targets: median 13.8, 10-90 % 9.5-23.1; two runs of a gradient descent that had not converged
    np.testing.assert_allclose(np.percentile(errors(1.0, **PUBLISHED), [10, 50, 90]), [9.5, 13.8, 23.1], rtol=0.04)


def test_kung_published_method_depends_on_the_rank_kept(errors):
    # targets: log-det noise grows with the rank; at tolerance 1e-7 the mean is 14.3 cm (this project)
    assert 14.0 <= errors(1.0, **{**PUBLISHED, "rank_tolerance": 1e-7}).mean() <= 15.5


@pytest.mark.parametrize(("epsilon", "expected"), [(0.2, 17.8), (0.5, 11.0), (1.0, 8.55), (2.0, 7.4), (5.0, 6.8)])
def test_kung_trace_and_analytic(errors, epsilon, expected):
    # targets, row "17.8, 11.0, 8.5-8.6, 7.4, 6.8"; spread at most 0.4: 5 standard errors are 2.2 %
    assert errors(epsilon).mean() == pytest.approx(expected, rel=0.022)
    assert errors(1.0).mean() <= 8.7


def test_kung_shrinkage_at_a_small_budget(errors):
    # targets: 14.3 cm instead of 17.8 at epsilon = 0.2; ours 14.3-14.6 by rank kept
    assert 14.3 <= errors(0.2, shrinkage=True).mean() <= 14.6


# ---- !Kung: the design at ages -50 ... 150


def test_kung_log_pseudodeterminant_beats_the_gradient_descent(kung_data, kung_model, inference):
    # targets: -140.119 at max c^T M^-1 c = 1.0065 and rank 14, after 1000 gradient steps; rescaled to exactly 1
    # its log-pseudodeterminant is larger by 14 log 1.0065
    choice, ages = InferenceChoice(inference=inference), np.linspace(-50, 150, 200)[:, None]
    C, _ = choice.cloaking_matrix(X=kung_data.X, X_test=ages, **kung_model)
    # singular values 14 and 15 are 5.6e-7 and 6.6e-8 of the largest: a tolerance between them
    design = design_noise(C, "logdet", gap=1e-6, rank_tolerance=2e-7)
    assert design.rank == 14
    found = 2 * np.log(np.linalg.svd(design.factor, compute_uv=False)).sum()
    # pivots that leave 1e-12 of the trace out know value 14 to a fifth, and each rounding chooses its own
    unknown = {"exact": 0.0, "lowrank": 1.0}[inference]
    assert found <= -140.119 + 14 * math.log(1.0065) + unknown
    # and no better than weak duality allows: the gradient descent's M had the same rank and gap 0.0065
    assert found >= -140.119 - 14 * math.log(1.0065) - unknown


@pytest.mark.parametrize("objective", ["trace", "logdet"])
def test_kung_noise_peaks_beyond_the_oldest(kung_data, kung_model, objective, inference):
    # targets: peak about age 103-110, far below it near 20
    ages = np.linspace(-50, 150, 201)
    mechanism = Cloaking(epsilon=1, delta=DELTA, objective=objective, **kung_model, inference=inference)
    sd = mechanism.release(kung_data, ages[:, None], np.random.default_rng(1)).noise_sd
    assert 98 <= ages[60:][sd[60:].argmax()] <= 112
    assert sd[70] < 0.5 * sd.max()  # age 20


# ---- London hexagons


@pytest.mark.parametrize(
    ("lengthscale", "objective", "calibration", "expected"),
    [  # 07, 300 medians: 10/50/90 percentile over cells of the noise sd in % of d, at (1, 0.01)
        (15.0, "logdet", "hall", [17.1, 23.8, 51.5]),
        (15.0, "trace", "analytic", [5.7, 7.4, 17.9]),
        (8.0, "logdet", "hall", [39.8, 48.2, 93.1]),
        (8.0, "trace", "analytic", [13.0, 15.1, 31.0]),
        (4.0, "logdet", "hall", [118, 129, 153]),
        (4.0, "trace", "analytic", [35.6, 40.7, 58.6]),
    ],
)
def test_london_noise(hexes, lengthscale, objective, calibration, expected, planned):
    options = {"objective": objective, "calibration": calibration, "gap": 1e-2, "rank_tolerance": 1e-6}
    sd = planned(hexes, 1, kernel=EQ(lengthscale=lengthscale), **options).noise_sd
    np.testing.assert_allclose(np.percentile(100 * sd / 1.7918, [10, 50, 90]), expected, rtol=0.02)  # d = ln 6


@pytest.mark.parametrize(
    ("lengthscale", "fit", "expected"), [(15.0, 0.220, [0.41, 0.29, 0.25]), (8.0, 0.190, [0.67, 0.41, 0.29])], ids=str
)
def test_london_errors(hexes, lengthscale, fit, expected, planned):
    # targets: without privacy in-sample RMSE of ln price 0.220 at 15 km, 0.190 at 8 km, clipped prices, three digits;
    # 20 draws at epsilon 0.5/1/2, so a few per cent uncertain; ours 2,000 draws, clipped prices
    for epsilon, target in zip([0.5, 1, 2], expected, strict=True):
        released = planned(hexes, epsilon, kernel=EQ(lengthscale=lengthscale))
        assert rmse(released.mean, hexes.clipped_y) == pytest.approx(fit, abs=0.0006)
        found = draw_errors(released.mean, released.noise_factor, hexes.clipped_y, np.random.default_rng(2), 2000)
        assert found.mean() == pytest.approx(target, rel=0.06)

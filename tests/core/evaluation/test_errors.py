"""Errors and scores: of draws, of clipping, without privacy, and against a target."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import solve_triangular
from scipy.special import softmax
from scipy.stats import lognorm, multivariate_normal, norm

import datasets
from dpgp_core.bayes.changepoints import change_points_of
from dpgp_core.evaluation import comparison
from dpgp_core.evaluation.by_hand import clip_error, mean_of_clipped
from dpgp_core.evaluation.comparison import (
    error_of_methods,
    error_without_privacy,
    hold_out,
    without_privacy,
)
from dpgp_core.evaluation.cross_validation import k_folds
from dpgp_core.evaluation.errors import coverage, epsilon_on_curve, interval_score, nlpd, rmse
from dpgp_core.gp.clipping import clipped
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import BayesCloaking, Cloaking


def test_rmse_by_hand():
    assert rmse(np.array([1.0, 2.0, 5.0]), np.array([1.0, 4.0, 4.0])) == pytest.approx(math.sqrt(5 / 3))
    of_draws = rmse(np.array([[1.0, 1.0], [0.0, 2.0]]), np.array([0.0, 0.0]))
    np.testing.assert_allclose(of_draws, [1.0, math.sqrt(2)])


def test_nlpd_is_minus_the_log_density():
    mean, variance, truth = np.array([0.0, 1.0]), np.array([1.0, 4.0]), np.array([0.3, -2.0])
    expected = -norm.logpdf(truth, mean, np.sqrt(variance)).mean()
    assert nlpd(mean, variance, truth) == pytest.approx(expected, rel=1e-14)


def test_coverage_counts_truths_inside_the_interval():
    # central 95 % interval: +-1.96 sd, here +-3.92
    truth = np.array([3.9, -3.9, 3.95, -3.95, 0.0])
    assert coverage(np.zeros(5), np.full(5, 4.0), truth, 0.95) == pytest.approx(3 / 5)


def test_the_interval_score_is_width_plus_penalty():
    low, high, truth = np.array([0.0, 0.0, 0.0]), np.array([2.0, 2.0, 2.0]), np.array([1.0, 2.5, -1.0])
    np.testing.assert_allclose(interval_score(low, high, truth, 0.95), [2.0, 22.0, 42.0])
    np.testing.assert_allclose(interval_score(low, high, truth, 0.9), [2.0, 12.0, 22.0])


@pytest.fixture(scope="module")
def toy():
    return datasets.load("toy_1d").subset(np.arange(0, 100, 2))


@pytest.fixture(scope="module")
def jagged(toy):
    """A path that is nowhere differentiable, and hardly any scatter."""
    ordered = np.linspace(*toy.x_box[0], 200)
    steps = np.random.default_rng(4).standard_normal(200).cumsum()
    y = np.interp(steps, (steps.min(), steps.max()), toy.y_bounds)
    return replace(toy.subset(np.zeros(200, dtype=int)), X=ordered[:, None], y=y)


def _dense(data, X_test, people):
    """Mean at X_test of the mixture by evidence, and the mean square of records left out, by dense matrices."""
    half, y = data.output_range / data.y_scale / 2, data.standardised()
    mechanism = BayesCloaking(epsilon=1000.0, delta=1e-5)
    change_points = change_points_of(mechanism.bins_for(data), half**2 / 3)
    shapes, means, left_out, evidence = change_points.at(data.X), [], [], []
    for model in mechanism.models(data.x_box, half, people=people):
        K = model.kernel(data.X, data.X) + model.noise_variance * np.eye(data.n)
        L, variances = np.linalg.cholesky(K), change_points.variances_under(model.noise_variance)[None]
        white = solve_triangular(L, np.column_stack([y, shapes]), lower=True)[None]
        state = change_points.updated(change_points.prior(variances), white[:, :, 1:], white[:, :, 0], variances)
        steady = np.linalg.solve(K, y - shapes @ state.mean[0])
        means.append(model.kernel(X_test, data.X) @ steady + change_points.at(X_test) @ state.mean[0])
        left_out.append(steady / np.diag(np.linalg.inv(K)))
        log_density = multivariate_normal(cov=K, allow_singular=True).logpdf(y) + state.log_evidence[0]
        evidence.append(np.log(model.weight) + log_density)
    weights = softmax(evidence)
    return weights @ np.array(means), np.mean((weights @ np.array(left_out)) ** 2)


@pytest.mark.parametrize(("name", "rough"), [("toy", False), ("jagged", True)])
def test_without_privacy_equals_dense_gaussian_processes(name, rough, request):
    data = request.getfixturevalue(name)
    X_test = np.linspace(*data.x_box[0], 7)[:, None]
    smooth, rougher = (_dense(data, X_test, people) for people in (0, data.n))
    assert (rougher[1] < 0.98 * smooth[1]) == rough
    expected = data.in_data_units((rougher if rough else smooth)[0])
    np.testing.assert_allclose(without_privacy(data, X_test), np.clip(expected, *data.y_bounds), rtol=1e-6)


def test_a_better_declared_model_is_used(toy, monkeypatch):
    mixture, fitted = comparison.without_privacy, {}

    def fitted_once(train, X_test):  # whatever else is declared
        if (key := X_test.tobytes()) not in fitted:
            fitted[key] = mixture(train, X_test)
        return fitted[key]

    monkeypatch.setattr(comparison, "without_privacy", fitted_once)
    folds = k_folds(toy.n, 2, np.random.default_rng(0))
    alone = error_without_privacy(toy, folds)
    assert error_without_privacy(toy, folds, [(EQ(lengthscale=100.0), 1.0)]) == alone
    many = [(EQ(lengthscale=length), noise) for length in (0.5, 1.0, 1.5) for noise in (0.01, 0.03, 0.1, 0.3)]
    assert error_without_privacy(toy, folds, many) < alone
    y, [kernel, noise] = toy.standardised(), many[5]
    missed = []
    for test in folds:
        train = np.delete(np.arange(toy.n), test)
        K = kernel(toy.X[train], toy.X[train]) + noise * np.eye(len(train))
        missed.append(kernel(toy.X[test], toy.X[train]) @ np.linalg.solve(K, y[train]) - y[test])
    by_hand = toy.y_scale * np.sqrt(np.mean(np.concatenate(missed) ** 2))
    mechanism = Cloaking(kernel=kernel, noise_variance=noise, epsilon=1.0, delta=1e-5)
    assert error_without_privacy(toy, folds, (), [mechanism]) == pytest.approx(min(alone, by_hand), rel=0.02)
    assert error_without_privacy(toy, folds, [many[5]]) == pytest.approx(min(alone, by_hand), rel=1e-6)
    assert error_of_methods(toy, folds) == np.inf
    assert error_of_methods(toy, folds, [many[5]]) == pytest.approx(by_hand, rel=1e-6)
    assert error_of_methods(toy, folds, many) == error_without_privacy(toy, folds, many)
    plans, planned = hold_out(mechanism, toy, folds), error_of_methods(toy, folds, (), [mechanism])
    monkeypatch.setattr(Cloaking, "plan_for", None)
    assert error_of_methods(toy, folds, (), [mechanism], plans) == planned


@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (0.5, 4.0), (-30.0, 30.0)])
def test_a_clipped_normals_mean_is_closed_form(low, high):
    exact = clipped(np.array(0.7), np.array(2.0), np.array(low), np.array(high)).mean
    assert mean_of_clipped(norm(0.7, 2.0**0.5).sf, low, high) == pytest.approx(float(exact), abs=1e-6)


def test_narrow_clipping_biases_skewed_outcomes():
    wages = lognorm(0.6, scale=30.0)
    narrow, wide = (clip_error(wages.sf, wages.mean(), 0.0, top, n=100, noise_multiplier=4.0) for top in (40.0, 1e3))
    assert narrow.bias < -5 < -0.01 < wide.bias <= 1e-3
    assert (narrow.noise, wide.noise) == pytest.approx((1.6, 40.0))
    assert narrow.error == pytest.approx(np.hypot(narrow.bias, narrow.noise))


def test_an_epsilon_is_read_off_a_curve():
    """3 / epsilon is straight on logarithmic axes."""
    epsilons = [0.1, 0.5, 2.0, 10.0]
    errors = 3 / np.array(epsilons)
    assert epsilon_on_curve(epsilons, errors, 2.0) == pytest.approx(1.5)
    assert epsilon_on_curve(epsilons, errors, 6.0) == pytest.approx(0.5)
    assert epsilon_on_curve(epsilons, errors, 100.0) == 0.1
    assert epsilon_on_curve(epsilons, errors, 0.2) is None

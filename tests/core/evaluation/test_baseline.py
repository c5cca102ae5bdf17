from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import multivariate_normal

import datasets
from dpgp_core.evaluation.comparison import error_without_privacy, held_out_errors, hold_out, without_privacy
from dpgp_core.evaluation.cross_validation import k_folds
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import BayesCloaking, Cloaking


@pytest.fixture(scope="module")
def toy():
    return datasets.load("toy_1d").subset(np.arange(0, 100, 2))


def test_it_is_the_mixture_of_dense_gaussian_processes_weighted_by_their_evidence(toy):
    half = toy.output_range / toy.y_scale / 2
    y, X_test = toy.standardised(), np.linspace(*toy.x_box[0], 7)[:, None]
    means, evidence = [], []
    for model in BayesCloaking(epsilon=1.0, delta=1e-5).models(toy.x_box, half):
        K = model.kernel(toy.X, toy.X) + model.noise_variance * np.eye(toy.n)
        means.append(model.kernel(X_test, toy.X) @ np.linalg.solve(K, y))
        evidence.append(np.log(model.weight) + multivariate_normal(cov=K, allow_singular=True).logpdf(y))
    expected = toy.in_data_units(softmax(evidence) @ np.array(means))
    np.testing.assert_allclose(without_privacy(toy, X_test), np.clip(expected, *toy.y_bounds), rtol=1e-6)


def test_bayes_cloaking_comes_near_it_as_epsilon_grows_and_not_below(toy):
    folds = k_folds(toy.n, 5, np.random.default_rng(0))
    mechanism = BayesCloaking(epsilon=1000.0, delta=1e-5, gap=0.3)
    errors = held_out_errors(mechanism, hold_out(mechanism, toy, folds), 4, 1, intervals=False).rmse
    plain = error_without_privacy(toy, folds)
    assert errors.mean() == pytest.approx(plain, rel=0.1)
    # not below it beyond chance: of four draws the mean passes two standard errors once in twenty times
    assert errors.mean() > plain - 2 * errors.std(ddof=1) / np.sqrt(len(errors))


def test_a_declared_model_that_does_better_counts_and_a_worse_one_does_not(toy):
    folds = k_folds(toy.n, 5, np.random.default_rng(0))
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

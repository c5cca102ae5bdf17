"""Inducing inputs: where they are placed, and what follows from them."""

import warnings

import numpy as np
import pytest

from dpgp_core.gp import inducing
from dpgp_core.gp.grid import Grid
from dpgp_core.gp.inducing import (
    choose_inducing,
    inducing_matrix,
    inducing_root,
    posterior,
    row_blocks,
    sum_statistics,
    whitened_features,
)
from dpgp_core.gp.regression import cloaking_matrix
from dpgp_core.kernels import EQ, KERNELS, Matern32


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    return rng.normal(size=(30, 2)), rng.normal(size=(6, 2)), rng.normal(size=(5, 2))  # X, X_test, Z


@pytest.mark.parametrize("kernel", KERNELS, ids=[kernel.__name__ for kernel in KERNELS])
@pytest.mark.parametrize("m", [1, 5])
def test_inducing_matrix_is_the_fitc_posterior(kernel, m, problem):
    X, X_test, Z = problem
    Z = Z[:m]
    k = kernel(variance=1.5, lengthscale=(0.7, 2.0))
    # prior covariance Q_ff + diag(K_ff - Q_ff), Q_ab = K_au K_uu^-1 K_ub: no Woodbury identity on this route
    Q = k(np.vstack([X, X_test]), Z) @ np.linalg.solve(k(Z, Z), k(Z, X))
    outputs = Q[:30] + np.diag(1.5 - np.diag(Q[:30]) + 0.2)
    dense = Q[30:] @ np.linalg.inv(outputs)
    np.testing.assert_allclose(inducing_matrix(k, X, X_test, Z, 0.2), dense, rtol=1e-7, atol=1e-10)


def test_all_inputs_as_inducing_give_the_exact_gp(kung_data, kung_model):
    # K_uu of 287 ages, some repeated, is singular to rounding: only the jitter of 2e-10 holds it up. Outside the
    # data, where C extrapolates by cancellation, that is worth 1e-6
    X_test = np.linspace(-20, 110, 14)[:, None]
    found = inducing_matrix(X=kung_data.X, X_test=X_test, Z=kung_data.X, **kung_model)
    np.testing.assert_allclose(found, cloaking_matrix(X=kung_data.X, X_test=X_test, **kung_model), atol=1e-5)


# ---- choice of inducing inputs


def test_centres_are_a_fixed_point_of_lloyd(kung_data):
    X = kung_data.X
    Z = choose_inducing(X, 4, np.random.default_rng(0))
    np.testing.assert_array_equal(Z, choose_inducing(X, 4, np.random.default_rng(0)))
    assert (np.diff(Z[:, 0]) > 0).all()
    nearest = np.abs(X - Z.T).argmin(axis=1)
    np.testing.assert_allclose(Z[:, 0], [X[nearest == i].mean() for i in range(4)], rtol=1e-9)


@pytest.mark.parametrize("m", [3, 4, 1000])
def test_no_more_than_the_distinct_inputs(m):
    X = np.array([[2.0, 1.0], [0.0, 1.0], [2.0, 1.0], [1.0, 1.0], [0.0, 1.0]])
    np.testing.assert_array_equal(choose_inducing(X, m, np.random.default_rng(0)), [[0, 1], [1, 1], [2, 1]])


@pytest.mark.parametrize("m", [1, 5, 19])
def test_repeated_inputs_and_empty_clusters_raise_no_warning(m):
    rng = np.random.default_rng(8)
    X = np.repeat(rng.integers(0, 20, size=(40, 1)).astype(float), 10, axis=0)
    X = np.vstack([X, np.arange(20.0)[:, None]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(20):
            Z = choose_inducing(X, m, np.random.default_rng(seed))
            assert len(np.unique(Z, axis=0)) == m


def test_lost_clusters_fall_back_to_the_inputs(problem, monkeypatch):
    X, _, _ = problem
    monkeypatch.setattr("dpgp_core.gp.inducing._kmeans", lambda *_: None)
    Z = choose_inducing(X, 4, np.random.default_rng(0))
    assert len({tuple(row) for row in Z} & {tuple(row) for row in X}) == 4


def test_titsias_equation_10(problem):
    X, X_test, Z = problem
    y, kernel, s2 = np.sin(X[:, 0]), Matern32(variance=1.5, lengthscale=4.0), 0.3
    K, K_zx, K_sz = kernel(Z, Z), kernel(Z, X), kernel(X_test, Z)
    S = np.linalg.inv(K + K_zx @ K_zx.T / s2)
    mean, covariance = posterior(kernel, X, y, X_test, Z, s2)
    np.testing.assert_allclose(mean, K_sz @ S @ K_zx @ y / s2, atol=1e-9)
    expected = kernel(X_test, X_test) - K_sz @ (np.linalg.inv(K) - S) @ K_sz.T
    np.testing.assert_allclose(covariance, expected, atol=1e-9)


def test_blocks_do_not_matter_and_are_read_once(problem):
    X, _, Z = problem
    y, root = np.sin(X[:, 0]), inducing_root(EQ(), Z)

    def features(rows):
        return whitened_features(EQ(), Z, root, rows)

    whole = sum_statistics(features, [(X, y)])
    blocks = sum_statistics(features, row_blocks(X, y, 7))
    for one, other in zip(whole, blocks, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    assert [len(block) for block, _ in row_blocks(X, y, 7)] == [7] * 4 + [2]


def test_whitened_features_are_within_the_prior_sd():
    rng = np.random.default_rng(1)
    Z = rng.uniform(0, 1, (30, 2))  # nearly singular K_ZZ
    kernel = EQ(variance=2.5, lengthscale=3.0)
    phi = whitened_features(kernel, Z, inducing_root(kernel, Z), rng.uniform(-1, 2, (500, 2)))
    assert (phi**2).sum(axis=1).max() <= 2.5 * (1 + 1e-9)


def test_grid_of_cell_centres():
    np.testing.assert_allclose(Grid(box=((1.0, 5.0),), bins=2).centres, [[2.0], [4.0]])
    np.testing.assert_allclose(Grid(box=((0.0, 2.0), (0.0, 6.0)), bins=(1, 3)).centres, [[1, 1], [1, 3], [1, 5]])


def test_k_means_stops_where_more_steps_change_nothing(monkeypatch):
    points, steps = np.random.default_rng(3).uniform(size=(200, 2)), []
    run = inducing.kmeans2
    whole = run(points, 7, iter=50, minit="++", missing="raise", rng=np.random.default_rng(1))
    monkeypatch.setattr(inducing, "kmeans2", lambda *args, **how: steps.append(how["iter"]) or run(*args, **how))
    found = inducing._lloyd(points, 7, np.random.default_rng(1))
    for one, other in zip(found, whole, strict=True):
        np.testing.assert_array_equal(one, other)
    assert sum(steps) < 50

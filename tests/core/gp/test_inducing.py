"""Inducing inputs: where they are placed, and what follows from them."""

import warnings

import numpy as np
import pytest

from dpgp_core.gp import regression as exact
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

each = pytest.mark.parametrize("kernel", KERNELS, ids=[kernel.__name__ for kernel in KERNELS])


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    return rng.normal(size=(30, 2)), rng.normal(size=(6, 2)), rng.normal(size=(5, 2))  # X, X_test, Z


@each
def test_inducing_matrix_is_the_posterior_under_the_fitc_prior(kernel, problem):
    X, X_test, Z = problem
    k = kernel(variance=1.5, lengthscale=(0.7, 2.0))
    # prior covariance Q_ff + diag(K_ff - Q_ff), Q_ab = K_au K_uu^-1 K_ub: no Woodbury identity on this route
    Q = k(np.vstack([X, X_test]), Z) @ np.linalg.solve(k(Z, Z), k(Z, X))
    outputs = Q[:30] + np.diag(1.5 - np.diag(Q[:30]) + 0.2)
    dense = Q[30:] @ np.linalg.inv(outputs)
    np.testing.assert_allclose(inducing_matrix(k, X, X_test, Z, 0.2), dense, rtol=1e-7, atol=1e-10)


@each
def test_with_all_inputs_it_is_the_exact_gp(kernel, problem):
    X, X_test, _ = problem
    k = kernel(variance=1.5, lengthscale=0.9)
    found = inducing_matrix(k, X, X_test, X, 0.2)
    np.testing.assert_allclose(found, cloaking_matrix(k, X, X_test, 0.2), rtol=1e-8, atol=1e-9)


def test_on_the_census_with_all_inputs_it_is_the_exact_gp(kung_data, kung_model):
    # K_uu of 287 ages, some repeated, is singular to rounding: only the jitter of 2e-10 holds it up. Outside the
    # data, where C extrapolates by cancellation, that is worth 1e-6
    X_test = np.linspace(-20, 110, 14)[:, None]
    found = inducing_matrix(X=kung_data.X, X_test=X_test, Z=kung_data.X, **kung_model)
    np.testing.assert_allclose(found, cloaking_matrix(X=kung_data.X, X_test=X_test, **kung_model), atol=1e-5)


def test_one_inducing_input_by_hand():
    # k = 2 at distance 0; record at 0 and test point at the inducing input 3, one lengthscale away
    k = 2 * np.exp(-0.5)
    D = 2 - k * k / 2 + 0.5
    Q = 2 + k * k / D
    at = np.full((1, 1), 3.0)
    found = inducing_matrix(EQ(variance=2.0, lengthscale=3.0), np.zeros((1, 1)), at, at, 0.5)
    assert found.item() == pytest.approx(2 / Q * k / D, rel=1e-12)


def test_rank_is_at_most_the_number_of_inducing_inputs(problem):
    X, _, Z = problem
    assert np.linalg.matrix_rank(inducing_matrix(EQ(), X, X, Z, 0.2), tol=1e-10) == 5


def test_order_and_repetition_of_inducing_inputs_do_not_matter(problem):
    X, X_test, Z = problem
    expected = inducing_matrix(EQ(), X, X_test, Z, 0.2)
    np.testing.assert_allclose(inducing_matrix(EQ(), X, X_test, Z[::-1], 0.2), expected, atol=1e-11)
    np.testing.assert_allclose(inducing_matrix(EQ(), X, X_test, np.vstack([Z, Z[:2]]), 0.2), expected, atol=1e-9)


def test_far_from_the_inducing_inputs_nothing_is_said(problem):
    X, X_test, Z = problem
    np.testing.assert_array_equal(inducing_matrix(EQ(), X, X_test + 1e4, Z, 0.2), np.zeros((6, 30)))


def test_an_outlier_moves_the_sparse_fit_less():
    X = np.vstack([np.linspace(0, 1, 20)[:, None], [[6.0]]])
    exact = cloaking_matrix(EQ(), X, X, 0.3)
    sparse = inducing_matrix(EQ(), X, X, np.array([[0.0], [1.0]]), 0.3)
    assert np.linalg.norm(sparse[:, -1]) < 0.05 * np.linalg.norm(exact[:, -1])


@pytest.mark.parametrize("shape", [(5,), (5, 3), (0, 2)], ids=str)
def test_inducing_inputs_of_another_shape_are_named(problem, shape):
    X, X_test, _ = problem
    with pytest.raises(ValueError, match=r"Z must be one or more rows of 2 columns, like X, got shape \("):
        inducing_matrix(EQ(), X, X_test, np.zeros(shape), 0.2)


def test_bad_arguments_are_named(problem):
    X, X_test, Z = problem
    with pytest.raises(ValueError, match=r"noise_variance must be a finite number above 0, got 0\.0"):
        inducing_matrix(EQ(), X, X_test, Z, 0.0)
    with pytest.raises(ValueError, match=r"equally many columns, got shapes \(30, 2\) and \(6, 1\)"):
        inducing_matrix(EQ(), X, X_test[:, :1], Z, 0.2)


# ---- choice of inducing inputs


def test_centres_of_separate_clusters_are_found():
    rng = np.random.default_rng(0)
    means = np.array([[0.0, 0.0], [0.0, 900.0], [10.0, 0.0], [10.0, 900.0]])
    X = np.repeat(means, 25, axis=0) + rng.normal(size=(100, 2)) * [0.1, 9.0]
    expected = [X[25 * i : 25 * i + 25].mean(axis=0) for i in range(4)]
    for seed in range(5):
        np.testing.assert_allclose(choose_inducing(X, 4, np.random.default_rng(seed)), expected, rtol=1e-12)


def test_units_of_a_column_do_not_matter(problem):
    X, _, _ = problem
    one, other = (choose_inducing(data, 4, np.random.default_rng(1)) for data in (X, X * [1.0, 1024.0]))
    np.testing.assert_allclose(other, one * [1.0, 1024.0], rtol=1e-12)


def test_same_generator_state_same_inputs_and_sorted(kung_data):
    one, other = (choose_inducing(kung_data.X, 6, np.random.default_rng(4)) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert one.shape == (6, 1)
    assert (np.diff(one[:, 0]) > 0).all()


def test_centres_are_a_fixed_point_of_lloyds_step(kung_data):
    X = kung_data.X
    Z = choose_inducing(X, 4, np.random.default_rng(0))
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


def test_if_every_run_loses_a_cluster_inputs_themselves_are_taken(problem, monkeypatch):
    X, _, _ = problem
    monkeypatch.setattr("dpgp_core.gp.inducing._kmeans", lambda *_: None)
    Z = choose_inducing(X, 4, np.random.default_rng(0))
    assert len({tuple(row) for row in Z} & {tuple(row) for row in X}) == 4


def test_bad_choices_are_named(problem):
    with pytest.raises(ValueError, match="m must be at least 1 inducing input, got 0"):
        choose_inducing(problem[0], 0, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"X must be a finite matrix \(n, D\) with n, D >= 1, got shape \(0, 2\)"):
        choose_inducing(np.zeros((0, 2)), 1, np.random.default_rng(0))
    with pytest.raises(ValueError, match="X must be a finite matrix"):
        choose_inducing(np.array([[np.nan]]), 1, np.random.default_rng(0))


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    X = rng.uniform(0, 10, (40, 2))
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(40), rng.uniform(-2, 12, (15, 2))


@pytest.mark.parametrize("kernel", [EQ(variance=2.0, lengthscale=1.0), Matern32(lengthscale=[2.0, 5.0])], ids=str)
def test_all_inputs_as_inducing_inputs_give_the_exact_posterior(data, kernel):
    X, y, X_test = data
    for found, expected in zip(
        posterior(kernel, X, y, X_test, X, 0.1), exact.posterior(kernel, X, y, X_test, 0.1), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-8)


def test_titsias_equation_10(data):
    X, y, X_test = data
    Z, kernel, s2 = Grid(box=((0.0, 10.0), (0.0, 10.0)), bins=3).centres, Matern32(variance=1.5, lengthscale=4.0), 0.3
    K, K_zx, K_sz = kernel(Z, Z), kernel(Z, X), kernel(X_test, Z)
    S = np.linalg.inv(K + K_zx @ K_zx.T / s2)
    mean, covariance = posterior(kernel, X, y, X_test, Z, s2)
    np.testing.assert_allclose(mean, K_sz @ S @ K_zx @ y / s2, atol=1e-9)
    expected = kernel(X_test, X_test) - K_sz @ (np.linalg.inv(K) - S) @ K_sz.T
    np.testing.assert_allclose(covariance, expected, atol=1e-9)


def test_blocks_do_not_matter_and_are_read_once(data):
    X, y, _ = data
    Z = X[:5]
    kernel = EQ()
    root = inducing_root(kernel, Z)

    def features(rows):
        return whitened_features(kernel, Z, root, rows)

    whole = sum_statistics(features, [(X, y)])
    blocks = sum_statistics(features, row_blocks(X, y, 7))
    for one, other in zip(whole, blocks, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    assert [len(block) for block, _ in row_blocks(X, y, 7)] == [7] * 5 + [5]


def test_whitened_features_are_no_longer_than_the_prior_sd():
    rng = np.random.default_rng(1)
    Z = rng.uniform(0, 1, (30, 2))  # nearly singular K_ZZ
    kernel = EQ(variance=2.5, lengthscale=3.0)
    phi = whitened_features(kernel, Z, inducing_root(kernel, Z), rng.uniform(-1, 2, (500, 2)))
    assert (phi**2).sum(axis=1).max() <= 2.5 * (1 + 1e-9)


def test_grid_of_cell_centres():
    np.testing.assert_allclose(Grid(box=((0.0, 4.0),), bins=2).centres, [[1.0], [3.0]])
    np.testing.assert_allclose(Grid(box=((0.0, 2.0), (0.0, 6.0)), bins=(1, 3)).centres, [[1, 1], [1, 3], [1, 5]])


def test_bad_input_is_refused(data):
    X, y, X_test = data
    with pytest.raises(ValueError, match="there are no records"):
        sum_statistics(lambda rows: rows, [])
    with pytest.raises(ValueError, match="noise_variance must be a finite number above 0, got 0"):
        posterior(EQ(), X, y, X_test, X[:3], 0)
    with pytest.raises(ValueError, match=r"equally many columns, got shapes \(40, 2\) and \(3, 1\)"):
        posterior(EQ(), X, y, X_test, X[:3, :1], 0.1)
    with pytest.raises(ValueError, match="Z must be one or more rows of inducing inputs"):
        inducing_root(EQ(), np.zeros((0, 2)))

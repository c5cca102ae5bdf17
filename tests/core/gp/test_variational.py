import numpy as np
import pytest

from dpgp_core.gp import regression as exact
from dpgp_core.gp.grid import Grid
from dpgp_core.gp.inducing import (
    inducing_root,
    posterior,
    row_blocks,
    sum_statistics,
    whitened_features,
)
from dpgp_core.kernels import EQ, Matern32


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

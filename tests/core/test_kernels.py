import math

import numpy as np
import pytest

from dpgp_core.kernels import (
    EQ,
    KERNELS,
    AcrossGroups,
    Matern12,
    Matern32,
    Matern52,
    RationalQuadratic,
    RougherGroup,
    Stationary,
)

each = pytest.mark.parametrize("kernel", KERNELS, ids=[kernel.__name__ for kernel in KERNELS])


def at(kernel, distance):
    return kernel(np.zeros((1, 1)), np.array([[distance]])).item()


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [  # written out for variance 2, lengthscale 4 at distance 6, so r = 1.5 (Rasmussen & Williams, ch. 4)
        (EQ, 2 * math.exp(-(6**2) / (2 * 4**2))),
        (Matern12, 2 * math.exp(-6 / 4)),
        (Matern32, 2 * (1 + math.sqrt(3) * 6 / 4) * math.exp(-math.sqrt(3) * 6 / 4)),
        (Matern52, 2 * (1 + math.sqrt(5) * 6 / 4 + 5 * 6**2 / (3 * 4**2)) * math.exp(-math.sqrt(5) * 6 / 4)),
        (RationalQuadratic, 2 / (1 + 6**2 / (2 * 1 * 4**2))),
    ],
)
def test_formula(kernel, expected):
    assert at(kernel(variance=2.0, lengthscale=4.0), 6.0) == pytest.approx(expected, rel=1e-14)


def test_rational_quadratic_of_shape_two():
    assert at(RationalQuadratic(alpha=2.0), 2.0) == pytest.approx(0.25, rel=1e-15)  # (1 + 4/4)^-2


@each
def test_kernels_are_positive_definite_and_symmetric(kernel):
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(20, 3)), rng.normal(size=(7, 3))
    k = kernel(variance=1.7, lengthscale=(0.5, 1.0, 2.0))
    K = k(X, X)
    np.testing.assert_allclose(K, K.T, rtol=1e-13)
    assert np.linalg.eigvalsh(K).min() > 0
    assert k(X, Z).shape == (20, 7)
    np.testing.assert_allclose(k(X, Z), k(Z, X).T, rtol=1e-13)
    np.testing.assert_allclose(np.diag(K), 1.7, rtol=1e-14)
    np.testing.assert_array_equal(k.diagonal(X), np.full(20, 1.7))


@each
@pytest.mark.parametrize("scales", [(0.5, 3.0), [0.5, 3.0], np.array([0.5, 3.0])], ids=["tuple", "list", "array"])
def test_one_lengthscale_per_dimension(kernel, scales):
    X = np.random.default_rng(3).normal(size=(6, 2))
    expected = kernel()(X / [0.5, 3.0], X / [0.5, 3.0])
    np.testing.assert_allclose(kernel(lengthscale=scales)(X, X), expected, rtol=1e-13)
    assert kernel(lengthscale=scales) == kernel(lengthscale=(0.5, 3.0))
    assert hash(kernel(lengthscale=scales)) == hash(kernel(lengthscale=(0.5, 3.0)))


def test_the_common_base_is_not_a_kernel():
    with pytest.raises(TypeError, match="Stationary is not a kernel by itself"):
        Stationary()(np.zeros((1, 1)), np.zeros((1, 1)))


@pytest.mark.parametrize("shared", [0.0, 0.5, 0.9, 1.0])
def test_groups_share_what_is_declared(shared):
    rng = np.random.default_rng(0)
    x, group = rng.uniform(size=(30, 1)), rng.integers(0, 3, (30, 1)).astype(float)
    kernel = AcrossGroups(inner=EQ(variance=2.0, lengthscale=0.3), columns=(1,), shared=shared)
    X = np.hstack([x, group])
    alone = EQ(variance=2.0, lengthscale=0.3)(x, x)
    expected = np.where(group == group.T, alone, shared * alone)
    np.testing.assert_allclose(kernel(X, X), expected, rtol=1e-15)
    np.testing.assert_array_equal(kernel.diagonal(X), 2.0)
    assert np.linalg.eigvalsh(kernel(X, X)).min() > -1e-12
    assert kernel.variance == 2.0


def test_two_categories_multiply():
    kernel = AcrossGroups(inner=EQ(), columns=(0, 2), shared=0.5)
    X = np.array([[0.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    np.testing.assert_array_equal(kernel(X[:1], X), [[1.0, 0.25, 0.5]])


def test_one_group_may_have_a_rougher_curve():
    rng = np.random.default_rng(0)
    x, group = rng.uniform(size=(30, 1)), rng.integers(0, 3, (30, 1)).astype(float)
    X, alike = np.hstack([x, group]), AcrossGroups(inner=EQ(lengthscale=0.3), columns=(1,), shared=0.5)
    own = Matern32(variance=0.2, lengthscale=0.1)
    kernel = RougherGroup(alike=alike, own=own, column=1, level=2)
    both = (group == 2) & (group.T == 2)
    np.testing.assert_allclose(kernel(X, X), alike(X, X) + np.where(both, own(x, x), 0.0), rtol=1e-15)
    np.testing.assert_allclose(kernel.diagonal(X), kernel(X, X).diagonal(), rtol=1e-15)
    assert np.linalg.eigvalsh(kernel(X, X)).min() > -1e-12
    assert kernel.variance == kernel.diagonal(X).max() == 1.2

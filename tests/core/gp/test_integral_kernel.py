from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from scipy.integrate import dblquad, nquad, quad

from dpgp_core.gp.grid import k_FF, k_Ff, volumes
from dpgp_core.kernels import EQ

A, B = [(0.0, 1.0), (-0.5, 2.0), (3.0, 3.2), (1.0, 1.5)], [(0.7, 1.9), (-0.5, 2.0), (-1.0, 0.4), (2.0, 7.0)]
X = [0.3, 5.0, 3.1, -1.0]
SCALES = (0.8, 1.7, 0.3, 25.0)


def covariance_1d(u, v, scale):
    """Double integral of the unit-variance kernel over two intervals, by adaptive quadrature."""
    return dblquad(lambda p, q: np.exp(-(((p - q) / scale) ** 2) / 2), *u, *v, epsabs=1e-13, epsrel=1e-12)[0]


def cross_1d(u, x, scale):
    return quad(lambda p: np.exp(-(((p - x) / scale) ** 2) / 2), *u, epsabs=1e-13, epsrel=1e-12)[0]


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
@pytest.mark.parametrize("per_dimension", [True, False], ids=["one lengthscale per dimension", "one lengthscale"])
def test_against_quadrature(dim, per_dimension):
    scales = SCALES[:dim] if per_dimension else (0.8,) * dim
    kernel = EQ(variance=2.5, lengthscale=scales if per_dimension else 0.8)
    pairs = list(zip(A[:dim], B[:dim], X[:dim], scales, strict=True))
    expected = 2.5 * np.prod([covariance_1d(a, b, s) for a, b, _, s in pairs])
    own = 2.5 * np.prod([covariance_1d(a, a, s) for a, _, _, s in pairs])
    boxes, others = np.array([A[:dim]]), np.array([B[:dim], A[:dim]])
    np.testing.assert_allclose(k_FF(kernel, boxes, others), [[expected, own]], rtol=1e-9, atol=1e-13)
    expected = 2.5 * np.prod([cross_1d(a, x, s) for a, _, x, s in pairs])
    np.testing.assert_allclose(k_Ff(kernel, boxes, np.array([X[:dim]])), [[expected]], rtol=1e-10, atol=1e-13)


def test_cross_covariance_against_a_true_double_integral():
    kernel, point = EQ(variance=1.3, lengthscale=(0.8, 1.7)), np.array([[0.3, 1.0]])
    direct = dblquad(lambda q, p: kernel(np.array([[p, q]]), point)[0, 0], *A[0], *A[1])[0]
    assert k_Ff(kernel, np.array([A[:2]]), point)[0, 0] == pytest.approx(direct, rel=1e-8)


def test_covariance_against_a_true_fourfold_integral():
    kernel = EQ(variance=1.3, lengthscale=(0.8, 1.7))
    direct = nquad(
        lambda p, q, r, s: 1.3 * np.exp(-(((p - r) / 0.8) ** 2 + ((q - s) / 1.7) ** 2) / 2),
        [A[0], A[1], B[0], B[1]],
        opts={"epsrel": 1e-6},
    )[0]
    assert k_FF(kernel, np.array([A[:2]]), np.array([B[:2]]))[0, 0] == pytest.approx(direct, rel=1e-6)


def grid_boxes(per_dimension):
    edges = [np.linspace(0, 1, count + 1) for count in per_dimension]
    sides = [list(pairwise(e)) for e in edges]
    return np.array(list(product(*sides)))


@pytest.mark.parametrize("lengthscale", [0.02, 0.3, 10.0])
def test_positive_semidefinite_together_with_the_points(lengthscale):
    kernel, boxes = EQ(variance=2.0, lengthscale=lengthscale), grid_boxes([4, 3, 2])
    points = np.random.default_rng(1).uniform(-0.2, 1.2, (20, 3))
    size = volumes(boxes)
    FF = k_FF(kernel, boxes, boxes) / np.outer(size, size)
    Ff = k_Ff(kernel, boxes, points) / size[:, None]
    joint = np.block([[FF, Ff], [Ff.T, kernel(points, points)]])
    np.testing.assert_allclose(FF, FF.T, rtol=1e-11, atol=1e-14)
    assert np.linalg.eigvalsh(joint).min() >= -1e-9


def test_integrals_add_up():
    kernel, whole = EQ(lengthscale=0.4), np.array([[(0.0, 1.0), (0.0, 1.0)]])
    parts = grid_boxes([5, 3])
    np.testing.assert_allclose(k_FF(kernel, parts, parts).sum(), k_FF(kernel, whole, whole)[0, 0], rtol=1e-11)
    point = np.array([[0.2, 1.4]])
    np.testing.assert_allclose(k_Ff(kernel, parts, point).sum(), k_Ff(kernel, whole, point)[0, 0], rtol=1e-12)


def test_a_tiny_box_is_a_point():
    kernel, points = EQ(variance=1.5, lengthscale=1.0), np.array([[0.0], [0.7], [2.0]])
    boxes = np.stack([points - 1e-3, points + 1e-3], axis=2)
    np.testing.assert_allclose(k_FF(kernel, boxes, boxes) / 4e-6, kernel(points, points), rtol=1e-6)
    np.testing.assert_allclose(k_Ff(kernel, boxes, points) / 2e-3, kernel(points, points), rtol=1e-6)


@pytest.mark.parametrize("width", [1e-6, 1e-3, 0.4, 0.43])  # the closed form begins at 0.3 sqrt(2) = 0.424
def test_narrow_boxes_lose_no_digits(width, monkeypatch):
    kernel, low = EQ(lengthscale=1.0), np.array([0.0, 0.3, 2.0, 5.0])
    boxes = np.stack([low, low + width], axis=1)[:, None]
    # the formula in 40 digits
    monkeypatch.setattr(mpmath.mp, "dps", 40)
    for i, a in enumerate(boxes[:, 0]):
        (s, t), (s_, t_) = map(mpmath.mpf, map(float, boxes[0, 0])), map(mpmath.mpf, map(float, a))
        L = mpmath.sqrt(2)

        def g(z):
            return mpmath.sqrt(mpmath.pi) * z * mpmath.erf(z) + mpmath.exp(-z * z)

        exact = g((t - s_) / L) + g((s - t_) / L) - g((t - t_) / L) - g((s - s_) / L)
        found = k_FF(kernel, boxes[:1], boxes[i : i + 1])[0, 0]
        assert found == pytest.approx(float(exact), rel=1e-9 if width > 0.42 else 1e-12)


def test_volumes():
    np.testing.assert_allclose(volumes(np.array([A, B])), [1 * 2.5 * 0.2 * 0.5, 1.2 * 2.5 * 1.4 * 5])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda k, b: k_FF(k, b[0], b), r"boxes must have shape \(b, D, 2\) with D >= 1, got \(2, 2\)"),
        (lambda k, b: k_FF(k, b[..., ::-1], b), "every box must have low < high in every dimension"),
        (lambda k, b: k_FF(k, b, b[:, :1]), "both sets of boxes must have equally many dimensions"),
        (lambda k, b: k_Ff(k, b, np.zeros((3, 1))), r"X must have shape \(P, 2\) to match the boxes, got \(3, 1\)"),
        (lambda k, b: k_FF(EQ(lengthscale=[1, 1, 1]), b, b), "3 lengthscales for boxes of 2 dimensions"),
    ],
)
def test_bad_shapes_are_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(EQ(), np.array([A[:2]]))

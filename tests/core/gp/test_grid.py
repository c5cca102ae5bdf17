"""Public grids, and kernels integrated over their boxes."""

import mpmath
import numpy as np
import pytest
from scipy.integrate import dblquad, quad

from dpgp_core.gp.grid import Grid, check_bins, k_FF, k_Ff, plan_bins, volumes
from dpgp_core.kernels import EQ

BOX = ((0.0, 10.0), (-1.0, 1.0))


@pytest.mark.parametrize("count", [1, 3, 7, 10, 30, 49, 1000])
def test_edges_belong_to_the_upper_bin(count):
    grid = Grid(box=((-74.0171, -73.9299),), bins=count)  # edges that no binary number hits
    edges = grid.edges(0)
    np.testing.assert_array_equal(grid.index(edges[:-1, None]), np.arange(count))
    np.testing.assert_array_equal(grid.index(np.nextafter(edges[1:-1, None], -100)), np.arange(count - 1))
    assert grid.index(edges[-1:, None])[0] == count - 1


def test_boxes_fill_the_box():
    grid = Grid(box=BOX, bins=(4, 3))
    boxes = grid.boxes(np.arange(12))
    assert boxes.shape == (12, 2, 2)
    assert volumes(boxes).sum() == pytest.approx(20)
    np.testing.assert_allclose(boxes[1], [(0, 2.5), (-1 / 3, 1 / 3)])


def test_plan_counts_and_averages():
    X = np.array([[0.5], [9.9], [0.7], [10.0], [4.5]])
    plan = plan_bins(Grid(box=BOX[:1], bins=10), X)
    np.testing.assert_array_equal(plan.index, [0, 4, 9])
    np.testing.assert_array_equal(plan.counts, [2, 1, 2])
    np.testing.assert_array_equal(plan.weights, [[0.5, 0, 0.5, 0, 0], [0, 0, 0, 0, 1], [0, 0.5, 0, 0.5, 0]])
    y = np.array([1.0, 2.0, 3.0, 4.0, 7.0])
    np.testing.assert_allclose(plan.weights @ y, [2, 7, 3])


def test_rows_of_occupied_and_empty_bins():
    plan = plan_bins(Grid(box=BOX[:1], bins=10), np.array([[0.5], [4.5]]))
    rows, occupied = plan.rows(np.array([4, 0, 9, 2]))
    np.testing.assert_array_equal(occupied, [True, True, False, False])
    np.testing.assert_array_equal(rows[:2], [1, 0])


def test_many_empty_bins_take_no_memory():
    X = np.random.default_rng(1).uniform(0, 1, (50, 6))
    plan = plan_bins(Grid(box=((0.0, 1.0),) * 6, bins=100), X)
    assert len(plan.counts) == 50
    low, high = plan.boxes[plan.members].transpose(2, 0, 1)
    assert ((low <= X) & (high > X)).all()


@pytest.mark.parametrize(("bins", "expected"), [(4, 4), ([2, 3], (2, 3)), (np.array([2, 3]), (2, 3)), (np.int64(5), 5)])
def test_bins_are_kept_as_plain_numbers(bins, expected):
    found = check_bins(bins)
    assert found == expected
    assert isinstance(found, int) or all(type(count) is int for count in found)
    assert Grid(box=BOX, bins=bins).shape == (found if isinstance(found, tuple) else (found, found))


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

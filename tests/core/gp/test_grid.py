"""Public grids, and kernels integrated over their boxes."""

from dataclasses import FrozenInstanceError
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import dblquad, nquad, quad

from dpgp_core.gp.grid import Grid, check_bins, k_FF, k_Ff, plan_bins, volumes
from dpgp_core.kernels import EQ

BOX = ((0.0, 10.0), (-1.0, 1.0))


def test_edges_belong_to_the_bin_above_and_the_last_to_the_last():
    grid = Grid(box=((0.0, 10.0),), bins=5)
    points = np.array([0.0, 2.0, np.nextafter(2.0, 0), 4.0, 8.0, 10.0])
    np.testing.assert_array_equal(grid.index(points[:, None]), [0, 1, 0, 2, 4, 4])


@pytest.mark.parametrize("count", [1, 3, 7, 10, 30, 49, 1000])
def test_every_edge_is_in_the_bin_that_begins_there(count):
    grid = Grid(box=((-74.0171, -73.9299),), bins=count)  # edges that no binary number hits
    edges = grid.edges(0)
    np.testing.assert_array_equal(grid.index(edges[:-1, None]), np.arange(count))
    assert grid.index(edges[-1:, None])[0] == count - 1


@given(
    st.lists(st.tuples(st.floats(0, 10), st.floats(-1, 1)), min_size=1, max_size=30),
    st.integers(1, 40),
    st.integers(1, 40),
)
def test_every_point_is_in_exactly_one_bin(points, across, down):
    grid, X = Grid(box=BOX, bins=(across, down)), np.array(points)
    boxes = grid.boxes(np.arange(across * down))
    above = boxes[None, :, :, 0] <= X[:, None]
    last = boxes[..., 1] == np.array(BOX)[:, 1]
    below = np.where(last, X[:, None] <= boxes[None, ..., 1], X[:, None] < boxes[None, ..., 1])
    inside = (above & below).all(axis=2)
    np.testing.assert_array_equal(inside.sum(axis=1), 1)
    np.testing.assert_array_equal(inside.argmax(axis=1), grid.index(X))


def test_boxes_fill_the_box():
    grid = Grid(box=BOX, bins=(4, 3))
    boxes = grid.boxes(np.arange(12))
    assert boxes.shape == (12, 2, 2)
    assert np.prod(boxes[..., 1] - boxes[..., 0], axis=1).sum() == pytest.approx(20)
    np.testing.assert_allclose(boxes[1], [(0, 2.5), (-1 / 3, 1 / 3)])


def test_plan_counts_and_averages():
    X = np.array([[0.5], [9.9], [0.7], [10.0], [4.5]])
    plan = plan_bins(Grid(box=BOX[:1], bins=10), X)
    np.testing.assert_array_equal(plan.index, [0, 4, 9])
    np.testing.assert_array_equal(plan.counts, [2, 1, 2])
    np.testing.assert_array_equal(plan.weights, [[0.5, 0, 0.5, 0, 0], [0, 0, 0, 0, 1], [0, 0.5, 0, 0.5, 0]])
    y = np.array([1.0, 2.0, 3.0, 4.0, 7.0])
    np.testing.assert_allclose(plan.weights @ y, [2, 7, 3])


def test_what_is_no_number_is_in_no_bin():
    with pytest.raises(ValueError, match="1 of 2 points lie outside the box"):
        Grid(box=BOX[:1], bins=10).index(np.array([[0.5], [np.nan]]))


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


def test_one_number_means_every_dimension():
    assert Grid(box=BOX, bins=3) != Grid(box=BOX, bins=(3, 3))
    assert Grid(box=BOX, bins=3).shape == Grid(box=BOX, bins=(3, 3)).shape == (3, 3)


@pytest.mark.parametrize(("bins", "expected"), [(4, 4), ([2, 3], (2, 3)), (np.array([2, 3]), (2, 3)), (np.int64(5), 5)])
def test_bins_are_kept_as_plain_numbers(bins, expected):
    found = check_bins(bins)
    assert found == expected
    assert isinstance(found, int) or all(type(count) is int for count in found)


def test_a_grid_is_frozen():
    with pytest.raises(FrozenInstanceError):
        Grid(box=BOX, bins=2).bins = 3


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

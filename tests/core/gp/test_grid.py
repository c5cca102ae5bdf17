from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp_core.gp.grid import Grid, check_bins, plan_bins

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


@pytest.mark.parametrize("bins", [0, -1, 2.0, "3", True, None, (), (3, 0), [2, 2.5], (True,), np.nan], ids=repr)
def test_bins_must_be_whole_numbers(bins):
    with pytest.raises(ValueError, match="bins must be a whole number of at least 1, or one such number"):
        check_bins(bins)


@pytest.mark.parametrize(("bins", "expected"), [(4, 4), ([2, 3], (2, 3)), (np.array([2, 3]), (2, 3)), (np.int64(5), 5)])
def test_bins_are_kept_as_plain_numbers(bins, expected):
    found = check_bins(bins)
    assert found == expected
    assert isinstance(found, int) or all(type(count) is int for count in found)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Grid(box=BOX, bins=(2, 2, 2)), "3 numbers of bins for 2 input columns; give one, or one per column"),
        (lambda: Grid(box=((1.0, 0.0),), bins=2), r"each entry of box must be \(low, high\) with low < high"),
        (lambda: Grid(box=BOX * 4, bins=1000), r"bins must be at most 1e\+12 in all, got 1e\+24; use fewer"),
        (lambda: Grid(box=BOX, bins=2).index(np.zeros((3, 1))), r"points must have shape \(n, 2\) to match the box"),
        (
            lambda: Grid(box=BOX, bins=2).index(np.array([[0, 0], [10.1, 0], [0, -2], [np.nan, 0]])),
            "3 of 4 points lie outside the box .*Leave them out, or declare a wider box",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_a_grid_is_frozen():
    with pytest.raises(FrozenInstanceError):
        Grid(box=BOX, bins=2).bins = 3

import numpy as np
import pytest

from dpgp_core.estimator.declared import columns_of, grid_of

NAMES = [f"x{number}" for number in range(10)]


def boxes(x_box, dim):
    """The sides of so many columns."""
    return [each.box for each in columns_of(NAMES[:dim], x_box, None)]


def test_one_pair_serves_all_columns():
    assert boxes((0, 2), 3) == [(0.0, 2.0)] * 3
    assert boxes([(0, 2), (1, 5)], 2) == [(0.0, 2.0), (1.0, 5.0)]
    assert boxes(("2024-01-01", "2024-12-31"), 1) == [(0.0, 365.0)]


@pytest.mark.parametrize(
    ("box", "words"),
    [([(0, 1)] * 3, "got shape"), ((1, 0), "x_box of x0"), ((0, np.inf), "finite"), ([0], "got shape")],
)
def test_a_box_that_is_none_is_refused(box, words):
    with pytest.raises(ValueError, match=words):
        boxes(box, 2)


@pytest.mark.parametrize(("dim", "places"), [(1, 65), (2, 289), (3, 512), (10, 512)])
def test_the_grid_is_spread_over_the_box(dim, places):
    """Every quarter of every side holds between a fifth and a third of the places."""
    grid = grid_of(columns_of(NAMES[:dim], [(10.0, 14.0)] * dim, None))
    assert grid.shape == (places, dim)
    assert grid.min() >= 10
    assert grid.max() <= 14
    for column in grid.T:
        shares = np.histogram(column, bins=4, range=(10, 14))[0] / places
        assert (shares > 0.2).all()
        assert (shares < 0.34).all()


def test_the_grid_has_each_level():
    grid = grid_of(columns_of(("group", "x"), (0.0, 1.0), (("a", "b", "c"), None)))
    assert grid.shape == (3 * 65, 2)
    for level in range(3):
        np.testing.assert_array_equal(grid[grid[:, 0] == level][:, 1], np.linspace(0, 1, 65))


def test_levels_are_declared_for_every_column():
    found = columns_of(("age", "sex"), (0, 9), [None, ["a", "b"]])
    assert [each.levels for each in found] == [None, ("a", "b")]
    with pytest.raises(ValueError, match="x_levels must have 2 entries"):
        columns_of(("age", "sex"), (0, 9), [["a", "b"]])

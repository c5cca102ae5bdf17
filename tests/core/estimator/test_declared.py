import numpy as np
import pytest

from dpgp_core.estimator.declared import declared_box, declared_levels, grid_of
from dpgp_core.levels import whole_box


def test_one_pair_serves_all_columns():
    assert declared_box((0, 2), 3) == ((0.0, 2.0),) * 3
    assert declared_box([(0, 2), (1, 5)], 2) == ((0.0, 2.0), (1.0, 5.0))


@pytest.mark.parametrize(
    ("box", "words"), [([(0, 1)] * 3, "got shape"), ((1, 0), "column 0"), ((0, np.inf), "finite"), ([0], "got shape")]
)
def test_a_box_that_is_none_is_refused(box, words):
    with pytest.raises(ValueError, match=words):
        declared_box(box, 2)


@pytest.mark.parametrize(("dim", "places"), [(1, 65), (2, 289), (3, 512), (10, 512)])
def test_the_grid_is_spread_over_the_box(dim, places):
    """Every quarter of every side holds between a fifth and a third of the places."""
    grid = grid_of([(10.0, 14.0)] * dim)
    assert grid.shape == (places, dim)
    assert grid.min() >= 10
    assert grid.max() <= 14
    for column in grid.T:
        shares = np.histogram(column, bins=4, range=(10, 14))[0] / places
        assert (shares > 0.2).all()
        assert (shares < 0.34).all()


def test_the_grid_has_each_level():
    box = whole_box([(0.0, 1.0)], (("a", "b", "c"), None))
    grid = grid_of(box)
    assert grid.shape == (3 * 65, 2)
    for level in range(3):
        np.testing.assert_array_equal(grid[grid[:, 0] == level][:, 1], np.linspace(0, 1, 65))


def test_levels_are_declared_for_every_column():
    assert declared_levels(("age", "sex"), [None, ["a", "b"]]) == (None, ("a", "b"))
    assert declared_levels(("age",), None) == (None,)
    with pytest.raises(ValueError, match="x_levels must have 2 entries"):
        declared_levels(("age", "sex"), [["a", "b"]])

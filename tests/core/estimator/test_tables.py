"""What an estimator takes: arrays, tables of pandas, and what is declared of them."""

import re

import numpy as np
import pytest

from dpgp_core.estimator.declared import columns_of_X, grid_of
from dpgp_core.estimator.declared import table_in_numbers as numbers_by
from tests.core.estimator.worlds import make

NAMES = [f"x{number}" for number in range(10)]


def boxes(x_box, dim):
    """The sides of so many columns."""
    return [each.box for each in columns_of_X(NAMES[:dim], x_box, None)]


def test_one_pair_serves_all_columns():
    assert boxes((0, 2), 3) == [(0.0, 2.0)] * 3
    assert boxes([(0, 2), (1, 5)], 2) == [(0.0, 2.0), (1.0, 5.0)]
    assert boxes(("2024-01-01", "2024-12-31"), 1) == [(0.0, 365.0)]
    found = columns_of_X(("age", "sex"), (0, 9), [None, ["a", "b"]])
    assert [each.levels for each in found] == [None, ("a", "b")]


@pytest.mark.parametrize(("dim", "places"), [(1, 65), (2, 289), (3, 512), (10, 512)])
def test_the_grid_is_spread_over_the_box(dim, places):
    """Every quarter of every side holds between a fifth and a third of the places."""
    grid = grid_of(columns_of_X(NAMES[:dim], [(10.0, 14.0)] * dim, None))
    assert grid.shape == (places, dim)
    assert grid.min() >= 10
    assert grid.max() <= 14
    for column in grid.T:
        shares = np.histogram(column, bins=4, range=(10, 14))[0] / places
        assert (shares > 0.2).all()
        assert (shares < 0.34).all()


def test_the_grid_has_each_category():
    grid = grid_of(columns_of_X(("group", "x"), (0.0, 1.0), (("a", "b", "c"), None)))
    assert grid.shape == (3 * 65, 2)
    for level in range(3):
        np.testing.assert_array_equal(grid[grid[:, 0] == level][:, 1], np.linspace(0, 1, 65))


# ---- Tables of pandas with categories and dates, and what is no such table.


pd = pytest.importorskip("pandas")
DAYS = ("2024-01-01", "2024-12-31")
TABLE = pd.DataFrame(
    {
        "age": [20, 30, 40],
        "sex": pd.Categorical(["w", "m", "w"]),
        "day": pd.to_datetime(["2024-01-01 00:00", "2024-02-01 08:30", "2024-12-31 00:00"]),
    }
)
LEVELS = [None, ["w", "m"], None]
BOX = [(0, 100), DAYS]


def numbers_of(table, box, levels, order=None):
    """A table as numbers, by its declaration."""
    return numbers_by(table, columns_of_X([f"x{d}" for d in range(table.shape[1])], box, levels, order))


def test_categories_become_indices_and_dates_days():
    found = numbers_of(TABLE, BOX, LEVELS)
    np.testing.assert_array_equal(found, [[20, 0, 0], [30, 1, 31], [40, 0, 365]])


def test_a_pandas_table_is_fitted_and_predicted():
    table = pd.concat([TABLE] * 10, ignore_index=True)
    model = make(x_box=BOX, x_levels=LEVELS, random_state=0).fit(table, pd.DataFrame({"y": np.ones(30)}))
    assert model.predict(TABLE).shape == (3,)
    assert list(model.feature_names_in_) == ["age", "sex", "day"]
    missing = table.assign(day=table["day"].where(table.index > 0))
    with pytest.raises(ValueError, match="X must be finite, and holds NaN, a missing value, 1 times"):
        make(x_box=BOX, x_levels=LEVELS, random_state=0).fit(missing, np.ones(30))


def test_dates_may_have_several_types():
    zoned = pd.DataFrame({"day": TABLE["day"].dt.tz_localize("Europe/Berlin")})
    np.testing.assert_array_equal(numbers_of(zoned, DAYS, None), [[0], [31], [365]])  # of the clock on the wall
    texts = pd.DataFrame({"day": ["1/01/2024", "01.02.2024", None]})
    np.testing.assert_array_equal(numbers_of(texts, DAYS, None, "day/month/year"), [[0], [31], [np.nan]])
    np.testing.assert_array_equal(numbers_of(TABLE[["day"]].to_numpy(), [DAYS], None), [[0], [31], [365]])
    with pytest.raises(ValueError, match="has no date in the order year-month-day in 2 of 3 rows; declare"):
        numbers_of(texts, DAYS, None)


def test_a_missing_category_is_not_other():
    missing = TABLE[["age", "sex"]].assign(sex=["w", None, np.nan])
    found = numbers_of(missing, [(0, 100)], [None, ["w", "other"]])
    np.testing.assert_array_equal(found, [[20, 0], [30, np.nan], [40, np.nan]])


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pd.Categorical, lambda words: pd.DataFrame({"y": words})])
def test_outcomes_may_be_words_for_yes_and_no(kind):
    words = ["Yes", "no", "no"] * 10
    model = make(x_box=(0, 100), outcome="yes/no", y_bounds=None, yes="yes", no="no", random_state=0)
    X = np.linspace(1, 99, 30)[:, None]
    same = make(x_box=(0, 100), outcome="yes/no", y_bounds=None, random_state=0).fit(X, [1.0, 0.0, 0.0] * 10)
    np.testing.assert_array_equal(model.fit(X, kind(words)).predict(X), same.predict(X))
    assert model.score(X, kind(words)) == same.score(X, [1.0, 0.0, 0.0] * 10)
    with pytest.raises(ValueError, match="y must be finite, and holds NaN, a missing value, 10 times; leave out"):
        model.fit(X, kind(["yes", "no", "invalid"] * 10))


def test_invalid_texts_are_counted_and_not_shown():
    X, ones = np.linspace(1, 99, 30)[:, None], np.ones(3)
    wrong_levels = make(x_box=BOX, x_levels=[None, ["m", "secret"], None])
    no_levels, missing = make(x_box=(0, 100)), "y must be finite, and holds NaN, a missing value, 10 times; leave out"
    for model, given, y, words in (
        (no_levels, X, ["secret", "1", 2] * 10, "y has text instead of a number in 10 of 30 cells; declare yes and no"),
        (no_levels, TABLE[["age", "sex"]], ones, "X has text instead of a number in 3 of 6 cells; declare x_levels"),
        (wrong_levels, TABLE, ones, "column 'sex' has none of its levels in 2 of 3 rows; name these"),
        (no_levels, X, pd.array([1, None, 3] * 10), missing),
        (no_levels, X, pd.array([True, None, False] * 10), missing),
        (no_levels, X, [1.0, None, 2.0] * 10, missing),
    ):
        with pytest.raises(ValueError, match=words) as refusal:
            model.fit(given, y)
        assert not re.search(r"secret|'w'", str(refusal.value))

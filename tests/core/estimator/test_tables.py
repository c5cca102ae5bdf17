"""Tables of pandas with categories and dates, and what is no such table."""

import numpy as np
import pytest

from dpgp_core.estimator.declared import columns_of
from dpgp_core.estimator.declared import numbers_of as numbers_by

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
    return numbers_by(table, columns_of([f"x{d}" for d in range(table.shape[1])], box, levels, order))


def test_categories_are_numbers_of_their_levels_and_dates_are_days():
    found = numbers_of(TABLE, BOX, LEVELS)
    np.testing.assert_array_equal(found, [[20, 0, 0], [30, 1, 31], [40, 0, 365]])


def test_what_has_numbers_alone_stays_as_it_is():
    numbers = TABLE[["age"]]
    assert numbers_of(numbers, (0, 100), None) is numbers
    array = np.zeros((2, 1))
    assert numbers_of(array, (0, 100), None) is array


def test_texts_that_are_no_level_are_counted_and_not_shown():
    with pytest.raises(ValueError, match="column 'sex' has none of its levels in 2 of 3 rows; name these") as refusal:
        numbers_of(TABLE, BOX, [None, ["m", "secret"], None])
    assert "w" not in str(refusal.value).replace("rows", "")


def test_a_table_is_fitted_and_asked_as_it_is(make):
    table = pd.concat([TABLE] * 10, ignore_index=True)
    model = make(x_box=BOX, x_levels=LEVELS, random_state=0).fit(table, pd.DataFrame({"y": np.ones(30)}))
    assert model.predict(TABLE).shape == (3,)
    assert list(model.feature_names_in_) == ["age", "sex", "day"]
    missing = table.assign(day=table["day"].where(table.index > 0))
    with pytest.raises(ValueError, match="X must be finite, and holds NaN, a missing value, 1 times"):
        make(x_box=BOX, x_levels=LEVELS, random_state=0).fit(missing, np.ones(30))


def test_dates_may_be_texts_in_a_declared_order_times_of_a_zone_or_an_array():
    zoned = pd.DataFrame({"day": TABLE["day"].dt.tz_localize("Europe/Berlin")})
    np.testing.assert_array_equal(numbers_of(zoned, DAYS, None), [[0], [31], [365]])  # of the clock on the wall
    texts = pd.DataFrame({"day": ["1/01/2024", "01.02.2024", None]})
    np.testing.assert_array_equal(numbers_of(texts, DAYS, None, "day/month/year"), [[0], [31], [np.nan]])
    np.testing.assert_array_equal(numbers_of(TABLE[["day"]].to_numpy(), [DAYS], None), [[0], [31], [365]])
    with pytest.raises(ValueError, match="has no date in the order year-month-day in 2 of 3 rows; declare"):
        numbers_of(texts, DAYS, None)


def test_a_missing_category_is_no_level_not_even_other():
    missing = TABLE[["age", "sex"]].assign(sex=["w", None, np.nan])
    found = numbers_of(missing, [(0, 100)], [None, ["w", "other"]])
    np.testing.assert_array_equal(found, [[20, 0], [30, np.nan], [40, np.nan]])


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pd.Categorical, lambda words: pd.DataFrame({"y": words})])
def test_outcomes_may_be_words_for_yes_and_no(make, kind):
    words = ["Yes", "no", "no"] * 10
    model = make(x_box=(0, 100), outcome="yes/no", y_bounds=None, yes="yes", no="no", random_state=0)
    X = np.linspace(1, 99, 30)[:, None]
    same = make(x_box=(0, 100), outcome="yes/no", y_bounds=None, random_state=0).fit(X, [1.0, 0.0, 0.0] * 10)
    np.testing.assert_array_equal(model.fit(X, kind(words)).predict(X), same.predict(X))
    assert model.score(X, kind(words)) == same.score(X, [1.0, 0.0, 0.0] * 10)
    with pytest.raises(ValueError, match="y must be finite, and holds NaN, a missing value, 10 times; leave out"):
        model.fit(X, kind(["yes", "no", "invalid"] * 10))


def test_texts_that_are_no_numbers_are_counted_and_not_shown(make):
    X = np.linspace(1, 99, 30)[:, None]
    with pytest.raises(ValueError, match="y has text instead of a number in 10 of 30 cells; declare yes and no if"):
        make(x_box=(0, 100)).fit(X, ["secret", "1", 2] * 10)
    with pytest.raises(ValueError, match="X has text instead of a number in 3 of 6 cells; declare x_levels if"):
        make(x_box=(0, 100)).fit(TABLE[["age", "sex"]], [1, 2, 3])
    for missing in (pd.array([1, None, 3] * 10), pd.array([True, None, False] * 10), [1.0, None, 2.0] * 10):
        with pytest.raises(ValueError, match="y must be finite, and holds NaN, a missing value, 10 times; leave out"):
            make(x_box=(0, 100)).fit(X, missing)

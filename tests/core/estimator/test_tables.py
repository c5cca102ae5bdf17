"""Tables of pandas with categories and dates, and what is no such table."""

import numpy as np
import pytest

from dpgp_core.estimator.declared import box_of_numbers, numbers_of

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


def test_categories_are_numbers_of_their_levels_and_dates_are_days():
    found = numbers_of(TABLE, BOX, LEVELS)
    np.testing.assert_array_equal(found, [[20, 0, 0], [30, 1, 31], [40, 0, 365]])
    assert box_of_numbers(BOX) == [(0, 100), (0.0, 365.0)]
    assert box_of_numbers(DAYS) == (0.0, 365.0)


def test_what_has_numbers_alone_stays_as_it_is():
    numbers = TABLE[["age"]]
    assert numbers_of(numbers, (0, 100), None) is numbers
    array = np.zeros((2, 1))
    assert numbers_of(array, (0, 100), None) is array
    assert box_of_numbers((0, 100)) == [0, 100]


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

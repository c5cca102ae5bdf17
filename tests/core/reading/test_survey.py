"""What each column of a table can be read as, for its owner's eyes, before anything is declared."""

import io

import pytest

from dpgp_core.reading.rows import column_names
from dpgp_core.reading.survey import order_of, survey, words_of
from dpgp_core.reading.writing import Writing

TABLE = "who,when,wage,code\nann,2020-01-01,1.5,7\n ann ,2020-01-02,SECRET,7\nbob,2020-01-03,,7\n,2020-01-04,2,7\n"


def surveyed(text, **writing):
    content, how = text.encode(), Writing(**writing)
    return survey(io.BytesIO(content), column_names(io.BytesIO(content), how), how)


def of(*cells):
    return surveyed("a;b\n" + "".join(f"{cell};1\n" for cell in cells))["a"]


def test_columns_of_numbers_and_others():
    found = surveyed(TABLE)
    assert {each.rows for each in found.values()} == {4}
    assert found["code"].as_numbers("code") == ""
    assert found["wage"].usual == 1
    assert found["wage"].as_numbers("wage") == (
        "column 'wage' has text instead of a number in line 3 of the file; declare what stands there as missing if it "
        "means that, or correct these rows"
    )
    dates = found["when"].as_numbers("when")
    assert dates == "column 'when' holds dates; say so, and it is read as dates"
    assert not any("SECRET" in str(each) for each in found.values())


@pytest.mark.parametrize(
    ("cells", "ways"),
    [
        (["1", "2"], "1234.5"),
        (["1.5", "2"], "1234.5"),
        (["1,5", "2"], "1234,5"),
        (["1,500", "2,250"], "1,234.5"),
        (["1,500.5", "2"], "1,234.5"),
        (["1.500,5", "2"], "1.234,5"),
        (["1 500,5", "2"], "1 234,5"),
        (["NA", "", "1,5"], "1234,5"),
    ],
)
def test_the_way_of_writing_numbers_that_reads_most_comes_first(cells, ways):
    column = of(*cells)
    assert column.ways[0] == ways
    assert column.as_numbers("a", ways) == ""
    if ways != "1234.5":
        assert f'written otherwise: say that they are "{ways}"' in column.as_numbers("a")


@pytest.mark.parametrize(
    ("cells", "orders"),
    [
        (["3/4/2024", "5/6/2024"], ["day/month/year", "month/day/year"]),
        (["13/4/2024", "5/6/2024"], ["day/month/year"]),
        (["4/13/2024", "4/14/2024"], ["month/day/year"]),
        (["2024-04-13T08:30:00Z", ""], ["year-month-day"]),
        (["1", "2"], []),
    ],
)
def test_the_orders_that_read_dates(cells, orders):
    column = of(*cells)
    assert [each for each in column.orders if not column.undated[each][0]] == orders
    if orders:
        assert column.as_dates("a", orders[0]) == ""
        assert column.as_dates("a", "year.month.day" if orders != ["year-month-day"] else "day.month.year")


def test_an_order_is_the_same_whatever_stands_between():
    assert [order_of(each) for each in ("day.month.year", "month-day-year", "year/month/day")] == [
        "day/month/year",
        "month/day/year",
        "year-month-day",
    ]


@pytest.mark.parametrize(
    ("cells", "codes"),
    [
        ([*range(150, 180), -999, -999], {-999: 2}),
        ([*range(150, 180), -999, -999, -998, -888, -888], {-999: 2, -998: 1, -888: 2}),
        ([*range(18, 80), 99, 99, 99], {99: 3}),
        ([*range(18, 99), 99, 99], {}),
        ([*range(4, 10), -200, -200], {-200: 2}),
        ([*range(4, 10), -200], {}),
        ([0, 1, 9, 9], {9: 0}),
        ([5.5, 6.5, "x", 7], {}),
    ],
)
def test_numbers_that_may_stand_for_missing_lie_apart(cells, codes):
    assert of(*cells).codes == {code: count for code, count in codes.items() if count}


def test_columns_of_people():
    found = surveyed(TABLE)
    assert found["who"].as_people("who") == ""
    assert (found["who"].values, found["who"].empty) == (2, 1)
    assert "all rows are one person's" in found["code"].as_people("code")
    assert "names nobody" in surveyed("a,b\n,1\n,2\n")["a"].as_people("a")


def test_columns_of_levels_and_words():
    found = surveyed("sex,many\nwoman,0\n man ,1\nSECRET,2\n,3\n" + "".join(f"man,{k}\n" for k in range(4, 1100)))
    assert found["sex"].holds_words
    assert not found["many"].holds_words
    said = found["sex"].as_levels("sex", ("woman", "man"))
    assert said.startswith("column 'sex' has none of its levels in 1 of 1,100 rows, first in line 4 of the file; name")
    assert "declare a level 'other'" in said
    assert found["sex"].as_levels("sex", ("woman", "man", "other")) == ""
    assert "in any row; write them as the file does" in found["sex"].as_levels("sex", ("Woman", "Man"))
    assert found["many"].as_levels("many", ("1", "2")).startswith("column 'many' has 1,100 different values, and 2")
    assert not any("SECRET" in str(each) for each in found.values())


def test_words_are_the_commonest_first_without_those_for_missing_and_without_numbers_where_asked():
    content = b"a,b\n1,x\nNA,x\nrefused,y\n,n/a\n-7,y\nrefused,y\n"
    assert words_of(io.BytesIO(content), "b", Writing(), 9) == ["y", "x"]
    assert words_of(io.BytesIO(content), "b", Writing(), 1) == ["y"]
    assert words_of(io.BytesIO(content), "a", Writing(), 9, numbers="1234.5") == ["refused"]


def test_a_ragged_line_is_named_and_not_shown():
    with pytest.raises(ValueError, match="line 3 has 1 fields where the header has 2") as wrong:
        surveyed("a,b\n1,2\nSECRET\n")
    assert "SECRET" not in str(wrong.value)

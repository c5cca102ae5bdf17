import pytest

from dpgp_core.dates import Dates
from dpgp_core.reading.columns import (
    Wrong,
    narrowed,
    read_number,
    reader_of_dates,
    reader_of_levels,
    reader_of_numbers,
    reader_of_yes_and_no,
    remedy_of,
)
from dpgp_core.reading.writing import Writing


@pytest.mark.parametrize(
    ("numbers", "cell", "found"),
    [
        ("1234.5", "1e3", 1000),
        ("1234.5", "1,234.5", Wrong.TEXT),
        ("1,234.5", "1,234.5", 1234.5),
        ("1,234.5", "12,5", Wrong.TEXT),
        ("1.234,5", "1.234,5", 1234.5),
        ("1.234,5", "69,5", 69.5),
        ("1.234,5", "69.5", Wrong.TEXT),
        ("1234.5", "1e999", Wrong.INFINITE),
        ("1234.5", "NaN", Wrong.EMPTY),
        ("1234.5", "", Wrong.EMPTY),
        ("1234.5", "n/a", Wrong.EMPTY),
        ("1234.5", "refused", Wrong.TEXT),
    ],
)
def test_numbers_are_read_in_the_declared_way_alone(numbers, cell, found):
    assert reader_of_numbers(Writing(numbers=numbers))(cell) == found


def test_codes_and_words_that_mean_missing_are_compared_as_text_and_as_numbers():
    read = reader_of_numbers(Writing(missing=[-999, "Refused", "99"], numbers="1.234,5"))
    assert [read(cell) for cell in ("-999", "-999,0", "-9.99", "REFUSED", "99,00", "100")] == [
        *[Wrong.EMPTY] * 2,
        Wrong.TEXT,
        *[Wrong.EMPTY] * 2,
        100.0,
    ]


def test_yes_and_no_are_the_declared_words_and_all_others_are_missing():
    read = reader_of_yes_and_no(Writing(yes=["Yes", 1], no="no"))
    assert [read(cell) for cell in ("yes", "YES", "1.0", "No", "0", "", "perhaps")] == [
        *[1.0] * 3,
        0.0,
        Wrong.NEITHER,
        Wrong.EMPTY,
        Wrong.NEITHER,
    ]


def test_dates_are_read_in_the_declared_order_and_what_else_they_are_is_told_apart():
    read = reader_of_dates(Dates(name="day", first="2024-01-01", format="day/month/year"), Writing(missing=[]))
    cells = ("31/1/2024", "31.01.2024 08:30", "", "31/31/2024", "2024-01-31", "1/31/2024", "73", "soon")
    assert [read(cell) for cell in cells] == [
        30.0,
        30.0,
        Wrong.EMPTY,
        Wrong.CALENDAR,
        Wrong.ORDER,
        Wrong.ORDER,
        Wrong.NUMBER,
        Wrong.NO_DATE,
    ]


def test_a_declared_level_is_one_whatever_else_it_might_mean():
    read = reader_of_levels(("none", "some"), Writing(missing=["some"]))
    assert [read(cell) for cell in ("none", "some", "NA", "any")] == [0.0, 1.0, Wrong.EMPTY, Wrong.LEVEL]
    other = reader_of_levels(("a", "other"), Writing())
    assert [other(cell) for cell in ("a", "b", "")] == [0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("cell", "wrong"), [("2024-03-01", Wrong.DATE), ("1,5", Wrong.WRITTEN), ("tall", Wrong.TEXT), ("1_000", Wrong.TEXT)]
)
def test_text_is_looked_at_more_closely(cell, wrong):
    assert narrowed(Wrong.TEXT, cell) is wrong
    assert narrowed(Wrong.EMPTY, cell) is Wrong.EMPTY


def test_a_remedy_serves_all_cells():
    assert remedy_of(Wrong.WRITTEN, {"1,5", "1.234,5"}, 0.1, "a") == 'declare numbers "1.234,5"'
    assert "write all numbers in one way" in remedy_of(Wrong.WRITTEN, {"1.5,5", "1,5"}, 0.1, "a")
    assert remedy_of(Wrong.ORDER, {"3/4/2024", "13/4/2024"}, 0.1, "a") == 'declare date_order "day/month/year"'
    assert "in one order" in remedy_of(Wrong.ORDER, {"4/13/2024", "13/4/2024"}, 0.1, "a")
    assert "declare its levels" in remedy_of(Wrong.TEXT, {"x"}, 0.9, "a")
    assert "declare what stands there as missing" in remedy_of(Wrong.TEXT, {"x"}, 0.1, "a")


@pytest.mark.parametrize("cell", ["", "nan", "inf", "secret", "1,5", "1_0"])
def test_a_number_of_a_public_file_is_plain_or_refused_without_the_cell(cell):
    with pytest.raises(ValueError, match=r"column 'a' has .* in line 3 of the file") as caught:
        read_number(cell, "a", 3)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None
    assert read_number("1e3", "a", 3) == 1000


def test_years_of_two_digits_that_may_come_first_have_a_remedy_that_works():
    read = reader_of_dates(Dates(name="day", first="2019-01-01"), Writing())
    for cells, wrong, said in (
        ({"24-03-01", "24-04-30"}, Wrong.ORDER, 'declare date_order "day/month/year" if the day comes first, or write'),
        ({"99-03-31", "98-12-01"}, Wrong.CALENDAR, "write years that come first with four digits, as 2024-03-31"),
        ({"31-03-99", "24-04-30"}, Wrong.ORDER, 'declare date_order "day/month/year"'),
    ):
        assert {read(cell) for cell in cells} == {wrong}
        assert remedy_of(wrong, cells, 0.9, "day").startswith(said)
        assert remedy_of(wrong, cells, 0.9, "day").endswith("four digits, as 2024-03-31") == ("write" in said)
    assert isinstance(read("2024-03-01"), float)

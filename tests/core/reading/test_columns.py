"""Cells and named columns as numbers: each is read in the declared way, or counted and refused."""

import io

import numpy as np
import pytest

from dpgp_core.dates import Dates
from dpgp_core.reading import columns as module
from dpgp_core.reading.columns import (
    read_columns,
    read_number,
    reader_of_dates,
    reader_of_levels,
    reader_of_numbers,
    reader_of_yes_and_no,
)
from dpgp_core.reading.faults import Fault, remedy_of
from dpgp_core.reading.writing import Writing
from dpgp_core.table import Column


def read(content, columns=("age", "height"), max_rows=10, **more):
    content = content if isinstance(content, bytes) else content.encode()
    inputs = [Column(name=each, box=(0, 9)) if isinstance(each, str) else each for each in columns[:-1]]
    return read_columns(io.BytesIO(content), inputs, columns[-1], max_rows=max_rows, **more)


def test_dates_categories_and_numbers_are_read_together():
    found = read(
        "day;sex;wage\n2/1/2024;w;1,5\n3/1/2024;m;2\n",
        [
            Column(name="day", box=(0, 9), dates=Dates(name="day", first="2024-01-01", format="day/month/year")),
            Column(name="sex", levels=("w", "m")),
            "wage",
        ],
        writing=Writing(numbers="1234,5"),
    )
    np.testing.assert_array_equal(found.values, [[1, 0, 1.5], [2, 1, 2]])


@pytest.mark.parametrize("cell", ["", "NA", "n/a", "NaN", "Unknown", "-999", "refused"])
def test_incomplete_rows_are_left_out_if_declared(cell):
    content = f"age,height,note\n1,150,\n2,{cell},\n3,170,NA\n4,{cell},\n"
    found = read(content, writing=Writing(missing=[-999, "refused"]))
    np.testing.assert_array_equal(found.values, [[1, 150], [3, 170]])
    assert found.left_out == 2
    if cell != "-999":
        with pytest.raises(ValueError, match="in 2 of 4 rows, first in line 3 of the file; declare") as caught:
            read(content)
        assert "refused" not in str(caught.value)


def test_a_missing_yes_no_outcome_needs_no_declaration():
    content = "age,height\n1,yes\n2,invalid\n3,\n4,no\n"
    found = read(content, writing=Writing(yes="yes", no="no"))
    np.testing.assert_array_equal(found.values, [[1, 1], [4, 0]])
    assert found.left_out == 2
    with pytest.raises(ValueError, match="column 'age' has no value in line 3"):
        read(content.replace("2,", ","), writing=Writing(yes="yes", no="no"))


def test_people_without_a_complete_row_are_counted():
    content = "who,age,height\nAnn,1,70\nBo,2,\nAnn,3,\nBo,4,\n,5,80\nCy,6,90\n"
    with pytest.raises(ValueError, match="column 'height' has no value in 3 of 6 rows, first in line 3"):
        read(content, person="who")
    found = read(content, person="who", writing=Writing(missing=[]))
    np.testing.assert_array_equal(found.values, [[1, 70, 0], [6, 90, 2]])
    assert found.left_out == 1
    with pytest.raises(ValueError, match="column 'who' has no name, so nobody knows whose row it is, in line 6"):
        read("who,age,height\n" + "Ann,1,2\n" * 4 + ",1,2\n", person="who")


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (
            ["1,5"] * 3,
            'a number that is written otherwise in 3 of 9 rows, first in line 8 of the file; declare numbers "1',
        ),
        (
            ["1/2/2024"] * 2,
            "a date instead of a number in 2 of 9 rows, first in line 9 of the file; declare 'age' a date",
        ),
        (
            ["SECRET"],
            'text instead of a number in line 10 of the file; declare "ignore": .10. if they are no rows, declare',
        ),
        (["SECRET"] * 6, "text instead of a number in 6 of 9 rows, first in line 5 of the file; declare its levels if"),
        (["1e999"], "an infinite value in line 10 of the file"),
    ],
)
def test_a_refusal_has_one_remedy_for_all_rows(cells, said):
    ages = [*map(str, range(9 - len(cells))), *cells]
    content = "age;height\n" + "".join(f"{age};1\n" for age in ages)
    with pytest.raises(ValueError, match=f"^column 'age' has {said}") as caught:
        read(content)
    assert "SECRET" not in str(caught.value)
    assert caught.value.__context__ is None


def test_what_concerns_most_rows_is_said_first():
    content = "age,height\n" + "x,1\n" * 3 + "1,\n" * 5 + "1,1\n" * 9
    with pytest.raises(ValueError, match=r"^column 'height' has no value in 5 of 17 rows"):
        read(content, max_rows=99)


def test_at_most_a_thousand_cells_are_examined(monkeypatch):
    looked = []
    monkeypatch.setattr(module, "narrowed", lambda wrong, cell: looked.append(cell) or wrong)
    with pytest.raises(ValueError, match="in 3,000 of 3,000 rows"):
        read("age,height\n" + "x,1\n" * 3_000)
    assert len(looked) <= module._LOOKED_AT + 1


def test_the_limit_of_rows_is_for_complete_ones():
    content = b"age,height\n" + b"1,\n" * 20 + b"1,2\n" * 10
    assert len(read(content, writing=Writing(missing=[])).values) == 10
    with pytest.raises(ValueError, match="more than 9 rows, the limit"):
        read(content, writing=Writing(missing=[]), max_rows=9)
    with pytest.raises(ValueError, match="1 of 2 rows have a value in every column that is used"):
        read(b"age,height\n1,2\n3,\n", writing=Writing(missing=[]))


def test_missing_codes_match_as_text_and_number():
    read = reader_of_numbers(Writing(missing=[-999, "Refused", "99"], numbers="1.234,5"))
    assert [read(cell) for cell in ("-999", "-999,0", "-9.99", "REFUSED", "99,00", "100")] == [
        *[Fault.EMPTY] * 2,
        Fault.TEXT,
        *[Fault.EMPTY] * 2,
        100.0,
    ]


def test_undeclared_words_in_yes_no_are_missing():
    read = reader_of_yes_and_no(Writing(yes=["Yes", 1], no="no"))
    assert [read(cell) for cell in ("yes", "YES", "1.0", "No", "0", "", "perhaps")] == [
        *[1.0] * 3,
        0.0,
        Fault.NEITHER,
        Fault.EMPTY,
        Fault.NEITHER,
    ]


def test_a_day_declared_missing_is_missing():
    read = reader_of_dates(Dates(name="day", first="1899-01-01"), Writing(missing=["1900-01-01"]))
    assert [read(cell) for cell in ("1900-01-01", "1899-01-03")] == [Fault.EMPTY, 2.0]


def test_declared_categories_take_precedence():
    read = reader_of_levels(("none", "some"), Writing(missing=["some"]))
    assert [read(cell) for cell in ("none", "some", "NA", "any")] == [0.0, 1.0, Fault.EMPTY, Fault.LEVEL]
    other = reader_of_levels(("a", "other"), Writing())
    assert [other(cell) for cell in ("a", "b", "")] == [0.0, 1.0, 1.0]
    lacking = reader_of_levels(("a", "other"), Writing(missing=[]))
    assert [lacking(cell) for cell in ("a", "b", "", "NA")] == [0.0, 1.0, Fault.EMPTY, Fault.EMPTY]


def test_a_remedy_serves_all_cells():
    assert remedy_of(Fault.WRITTEN, {"1,5", "1.234,5"}, 0.1, "a") == 'declare numbers "1.234,5"'
    assert "write all numbers in one way" in remedy_of(Fault.WRITTEN, {"1.5,5", "1,5"}, 0.1, "a")
    assert remedy_of(Fault.ORDER, {"3/4/2024", "13/4/2024"}, 0.1, "a") == 'declare date_order "day/month/year"'
    assert "in one order" in remedy_of(Fault.ORDER, {"4/13/2024", "13/4/2024"}, 0.1, "a")
    assert "declare its levels" in remedy_of(Fault.TEXT, {"x"}, 0.9, "a")
    assert "declare these cells as missing" in remedy_of(Fault.TEXT, {"x"}, 0.1, "a")


@pytest.mark.parametrize("cell", ["", "nan", "inf", "secret", "1,5", "1_0"])
def test_public_numbers_are_plain_or_refused(cell):
    with pytest.raises(ValueError, match=r"column 'a' has .* in line 3 of the file") as caught:
        read_number(cell, "a", 3)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None
    assert read_number("1e3", "a", 3) == 1000


def test_two_digit_years_have_a_working_remedy():
    read = reader_of_dates(Dates(name="day", first="2019-01-01"), Writing())
    for cells, wrong, said in (
        ({"24-03-01", "24-04-30"}, Fault.ORDER, 'declare date_order "day/month/year" if the day comes first, or write'),
        ({"99-03-31", "98-12-01"}, Fault.CALENDAR, "write years that come first with four digits, as 2024-03-31"),
        ({"31-03-99", "24-04-30"}, Fault.ORDER, 'declare date_order "day/month/year"'),
    ):
        assert {read(cell) for cell in cells} == {wrong}
        assert remedy_of(wrong, cells, 0.9, "day").startswith(said)
        assert remedy_of(wrong, cells, 0.9, "day").endswith("four digits, as 2024-03-31") == ("write" in said)
    assert isinstance(read("2024-03-01"), float)

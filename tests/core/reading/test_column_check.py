import io

import pytest

from dpgp_core.reading.column_check import column_problem

TABLE = b"day,visits,ward,day_first\n1973-01-05,12,a,5.1.1973\n1973-01-06,9,b,6.1.1973\n1973-01-07,11,a,7.1.1973\n"


def problem(column, kind, table=TABLE, **more):
    return column_problem(io.BytesIO(table), column, kind, **more)


@pytest.mark.parametrize(
    ("column", "kind", "more"),
    [
        ("visits", "number", {}),
        ("day", "date", {}),
        ("day_first", "date", {"date_format": "day.month.year"}),
        ("ward", "category", {}),
        ("visits", "category", {}),
    ],
)
def test_a_column_that_is_what_it_is_declared_to_be_has_no_problem(column, kind, more):
    assert problem(column, kind, **more) is None


@pytest.mark.parametrize(
    ("column", "kind", "said"),
    [
        ("day", "number", "column 'day' has a date instead of a number in line 2 of the file; declare 'day' a date"),
        ("day_first", "number", "column 'day_first' has a date instead of a number in line 2"),
        ("day_first", "date", "a date written like 01.03.2024 in line 2 of the file; declare dates as day.month.year"),
        ("visits", "date", "a number instead of a date in line 2 of the file; declare the column a number"),
        ("ward", "number", "text instead of a number in line 2"),
        ("ward", "date", "text instead of a date in line 2"),
        ("street", "date", "the file has no column 'street'"),
    ],
)
def test_the_first_thing_that_is_wrong_is_said_with_its_remedy_and_no_cell(column, kind, said):
    found = problem(column, kind)
    assert said in found
    assert "1973" not in found


def test_a_category_has_no_empty_cell_and_at_most_twenty_levels():
    rows = "".join(f"{k % 21},x\n" for k in range(60))
    assert "more than 20 different entries by line 22" in problem("g", "category", f"g,h\n{rows}".encode())
    assert "an empty cell in line 3 of the file; write a level there" in problem("g", "category", b"g,h\na,1\n ,1\n")


def test_what_is_wrong_with_the_table_is_said_too():
    assert "line 2 has 1 fields where the header has 2" in problem("g", "number", b"g,h\n1\n")


def test_unknown_kinds_are_refused():
    with pytest.raises(ValueError, match="kind must be number, date or category, got 'text'"):
        problem("day", "text")

import pytest

from dpgp_core.dates import Dates
from dpgp_core.reading.cell import as_float, read_number, readers_of
from dpgp_core.reading.dialect import COMMA, DIALECTS


@pytest.mark.parametrize(("cell", "decimal"), [("2024-03-01", "."), ("1.3.2024", "."), ("1.3.2024", ",")])
def test_a_date_is_no_number_and_the_remedy_is_to_declare_it_one(cell, decimal):
    said = "column 'day' has a date instead of a number in line 3 of the file; declare 'day' a date"
    with pytest.raises(ValueError, match=said) as caught:
        read_number(cell, "day", 3, decimal)
    assert cell not in str(caught.value)
    assert caught.value.__context__ is None


def test_columns_are_numbers_unless_something_else_is_said():
    readers = readers_of(["n", "day"], [Dates(name="day", first="2024-01-01")], COMMA)
    assert [read(cell, "", 2) for read, cell in zip(readers, ("1.5", "2024-01-31"), strict=True)] == [1.5, 30.0]
    assert readers_of(["n"], [], DIALECTS["semicolon"])[0]("1,5", "", 2) == 1.5


def test_text_is_no_float():
    assert as_float("1e3") == 1000
    assert as_float("ten") is None

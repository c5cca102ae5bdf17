"""What may be declared of a table's writing, and what the first line says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp_core.reading.writing import (
    KEYS,
    MOST_WORDS,
    NUMBERS,
    Writing,
    as_number,
    separator_of,
    ways_of,
    writing_to_object,
)


@pytest.mark.parametrize(
    ("cell", "numbers", "value"),
    [
        ("1,234,567.5", "1,234.5", 1234567.5),
        ("1,23,456", "1,234.5", 123456),
        ("1234567.5", "1,234.5", 1234567.5),
        ("-1.234,50", "1.234,5", -1234.5),
        ("1 234,5", "1 234,5", 1234.5),
        ("1\u202f234\u00a0567,5", "1 234,5", 1234567.5),
        ("1’234.5", "1'234.5", 1234.5),
        ("$1,234", "1,234.5", 1234),
        ("-$5", "1234.5", -5),
        ("12,5 %", "1234,5", 12.5),
        ("\u22125", "1234.5", -5),
        (" 7 ", "1.234,5", 7),
        ("1,5e3", "1234,5", 1500),
        (".5", "1,234.5", 0.5),
        ("12,34", "1,234.5", None),
        ("1.2.3", "1.234,5", None),
        ("1,2,3", "1234,5", None),
        ("1_000", "1,234.5", None),
        ("١٢", "1234.5", None),
        ("$", "1234.5", None),
        ("", "1,234.5", None),
        (".", "1,234.5", None),
        ("1 2", "1234.5", None),
    ],
)
def test_numbers_are_read_as_they_are_declared_to_be_written(cell, numbers, value):
    assert as_number(cell, numbers) == value


@given(st.floats(-1e9, 1e9).map(lambda value: round(value, 2)))
def test_every_number_comes_back_from_every_way_of_writing_it(value):
    for way, (group, decimal) in NUMBERS.items():
        written = f"{value:,.2f}".replace(",", "_").replace(".", decimal).replace("_", group)
        assert as_number(written, way) == value
        assert way in ways_of(written)


@pytest.mark.parametrize(
    ("line", "separator"),
    [
        ("a;b;c", ";"),
        ("a,b", ","),
        ("a\tb c", "\t"),
        ("a|b", "|"),
        ('"a,b";"c,d";e', ";"),
        ("size, in m;age", ";"),
        ("age  height", " "),
        ("'age'", ","),
        ("", ","),
    ],
)
def test_the_first_line_says_what_separates(line, separator):
    assert separator_of(line) == separator


def test_what_is_declared_is_kept_as_one_spelling_and_goes_to_a_file():
    writing = Writing(separator="semicolon", encoding="Windows-1252", yes="Yes", no=["n", 0], missing=[])
    assert (writing.separator, writing.encoding, writing.yes, writing.no) == (";", "cp1252", ("Yes",), ("n", 0.0))
    assert set(writing_to_object(writing)) == set(KEYS)
    assert Writing(**writing_to_object(writing)) == writing
    assert Writing(date_order="iso").date_order == "year-month-day"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"separator": "."}, "separator must be one of comma .*; got '.'"),
        ({"separator": 3}, "separator must be one of"),
        ({"numbers": "1/2"}, "numbers must be one of 1234.5, 1,234.5"),
        ({"encoding": "rot13"}, "encoding must be one of utf-8"),
        ({"encoding": 8}, "encoding must be one of"),
        ({"missing": {"a": 1}}, "missing must be a list"),
        ({"missing": [True]}, "each entry of missing must be a number"),
        ({"missing": [float("nan")]}, "each entry of missing must be a finite number"),
        ({"missing": ["a\nb"]}, "each entry of missing must be one line"),
        ({"missing": ["a"] * (MOST_WORDS + 1)}, "missing has 51 entries, more than 50"),
        ({"yes": "yes"}, "yes and no must both be declared"),
        ({"yes": "A", "no": "a"}, "no word may mean both"),
        ({"yes": 1, "no": "1.0"}, "no word may mean both"),
        ({"yes": [], "no": ["no"]}, "must each name a word"),
        ({"date_order": "year"}, "date_order must be one of year-month-day, day/month/year"),
    ],
)
def test_what_cannot_be_declared_is_refused_with_what_can(changes, said):
    with pytest.raises(ValueError, match=said):
        Writing(**changes)

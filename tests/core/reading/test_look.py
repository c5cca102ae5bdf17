"""What could be declared of a table, for its owner's eyes."""

import io

import pytest

from dpgp_core.reading.look import described, look, numbers_of, order_of_dates, proposal, usual_delta, yes_and_no
from dpgp_core.reading.writing import Writing
from tests.kinds import KINDS

MIXED = b"id;born;sex;wage;note\n" + b"".join(
    f"{i};{i % 28 + 1}/02/19{50 + i % 40};{'wm'[i % 2]};{1000 + i},5;free text {i}\n".encode() for i in range(60)
)


def test_outcome_and_input_are_proposed_where_none_is_named():
    found, columns = proposal(io.BytesIO(MIXED))
    assert (found["x"], found["y"], found["numbers"], found["date_order"]) == (
        ["born"],
        "wage",
        "1234,5",
        "day/month/year",
    )
    assert (found["x_box"], found["y_bounds"], found["missing"]) == (None, None, None)
    assert columns[1] == "born: dates, day/month/year"
    assert columns[-1] == "note: 60 different words"


def test_words_of_an_input_are_its_levels():
    found, _ = proposal(io.BytesIO(MIXED), ["born", "sex"], "wage")
    assert (found["x_levels"], found["grid"]) == ([None, ["m", "w"]], [51, None])


def test_columns_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="no column 'size' of its own; its columns are: 'id', 'born', 'sex', 'wage'"):
        proposal(io.BytesIO(MIXED), ["size"])


def test_an_encoding_is_tried_where_utf_8_fails():
    assert look(io.BytesIO("größe,b\n1,2\n3,4\n".encode("cp1252"))).writing.encoding == "cp1252"
    assert look(io.BytesIO(b"a\x81,b\n1,2\n3,4\n")).writing.encoding == "latin-1"
    assert look(io.BytesIO("größe,b\n1,2\n".encode("utf-16"))).writing.encoding == "utf-16"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["no", "yes"], ("yes", "no")),
        (["negative", "positive", "invalid"], ("positive", "negative")),
        (["TRUE", "FALSE"], ("TRUE", "FALSE")),
        (["survived", "no"], ("survived", "no")),
        (["died", "survived"], (None, None)),
        (["1", "2"], ("1", "2")),
        ([], (None, None)),
    ],
)
def test_which_words_may_mean_yes_and_no(words, found):
    assert yes_and_no(words) == found


def test_what_reads_most_columns_is_proposed():
    columns = look(io.BytesIO(b"a;b;c;d\n1,5;1;3/4/2024;x\n2;2;13/4/2024;y\n")).columns
    assert numbers_of([*columns.values()]) == "1234,5"
    assert numbers_of([columns["b"]]) == "1234.5"
    assert order_of_dates([*columns.values()]) == "day/month/year"
    assert order_of_dates([columns["a"]]) is None
    assert described(columns["d"]) == "2 different words"


def test_what_may_mean_missing_is_counted():
    columns = look(io.BytesIO(KINDS["codes for missing"].content)).columns
    assert described(columns["height"]) == "numbers; -999 in 10 rows may mean missing"
    columns = look(io.BytesIO(KINDS["words for missing"].content)).columns
    assert described(columns["height"]) == "numbers; 10 of 60 rows lack a value"


@pytest.mark.parametrize(("rows", "delta"), [(60, 1e-5), (10**4, 1e-5), (10**5, 1e-6), (0, 1e-5)])
def test_delta_is_below_a_tenth_of_one_in_n(rows, delta):
    assert usual_delta(rows) == pytest.approx(delta)
    assert Writing().numbers == "1234.5"

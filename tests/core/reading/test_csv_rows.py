import io

import pytest

from dpgp_core.reading.look import proposal
from dpgp_core.reading.rows import MAX_COLUMNS, MOST_ABOVE, as_written, column_names, opened, read_rows
from dpgp_core.reading.writing import Writing

GOOD = b"age,height\n1,150\n2,160\n"


def rows_of(content, **writing):
    _, rows = opened(io.BytesIO(content), Writing(**writing))
    return list(rows)


def test_rows_have_the_numbers_of_their_lines_and_no_spaces_around_fields():
    assert rows_of(b'a,b\n1, "x\ny"\n\n 2 ,z\n') == [(3, ["1", "x\ny"]), (5, ["2", "z"])]
    assert next(row for _, row in read_rows(io.BytesIO(GOOD))) == ["age", "height"]


@pytest.mark.parametrize("tail", [b"", b"\n\n", b",,\n" * 20, b" , \n", b"\r\n\r\n"])
def test_empty_rows_are_none(tail):
    assert len(rows_of(GOOD + tail)) == 2


def test_empty_fields_beyond_the_header_are_none_and_nameless_ones_may_be_left_out():
    assert rows_of(b"a,b\n1,2,,\n3,4\n") == [(2, ["1", "2"]), (3, ["3", "4"])]
    assert rows_of(b"a,b,,\n1,2\n3,4,,x\n") == [(2, ["1", "2", "", ""]), (3, ["3", "4", "", "x"])]


def test_a_hint_for_spreadsheets_says_the_separator_unless_something_else_is_declared():
    assert rows_of(b"sep=;\na;b\n1,5;2\n") == [(3, ["1,5", "2"])]
    assert rows_of(b"sep=;\na,b\n1,2\n", separator=",") == [(3, ["1", "2"])]


def test_runs_of_spaces_separate_where_nothing_else_does():
    assert rows_of(b"a   b\n 1  2 \n3 4\n") == [(2, ["1", "2"]), (3, ["3", "4"])]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b"a,b\n1,2\n3,4,SECRET\n",
            '^line 3 has 3 fields where the header has 2; declare "ignore": .3. if they are no rows, or quote',
        ),
        (b"a,b\n1,2\nSECRET\n4,5\n6\n", '^line 3 has 1 fields where .*: 2 of 4 rows; declare "ignore": .3, 5. if'),
        (b"a,b\n1,2,SECRET\n3,4,5\n", "^line 2 has 3 fields where .*: 2 of 2 rows; declare the separator"),
    ],
)
def test_rows_of_another_width_are_counted_to_the_end_and_not_shown(content, said):
    with pytest.raises(ValueError, match=said) as caught:
        rows_of(content)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("content", [b'a,b\n"SECRET', b'a,b\n"1"SECRET,2\n'])
def test_quotes_that_do_not_end_are_named_by_their_line(content):
    with pytest.raises(ValueError, match="not valid CSV at line 2") as caught:
        rows_of(content)
    assert "SECRET" not in str(caught.value)
    assert caught.value.__context__ is None


def test_only_columns_that_are_used_need_a_name_of_their_own():
    header, _ = opened(io.BytesIO(b",age,note,note,wage\n"))
    assert header.positions(["wage", "age"]) == [4, 1]
    with pytest.raises(ValueError, match="columns 3 and 4 of the file have the same name: 'note'; rename all but"):
        header.positions(["note"])
    with pytest.raises(ValueError, match="the file has no column 'size'; its comma-separated columns are: '', 'age'"):
        header.positions(["size"])
    assert column_names(io.BytesIO(b",age,note,note,wage\n")) == ["age", "wage"]


@pytest.mark.parametrize(
    "first", [b"73.91,Ada", b"age,7391", b"nan,height", b"Ada,1e5", b"Ada,1973-09-01", b"1.9.1973,Ada", b"9/1/73,Ada"]
)
def test_a_header_that_may_be_a_record_is_not_shown(first):
    with pytest.raises(ValueError, match=r"holds numbers or dates, so it may be a record\. Add a line of") as caught:
        column_names(io.BytesIO(first + b"\n1,2\n"))
    header, _ = opened(io.BytesIO(first + b"\n1,2\n"))
    with pytest.raises(ValueError, match=r"no column 'size'; .* not shown") as other:
        header.positions(["size"])
    for error in (caught, other):
        assert "Ada" not in str(error.value)
        assert "73" not in str(error.value)


def test_too_many_columns_are_refused_at_once():
    header = ",".join(["age", "height", *map(str, range(100_000))]).encode()
    with pytest.raises(ValueError, match="the file has 100002 columns, more than 1000, the limit"):
        rows_of(header + b"\n")
    assert len(rows_of(b",".join([b"a"] * MAX_COLUMNS) + b"\n")) == 0


def test_a_long_line_of_names_is_cut_short():
    header, _ = opened(io.BytesIO(",".join(f"column number {k}" for k in range(500)).encode()))
    with pytest.raises(ValueError, match="no column 'age'") as caught:
        header.positions(["age"])
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("content", [b"", b"\n\n", b",,\n", b"  "])
def test_a_file_without_a_header_is_empty(content):
    with pytest.raises(ValueError, match="the file is empty; it needs a header line"):
        opened(io.BytesIO(content))


@pytest.mark.parametrize(
    ("content", "declared", "separator", "encoding"),
    [
        (b"a;b\n", {}, ";", None),
        (b"a;b\n", {"separator": ","}, ",", None),
        ("a\tb\n".encode("utf-16"), {}, "\t", "utf-16"),
        ("a,b\n".encode("utf-8-sig"), {"encoding": "cp1252"}, ",", "utf-8"),
        (b"a,\xe9\n", {"encoding": "cp1252"}, ",", "cp1252"),
    ],
)
def test_what_the_first_line_says_completes_what_is_declared(content, declared, separator, encoding):
    stream = io.BytesIO(b"before" + content)
    stream.seek(6)
    found = as_written(stream, Writing(**declared))
    assert (found.separator, found.encoding) == (separator, encoding)
    assert stream.tell() == 6


def test_rows_far_down_have_the_numbers_of_their_lines():
    assert rows_of(b"a,b\n1,2\n" + b"\n" * 300_000 + b"3,4\n") == [(2, ["1", "2"]), (300_003, ["3", "4"])]
    assert rows_of(b"\n" * MOST_ABOVE + b"a,b\n1,2\n") == [(MOST_ABOVE + 2, ["1", "2"])]
    with pytest.raises(ValueError, match="the first 100,000 lines of the file hold nothing; remove them"):
        rows_of(b"\n" * (MOST_ABOVE + 1) + b"a,b\n1,2\n")


def test_a_message_repeats_60_letters_of_a_strangers_name_and_300_of_all():
    names = [letter * 59 for letter in "abcdefghi"] + ["j" * 5_000]
    with pytest.raises(ValueError, match="the file has no column 'age'") as caught:
        opened(io.BytesIO((",".join(names[::-1]) + "\n").encode()))[0].positions(["age"])
    shown = str(caught.value).split("columns are: ")[1]
    assert shown.startswith(f"{repr('j' * 5_000)[:56]} ..., {repr('i' * 59)[:56]} ..., 'hhh")
    assert len(shown) == 300
    with pytest.raises(ValueError, match="no column 'age' of its own") as caught:
        proposal(io.BytesIO(b"b,height\n1,150\n2,160\n".replace(b"b", b"b" * 5_000)), x=["age"])
    assert f"{repr('b' * 5_000)[:56]} ..., 'height'" in str(caught.value)
    assert len(str(caught.value)) < 200


def test_rows_behind_a_quote_that_opens_in_the_line_of_names_are_not_shown():
    swallowed = b'age,"height\n77,160.4\n63,171.9"\n1,2\n3,4\n'
    said = "columns are: not shown, because they go over 3 lines and hold numbers or dates. If rows stand there, remove"
    for asked in (
        lambda: opened(io.BytesIO(swallowed))[0].positions(["height"]),
        lambda: proposal(io.BytesIO(swallowed), y="height"),
    ):
        with pytest.raises(ValueError, match=said) as caught:
            asked()
        assert "160" not in str(caught.value)
    with pytest.raises(ValueError, match=r"columns are: 'age', 'height \[cm\]'"):
        opened(io.BytesIO(swallowed.replace(b"77,160.4\n63,171.9", b"[cm]")))[0].positions(["height"])

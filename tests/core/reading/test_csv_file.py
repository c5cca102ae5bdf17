import io
import traceback

import numpy as np
import pytest

from dpgp_core.reading import csv_file
from dpgp_core.reading.csv_file import read_csv
from tests.core.reading.test_csv_table import read_dataset

GOOD = b"age,weight,height,note\n10,30.5,140,anna\n20,50,160,bea\n30,55,150,cleo\n"
DECLARED = {"x": ["age"], "y": "height", "y_bounds": (50, 200), "x_box": [(0, 100)]}


def read(content, **changes):
    return read_csv(io.BytesIO(content), **{**DECLARED, **changes})


def test_reads_the_named_columns_in_the_order_given():
    data = read(GOOD, x=["weight", "age"], x_box=[(0, 90), (0, 100)], x_units=["kg", "years"], y_unit="cm")
    np.testing.assert_array_equal(data.X, [[30.5, 10], [50, 20], [55, 30]])
    np.testing.assert_array_equal(data.y, [140, 160, 150])
    assert (data.x_names, data.x_units) == (("weight", "age"), ("kg", "years"))
    assert (data.y_name, data.y_unit, data.name, data.privacy_unit) == ("height", "cm", "your data", "one record")
    assert (data.y_bounds, data.x_box) == ((50, 200), ((0, 90), (0, 100)))
    assert not data.simulated


@pytest.mark.parametrize("kind", [str, lambda path: path], ids=["str", "Path"])
def test_reads_a_path(kind, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes(GOOD)
    np.testing.assert_array_equal(read_csv(kind(path), **DECLARED).y, [140, 160, 150])


def test_a_file_object_is_not_closed():
    stream = io.BytesIO(GOOD)
    read_csv(stream, **DECLARED)
    assert not stream.closed


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + GOOD,
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.rstrip(b"\n"),
        GOOD + b"\n\n",
        GOOD.replace(b"age,weight,height", b" age , weight, height "),
        GOOD.replace(b"anna", b'"anna, ""the first""\nof two lines"'),
        GOOD.replace(b"10,30.5", b" 1e1 ,text is welcome in a column that is not asked for"),
    ],
    ids=["byte order mark", "Windows", "no last newline", "blank lines", "padded names", "quoted text", "other text"],
)
def test_harmless_variants_read_the_same(content):
    data = read(content)
    np.testing.assert_array_equal(data.X[:, 0], [10, 20, 30])
    np.testing.assert_array_equal(data.y, [140, 160, 150])


def test_outputs_beyond_the_bounds_are_clipped_and_counted():
    data = read(GOOD, y_bounds=(145, 155))
    assert data.clipped_count == 2
    np.testing.assert_array_equal(data.clipped_y, [145, 155, 150])
    np.testing.assert_array_equal(data.y, [140, 160, 150])


def test_inputs_on_the_edge_of_the_box_are_inside():
    assert read(GOOD, x_box=[(10, 30)]).n == 3


def test_equal_outputs_are_accepted():
    assert read(b"age,height\n1,5\n2,5\n", y_bounds=(0, 9)).n == 2  # refusing would tell about y


def test_bounds_and_box_have_no_default():
    with pytest.raises(TypeError, match=r"y_bounds.*x_box"):
        read_csv(io.BytesIO(GOOD), x=["age"], y="height")


def test_declared_public_values_do_not_move_with_y():
    one, other = read(GOOD), read(GOOD.replace(b"160", b"190"))
    for name in ("y_bounds", "x_box", "midpoint", "y_scale"):
        assert getattr(one, name) == getattr(other, name)


DECLARATIONS = {
    "bounds reversed": ({"y_bounds": (200, 50)}, r"y_bounds must be \(low, high\).*swap"),
    "bounds equal": ({"y_bounds": (50, 50)}, r"y_bounds must be \(low, high\).*widen"),
    "bounds infinite": ({"y_bounds": (0, np.inf)}, "y_bounds must be two finite numbers"),
    "bounds NaN": ({"y_bounds": (np.nan, 1)}, "y_bounds must be two finite numbers"),
    "bounds of one": ({"y_bounds": (1,)}, r"y_bounds must be two numbers \(low, high\), got \(1,\)"),
    "bounds text": ({"y_bounds": ("low", 3)}, "y_bounds must be two numbers"),
    "bounds None": ({"y_bounds": None}, "y_bounds must be two numbers.*declare both"),
    "box of wrong length": ({"x_box": [(0, 1), (0, 1)]}, "x_box must have 1 entries, one per column of x, got 2"),
    "box without pairs": ({"x_box": [3]}, "each entry of x_box must be two numbers"),
    "box reversed": ({"x_box": [(100, 0)]}, r"x_box of age must be \(low, high\)"),
    "box infinite": ({"x_box": [(-np.inf, 0)]}, "x_box of age must be two finite numbers"),
    "units of wrong length": ({"x_units": ["a", "b"]}, "x_units must have 1 entries"),
    "scale zero": ({"y_scale": 0.0}, "y_scale must be a positive number"),
    "x empty": ({"x": [], "x_box": []}, "x is empty; name at least one"),
    "x a string": ({"x": "age"}, r"write x=\['age'\]"),
    "x repeated": ({"x": ["age", "age"]}, "'age' more than once"),
    "y among x": ({"x": ["age", "height"]}, "'height' is both an input .* and the output"),
    "missing x": ({"x": ["size"]}, "no column 'size'; .*'age', 'weight', 'height', 'note'"),
    "missing y": ({"y": "size"}, "no column 'size'; .*'age', 'weight', 'height', 'note'"),
    "outside the box": ({"x_box": [(15, 25)]}, r"2 of 3 rows have 'age' outside its x_box \(15, 25\)\. Widen"),
}


@pytest.mark.parametrize(("changes", "message"), DECLARATIONS.values(), ids=DECLARATIONS.keys())
def test_bad_declarations_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        read(GOOD, **changes)


FILES = {
    "empty file": (b"", "file is empty"),
    "blank lines only": (b"\n\n", "file is empty"),
    "header only": (b"age,height\n", "0 rows below its header; it needs at least 2"),
    "one row": (b"age,height\n1,2\n", "1 row below its header; it needs at least 2"),
    "duplicate names": (b"age,height,age\n1,2,3\n2,3,4\n", "columns 1 and 3 .* same name: 'age'; rename"),
    "text in x": (b"age,height\n1,150\n7391.5secret,150\n", "column 'age' has text .* line 3"),
    "text in y": (b"age,height\n1,7391.5secret\n2,150\n", "column 'height' has text .* line 2"),
    "decimal comma": (b'age,height\n1,"7391,5"\n2,150\n', "column 'height' has a number .* otherwise in line 2"),
    "empty cell": (b"age,height\n1,150\n,150\n", "column 'age' has no value in line 3"),
    "blank cell": (b"age,height\n1,150\n2, \n", "column 'height' has no value in line 3"),
    "NaN": (b"age,height\n1,150\n2,nan\n", "column 'height' has no value in line 3 of the file; declare missing"),
    "infinite": (b"age,height\n1,150\n-inf,150\n", "column 'age' has an infinite value in line 3"),
    "too large": (b"age,height\n1,1e999\n2,150\n", "column 'height' has an infinite value in line 2"),
    "all-equal x": (b"age,height\n5,150\n5,160\n", "column 'age' has the same value in every row; remove it"),
    "line after a quoted newline": (b'age,height,n\n1,2,"a\nb"\nx,3,c\n', "column 'age' has text .* line 4"),
    "long row": (b"age,height\n1,150\n2,150,7391.5secret\n", "line 3 has 3 fields where the header has 2"),
    "short row": (b"age,height,note\n1,150,a\n2,150\n", "line 3 has 2 fields where the header has 3"),
    "first row long": (b"age,height\n1,150,9\n2,150,9\n", "line 2 has 3 fields where the header has 2"),
    "Latin-1": (b"age,height\n1,150\n2,\xe9\n", "line 3 of the file is not UTF-8"),
    "NUL": (b"age,height\n1,150\n2,1\x0050\n", "line 3 of the file is not UTF-8"),
    "open quote": (b'age,height\n1,150\n2,"7391.5secret\n', "not valid CSV at line 3"),
    "text after a quote": (b'age,height\n1,150\n2,"1"7391.5secret\n', "not valid CSV at line 3"),
    "no header": (b"7391.5,Ada\n2,Bea\n", "no column 'age'; .* not shown.*add a header line"),
    "no header, twins": (b"7391.5,Ada,Ada\n2,Bea,Bea\n", "no column 'age'; .* not shown.*add a header line"),
}


@pytest.mark.parametrize(("content", "message"), FILES.values(), ids=FILES.keys())
def test_bad_files_are_refused_in_one_sentence_without_a_cell(content, message):
    with pytest.raises(ValueError, match=message) as caught:
        read(content)
    assert not isinstance(caught.value, UnicodeError)  # whose message quotes bytes
    shown = "".join(traceback.format_exception(caught.value))
    for private in ("7391", "secret", "Ada", "Bea"):
        assert private not in shown
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("cell", ["", "nan", "inf", "-inf", "1e999"])
@pytest.mark.parametrize("line", ["{},150", "2,{}"])
@pytest.mark.parametrize("private_inputs", [False, True])
def test_records_are_finite_numbers_wherever_inputs_are_private(cell, line, private_inputs):
    table = f"age,height\n1,150\n{line.format(cell)}\n".encode()
    with pytest.raises(ValueError, match=r"no value|an infinite value") as caught:
        read_dataset(io.BytesIO(table), **DECLARED, private_inputs=private_inputs)
    assert "line 3 of the file" in str(caught.value)


def test_any_finite_private_number_is_read():
    table = b"age,height\n1.7e308,-1.7e308\n-1.7e308,1.7e308\n"
    found = read_dataset(io.BytesIO(table), **DECLARED, private_inputs=True)
    low, high = found.x_box[0]
    assert found.X.tolist() == [[high], [low]]
    assert found.y.tolist() == [-1.7e308, 1.7e308]


def test_too_many_rows_are_refused(monkeypatch):
    monkeypatch.setattr(csv_file, "MAX_ROWS", 5)
    stream = io.BytesIO(b"age,height\n" + b"".join(b"%d,150\n" % age for age in range(100)))
    with pytest.raises(ValueError, match="more than 5 rows, the limit"):
        read_csv(stream, **DECLARED)


def test_limit_is_two_million():
    assert csv_file.MAX_ROWS == 2_000_000


def test_a_text_stream_is_refused():
    with pytest.raises(ValueError, match=r"open it in binary mode \('rb'\)"):
        read_csv(io.StringIO(GOOD.decode()), **DECLARED)


def test_a_path_that_cannot_be_opened_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"cannot open .*nowhere.csv'.*check the path"):
        read_csv(tmp_path / "nowhere.csv", **DECLARED)
    with pytest.raises(ValueError, match="cannot open"):
        read_csv(tmp_path, **DECLARED)


VISITS = b"who,age,height\nAnn,1,70\n Bo ,2,80\nAnn,3,90\nBo,4,100\n7,5,105\n"


def test_whose_row_each_is_is_read_and_their_names_are_not_kept():
    data = read(VISITS, person="who")
    assert data.people == 3
    assert data.person.tolist() == [0, 1, 0, 1, 2]
    np.testing.assert_array_equal(data.y, [70, 80, 90, 100, 105])
    assert "Ann" not in repr(vars(data))
    assert read(VISITS).person is None


@pytest.mark.parametrize(
    ("content", "person", "said"),
    [
        (
            VISITS.replace(b"Bo,4", b" ,4"),
            "who",
            "column 'who' has no name, so nobody knows whose row it is, in line 5",
        ),
        (VISITS, "age", "'age' says whose row it is, and is an input or the output too"),
        (VISITS, "height", "'height' says whose row"),
        (VISITS, "nobody", "no column 'nobody'"),
    ],
)
def test_a_row_of_nobody_is_refused(content, person, said):
    with pytest.raises(ValueError, match=said) as caught:
        read(content, person=person)
    assert "Ann" not in str(caught.value)


def test_how_the_table_is_written_is_declared():
    table = "größe;zeit;da\n1.234,5;3/1/2024 08:30;ja\n-999;4/1/2024;nein\n2,5;5/1/2024;?\n7;6/1/2024;nein\n"
    declared = {"x": ["größe", "zeit"], "y": "da", "x_box": [(0, 2000), ("2024-01-01", "2024-12-31")]}
    data = read_csv(
        io.BytesIO(table.encode("cp1252")),
        **declared,
        y_bounds=(0, 1),
        encoding="cp1252",
        numbers="1.234,5",
        missing=[-999],
        yes="ja",
        no="nein",
        date_order="month/day/year",
    )
    np.testing.assert_array_equal(data.X, [[1234.5, 60], [7, 152]])
    np.testing.assert_array_equal(data.y, [1, 0])
    assert data.left_out == 2

"""A table as a data set: from bytes to records, dates included."""

import io
import traceback

import numpy as np
import pytest

from dpgp_core.dates import Dates
from dpgp_core.levels import levels_by_column
from dpgp_core.reading.csv_file import read_csv
from dpgp_core.reading.csv_file import read_dataset as read_declared
from dpgp_core.table import Outcome, declared_columns

GOOD = b"age,weight,height,note\n10,30.5,140,anna\n20,50,160,bea\n30,55,150,cleo\n"
DECLARED = {"x": ["age"], "y": "height", "y_bounds": (50, 200), "x_box": [(0, 100)]}


def read(content, **changes):
    return read_csv(io.BytesIO(content), **{**DECLARED, **changes})


def test_reads_the_named_columns_in_the_order_given():
    inputs = {"x": ["weight", "age"], "x_box": [(0, 90), (0, 100)], "x_units": ["kg", "years"]}
    data = read(GOOD, **inputs, y_unit="cm", y_scale=10.0)
    np.testing.assert_array_equal(data.X, [[30.5, 10], [50, 20], [55, 30]])
    np.testing.assert_array_equal(data.y, [140, 160, 150])
    assert (data.x_names, data.x_units) == (("weight", "age"), ("kg", "years"))
    assert (data.y_name, data.y_unit, data.name, data.privacy_unit) == ("height", "cm", "your data", "one record")
    assert (data.y_bounds, data.x_box) == ((50, 200), ((0, 90), (0, 100)))
    assert (data.y_scale, data.output_range, data.x_levels, data.simulated) == (10.0, 150, None, False)


@pytest.mark.parametrize("kind", [str, lambda path: path], ids=["str", "Path"])
def test_reads_a_path(kind, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes(GOOD)
    np.testing.assert_array_equal(read_csv(kind(path), **DECLARED).y, [140, 160, 150])


def test_outputs_beyond_the_bounds_are_clipped_and_counted():
    data = read(GOOD, y_bounds=(145, 155))
    assert data.clipped_count == 2
    np.testing.assert_array_equal(data.clipped_y, [145, 155, 150])
    np.testing.assert_array_equal(data.y, [140, 160, 150])


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
    "person among x": ({"person": "age"}, "'age' identifies people, and is an input or the output too"),
    "missing x": ({"x": ["size"]}, "no column 'size'; .*'age', 'weight', 'height', 'note'"),
    "missing y": ({"y": "size"}, "no column 'size'; .*'age', 'weight', 'height', 'note'"),
    "outside the box": (
        {"x_box": [(15, 25)]},
        r"2 of 3 rows have 'age' outside its x_box \(15, 25\)\. Check its unit, how numbers are written,",
    ),
}


@pytest.mark.parametrize(("changes", "message"), DECLARATIONS.values(), ids=DECLARATIONS.keys())
def test_bad_declarations_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        read(GOOD, **changes)


FILES = {
    "header only": (b"age,height\n", "0 rows below its header; it needs at least 2"),
    "one row": (b"age,height\n1,2\n", "1 row below its header; it needs at least 2"),
    "duplicate names": (
        b"age,height,age\n1,2,3\n2,3,4\n",
        "columns 1 and 3 .* same name: 'age'; choose one by its number",
    ),
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
    "open quote": (b'age,height\n1,150\n2,"7391.5secret\n', "not valid CSV at line 3"),
    "text after a quote": (b'age,height\n1,150\n2,"1"7391.5secret\n', "not valid CSV at line 3"),
    "no header": (b"7391.5,Ada\n2,Bea\n", "no column 'age'; .* not shown.*add a header line"),
}


@pytest.mark.parametrize(("content", "message"), FILES.values(), ids=FILES.keys())
def test_bad_files_are_refused_without_repeating_cells(content, message):
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


def test_a_path_that_cannot_be_opened_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"cannot open .*nowhere.csv'.*check the path"):
        read_csv(tmp_path / "nowhere.csv", **DECLARED)
    with pytest.raises(ValueError, match="cannot open"):
        read_csv(tmp_path, **DECLARED)


VISITS = b"who,age,height\nAnn,1,70\n Bo ,2,80\nAnn,3,90\nBo,4,100\n7,5,105\n"


def test_persons_are_read_and_their_names_dropped():
    data = read(VISITS, person="who")
    assert data.people == 3
    assert data.person.tolist() == [0, 1, 0, 1, 2]
    np.testing.assert_array_equal(data.y, [70, 80, 90, 100, 105])
    assert "Ann" not in repr(vars(data))
    assert read(VISITS).person is None


# ---- The parts between a file and a data set, one by one.


def read_dataset(stream, *, x, y, y_bounds, x_box, levels=None, y_scale=1.0, **more):
    """Read a table that is declared in lists."""
    columns = declared_columns(x, x_box, levels=levels_by_column(x, levels))
    return read_declared(stream, columns, Outcome(name=y, bounds=y_bounds, scale=y_scale), **more)


PEOPLE = b"age,sex,height\n1,women,150\n2, men ,160\n3,women,170\n"
OF_GROUPS = {"x": ["age", "sex"], "y": "height", "y_bounds": (50, 200), "x_box": [(0, 100)]}
SEX = {"sex": ["women", "men"]}


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("cell", [b"Men", b"", b"secret", b"0"])
def test_unknown_categories_are_other_or_refused(private, cell):
    table = PEOPLE.replace(b" men ", cell)
    other = {"sex": ["women", "other", "men"]}
    data = read_dataset(io.BytesIO(table), **OF_GROUPS, levels=other, private_inputs=private)
    np.testing.assert_array_equal(data.X[:, 1], [0, 1, 0])
    with pytest.raises(ValueError, match=r"'sex' has (none of its levels|no value) in line 3 of the file") as refused:
        read_dataset(io.BytesIO(table), **OF_GROUPS, levels=SEX, private_inputs=private)
    assert "secret" not in str(refused.value)
    assert refused.value.__context__ is None


def test_moved_private_inputs_keep_their_category():
    table = PEOPLE.replace(b"3,women", b"300,women")
    data = read_dataset(io.BytesIO(table), **OF_GROUPS, levels=SEX, private_inputs=True)
    np.testing.assert_array_equal(data.X[2], [100, 0])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"levels": SEX, "y_bounds": (200, 50)}, "y_bounds must be"),
        ({"levels": {"gender": ["a", "b"]}}, "'gender', which is no input"),
        ({"levels": SEX, "x_box": [(0, 100), (0, 1)]}, "is derived"),
        ({"levels": SEX | {"age": ["1", "2", "3"]}, "x_box": []}, "at least one must be a number"),
    ],
)
def test_declarations_are_checked_before_the_file_is_read(changes, sentence):
    stream = io.BytesIO(PEOPLE)
    with pytest.raises(ValueError, match=sentence):
        read_dataset(stream, **{**OF_GROUPS, **changes})
    assert stream.tell() == 0


YEARS = ("2019-01-01", "2023-12-31")
COUNTED = {"y": "visits", "y_bounds": (0, 60)}


def date_inputs(names, box, said=None, *, order=None):
    """The dates among some inputs, and the box."""
    columns = declared_columns(names, box, dates=said, order=order)
    return tuple(each.dates for each in columns if each.dates), tuple(each.box for each in columns)


def test_arguments_by_name_declare_how_it_is_written():
    said = {"day": {"format": "day.month.year", "period": "year"}}
    dates, box = date_inputs(("day",), (YEARS,), said)
    assert dates == (Dates(name="day", first="2019-01-01", format="day.month.year", period="year"),)
    assert date_inputs(("day",), box, dates) == (dates, box)
    assert date_inputs(("day",), (("2018-01-01", "2023-12-31"),), dates)[0][0].period == "year"
    assert date_inputs(("age",), ((0, 90),)) == ((), ((0, 90),))


@pytest.mark.parametrize(
    ("box", "said", "sentence"),
    [
        ((0, 9), {"day": {}}, "x_box of 'day', which is declared a date, must be two dates such as 2024-03-31"),
        (YEARS, {"date": {}}, "dates speak of 'date', which is no input"),
        (YEARS, {"day": {"unit": "days"}}, "dates of 'day' must be an object with format or period"),
        (YEARS, {"day": "iso"}, "dates of 'day' must be an object"),
        (YEARS, {"day": {"format": 3}}, "format of 'day' must be one of year-month-day, day/month/year"),
        (YEARS, {"day": {"period": 1000}}, "comes less than 2 times in a box of width 1825"),
        (YEARS, [1], "dates must be an object that names inputs"),
        (YEARS[::-1], None, r"must be \[first, last\], got \[2023-12-31, 2019-01-01\]; swap or widen them"),
        (("2019-01-01", 5), None, "each end of x_box of 'day' must be a date such as 2024-03-01, got 5"),
        (("2019-01-01", "31.12.2019"), None, "must be a date such as 2024-03-01, got '31.12.2019'"),
        (("2019-01-01",), None, "must be two dates .*, got 1 entries"),
    ],
)
def test_what_cannot_be_is_refused_with_the_remedy(box, said, sentence):
    with pytest.raises(ValueError, match=sentence):
        date_inputs(("day",), (box,), said)


def test_dates_are_read_as_days_since_the_first():
    data = read_csv(io.BytesIO(b"day,visits\n2019-01-01,4\n2020-02-29,5\n"), x=["day"], x_box=[YEARS], **COUNTED)
    np.testing.assert_array_equal(data.X[:, 0], [0, 424])
    assert data.x_box == ((0.0, 1825.0),)
    assert data.x_units == ("days since 2019-01-01",)
    table = b"day,visits\n2019-01-01,4\n2018-12-31,5\n"
    with pytest.raises(ValueError, match=r"1 of 2 rows have 'day' outside its x_box \(2019-01-01, 2023-12-31\)"):
        read_csv(io.BytesIO(table), x=["day"], x_box=[YEARS], **COUNTED)


@pytest.mark.parametrize(
    ("cell", "wrong"),
    [
        ("27.6.2021", "a date in another order"),
        ("2021-06-31", "a date that is in no calendar"),
        ("27621", "a number instead of a date"),
        ("the 27th of June", "text instead of a date"),
    ],
)
def test_a_refused_date_is_not_shown(cell, wrong):
    table = f"day,visits\n2019-01-01,4\n{cell},5\n".encode()
    with pytest.raises(ValueError, match=f"^column 'day' has {wrong}.* in line 3 of the file; ") as caught:
        read_csv(io.BytesIO(table), x=["day"], x_box=[YEARS], **COUNTED)
    assert cell not in str(caught.value)
    assert caught.value.__context__ is None

"""What ``test_csv_file.py`` does not ask through ``read_csv``."""

import io

import numpy as np
import pytest

from dpgp_core.levels import levels_by_column
from dpgp_core.reading.csv_file import MAX_ROWS
from dpgp_core.reading.csv_file import read_dataset as read_declared
from dpgp_core.table import Outcome, declared_columns

GOOD = b"age,height\n1,150\n2,160\n3,170\n"
DECLARED = {"x": ["age"], "y": "height", "y_bounds": (50, 200), "x_box": [(0, 100)]}


def read_dataset(stream, *, x, y, y_bounds, x_box, levels=None, y_scale=1.0, **more):
    """Read a table that is declared in lists."""
    columns = declared_columns(x, x_box, levels=levels_by_column(x, levels))
    return read_declared(stream, columns, Outcome(name=y, bounds=y_bounds, scale=y_scale), **more)


def test_reads_a_stream():
    data = read_dataset(io.BytesIO(GOOD), **DECLARED, privacy_unit="one child", y_scale=10.0)
    np.testing.assert_array_equal(data.X, [[1], [2], [3]])
    np.testing.assert_array_equal(data.y, [150, 160, 170])
    assert (data.privacy_unit, data.y_scale, data.output_range) == ("one child", 10.0, 150)


def test_max_rows_can_be_lower_than_the_general_limit():
    assert read_dataset(io.BytesIO(GOOD), **DECLARED, max_rows=3).n == 3 < MAX_ROWS
    with pytest.raises(ValueError, match="more than 2 rows, the limit"):
        read_dataset(io.BytesIO(GOOD), **DECLARED, max_rows=2)


def test_declarations_are_checked_before_the_file_is_read():
    stream = io.BytesIO(GOOD)
    with pytest.raises(ValueError, match="y_bounds must be"):
        read_dataset(stream, **{**DECLARED, "y_bounds": (200, 50)})
    assert stream.tell() == 0


PEOPLE = b"age,sex,height\n1,women,150\n2, men ,160\n3,women,170\n"
OF_GROUPS = {"x": ["age", "sex"], "y": "height", "y_bounds": (50, 200), "x_box": [(0, 100)]}
SEX = {"sex": ["women", "men"]}


def test_a_category_is_read_as_the_number_of_its_level():
    data = read_dataset(io.BytesIO(PEOPLE), **OF_GROUPS, levels=SEX)
    np.testing.assert_array_equal(data.X, [[1, 0], [2, 1], [3, 0]])
    assert data.x_levels == (None, ("women", "men"))
    assert data.x_box == ((0, 100), (-0.5, 1.5))


def test_tables_without_levels_have_none():
    assert read_dataset(io.BytesIO(GOOD), **DECLARED).x_levels is None


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("cell", [b"Men", b"", b"secret", b"0"])
def test_what_is_no_level_is_other_or_refused_and_never_shown(private, cell):
    table = PEOPLE.replace(b" men ", cell)
    other = {"sex": ["women", "other", "men"]}
    data = read_dataset(io.BytesIO(table), **OF_GROUPS, levels=other, private_inputs=private)
    np.testing.assert_array_equal(data.X[:, 1], [0, 1, 0])
    with pytest.raises(ValueError, match=r"'sex' has (none of its levels|no value) in line 3 of the file") as refused:
        read_dataset(io.BytesIO(table), **OF_GROUPS, levels=SEX, private_inputs=private)
    assert "secret" not in str(refused.value)
    assert refused.value.__context__ is None


def test_private_groups_beyond_the_box_keep_their_level():
    table = PEOPLE.replace(b"3,women", b"300,women")
    data = read_dataset(io.BytesIO(table), **OF_GROUPS, levels=SEX, private_inputs=True)
    np.testing.assert_array_equal(data.X[2], [100, 0])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"levels": {"gender": ["a", "b"]}}, "'gender', which is no input"),
        ({"levels": SEX, "x_box": [(0, 100), (0, 1)]}, "is derived"),
        ({"levels": SEX | {"age": ["1", "2", "3"]}, "x_box": []}, "at least one must be a number"),
    ],
)
def test_levels_are_checked_before_the_file_is_read(changes, sentence):
    stream = io.BytesIO(PEOPLE)
    with pytest.raises(ValueError, match=sentence):
        read_dataset(stream, **{**OF_GROUPS, **changes})
    assert stream.tell() == 0

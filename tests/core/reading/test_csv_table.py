"""What ``test_csv_file.py`` does not ask through ``read_csv``."""

import io

import numpy as np
import pytest

from dpgp_core.reading.csv_table import MAX_ROWS, read_dataset

GOOD = b"age,height\n1,150\n2,160\n3,170\n"
DECLARED = {"x": ["age"], "y": "height", "y_bounds": (50, 200), "x_box": [(0, 100)]}


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

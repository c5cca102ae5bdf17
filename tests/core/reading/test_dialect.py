import io

import numpy as np
import pytest

from dpgp_core import read_csv
from dpgp_core.reading.csv_rows import column_names, read_columns
from dpgp_core.reading.dialect import COMMA, DIALECTS, dialect_of

PLAIN = b"age,height\n1.5,150.25\n2,-1e2\n"
WRITTEN = {
    "comma": PLAIN,
    "semicolon": b"age;height\n1,5;150,25\n2;-1e2\n",
    "tab": b"age\theight\n1.5\t150.25\n2\t-1e2\n",
}


@pytest.mark.parametrize("name", DIALECTS)
def test_each_way_of_writing_gives_the_same_numbers(name):
    dialect = dialect_of(name)
    assert column_names(io.BytesIO(WRITTEN[name]), dialect) == ["age", "height"]
    found = read_columns(io.BytesIO(WRITTEN[name]), ["age", "height"], max_rows=10, dialect=dialect)
    np.testing.assert_array_equal(found, [[1.5, 150.25], [2, -100]])
    data = read_csv(io.BytesIO(WRITTEN[name]), x=["age"], y="height", y_bounds=(0, 200), x_box=[(0, 90)], dialect=name)
    np.testing.assert_array_equal(data.y, [150.25, -100])


@pytest.mark.parametrize("number", ["1.234", "1.234,5", "1,234,5", "1'234"])
def test_a_number_that_could_mean_two_things_is_refused(number):
    content = f"age;height\n1;150\n2;{number}\n".encode()
    with pytest.raises(ValueError, match="column 'height' has text instead of a number in line 3") as refusal:
        read_columns(io.BytesIO(content), ["height"], max_rows=10, dialect=DIALECTS["semicolon"])
    assert "234" not in str(refusal.value)


def test_nothing_is_guessed():
    with pytest.raises(ValueError, match="the file has no column 'age'; its comma-separated columns are: 'age;height'"):
        read_columns(io.BytesIO(WRITTEN["semicolon"]), ["age"], max_rows=10, dialect=COMMA)
    with pytest.raises(ValueError, match="dialect must be one of 'comma', 'semicolon', 'tab', got 'excel'"):
        dialect_of("excel")


def test_a_first_line_of_decimal_commas_may_be_a_record():
    with pytest.raises(ValueError, match="the first line of the file holds numbers or dates, so it may be a record"):
        column_names(io.BytesIO(b"1,5;150,25\n"), DIALECTS["semicolon"])

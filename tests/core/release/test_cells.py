import csv
import io

import numpy as np
import pytest

from dpgp_core.release.bundle import column_text, csv_text, safe_text


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_text_that_a_spreadsheet_would_run_gets_an_apostrophe(start):
    assert safe_text(f'{start}HYPERLINK("http://x")') == f'\'{start}HYPERLINK("http://x")'


@pytest.mark.parametrize("text", ["age", "a=b", "größe", "", "'=1"])
def test_other_text_is_left_alone(text):
    assert safe_text(text) == text


def test_numbers_stay_numbers():
    assert column_text(np.array([-1.5, 0.25, 1e-12])) == ["-1.5", "0.25", "1e-12"]
    assert column_text(np.array([-1.5, 2.0]), step=0.01) == ["-1.50", "2.00"]
    assert column_text(np.array([-1500.0, 200.0]), step=100.0) == ["-1500", "200"]


def test_headers_are_quoted_and_safe_in_any_separator():
    text = csv_text({'=1+"a"': ["-1", "2"], "x;=2+3": ["3", "4"], "a,b": ["5", "6"]})
    header, *rows = csv.reader(io.StringIO(text))
    assert header == ['\'=1+"a"', "x;=2+3", "a,b"]
    assert rows == [["-1", "3", "5"], ["2", "4", "6"]]
    assert text.splitlines()[0] == '"\'=1+""a""","x;=2+3","a,b"'


def test_columns_must_have_one_length():
    with pytest.raises(ValueError, match=r"shorter|longer"):
        csv_text({"a": ["1"], "b": ["1", "2"]})

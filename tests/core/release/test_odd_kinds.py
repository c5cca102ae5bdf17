"""Tables of odder kinds by the command line's reader and by the page's: read right, or refused with what helps."""

import io
import json
import re

import numpy as np
import pytest

from dpgp_core.reading.look import MARK, proposal
from dpgp_core.reading.workbook import as_table
from dpgp_core.release.json_text import spec_from_json
from dpgp_core.release.publishing import declared_writing, read_outcomes
from tests.odd_kinds import ODD

PUBLIC = {"unit": "one person", "grid": [5], "epsilon": 1.0, "delta": 1e-5, "y_bounds": [-1e5, 1e5]}
CELLS = re.compile(r"160\.8|156\.1|165\.8|63250")  # of the first rows


def proposed(content, kind, sheet):
    """What `look` proposes, with what only the owner knows."""
    columns = {"x": ["day" if kind.dated else "age"], "y": "height"} | kind.declared
    columns = {key: value for key, value in columns.items() if key in ("x", "y")}
    found, _ = proposal(as_table(io.BytesIO(content), sheet), columns["x"], columns["y"])
    return found


def owners(kind):
    """What the owner knows."""
    columns = {"x": ["day" if kind.dated else "age"], "y": "height"}
    return columns | {"x_box": [["2023-06-01", "2024-12-31"] if kind.dated else [0, 100]]} | PUBLIC | kind.declared


def read(content, config):
    """As the command line reads a table."""
    spec = spec_from_json(json.dumps({key: value for key, value in config.items() if key != MARK}))
    stream = as_table(io.BytesIO(content), spec.writing.sheet)
    spec = declared_writing(stream, spec)
    return read_outcomes(stream, spec), spec


def days(table, spec):
    """Inputs as days since the 1st of March 2024, or as they are."""
    return table.X[:, 0] - (274.0 if spec.dates else 0.0)  # of the 1st of June 2023


def cured_by(kind):
    """Content and configuration once the remedy was followed."""
    if isinstance(kind.cured, bytes):
        return kind.cured, {key: value for key, value in owners(kind).items() if key != "x_box" or not kind.declared}
    return kind.content, owners(kind) | kind.cured


@pytest.mark.parametrize("name", [name for name in ODD if not ODD[name].refused])
def test_it_is_read_right_once_what_look_proposes_is_declared(name):
    kind = ODD[name]
    found = proposed(kind.content, kind, None)
    table, spec = read(kind.content, found | owners(kind))
    np.testing.assert_allclose(table.y, kind.y, rtol=1e-12)
    np.testing.assert_allclose(days(table, spec), kind.x)
    assert table.told == ()


@pytest.mark.parametrize("name", [name for name in ODD if ODD[name].refused])
def test_it_is_refused_with_a_remedy_that_works(name):
    kind = ODD[name]
    with pytest.raises(ValueError, match=re.escape(kind.refused)) as refused:
        read(kind.content, owners(kind))
    assert "\n" not in str(refused.value)
    assert not CELLS.search(str(refused.value))
    content, config = cured_by(kind)
    config = {"x_box": [[0, 100]]} | config
    sheet = config.get("sheet")
    found, _ = proposal(as_table(io.BytesIO(content), sheet), config["x"], config["y"])
    table, _ = read(content, found | config)
    np.testing.assert_allclose(table.y[-3:], kind.y[-3:])
    assert len(table.y) == len(kind.y)
    assert table.told == ()


def test_there_are_more_than_forty():
    assert len(ODD) >= 80
    assert sum(bool(kind.refused) for kind in ODD.values()) < len(ODD) / 4

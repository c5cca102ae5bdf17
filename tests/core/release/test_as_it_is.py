"""Tables of every kind go from file to zip as they are, or are refused with what helps."""

import io
import json
import re

import numpy as np
import pytest

from dpgp_core.reading.kinds import as_text
from dpgp_core.reading.look import MARK, proposal
from dpgp_core.release.command_line import main
from dpgp_core.release.json_text import spec_from_json
from dpgp_core.release.private_table import declared_writing, notices_of, read_outcomes, to_owner
from tests.core.release.worlds import command, unzipped
from tests.kinds import AGES, DAYS, KINDS, N
from tests.odd_kinds import ODD

BOUNDS = (0, 100_000)
BY_BINS = {"mechanism": "integral_bins", "delta": 0}  # quick: how a table is read does not depend on what releases it


def config_of(kind, **changes):
    config = {
        "x": [kind.x],
        "x_box": [DAYS if kind.x == "day" else AGES],
        "y": kind.y,
        "y_bounds": (0, 1) if kind.two_valued else BOUNDS,
        "unit": "one person's outcome",
        "grid": [5],
        "epsilon": 1.0,
        "delta": 1e-5,
    }
    return config | ({"y_kind": "yes/no"} if kind.two_valued else {}) | kind.declared | changes


def told_of(kind):
    """What only the owner is told."""
    neither = "are neither the word for yes nor that for no, and are left out."
    return (
        f"For your eyes, in no file: {kind.left_out} of {N} outcomes {neither}\n"
        if kind.two_valued and kind.left_out
        else ""
    )


@pytest.fixture
def run(tmp_path, capsys):
    """Release a table with a configuration: exit code, what was said, what was told, and the card and its page."""

    def release(content, config, *more):
        code = command(tmp_path, content, json.dumps(config), "--force", *more)
        out, err = capsys.readouterr()
        if code:
            return code, out, err, None, ""
        files = unzipped((tmp_path / "out.zip").read_bytes())
        return code, out, err, json.loads(files["release.json"]), files["card.html"].decode()

    return release


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_is_released_from_as_it_is(run, name):
    kind = KINDS[name]
    code, said, told, card, page = run(kind.content, config_of(kind, **({} if name == "plain" else BY_BINS)))
    assert (code, told) == (0, told_of(kind))
    assert (card["public"]["n"], card["public"]["left_out"]) == (kind.n, kind.left_out)
    rows = f"{kind.n} complete rows of {N}" if kind.left_out else f"{N} rows"
    assert f"n = {rows}." in said
    assert (rows in page) == bool(kind.left_out)
    for key, value in kind.declared.items():
        plain = [value] if key in ("yes", "no") else value
        assert card["config"][key] == plain
    assert spec_from_json(json.dumps(card)).writing.separator is not None  # as its first line says


READ_OTHERWISE = ("time stamps", "codes of yes and no", "codes for missing")  # their numbers and dates are plain


@pytest.mark.parametrize("name", [name for name in KINDS if KINDS[name].declared and name not in READ_OTHERWISE])
def test_undeclared_cells_are_refused_with_a_declaration(run, name):
    kind = KINDS[name]
    config = {key: value for key, value in config_of(kind).items() if key not in kind.declared}
    code, said, told, *_ = run(kind.content, config)
    assert (code, said) == (3, "")
    assert told.count("\n") == 1
    assert "python -m dpgp_core look" in told
    if "encoding" in kind.declared:
        assert "declare its encoding" in told
        return
    assert " rows, first in line " in told
    for key in set(kind.declared) - {"no"}:
        assert f"declare {key}" in told or "yes and no if it is a yes/no outcome" in told


def look(tmp_path, capsys, content, *more):
    (tmp_path / "table.csv").write_bytes(content)
    assert main(["look", str(tmp_path / "table.csv"), *more]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("NOT PRIVATE")
    found = json.loads(out)
    assert "for the eyes of its owner" in found["not_private"]
    assert found["x_box"] is None
    assert found["y_bounds"] is None
    return found


@pytest.mark.parametrize("name", [name for name in KINDS if name != "another word for missing"])
def test_look_proposes_what_must_be_declared(tmp_path, capsys, name):
    kind = KINDS[name]
    found = look(tmp_path, capsys, kind.content, "--x", kind.x, "--y", kind.y)
    if name == "codes of yes and no":  # nobody can know which code is yes
        found |= {"y_kind": "yes/no"} | kind.declared
    if name == "thousands":  # nor whether 25,250 is a little more than 25
        assert found["numbers"] is None
        found |= kind.declared
    filled = found | {"x_box": config_of(kind)["x_box"], "grid": [5]}
    filled |= {} if kind.two_valued else {"y_bounds": BOUNDS}
    (table, _), (declared, spec) = read(kind.content, filled), read(kind.content, config_of(kind))
    np.testing.assert_array_equal(table.X, declared.X)
    np.testing.assert_array_equal(table.y, declared.y)
    told = to_owner(notices_of(spec, table))
    assert (table.n, table.left_out, told) == (kind.n, kind.left_out, told_of(kind).rstrip("\n"))


# ---- Tables of odder kinds by the command line's reader and by the page's: read right, or refused with what helps.


PUBLIC = {"unit": "one person", "grid": [5], "epsilon": 1.0, "delta": 1e-5, "y_bounds": [-1e5, 1e5]}
CELLS = re.compile(r"160\.8|156\.1|165\.8|63250")  # of the first rows


def proposed(content, kind, sheet):
    """What `look` proposes, with what only the owner knows."""
    columns = {"x": ["day" if kind.dated else "age"], "y": "height"} | kind.declared
    columns = {key: value for key, value in columns.items() if key in ("x", "y")}
    found, _ = proposal(as_text(io.BytesIO(content), sheet).stream, columns["x"], columns["y"])
    return found


def owners(kind):
    """What the owner knows."""
    columns = {"x": ["day" if kind.dated else "age"], "y": "height"}
    return columns | {"x_box": [["2023-06-01", "2024-12-31"] if kind.dated else [0, 100]]} | PUBLIC | kind.declared


def read(content, config):
    """As the command line reads a table."""
    spec = spec_from_json(json.dumps({key: value for key, value in config.items() if key != MARK}))
    stream = as_text(io.BytesIO(content), spec.writing.sheet).stream
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
def test_proposed_declarations_read_the_table_correctly(name):
    kind = ODD[name]
    found = proposed(kind.content, kind, None)
    table, spec = read(kind.content, found | owners(kind))
    np.testing.assert_allclose(table.y, kind.y, rtol=1e-12)
    np.testing.assert_allclose(days(table, spec), kind.x)
    assert table.notices == ()


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
    found, _ = proposal(as_text(io.BytesIO(content), sheet).stream, config["x"], config["y"])
    table, _ = read(content, found | config)
    np.testing.assert_allclose(table.y[-3:], kind.y[-3:])
    assert len(table.y) == len(kind.y)
    assert table.notices == ()

"""The notebook of a release: its cells run beside the zip, and say what the card says."""

import contextlib
import io
import json
import zipfile

import numpy as np
import pytest
from matplotlib import pyplot

from dpgp_core.release import notebook, spec_from_json
from dpgp_core.release.json_text import guarantee_from_object, spec_from_object
from dpgp_core.release.notebook import COMMANDS
from tests.core.release.test_groups import spec_of
from tests.core.release.test_groups import table as table_of_groups
from tests.core.release.worlds import make_spec, make_table, make_zip, rows_of

NUMBERS = {"mechanism": "bayes", "delta": 1e-5}
LINES = {"wide": dict(NUMBERS), "cells": NUMBERS | {"mechanism": "bayes_cells"}, "logarithms": NUMBERS | {"log": True}}


def sources(text, kind):
    return [each["source"] for each in json.loads(text)["cells"] if each["cell_type"] == kind]


def run(text, files, folder):
    """What the code cells define and print, in a folder that holds nothing but the zip."""
    with zipfile.ZipFile(folder / "release.zip", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    printed, values = io.StringIO(), {}
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        for cell in sources(text, "code"):
            exec(compile(cell, "release.ipynb", "exec"), values)
    return values, printed.getvalue()


def from_card(files):
    card = json.loads(files["release.json"])
    return notebook(spec_from_object(card["config"]), guarantee_from_object(card["guarantee"])), card


@pytest.mark.parametrize("kind", [*LINES, "groups"])
def test_its_cells_run_and_agree_with_values(tmp_path, kind):
    if kind == "groups":
        files = make_zip(spec_of(), table_of_groups())
    else:
        files = make_zip(make_spec(**LINES[kind]), make_table(n=200))
    text, card = from_card(files)
    found, printed = run(text, files, tmp_path)
    assert found["release"].guarantee.budget.epsilon == card["guarantee"]["epsilon"]
    ax = pyplot.gca()
    drawn = [line for line in ax.lines if len(line.get_xdata()) > 100]
    assert len(drawn) == (2 if kind == "groups" else 1)
    shown = np.interp(found["numbers"], drawn[0].get_xdata(), drawn[0].get_ydata())
    pyplot.close("all")
    rows = [row for row in rows_of(files) if row.get("sex", "women, girls") == "women, girls"]
    at = np.interp(found["numbers"], [float(row["age"]) for row in rows], np.arange(len(rows)))
    curve = np.exp(found["curve"]) if kind == "logarithms" else found["curve"]
    shared = np.isclose(at, np.rint(at))
    assert shared.sum() >= 3
    values = np.array([float(rows[round(each)]["value"]) for each in at[shared]])
    np.testing.assert_allclose(curve[shared], values, atol=1.1 * card["values"]["step"])
    np.testing.assert_allclose(shown, found["curve"], rtol=0.02)  # drawn as published, between 201 points
    assert ((found["low"] <= found["curve"]) & (found["curve"] <= found["high"])).all()
    assert ((found["above"] >= 0) & (found["above"] <= 1)).all()
    assert printed.count("\n") >= 7


def test_it_states_guarantee_configuration_and_command():
    spec = make_spec(**NUMBERS)
    text = notebook(spec, spec.guarantee)
    words = "\n\n".join(sources(text, "markdown"))
    for said in (spec.guarantee.protects, spec.guarantee.unit, f"ε = {spec.epsilon:g} at δ = 1e-05", COMMANDS):
        assert said in words
    assert ["--check" in line for line in COMMANDS.splitlines()] == [True, False]  # the dry run first
    [configuration] = [part.removeprefix("json\n") for part in words.split("```") if part.startswith("json\n")]
    assert spec_from_json(configuration) == spec


def test_words_of_a_configuration_stay_words():
    spec = make_spec(**NUMBERS, unit="one <b>person</b>", y="height [x](y)", y_unit="`cm`")
    first = sources(notebook(spec, spec.guarantee), "markdown")[0]
    assert "<b>" not in first
    assert "[x](y)" not in first


def test_unreadable_releases_have_no_notebook():
    spec = make_spec(mechanism="refined")
    with pytest.raises(ValueError, match="'refined' releases cannot be read again; a notebook is for Bayes cloaking"):
        notebook(spec, spec.guarantee)

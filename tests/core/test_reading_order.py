"""A reviewer of the guarantee reads twenty files at most, and private values are in sight in no others."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import datasets
from dpgp_core import BayesCloaking, Dataset
from dpgp_core.accounting.guarantee import Protects

ROOT = Path(__file__).parents[2]
AGES = np.linspace(0, 90, 5)[:, None]


class Private(np.ndarray):
    """An array, and all that numpy makes of it."""


def listed() -> dict[str, bool]:
    """The files that docs/guarantees.md names, and whether private values are in sight there."""
    text = (ROOT / "docs/guarantees.md").read_text()
    table = text.split("## Which files to read")[1].split("\n## ")[0]
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    return {file: "*private*" in cell for cell in rows for file in re.findall(r"`([\w/]+\.py)`", cell)}


def in_sight(protects: Protects, people: bool) -> set[str]:
    """Files of the core in which a private array is a local variable or a result while a release is measured."""
    dataset = private_table(protects, people)
    mechanism, found = BayesCloaking(epsilon=1.0, delta=0.01, protects=protects), set[str]()
    plan, core = mechanism.plan_for(dataset, AGES), f"{ROOT}/dpgp_core/"

    def look(frame: FrameType, event: str, result: object) -> None:
        file = frame.f_code.co_filename
        ours, values = event == "return" and file.startswith(core), [result, *frame.f_locals.values()]
        if ours and any(isinstance(value, Private) for value in values):
            found.add(file.removeprefix(core))

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        mechanism.measure(plan, dataset, AGES)
    finally:
        sys.setprofile(before)
    return found


def private_table(protects: Protects, people: bool) -> Dataset:
    data, inputs_too = datasets.load("kung"), protects == "inputs and outputs"
    whose = np.arange(data.n) // 3 if people else None
    return replace(
        data,
        X=data.X.view(Private) if inputs_too else data.X,
        y=data.y.view(Private),
        person=whose.view(Private) if whose is not None and inputs_too else whose,
    )


@pytest.mark.full
def test_private_values_occur_only_in_named_files() -> None:
    runs = [(protects, people) for protects in ("outputs", "inputs and outputs") for people in (False, True)]
    found = [in_sight(protects, people) for protects, people in runs]
    assert all({"table.py", "measurement/integers.py"} & files for files in found)  # the arrays were followed
    assert set().union(*found) == {file for file, private in listed().items() if private}


def test_a_reviewer_opens_twenty_files_at_most() -> None:
    files = listed()
    assert len(files) <= 20
    assert all((ROOT / "dpgp_core" / file).is_file() for file in files)

from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.measurement.measurement import Measurement
from dpgp_core.measurement.statistics import CellStatistics, Stage, Statistics
from dpgp_core.measurement.statistics_file import check_read, statistics_from_files, statistics_to_files
from dpgp_core.release.specification import EXAMPLE
from dpgp_core.table import Column
from tests.core.measurement.sealing import arrays_of, sealed

INPUT = (Column(name="age", unit="years", box=(0.0, 1.0)),)


def of(bounds=(50.0, 200.0), columns=INPUT, scale=20.0, z=0.5, width=1.0, place=0.5, **names) -> Statistics:
    """One number measured of three records."""
    low = np.full(3, bounds[0])
    measurement = Measurement(
        B=np.full((1, 3), 0.5), low=low, high=low + width * (bounds[1] - bounds[0]), bounds=bounds, noise_multiplier=2.0
    )
    plain = {"y_name": "height", "y_unit": "cm"} | names
    return Statistics(
        stages=(Stage(measurement=measurement, z=np.array([z])),),
        X=np.full((3, 1), place),
        columns=columns,
        y_scale=scale,
        guarantee={},
        **plain,
    )


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"bounds": (0.0, 1e15), "scale": 1.0},
        {"bounds": (0.0, 1e-29), "scale": 1e-29},
        {"columns": (replace(INPUT[0], box=(-1e15, 1e15)),), "place": 1e15},
        {"z": 2000.0},
        {"width": 1e-9},
        {"columns": (replace(INPUT[0], unit=""),), "y_unit": "", "y_name": " height "},
    ],
)
def test_what_a_release_can_hold_is_read(changes):
    check_read(of(**changes))
    statistics_from_files(*statistics_to_files(of(**changes)))


REFUSED = {
    "wide bounds": ({"bounds": (-1e16, 1e16), "scale": 1e16}, "the bounds of the output must lie in"),
    "narrow bounds": ({"bounds": (1e6, 1e6 + 1e-6)}, "the bounds of the output is too narrow"),
    "tiny bounds": ({"bounds": (0.0, 1e-31), "scale": 1e-31}, "the bounds of the output is too narrow"),
    "a vanishing scale": ({"scale": 1e-320}, "the scale of the output must lie in"),
    "a vast scale": ({"scale": 1e18}, "the scale of the output must lie in"),
    "a far place": ({"place": 1e16}, "a place must lie within"),
    "a far number": ({"z": 2010.0}, r"a noisy number must lie within \+- 2003, and one has the size 2010"),
    "a thin interval": ({"width": 1e-13}, "an interval is too narrow"),
    "a long name": ({"y_name": "y" * 201}, "the name of the output has 201 letters"),
    "two lines": ({"y_unit": "a\nb"}, "the unit of the output must be one line"),
}


@pytest.mark.parametrize(("changes", "problem"), REFUSED.values(), ids=REFUSED)
def test_what_none_can_is_refused_with_its_problem_and_the_readers_remedy(changes, problem):
    with pytest.raises(ValueError, match=f"^no release can hold what the statistics say: {problem}") as refusal:
        statistics_from_files(*statistics_to_files(of(**changes)))
    assert str(refusal.value).endswith("; fetch both files again from whoever released them")
    assert str(refusal.value).count(";") == 1  # whoever reads it cannot widen anything


SEALED_ANEW = {
    "one value": ("box", [[5.0, 5.0]], r"the box of input 1 must be .*low < high, got \[5, 5\]"),
    "reversed box": ("box", [[5.0, 1.0]], r"the box of input 1 must be .*low < high, got \[5, 1\]"),
    "box without end": ("box", [[-1e308, 1e308]], "the box of input 1 must lie in -1e\\+15"),
    "two boxes": ("box", [[0.0, 1.0]] * 2, "x_box must have 1 entries"),
    "a unit of two lines": ("units", ["a\nb"], "the unit of input 1 must be one line"),
    "no unit": ("units", [], "x_units must have 1 entries"),
}


@pytest.mark.parametrize(("key", "value", "problem"), SEALED_ANEW.values(), ids=SEALED_ANEW)
def test_so_are_inputs_that_nobody_can_declare(key, value, problem):
    card, npz = statistics_to_files(of())
    card["inputs"][key] = value
    with pytest.raises(ValueError, match=f"^no release can hold what the statistics say: {problem}"):
        statistics_from_files(*sealed(card, arrays_of(npz)))


@pytest.mark.parametrize("records", [0.5, 10**13])
def test_so_are_numbers_of_records(records):
    cells = object.__new__(CellStatistics)
    for name in ("columns", "y_name", "y_unit", "y_scale", "bounds"):
        object.__setattr__(cells, name, getattr(of(), name))
    object.__setattr__(cells, "n", records)
    with pytest.raises(ValueError, match="the number of records must"):
        check_read(cells)


def test_bounds_are_checked_alike_when_they_are_declared():
    with pytest.raises(ValueError, match="y_bounds is too narrow"):
        replace(EXAMPLE, y_bounds=(0.0, 1e-31))

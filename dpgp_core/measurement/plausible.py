"""Is what was read what a release can hold? The checks of a declaration, made again: anybody can seal a file anew."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .. import checks
from ..arrays import FloatArray
from .cell_statistics import CellStatistics, KnownCounts
from .cells import CellResiduals
from .described_arrays import AGAIN
from .measurement import LaplaceMeasurement, Measurement
from .statistics import Statistics

_REMEDY = re.compile(r";|\. (?=[A-Z])")  # what comes after is for whoever declares
MOST_RECORDS = 10**12
_NOISE = 1000.0  # standard deviations that no noise reaches: below e^-1000 for Laplace's, far less for Gauss's
_THINNEST = 1e-12  # an interval, in widths of what all intervals lie in
_FARTHEST = 1e6  # what residuals are taken about, in half ranges

Residuals = Measurement | LaplaceMeasurement | CellResiduals


@contextmanager
def reading() -> Iterator[None]:
    """Whatever is wrong with a file is said as its reader needs it, without the remedy of whoever declares.

    Raises:
        ValueError: something in the block is missing, of another kind, or refused.
    """
    try:
        with np.errstate(over="ignore"):  # of numbers that are refused
            yield
        return
    except (KeyError, TypeError, IndexError, AttributeError, OverflowError):
        said = "the description of the statistics is incomplete or of another shape"
    except ValueError as error:
        if AGAIN in str(error):
            raise
        said = f"no release can hold what the statistics say: {_REMEDY.split(str(error))[0]}"
    raise ValueError(f"{said}; {AGAIN}")


def check_read(found: Statistics | CellStatistics) -> None:
    """Raise ValueError unless all that was read can be of a release, and so be computed with."""
    _check_declared(found)
    if isinstance(found, Statistics):
        _within("a place", found.X, checks.MOST)
        _check_squares(found)
    else:
        checks.whole("the number of records", found.n, 1, MOST_RECORDS)
        _check_residuals(found)
    _check_distances(found)
    _check_measured(found)


def _check_declared(found: Statistics | CellStatistics) -> None:
    names = {"name of the output": found.y_name, "unit of the output": found.y_unit}
    names |= {f"name of input {i}": name for i, name in enumerate(found.x_names, start=1)}
    names |= {f"unit of input {i}": unit for i, unit in enumerate(found.x_units, start=1)}
    for what, name in names.items():
        checks.text(f"the {what}", name.strip(), empty=True)
    low, high = checks.interval("the bounds of the output", found.bounds)
    for i, box in enumerate(found.x_box, start=1):
        checks.interval(f"the box of input {i}", box)
    width = high - low
    checks.number("the scale of the output", found.y_scale, width / checks.MOST, width * checks.MOST)


def _check_residuals(found: CellStatistics) -> None:
    most = _FARTHEST * found.half_range
    for stage in found.stages:
        _within("what residuals are taken about", stage.g, most)
        _within("the ends of the residuals", np.array(stage.measurement.bounds), most)
        if stage.squares is not None:
            _within("the ends of the squares", np.array(stage.squares.measurement.bounds), most**2)


def _check_squares(found: Statistics) -> None:
    most = _FARTHEST * 0.5 * (found.bounds[1] - found.bounds[0]) / found.y_scale
    for squares in (stage.squares for stage in found.stages if stage.squares is not None):
        _within("what squares are taken about", squares.g, most)
        _within("the ends of the squares", np.array(squares.measurement.bounds), most**2)


def _check_distances(found: Statistics | CellStatistics) -> None:
    if found.distances is None:
        return
    low, high = found.bounds
    half_range = 0.5 * (high - low) / found.y_scale
    _within("what distances are taken from", found.distances.g, _FARTHEST * half_range)
    checks.number("the reach of the distances", found.distances.reach, _THINNEST * half_range, _FARTHEST * half_range)
    checks.number("the scatter", found.distances.sd, _THINNEST * half_range, _FARTHEST * half_range)


def _check_measured(found: Statistics | CellStatistics) -> None:
    n = found.n if isinstance(found, CellStatistics) else len(found.X)
    if isinstance(found, CellStatistics) and not isinstance(found.counts, KnownCounts):
        _within("a noisy count", found.z, n + _NOISE * found.counts.noise_sd)
    for measurement, z in _residuals(found):
        # |B q| <= n, for |q| <= 1/2 and |B| <= 1
        _within("a noisy number", z, n + _NOISE * measurement.noise_sd)
        low, high = measurement.bounds
        if (measurement.high - measurement.low < _THINNEST * (high - low)).any():
            raise ValueError("an interval is too narrow to compute with")


def _residuals(found: Statistics | CellStatistics) -> Iterator[tuple[Residuals, FloatArray]]:
    """What was measured of residuals, of their squares, and of distances."""
    for stage in found.stages:
        yield stage.measurement, stage.z
        if stage.squares is not None:
            yield stage.squares.measurement, stage.squares.z
    if (of := found.distances) is not None:
        yield of.measurement, of.z
        if of.above is not None:
            yield of.above.measurement, of.above.z


def _within(what: str, values: FloatArray, most: float) -> None:
    largest = float(np.abs(values).max(initial=0.0))
    if not largest <= most:
        raise ValueError(f"{what} must lie within +- {most:g}, and one has the size {largest:g}")

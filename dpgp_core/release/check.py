"""Is a folder what was released? Files against their digests, and values against what was measured."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__, checks
from ..arrays import FloatArray
from .bought import FILE as BOUNDS
from .bought import counts_read, settled
from .declared.table import CENTILES
from .plan import decimals, without_outputs
from .publishing import in_unit, values_in_unit
from .specification import ReleaseSpec
from .specification_json import spec_from_object
from .statistic import digest, recentiled, remapped
from .strict_json import read_object

_MOST_BYTES = 1 << 31
_FINEST, _COARSEST = 1e-40, 1e15  # steps of values within the narrowest and the widest bounds


def check_folder(folder: Path) -> str:
    """Compute the released values from the measured numbers again and compare; a sentence about what was found.

    No private table is needed, and nothing is spent.

    Raises:
        ValueError: a file is missing, was changed, or the values do not follow from what was measured.
    """
    card = read_object(_content(folder, "release.json"), "release.json")
    try:
        listed, about = dict(card["sha256"]), dict(card["statistics"])
        step = checks.number("the step of the values", card["values"]["step"], _FINEST, _COARSEST)
        spec = spec_from_object(card["config"])
    except (KeyError, TypeError):
        raise ValueError("release.json is not of a release with statistics; fetch the zip again") from None
    files = {name: _content(folder, name) for name in sorted(listed) if Path(name).name == name}
    for name, content in files.items():
        if digest(content) != listed[name]:
            raise ValueError(f"{name} is not the file that release.json describes; fetch the zip again")
    made_by = (
        card.get("software", {}).get("dpgp", __version__) if isinstance(card.get("software"), dict) else __version__
    )
    if spec.choice.automatic and not _same_models(made_by):
        return (
            "The files are those that release.json describes. Its values were read by the models of another version; "
            "whoever wants to compute them again installs the version that release.json names."
        )
    said = f"The files are those that release.json describes{_bounds(spec)}"
    if spec.bounds_unit is not None:
        spec = _within_bounds(spec, card, files)
    points = spec.points()
    values = values_in_unit(spec, remapped(spec.built, about, files, points, without_outputs(spec, points)), step)
    _check_column(files, "value", values, step)
    if spec.centiles:
        curves = recentiled(spec.built, about, files, points, [centile / 100 for centile in CENTILES])
        for centile, row in zip(CENTILES, curves, strict=True):
            _check_column(files, f"centile_{centile}", in_unit(spec, row, step), step)
    centiles = " and centiles" if spec.centiles else ""
    return (
        f"{said}, and all {len(values)} values{centiles} follow from the "
        f"measured numbers, to {max(decimals(step), 0)} decimals."
    )


def _same_models(version: object) -> bool:
    """Whether releases of that version are read by the models of this one."""
    return isinstance(version, str) and version.split(".")[:2] == __version__.split(".")[:2]


def _bounds(spec: ReleaseSpec) -> str:
    return "" if spec.bounds_unit is None else ", the bounds follow from the noisy counts"


def _within_bounds(spec: ReleaseSpec, card: Mapping[str, Any], files: Mapping[str, bytes]) -> ReleaseSpec:
    """What was released within the bounds that the noisy counts give, if these are the ones that the card names."""
    try:
        n = checks.whole("the number of people", card["public"]["n"], 1, 10**9)
        named = checks.interval("the bounds", card["bounds"]["interval"])
    except (KeyError, TypeError):
        raise ValueError("release.json says nothing of the bounds that were bought; fetch the zip again") from None
    interval = counts_read(spec, files.get(BOUNDS, b""), n).interval
    if interval != named:
        raise ValueError(f"the bounds do not follow from {BOUNDS}; fetch the zip again")
    return settled(spec, interval)


def _check_column(files: Mapping[str, bytes], name: str, expected: FloatArray, step: float) -> None:
    column = _column(files.get("values.csv", b""), name)
    # another processor may round the last digit of a product differently, and so at most one step
    if column.shape != expected.shape or not (np.abs(column - expected) <= 1.5 * step).all():
        raise ValueError("values.csv does not follow from what was measured; fetch the zip again")


def _content(folder: Path, name: str) -> bytes:
    path = folder / name
    if not path.is_file() or path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"{name} is missing or too large; fetch the zip again")
    return path.read_bytes()


def _column(content: bytes, name: str) -> FloatArray:
    try:
        rows = csv.DictReader(io.StringIO(content.decode()))
        return np.array([float(row[name]) for row in rows])
    except (KeyError, TypeError, ValueError):
        raise ValueError("values.csv cannot be read; fetch the zip again") from None

"""A statistic as two files: a description for ``release.json`` and ``statistics.npz``; read back strictly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import checks
from ..levels import Levels, check_levels, checked_levels
from .described_arrays import AGAIN, FILE, SCHEMA, Array, Shapes, check_schema, number, pack, pair, unpack, whole
from .distances_file import about_distances, distance_arrays, distance_shapes, distances_from
from .integers import GRID
from .measurement import LaplaceMeasurement, Measurement
from .plausible import check_read, reading
from .statistics import Reading, Stage, StageSquares, Statistics

READINGS: tuple[Reading, ...] = (
    "any outcomes",
    "yes/no",
    "normal outcomes",
)  # files of before do not say: the last


def statistics_to_files(statistics: Statistics) -> tuple[dict[str, Any], bytes]:
    """The description (plain JSON values) and the bytes of ``statistics.npz``; the same bytes each time.

    Strategies are kept as the integers 2^20 B, exactly. ``sha256`` is of the description without it and of all arrays.
    """
    arrays = _arrays(statistics) | distance_arrays(statistics.distances)
    card = {
        "schema": SCHEMA,
        "file": FILE,
        "columns": len(statistics.X),
        "stages": [_stage_card(stage) for stage in statistics.stages],
        "output": {"name": statistics.y_name, "unit": statistics.y_unit}
        | {"bounds": list(statistics.bounds), "scale": statistics.y_scale},
        "inputs": about_inputs(statistics.x_names, statistics.x_units, statistics.x_box, statistics.x_levels),
        "guarantee": dict(statistics.guarantee),
        **about_reading(statistics.reading),
        **about_distances(statistics.distances),
    }
    return pack(card, arrays)


def statistics_from_files(card: Mapping[str, Any], npz: bytes) -> Statistics:
    """Read a statistic back.

    Args:
        card: the description, as parsed JSON.
        npz: content of ``statistics.npz``. Nothing in it is executed, and no more is unpacked than described.

    Raises:
        ValueError: another schema, a damaged or edited file, or values that no release can have.
    """
    check_schema(card)
    with reading():
        statistics = _read(card, npz)
        check_read(statistics)
    return statistics


def _read(card: Mapping[str, Any], npz: bytes) -> Statistics:
    sizes = [(whole(stage["numbers"]), "squares" in stage) for stage in card["stages"]]
    n, dim = whole(card["columns"]), len(card["inputs"]["names"])
    arrays = unpack(card, npz, {**_shapes(n, dim, sizes), **distance_shapes(card, n, n)})
    output, inputs = card["output"], card["inputs"]
    return Statistics(
        stages=tuple(_stage(kept, i, pair(output["bounds"]), arrays) for i, kept in enumerate(card["stages"])),
        X=np.asarray(arrays["X"], dtype=float),
        x_names=tuple(map(str, inputs["names"])),
        x_units=tuple(map(str, inputs["units"])),
        x_box=tuple(map(pair, inputs["box"])),
        y_name=str(output["name"]),
        y_unit=str(output["unit"]),
        y_scale=number(output["scale"]),
        guarantee=dict(card["guarantee"]),
        reading=reading_of(card),
        distances=distances_from(card, arrays, Measurement),
        x_levels=levels_of(inputs),
    )


def _stage_card(stage: Stage) -> dict[str, Any]:
    noise = (
        {"noise": "discrete Gaussian", "noise_multiplier": stage.measurement.noise_multiplier}
        if isinstance(stage.measurement, Measurement)
        else {"noise": "discrete Laplace", "epsilon": stage.measurement.epsilon}
    )
    if (of := stage.squares) is None:
        return noise | {"numbers": len(stage.z)}
    squares = {"noise_multiplier": of.measurement.noise_multiplier, "ends": list(of.measurement.bounds)}
    return noise | {"numbers": len(stage.z), "squares": squares}


def _stage(kept: Mapping[str, Any], i: int, bounds: tuple[float, float], arrays: Mapping[str, Array]) -> Stage:
    B, low, high, z = (np.asarray(arrays[f"{name}_{i}"], dtype=float) for name in ("B", "low", "high", "z"))
    if np.abs(B).max() > GRID:
        raise ValueError(f"strategy {i} holds numbers above 1, which no release can have; {AGAIN}")
    intervals = {"low": low, "high": high}
    if kept["noise"] == "discrete Gaussian":
        s = number(kept["noise_multiplier"])
        squares = _squares(kept["squares"], i, arrays) if "squares" in kept else None
        measurement = Measurement(B=B / GRID, **intervals, bounds=bounds, noise_multiplier=s)
        return Stage(measurement=measurement, z=z, squares=squares)
    if kept["noise"] != "discrete Laplace":
        raise ValueError(f"stage {i} has an unknown kind of noise; {AGAIN}")
    epsilon = number(kept["epsilon"])
    return Stage(measurement=LaplaceMeasurement(B=B / GRID, **intervals, bounds=bounds, epsilon=epsilon), z=z)


def _squares(kept: Mapping[str, Any], i: int, arrays: Mapping[str, Array]) -> StageSquares:
    high, g, z = (np.asarray(arrays[f"squares_{name}_{i}"], dtype=float) for name in ("high", "g", "z"))
    measurement = Measurement(
        B=np.ones((1, len(high))),
        low=np.zeros(len(high)),
        high=high,
        bounds=pair(kept["ends"]),
        noise_multiplier=number(kept["noise_multiplier"]),
    )
    return StageSquares(measurement=measurement, g=g, z=z)


def _arrays(statistics: Statistics) -> dict[str, Array]:
    arrays: dict[str, Array] = {"X": np.ascontiguousarray(statistics.X, dtype="<f8")}
    for i, stage in enumerate(statistics.stages):
        measurement = stage.measurement
        arrays[f"B_{i}"] = np.ascontiguousarray(measurement.B * GRID, dtype=float).astype("<i4")  # exact
        for name, values in {"low": measurement.low, "high": measurement.high, "z": stage.z}.items():
            arrays[f"{name}_{i}"] = np.asarray(values, dtype="<f8")
        if (of := stage.squares) is not None:
            for name, values in {"high": of.measurement.high, "g": of.g, "z": of.z}.items():
                arrays[f"squares_{name}_{i}"] = np.asarray(values, dtype="<f8")
    return arrays


def _shapes(n: int, dim: int, sizes: list[tuple[int, bool]]) -> Shapes:
    """Shape and type of each array that the description announces."""
    real, integer = np.dtype("<f8"), np.dtype("<i4")
    shapes: Shapes = {"X": ((n, dim), real)}
    for i, (r, squares) in enumerate(sizes):
        shapes = {
            **shapes,
            f"B_{i}": ((r, n), integer),
            f"low_{i}": ((n,), real),
            f"high_{i}": ((n,), real),
            f"z_{i}": ((r,), real),
        }
        if squares:
            every, one = ((n,), real), ((1,), real)
            shapes = {**shapes, f"squares_high_{i}": every, f"squares_g_{i}": every, f"squares_z_{i}": one}
    return shapes


def about_inputs(
    names: Sequence[str],
    units: Sequence[str],
    box: Sequence[tuple[float, float]],
    levels: Sequence[Levels | None] | None,
) -> dict[str, Any]:
    """What a description says of the inputs: nothing of levels where all are numbers."""
    card: dict[str, Any] = {"names": list(names), "units": list(units), "box": [list(side) for side in box]}
    if levels is not None:
        card["levels"] = [None if each is None else list(each) for each in levels]
    return card


def levels_of(inputs: Mapping[str, Any]) -> tuple[Levels | None, ...] | None:
    """Levels of each input of a description; None where it does not speak of any.

    Raises:
        ValueError: they are none that a release can have.
    """
    if "levels" not in inputs:
        return None
    pairs = zip(inputs["names"], checks.entries("levels", inputs["levels"], len(inputs["names"])), strict=True)
    named = ((checks.text("the name of an input", str(name)), each) for name, each in pairs)
    levels = tuple(None if each is None else checked_levels(name, each) for name, each in named)
    check_levels(levels)
    if all(each is None for each in levels):
        raise ValueError("levels are announced, and no input has any")
    return levels


def about_reading(reading: Reading) -> dict[str, str]:
    """What a description says of it: nothing where it is that of before."""
    return {} if reading == READINGS[-1] else {"reading": reading}


def reading_of(card: Mapping[str, Any]) -> Reading:
    """What kind of outcomes a release was made for; files of before do not say, and were made for normal ones.

    Raises:
        ValueError: it is none of them.
    """
    for known in READINGS:
        if card.get("reading", READINGS[-1]) == known:
            return known
    raise ValueError(
        f"the statistics are to be read in a way that is not known here, {checks.shown(card['reading'])}; {AGAIN}"
    )

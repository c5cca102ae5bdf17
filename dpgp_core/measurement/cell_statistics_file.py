"""The statistic over public cells as two files, as ``statistics_file`` has them; read back strictly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import FloatArray
from ..levels import whole_box
from ..seasons import Periods, check_periods
from .cell_statistics import CellSquares, CellStage, CellStatistics, KnownCounts, sizes_of
from .cells import CellCounts, CellResiduals
from .described_arrays import AGAIN, FILE, SCHEMA, Array, Shapes, check_schema, number, pack, pair, unpack, whole
from .distances_file import about_distances, distance_arrays, distance_shapes, distances_from
from .integers import GRID
from .plausible import check_read, reading
from .statistics_file import about_inputs, about_reading, levels_of, reading_of

KIND = "counts and residual sums over public cells"
KNOWN = {"known": "inputs are public"}
_MOST_CELLS = 1 << 20


def cell_statistics_to_files(statistics: CellStatistics) -> tuple[dict[str, Any], bytes]:
    """The description (plain JSON values) and the bytes of ``statistics.npz``; the same bytes each time.

    Strategies are kept as the integers 2^20 B, exactly. ``sha256`` is of the description without it and of all arrays.
    """
    multipliers = [stage.measurement.noise_multiplier for stage in statistics.stages]
    card = {
        "schema": SCHEMA,
        "kind": KIND,
        "file": FILE,
        "records": statistics.n,
        "cells_per_side": statistics.per_side,
        "counts": _about(statistics),
        "stages": [
            {"noise": "discrete Gaussian", "noise_multiplier": s, "numbers": len(stage.z)}
            | {"ends": list(stage.measurement.bounds)}
            | _about_squares(stage)
            for s, stage in zip(multipliers, statistics.stages, strict=True)
        ],
        "output": {"name": statistics.y_name, "unit": statistics.y_unit}
        | {"bounds": list(statistics.bounds), "scale": statistics.y_scale},
        "inputs": about_inputs(statistics.x_names, statistics.x_units, statistics.x_box, statistics.x_levels)
        | ({"periods": list(statistics.periods)} if statistics.periods else {}),  # files of before say nothing
        "guarantee": dict(statistics.guarantee),
        **about_reading(statistics.reading),
        **about_distances(statistics.distances),
    }
    return pack(card, _arrays(statistics) | distance_arrays(statistics.distances))


def cell_statistics_from_files(card: Mapping[str, Any], npz: bytes) -> CellStatistics:
    """Read a statistic back.

    Args:
        card: the description, as parsed JSON.
        npz: content of ``statistics.npz``. Nothing in it is executed, and no more is unpacked than described.

    Raises:
        ValueError: another schema or kind, a damaged or edited file, or values that no release can have.
    """
    check_schema(card)
    if card.get("kind") != KIND:
        raise ValueError(f"the statistics must be of kind {KIND!r}; {AGAIN}")
    with reading():
        statistics = _read(card, npz)
        check_read(statistics)
    return statistics


def _read(card: Mapping[str, Any], npz: bytes) -> CellStatistics:
    output, inputs, counts = card["output"], card["inputs"], card["counts"]
    dim, per_side, levels = len(inputs["names"]), whole(card["cells_per_side"]), levels_of(inputs)
    if not (1 <= dim <= 10 and 1 <= per_side <= _MOST_CELLS ** (1 / dim)):
        raise ValueError(f"the statistics must have between 1 and {_MOST_CELLS} cells; {AGAIN}")
    box = [pair(side) for side in inputs["box"]]
    box = box if levels is None else list(whole_box(box, levels))
    if len(box) != dim:
        raise ValueError(f"the box has {len(box)} sides, for {dim} inputs")
    measured, people = "known" not in counts, counts.get("people") is True
    sizes = [whole(counts["numbers"])] if measured else []
    stages = [(whole(stage["numbers"]), "squares" in stage) for stage in card["stages"]]
    periods = _periods(inputs.get("periods"), dim)
    cells, nodes = sizes_of(box, per_side, periods)
    if cells > _MOST_CELLS:
        raise ValueError(f"the statistics must have between 1 and {_MOST_CELLS} cells; {AGAIN}")
    arrays = unpack(card, npz, {**_shapes(cells, nodes, sizes, stages), **distance_shapes(card, cells, nodes)})
    return CellStatistics(
        counts=_counts(arrays, number(counts["noise_multiplier"]) if measured else None, people),
        z=_floats(arrays, "z_0") if measured else np.zeros(0),
        stages=tuple(_stage(kept, i, arrays) for i, kept in enumerate(card["stages"], start=1)),
        n=whole(card["records"]),
        per_side=per_side,
        x_names=tuple(map(str, inputs["names"])),
        x_units=tuple(map(str, inputs["units"])),
        x_box=tuple(box),
        y_name=str(output["name"]),
        y_unit=str(output["unit"]),
        bounds=pair(output["bounds"]),
        y_scale=number(output["scale"]),
        guarantee=dict(card["guarantee"]),
        reading=reading_of(card),
        distances=distances_from(card, arrays, CellResiduals),
        x_levels=levels,
        periods=periods,
    )


def _periods(given: Any, inputs: int) -> Periods:
    return check_periods(None if given is None else [None if p is None else number(p) for p in given], inputs)


def _about_squares(stage: CellStage) -> dict[str, Any]:
    if stage.squares is None:
        return {}
    measurement = stage.squares.measurement
    return {"squares": {"noise_multiplier": measurement.noise_multiplier, "ends": list(measurement.bounds)}}


def _about(statistics: CellStatistics) -> dict[str, Any]:
    people = {"people": True} if statistics.counts.people else {}  # files of before say nothing
    if isinstance(statistics.counts, KnownCounts):
        return KNOWN | people
    return {"noise_multiplier": statistics.counts.noise_multiplier, "numbers": len(statistics.z)} | people


def _counts(arrays: Mapping[str, Array], noise_multiplier: float | None, people: bool) -> CellCounts | KnownCounts:
    if noise_multiplier is None:
        return KnownCounts(numbers=_floats(arrays, "N"), people=people)
    return CellCounts(B=_strategy(arrays, 0), noise_multiplier=noise_multiplier, people=people)


def _stage(kept: Mapping[str, Any], i: int, arrays: Mapping[str, Array]) -> CellStage:
    if kept["noise"] != "discrete Gaussian":
        raise ValueError(f"stage {i} has an unknown kind of noise; {AGAIN}")
    measurement = CellResiduals(
        B=_strategy(arrays, i),
        low=_floats(arrays, f"low_{i}"),
        high=_floats(arrays, f"high_{i}"),
        bounds=pair(kept["ends"]),
        noise_multiplier=number(kept["noise_multiplier"]),
    )
    squares = _squares(kept["squares"], i, arrays) if "squares" in kept else None
    return CellStage(measurement=measurement, g=_floats(arrays, f"g_{i}"), z=_floats(arrays, f"z_{i}"), squares=squares)


def _squares(kept: Mapping[str, Any], i: int, arrays: Mapping[str, Array]) -> CellSquares:
    high = _floats(arrays, f"squares_high_{i}")
    measurement = CellResiduals(
        B=np.ones((1, len(high))),
        low=np.zeros(len(high)),
        high=high,
        bounds=pair(kept["ends"]),
        noise_multiplier=number(kept["noise_multiplier"]),
    )
    return CellSquares(measurement=measurement, z=_floats(arrays, f"squares_z_{i}"))


def _strategy(arrays: Mapping[str, Array], i: int) -> FloatArray:
    B = _floats(arrays, f"B_{i}")
    if np.abs(B).max() > GRID:
        raise ValueError(f"strategy {i} holds numbers above 1, which no release can have; {AGAIN}")
    return B / GRID


def _floats(arrays: Mapping[str, Array], name: str) -> FloatArray:
    return np.asarray(arrays[name], dtype=float)


def _arrays(statistics: CellStatistics) -> dict[str, Array]:
    """Counts first, then each stage."""
    counts = statistics.counts
    if isinstance(counts, KnownCounts):
        arrays: dict[str, Array] = {"N": counts.numbers.astype("<f8")}
    else:
        arrays = _measured(0, counts.B, statistics.z)
    for i, stage in enumerate(statistics.stages, start=1):
        arrays |= _measured(i, stage.measurement.B, stage.z)
    for i, stage in enumerate(statistics.stages, start=1):
        parts = {"low": stage.measurement.low, "high": stage.measurement.high, "g": stage.g}
        if stage.squares is not None:
            parts |= {"squares_high": stage.squares.measurement.high, "squares_z": stage.squares.z}
        arrays |= {f"{name}_{i}": np.asarray(values, dtype="<f8") for name, values in parts.items()}
    return arrays


def _measured(i: int, B: FloatArray, z: FloatArray) -> dict[str, Array]:
    integers = np.ascontiguousarray(B * GRID, dtype=float).astype("<i4")  # exact
    return {f"B_{i}": integers, f"z_{i}": np.asarray(z, dtype="<f8")}


def _shapes(cells: int, nodes: int, counts: list[int], stages: list[tuple[int, bool]]) -> Shapes:
    """Shape and type of each array that the description announces; ``counts`` is empty where they are public."""
    real, integer = np.dtype("<f8"), np.dtype("<i4")
    ends = ((cells,), real)
    shapes: Shapes = {} if counts else {"N": ends}
    for i, r in [*((0, r) for r in counts), *((i, r) for i, (r, _) in enumerate(stages, start=1))]:
        shapes = {**shapes, f"B_{i}": ((r, cells), integer), f"z_{i}": ((r,), real)}
    for i, (_, squares) in enumerate(stages, start=1):
        shapes = {**shapes, f"low_{i}": ends, f"high_{i}": ends, f"g_{i}": ((nodes,), real)}
        if squares:
            shapes = {**shapes, f"squares_high_{i}": ends, f"squares_z_{i}": ((1,), real)}
    return shapes

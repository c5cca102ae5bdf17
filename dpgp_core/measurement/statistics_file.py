"""Files of released statistics: a description, which is part of ``release.json``, and ``statistics.npz``.

Strategies are stored exactly, as the integers 2^20 B. ``sha256`` is the hash of all arrays and of the rest of the
description. Because anybody can compute this hash for an altered file, ``statistics_from_files`` also checks whether a
release can have produced the content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import checks
from ..arrays import FloatArray
from ..levels import Interval, LevelSide
from ..seasons import Periods, check_periods, lifted_box
from ..table import Column, declared_columns
from .described_arrays import AGAIN, FILE, SCHEMA, Array, check_schema, number, pack, pair, unpack, whole
from .integers import GRID
from .measurement import CellCounts, KnownCounts, LaplaceMeasurement, Measurement, from_zero
from .statistics import (
    Above,
    CellStatistics,
    MeasuredDistances,
    MeasuredLocations,
    OutcomeModel,
    Stage,
    StageSquares,
    Statistics,
    nodes_of_cluster,
    sizes_of,
)

KIND = "counts and residual sums over public cells"  # ``kind`` of ``CellStatistics``; ``Statistics`` has none
OUTCOME_MODELS: tuple[OutcomeModel, ...] = ("any outcomes", "yes/no")
MADE_BEFORE_0_3 = "the release was made before version 0.3 of dpgp; read it with version 0.2"
MOST_RECORDS = 10**12
_MOST_CELLS = 1 << 20
_MOST_CLUSTERS, _MOST_SIDES = 4096, 40
_PUBLIC_COUNTS = {"known": "inputs are public"}
_REMEDY = re.compile(r";|\. (?=[A-Z])")  # separates a message from its remedy, which readers of a file do not need
_NOISE = 1000.0  # largest noise in standard deviations; it is exceeded with a probability below e^-1000
_THINNEST = 1e-12  # smallest width of an interval, relative to the width of its bounds
_FARTHEST = 1e6  # largest value of a curve subtracted from outputs, relative to half the width of the bounds
_REAL, _WHOLE = np.dtype("<f8"), np.dtype("<i4")
_Shapes = dict[str, tuple[tuple[int, ...], np.dtype[Any]]]
_GAUSSIAN, _LAPLACE = "discrete Gaussian", "discrete Laplace"


def statistics_to_files(statistics: Statistics | CellStatistics) -> tuple[dict[str, Any], bytes]:
    """Return the description (plain JSON values) and the bytes of ``statistics.npz``, which are reproducible.

    Raises:
        ValueError: the release is simulated, so that its noise is floating-point and can be reproduced.
    """
    if statistics.guarantee.get("simulated"):
        raise ValueError("a simulated release must not be published; make a real release, without rng")
    card = _card(statistics)
    arrays = _arrays(statistics)
    return pack(card, {name: arrays[name] for name in _announced(card)})


def statistics_from_files(card: Mapping[str, Any], npz: bytes) -> Statistics | CellStatistics:
    """Read statistics from files.

    Args:
        card: the description, as parsed JSON.
        npz: content of ``statistics.npz``. Nothing in it is executed, and no more is unpacked than described.

    Raises:
        ValueError: another schema or kind, a damaged or edited file, or values that no release can have.
    """
    check_schema(card)
    if card.get("kind", KIND) != KIND:
        raise ValueError(f"the statistics must be of kind {KIND!r}; {AGAIN}")
    if "kind" in card and "reading" not in card:
        raise ValueError(MADE_BEFORE_0_3)
    with _refusing():
        statistics = _read(card, unpack(card, npz, _announced(card)))
        check_read(statistics)
    return statistics


def _card(statistics: Statistics | CellStatistics) -> dict[str, Any]:
    """Return the description of released statistics, without arrays."""
    card: dict[str, Any] = {"schema": SCHEMA}
    inputs: dict[str, Any] = {"names": list(statistics.x_names), "units": list(statistics.x_units)}
    inputs["box"] = [list(side) for side in statistics.x_box]
    if statistics.x_levels is not None:
        inputs["levels"] = [None if each is None else list(each) for each in statistics.x_levels]
    if isinstance(statistics, CellStatistics):
        card |= {"kind": KIND, "file": FILE, "records": statistics.n}
        if statistics.clusters is None:
            card["cells_per_side"] = statistics.per_side
        else:
            card["clusters"] = statistics.clusters.shape[1]
        card["counts"] = _counts_card(statistics)
        inputs |= {"periods": list(statistics.periods)} if statistics.periods else {}
    else:
        card |= {"file": FILE, "columns": len(statistics.X)}
    card["stages"] = [_stage_card(stage) for stage in statistics.stages]
    card["output"] = {"name": statistics.y_name, "unit": statistics.y_unit}
    card["output"] |= {"bounds": list(statistics.bounds), "scale": statistics.y_scale}
    card |= {"inputs": inputs, "guarantee": dict(statistics.guarantee)}
    return card | _cells_card(statistics) if isinstance(statistics, CellStatistics) else card


def _cells_card(statistics: CellStatistics) -> dict[str, Any]:
    """Return the part of the description that only ``CellStatistics`` has."""
    card: dict[str, Any] = {"reading": statistics.outcome_model}
    if (locations := statistics.locations) is not None:
        card["positions"] = _noise_card(locations.measurement) | {"sides": len(locations.z)}
    if (distances := statistics.distances) is not None:
        card["distances"] = _noise_card(distances.measurement) | {"numbers": len(distances.z)}
        if distances.above is not None:
            card["distances"]["above"] = {"noise_multiplier": distances.above.measurement.noise_multiplier}
    return card


def _noise_card(measurement: Measurement | LaplaceMeasurement) -> dict[str, Any]:
    if isinstance(measurement, LaplaceMeasurement):
        return {"noise": _LAPLACE, "epsilon": measurement.epsilon}
    return {"noise": _GAUSSIAN, "noise_multiplier": measurement.noise_multiplier}


def _stage_card(stage: Stage) -> dict[str, Any]:
    """Return noise and size of a stage, and the bounds of its intervals if these are not the bounds of the output."""
    card = _noise_card(stage.measurement) | {"numbers": len(stage.z)}
    card |= {"ends": list(stage.measurement.bounds)} if len(stage.g) else {}
    if stage.squares is not None:
        m = stage.squares.measurement
        card["squares"] = {"noise_multiplier": m.noise_multiplier, "ends": list(m.bounds)}
    return card


def _counts_card(statistics: CellStatistics) -> dict[str, Any]:
    counts = statistics.counts
    people = {"people": True} if counts.people else {}
    if isinstance(counts, KnownCounts):
        return _PUBLIC_COUNTS | people | {"places": True}
    return {"noise_multiplier": counts.noise_multiplier, "numbers": len(statistics.z)} | people


def _arrays(statistics: Statistics | CellStatistics) -> dict[str, Array]:
    """Return all arrays by name, in any order."""
    over_cells = isinstance(statistics, CellStatistics)
    real: dict[str, Any] = {}
    strategies: dict[str, FloatArray] = {}
    if not isinstance(statistics, CellStatistics):
        real["X"] = statistics.X
    elif isinstance(statistics.counts, KnownCounts):
        real |= {"N": statistics.counts.numbers, "places": statistics.counts.node_sums}
        real |= {} if statistics.clusters is None else {"clusters": statistics.clusters}
    else:
        strategies["B_0"], real["z_0"] = statistics.counts.B, statistics.z
    for i, stage in enumerate(statistics.stages, start=int(over_cells)):
        m = stage.measurement
        strategies[f"B_{i}"] = m.B
        real |= {f"low_{i}": m.low, f"high_{i}": m.high, f"z_{i}": stage.z, f"g_{i}": stage.g}
        if (squares := stage.squares) is not None:
            real[f"squares_high_{i}"] = squares.measurement.high
            real[f"squares_z_{i}"] = squares.z
    if isinstance(statistics, CellStatistics) and statistics.locations is not None:
        real["positions"] = statistics.locations.z
    if isinstance(statistics, CellStatistics) and (distances := statistics.distances) is not None:
        strategies["distances_B"], above = distances.B, distances.above
        real |= {"distances_g": distances.g, "distances_z": distances.z, "distances_reach": [distances.threshold]}
        real |= {"distances_sd": [distances.sd]} | ({} if above is None else {"distances_above": above.z})
    arrays: dict[str, Array] = {name: np.ascontiguousarray(values, dtype=_REAL) for name, values in real.items()}
    return arrays | {  # exact: B is a multiple of 2^-20
        name: np.ascontiguousarray(B * GRID, dtype=float).astype(_WHOLE) for name, B in strategies.items()
    }


def _announced(card: Mapping[str, Any]) -> _Shapes:
    """Return shape and type of each array that a description announces."""
    rows = [whole(stage["numbers"]) for stage in card["stages"]]
    if "kind" not in card:
        n = whole(card["columns"])
        shapes: _Shapes = {"X": ((n, len(card["inputs"]["names"])), _REAL)}
        for i, r in enumerate(rows):
            shapes |= {f"B_{i}": ((r, n), _WHOLE), **_reals(i, n, "low", "high"), **_reals(i, r, "z")}
        return shapes
    n, nodes = _sizes(card)
    counts = card["counts"]
    if "known" in counts:
        measured, shapes = [], {"N": ((n,), _REAL), "places": ((nodes,), _REAL)}
    else:
        measured, shapes = [(0, whole(counts["numbers"]))], {}
    shapes |= {"clusters": ((2, n, len(_sides(card))), _REAL)} if "clusters" in card else {}
    if (part := card.get("positions")) is not None:
        shapes["positions"] = (whole(part["sides"]), n), _REAL
    for i, r in measured + list(enumerate(rows, start=1)):
        shapes |= {f"B_{i}": ((r, n), _WHOLE), **_reals(i, r, "z")}
    for i, stage in enumerate(card["stages"], start=1):
        shapes |= _reals(i, n, "low", "high") | _reals(i, nodes, "g")
        shapes |= _reals(i, n, "squares_high") | _reals(i, 1, "squares_z") if "squares" in stage else {}
    if (part := card.get("distances")) is not None:
        r = whole(part["numbers"])
        shapes |= {"distances_B": ((r, n), _WHOLE), "distances_g": ((nodes,), _REAL), "distances_z": ((r,), _REAL)}
        ones = ("distances_reach", "distances_sd", *(["distances_above"] if "above" in part else []))
        shapes |= dict.fromkeys(ones, ((1,), _REAL))
    return shapes


def _reals(i: int, length: int, *names: str) -> _Shapes:
    return {f"{name}_{i}": ((length,), _REAL) for name in names}


def _sizes(card: Mapping[str, Any]) -> tuple[int, int]:
    """Return the number of columns and of nodes; raise ValueError if there are too many for the memory."""
    if "clusters" in card:
        clusters, sides = whole(card["clusters"]), _sides(card)
        numbers = sum(not isinstance(side, LevelSide) for side in sides)
        if 1 <= clusters <= _MOST_CLUSTERS and len(sides) <= _MOST_SIDES:
            return clusters, clusters * nodes_of_cluster(numbers)
        raise ValueError(f"the statistics must have between 1 and {_MOST_CLUSTERS} clusters; {AGAIN}")
    dim, per_side = len(card["inputs"]["names"]), whole(card["cells_per_side"])
    if 1 <= dim <= 10 and 1 <= per_side <= _MOST_CELLS ** (1 / dim):
        box = tuple(each.box for each in _columns(card))
        cells, nodes = sizes_of(box, per_side, _periods(card))
        if cells <= _MOST_CELLS:
            return cells, nodes
    raise ValueError(f"the statistics must have between 1 and {_MOST_CELLS} cells; {AGAIN}")


def _sides(card: Mapping[str, Any]) -> tuple[Interval, ...]:
    """Return the sides of the box, phases included."""
    return lifted_box(tuple(each.box for each in _columns(card)), _periods(card))


def _columns(card: Mapping[str, Any]) -> tuple[Column, ...]:
    """Return the inputs, checked as declarations are. Dates are numbers of days here."""
    inputs, levels = card["inputs"], None
    names, units, sides = tuple(map(str, inputs["names"])), tuple(map(str, inputs["units"])), inputs["box"]
    for field, texts in (("name", names), ("unit", units)):
        for i, text in enumerate(texts, start=1):
            checks.text(f"the {field} of input {i}", text.strip(), empty=True)
    box = [checks.interval(f"the box of input {i}", pair(side)) for i, side in enumerate(sides, start=1)]
    if "levels" in inputs:
        levels = checks.entries("levels", inputs["levels"], len(names))
        if all(each is None for each in levels):
            raise ValueError("levels are announced, and no input has any")
    return declared_columns(names, box, units=units, levels=levels)


def _periods(card: Mapping[str, Any]) -> Periods:
    periods, inputs = card["inputs"].get("periods"), len(card["inputs"]["names"])
    return check_periods(None if periods is None else [None if p is None else number(p) for p in periods], inputs)


def _read(card: Mapping[str, Any], arrays: Mapping[str, Array]) -> Statistics | CellStatistics:
    floats = {name: np.asarray(array, dtype=float) for name, array in arrays.items()}
    output, over_cells = card["output"], "kind" in card
    common: dict[str, Any] = {
        "stages": tuple(
            _stage(part, i, None if over_cells else pair(output["bounds"]), floats)
            for i, part in enumerate(card["stages"], start=int(over_cells))
        ),
        "columns": _columns(card),
        "y_name": str(output["name"]),
        "y_unit": str(output["unit"]),
        "y_scale": number(output["scale"]),
        "guarantee": dict(card["guarantee"]),
    }
    if not over_cells:
        return Statistics(X=floats["X"], **common)
    return CellStatistics(
        counts=_counts(card["counts"], floats),
        z=floats.get("z_0", np.zeros(0)),
        n=whole(card["records"]),
        per_side=None if "clusters" in card else whole(card["cells_per_side"]),
        clusters=floats.get("clusters"),
        bounds=pair(output["bounds"]),
        outcome_model=outcome_model_of(card),
        distances=_distances(card, floats),
        periods=_periods(card),
        locations=_locations(card, floats),
        **common,
    )


def outcome_model_of(card: Mapping[str, Any]) -> OutcomeModel:
    """Return the kind of outcomes that a release was made for.

    Raises:
        ValueError: the description names another kind.
    """
    for outcome_model in OUTCOME_MODELS:
        if card["reading"] == outcome_model:
            return outcome_model
    raise ValueError(
        f"the statistics were made for an unknown kind of outcomes, {checks.excerpt(card['reading'])}; {AGAIN}"
    )


def _counts(part: Mapping[str, Any], floats: Mapping[str, FloatArray]) -> CellCounts | KnownCounts:
    people = part.get("people") is True
    if "known" in part:
        return KnownCounts(numbers=floats["N"], people=people, node_sums=floats["places"])
    s = number(part["noise_multiplier"])
    return CellCounts(B=_strategy(floats["B_0"], "strategy 0"), noise_multiplier=s, people=people)


def _locations(card: Mapping[str, Any], floats: Mapping[str, FloatArray]) -> MeasuredLocations | None:
    if "positions" not in card:
        return None
    if card["positions"]["noise"] != _GAUSSIAN:
        raise ValueError(f"the positions have an unknown kind of noise; {AGAIN}")
    z = floats["positions"]
    s, cells = number(card["positions"]["noise_multiplier"]), z.shape[1]
    return MeasuredLocations(measurement=from_zero(np.eye(cells), np.ones(cells), (0.0, 1.0), s), z=z)


def _stage(
    part: Mapping[str, Any], i: int, bounds: tuple[float, float] | None, floats: Mapping[str, FloatArray]
) -> Stage:
    """Read stage i. Its intervals lie within ``bounds`` of the output or, if None, within the stage's own "ends"."""
    parts = {"low": floats[f"low_{i}"], "high": floats[f"high_{i}"], "B": _strategy(floats[f"B_{i}"], f"strategy {i}")}
    ends = pair(part["ends"]) if bounds is None else bounds
    z, g = floats[f"z_{i}"], floats.get(f"g_{i}", np.zeros(0))
    if part["noise"] == _LAPLACE and bounds is not None:
        measurement = LaplaceMeasurement(**parts, bounds=ends, epsilon=number(part["epsilon"]))
        return Stage(measurement=measurement, z=z, g=g)
    if part["noise"] != _GAUSSIAN:
        raise ValueError(f"stage {i} has an unknown kind of noise; {AGAIN}")
    squares = None
    if (one := part.get("squares")) is not None:
        high = floats[f"squares_high_{i}"]
        squared = from_zero(np.ones((1, len(high))), high, pair(one["ends"]), number(one["noise_multiplier"]))
        squares = StageSquares(measurement=squared, g=g, z=floats[f"squares_z_{i}"])
    sums = Measurement(**parts, bounds=ends, noise_multiplier=number(part["noise_multiplier"]))
    return Stage(measurement=sums, z=z, g=g, squares=squares)


def _distances(card: Mapping[str, Any], floats: Mapping[str, FloatArray]) -> MeasuredDistances | None:
    if "distances" not in card:
        return None
    part, above = card["distances"], None
    if part["noise"] != _GAUSSIAN:
        raise ValueError(f"the distances have an unknown kind of noise; {AGAIN}")
    B = _strategy(floats["distances_B"], "the strategy of the distances")
    ones, reach = np.ones(B.shape[1]), float(floats["distances_reach"][0])
    if "above" in part:
        count = from_zero(ones[None], ones, (0.0, 1.0), number(part["above"]["noise_multiplier"]))
        above = Above(measurement=count, z=floats["distances_above"])
    return MeasuredDistances(
        measurement=from_zero(B, reach * ones, (0.0, reach), number(part["noise_multiplier"])),
        g=floats["distances_g"],
        sd=float(floats["distances_sd"][0]),
        z=floats["distances_z"],
        above=above,
    )


def _strategy(integers: FloatArray, name: str) -> FloatArray:
    if np.abs(integers).max() > GRID:
        raise ValueError(f"{name} holds numbers above 1, which no release can have; {AGAIN}")
    return integers / GRID


@contextmanager
def _refusing() -> Iterator[None]:
    """Convert errors about the content of a file to messages for its reader, without the remedy for declarations."""
    try:
        with np.errstate(over="ignore"):  # numbers that overflow are refused
            yield
        return
    except (KeyError, TypeError, IndexError, AttributeError, OverflowError):
        message = "the description of the statistics is incomplete or of another shape"
    except ValueError as error:
        if AGAIN in str(error):
            raise
        message = f"no release can hold what the statistics say: {_REMEDY.split(str(error))[0]}"
    raise ValueError(f"{message}; {AGAIN}")


def check_read(statistics: Statistics | CellStatistics) -> None:
    """Raise ValueError unless a release can have produced every number, so that it is safe to compute with them."""
    names = {"name of the output": statistics.y_name, "unit of the output": statistics.y_unit}
    for field, name in names.items():
        checks.text(f"the {field}", name.strip(), empty=True)
    low, high = checks.interval("the bounds of the output", statistics.bounds)
    width = high - low
    checks.number("the scale of the output", statistics.y_scale, width / checks.MOST, width * checks.MOST)
    if isinstance(statistics, Statistics):
        n = len(statistics.X)
        _within("a place", statistics.X, checks.MOST)
    else:
        n = checks.whole("the number of records", statistics.n, 1, MOST_RECORDS)
        _check_curves(statistics)
        if isinstance(statistics.counts, CellCounts):
            _within("a noisy count", statistics.z, n + _NOISE * statistics.counts.noise_sd)
    for measurement, z in statistics.measured:
        # |B q| <= n, because |q| <= 1/2 and |B| <= 1
        _within("a noisy number", z, n + _NOISE * measurement.noise_sd)
        low, high = measurement.bounds
        if (measurement.high - measurement.low < _THINNEST * (high - low)).any():
            raise ValueError("an interval is too narrow to compute with")


def _check_curves(statistics: CellStatistics) -> None:
    """Raise ValueError unless curves and the ends of intervals are of a size that fits the bounds of the output."""
    least, most = _THINNEST * statistics.half_range, _FARTHEST * statistics.half_range
    for stage in statistics.stages:
        _within("the curve subtracted from outputs", stage.g, most)
        _within("the ends of the residuals", np.array(stage.measurement.bounds), most)
        if stage.squares is not None:
            _within("the ends of the squares", np.array(stage.squares.measurement.bounds), most**2)
    if statistics.distances is not None:
        _within("the curve of the distances", statistics.distances.g, most)
        checks.number("the clipping threshold of the distances", statistics.distances.threshold, least, most)
        checks.number("the residual standard deviation", statistics.distances.sd, least, most)


def _within(name: str, values: FloatArray, most: float) -> None:
    largest = float(np.abs(values).max(initial=0.0))
    if not largest <= most:
        raise ValueError(f"{name} must lie within +- {most:g}, and one has the size {largest:g}")

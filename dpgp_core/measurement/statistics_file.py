"""A statistic as two files: a description for ``release.json`` and ``statistics.npz``; read back strictly."""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .integers import GRID
from .measurement import LaplaceMeasurement, Measurement
from .statistics import Stage, Statistics

SCHEMA = 1
FILE = "statistics.npz"
MAX_BYTES = 1 << 31  # of all arrays together
_HEADER = 4096  # more than an .npy header of at most two dimensions takes
_AGAIN = "fetch both files again from whoever released them"

Array = NDArray[np.generic]


def statistics_to_files(statistics: Statistics) -> tuple[dict[str, Any], bytes]:
    """The description (plain JSON values) and the bytes of ``statistics.npz``; the same bytes each time.

    Strategies are kept as the integers 2^20 B, exactly. ``sha256`` is of the description without it and of all arrays.
    """
    arrays = _arrays(statistics)
    card = {
        "schema": SCHEMA,
        "file": FILE,
        "columns": len(statistics.X),
        "stages": [_stage_card(stage) for stage in statistics.stages],
        "output": {"name": statistics.y_name, "unit": statistics.y_unit}
        | {"bounds": list(statistics.bounds), "scale": statistics.y_scale},
        "inputs": {"names": list(statistics.x_names), "units": list(statistics.x_units)}
        | {"box": [list(interval) for interval in statistics.x_box]},
        "guarantee": dict(statistics.guarantee),
    }
    stream = io.BytesIO()
    np.savez_compressed(stream, allow_pickle=False, **arrays)
    return card | {"sha256": _digest(card, arrays)}, stream.getvalue()


def statistics_from_files(card: Mapping[str, Any], npz: bytes) -> Statistics:
    """Read a statistic back.

    Args:
        card: the description, as parsed JSON.
        npz: content of ``statistics.npz``. Nothing in it is executed, and no more is unpacked than described.

    Raises:
        ValueError: another schema, a damaged or edited file, or values that no release can have.
    """
    if card.get("schema") != SCHEMA:
        raise ValueError(
            f"the statistics have schema {card.get('schema')!r}, and this version reads {SCHEMA}; "
            "use the version of dpgp that release.json names"
        )
    try:
        return _read(card, npz)
    except (KeyError, TypeError, IndexError, AttributeError, OverflowError):
        raise ValueError(f"the description of the statistics is incomplete or of another shape; {_AGAIN}") from None


def _read(card: Mapping[str, Any], npz: bytes) -> Statistics:
    n, dim, sizes = (
        _whole(card["columns"]),
        len(card["inputs"]["names"]),
        [_whole(s["numbers"]) for s in card["stages"]],
    )
    if min(n, dim, *sizes) < 1 or 8 * n * (dim + 2 * len(sizes)) + sum(sizes) * (4 * n + 8) > MAX_BYTES:
        raise ValueError(f"the statistics must hold between 1 number and {MAX_BYTES} bytes; {_AGAIN}")
    arrays = _unpack(npz, _shapes(n, dim, sizes))
    described = {key: value for key, value in card.items() if key != "sha256"}
    if _digest(described, arrays) != card["sha256"]:
        raise ValueError(
            f"the statistics do not match their sha256: one file was changed or belongs elsewhere; {_AGAIN}"
        )
    output, inputs = card["output"], card["inputs"]
    return Statistics(
        stages=tuple(_stage(kept, i, _pair(output["bounds"]), arrays) for i, kept in enumerate(card["stages"])),
        X=np.asarray(arrays["X"], dtype=float),
        x_names=tuple(map(str, inputs["names"])),
        x_units=tuple(map(str, inputs["units"])),
        x_box=tuple(map(_pair, inputs["box"])),
        y_name=str(output["name"]),
        y_unit=str(output["unit"]),
        y_scale=_number(output["scale"]),
        guarantee=dict(card["guarantee"]),
    )


def _stage_card(stage: Stage) -> dict[str, Any]:
    noise = (
        {"noise": "discrete Gaussian", "noise_multiplier": stage.measurement.noise_multiplier}
        if isinstance(stage.measurement, Measurement)
        else {"noise": "discrete Laplace", "epsilon": stage.measurement.epsilon}
    )
    return noise | {"numbers": len(stage.z)}


def _stage(kept: Mapping[str, Any], i: int, bounds: tuple[float, float], arrays: Mapping[str, Array]) -> Stage:
    B, low, high, z = (np.asarray(arrays[f"{name}_{i}"], dtype=float) for name in ("B", "low", "high", "z"))
    if np.abs(B).max() > GRID:
        raise ValueError(f"strategy {i} holds numbers above 1, which no release can have; {_AGAIN}")
    intervals = {"low": low, "high": high}
    if kept["noise"] == "discrete Gaussian":
        s = _number(kept["noise_multiplier"])
        return Stage(measurement=Measurement(B=B / GRID, **intervals, bounds=bounds, noise_multiplier=s), z=z)
    if kept["noise"] != "discrete Laplace":
        raise ValueError(f"stage {i} has an unknown kind of noise; {_AGAIN}")
    epsilon = _number(kept["epsilon"])
    return Stage(measurement=LaplaceMeasurement(B=B / GRID, **intervals, bounds=bounds, epsilon=epsilon), z=z)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return float(value)


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    return value


def _pair(values: Sequence[object]) -> tuple[float, float]:
    if len(values) != 2:
        raise TypeError
    return _number(values[0]), _number(values[1])


def _arrays(statistics: Statistics) -> dict[str, Array]:
    arrays: dict[str, Array] = {"X": np.ascontiguousarray(statistics.X, dtype="<f8")}
    for i, stage in enumerate(statistics.stages):
        measurement = stage.measurement
        arrays[f"B_{i}"] = np.ascontiguousarray(measurement.B * GRID, dtype=float).astype("<i4")  # exact
        for name, values in {"low": measurement.low, "high": measurement.high, "z": stage.z}.items():
            arrays[f"{name}_{i}"] = np.asarray(values, dtype="<f8")
    return arrays


def _shapes(n: int, dim: int, sizes: list[int]) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Shape and type of each array that the description announces."""
    real, whole = np.dtype("<f8"), np.dtype("<i4")
    shapes: dict[str, tuple[tuple[int, ...], np.dtype[Any]]] = {"X": ((n, dim), real)}
    for i, r in enumerate(sizes):
        shapes |= {
            f"B_{i}": ((r, n), whole),
            f"low_{i}": ((n,), real),
            f"high_{i}": ((n,), real),
            f"z_{i}": ((r,), real),
        }
    return shapes


def _unpack(npz: bytes, shapes: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]]) -> dict[str, Array]:
    """Exactly the announced arrays, in their order. Sizes are checked before anything is unpacked."""
    problem = "is not a readable .npz file"
    try:
        with zipfile.ZipFile(io.BytesIO(npz)) as archive:
            if sorted(archive.namelist()) != sorted(f"{name}.npy" for name in shapes):
                problem = "does not hold the arrays that the description announces"
                raise ValueError
            return {name: _array(archive, name, *expected) for name, expected in shapes.items()}
    except (ValueError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError):
        raise ValueError(f"{FILE} {problem}; {_AGAIN}") from None


def _array(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    size = math.prod(shape) * dtype.itemsize
    if not 0 < archive.getinfo(f"{name}.npy").file_size - size < _HEADER:
        raise ValueError
    stream = io.BytesIO(archive.read(f"{name}.npy"))
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError
    if np.lib.format.read_array_header_1_0(stream) != (shape, False, dtype):
        raise ValueError
    return np.frombuffer(stream.read(), dtype=dtype).reshape(shape)


def _digest(card: Mapping[str, Any], arrays: Mapping[str, Array]) -> str:
    """SHA-256 of the description, keys sorted, and of each array's name, shape and little-endian bytes."""
    digest = hashlib.sha256(json.dumps(card, sort_keys=True, allow_nan=False).encode())
    for name, array in arrays.items():
        digest.update(f"{name} {array.shape} {array.dtype.str}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()

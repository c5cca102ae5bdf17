"""Arrays with a description as two files: JSON values and ``statistics.npz``. Reading checks every array strictly."""

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

from ..checks import excerpt

SCHEMA = 1
FILE = "statistics.npz"
MAX_BYTES = 1 << 31  # largest size of all arrays together
AGAIN = "fetch both files again from whoever released them"
# Errors that zipfile raises if an archive is truncated, altered, encrypted or compressed by an unknown method.
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError)
_HEADER = 4096  # upper bound on the size of an .npy header of an array with at most three dimensions

Array = NDArray[np.generic]
Shapes = Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]]
"""Shape and type of each array that a description announces."""


def pack(card: Mapping[str, Any], arrays: Mapping[str, Array]) -> tuple[dict[str, Any], bytes]:
    """Return the description with its ``sha256``, and the bytes of ``statistics.npz``, which are reproducible."""
    stream = io.BytesIO()
    np.savez_compressed(stream, allow_pickle=False, **arrays)
    return {**card, "sha256": _digest(card, arrays)}, stream.getvalue()


def unpack(card: Mapping[str, Any], npz: bytes, shapes: Shapes) -> dict[str, Array]:
    """Return exactly the announced arrays, in their order. Sizes are checked before anything is unpacked.

    Args:
        card: the description, including ``sha256``.
        npz: content of ``statistics.npz``. Nothing in it is executed, and no more is unpacked than announced.
        shapes: shape and type of each announced array.

    Raises:
        ValueError: a damaged or edited file, or more than 2^31 bytes.
        KeyError: there is no ``sha256``.
    """
    sizes = [math.prod(shape) * dtype.itemsize for shape, dtype in shapes.values()]
    if min(sizes) < 1 or sum(sizes) > MAX_BYTES:
        raise ValueError(f"the statistics must hold between 1 number and {MAX_BYTES} bytes; {AGAIN}")
    arrays = _unzip(npz, shapes)
    described = {key: value for key, value in card.items() if key != "sha256"}
    try:
        matches = _digest(described, arrays) == card["sha256"]
    except (ValueError, RecursionError):  # a number that is too large for a float, or very deeply nested lists
        raise ValueError(f"the description of the statistics cannot be written as JSON; {AGAIN}") from None
    if not matches:
        raise ValueError(
            f"the statistics do not match their sha256: one file was changed or belongs elsewhere; {AGAIN}"
        )
    return arrays


def check_schema(card: Mapping[str, Any]) -> None:
    """Raise ValueError unless this version can read the description."""
    if card.get("schema") != SCHEMA:
        raise ValueError(
            f"the statistics have schema {excerpt(card.get('schema'))}, and this version reads {SCHEMA}; "
            "use the version of dpgp that release.json names"
        )


def number(value: object) -> float:
    """Return a number of a description as a float; raise TypeError if it is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return float(value)


def whole(value: object) -> int:
    """Return a whole number of a description; raise TypeError if it is not a whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    return value


def pair(values: Sequence[object]) -> tuple[float, float]:
    """Return a pair of numbers of a description; raise TypeError unless there are two."""
    if len(values) != 2:
        raise TypeError
    return number(values[0]), number(values[1])


def _unzip(npz: bytes, shapes: Shapes) -> dict[str, Array]:
    problem = "is not a readable .npz file"
    try:
        with zipfile.ZipFile(io.BytesIO(npz)) as archive:
            if sorted(archive.namelist()) != sorted(f"{name}.npy" for name in shapes):
                problem = "does not hold the arrays that the description announces"
                raise ValueError
            return {name: _array(archive, name, *expected) for name, expected in shapes.items()}
    except (ValueError, *UNREADABLE):
        raise ValueError(f"{FILE} {problem}; {AGAIN}") from None


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
    """Return the SHA-256 of the description (with sorted keys) and each array's name, shape, type and bytes."""
    digest = hashlib.sha256(json.dumps(card, sort_keys=True, allow_nan=False).encode())
    for name, array in arrays.items():
        digest.update(f"{name} {array.shape} {array.dtype.str}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()

"""Results as bytes that hold values only: text and arrays, never code, so that any file can be read safely."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import io
import json
import math
import re
import zipfile
from typing import Any

import numpy as np
import pandas as pd

_FIRST_LINE = b"dpgp result 1\n"
# Where the dataclasses are of which a result may be made. What runs when it is imported is not among them.
_OURS = re.compile(r"(dpgp_core|datasets|pages\._ui)(\.\w*[a-z0-9])+", re.ASCII)
_KEY = slice(len(_FIRST_LINE) + 32, len(_FIRST_LINE) + 64)
_TREE = "tree"


class Unreadable(ValueError):
    """Bytes that were not written here for this key, or not to their end."""


def to_bytes(value: Any, key: str) -> bytes:
    """A result as bytes: a line that says what it is, SHA-256 of the rest and of the key, an ``.npz``.

    Args:
        value: made of numbers, text, lists, tuples, dicts, arrays, tables, and dataclasses of this project.
        key: what it is the result of; ``from_bytes`` takes it for no other.

    Raises:
        TypeError: it holds something else.
    """
    arrays: list[np.ndarray] = []
    tree = json.dumps(_encoded(value, arrays), allow_nan=False)
    stream = io.BytesIO()
    named = {str(number): array for number, array in enumerate(arrays)}
    np.savez(stream, allow_pickle=False, **{_TREE: np.frombuffer(tree.encode(), np.uint8)}, **named)
    rest = hashlib.sha256(key.encode()).digest() + stream.getvalue()
    return _FIRST_LINE + hashlib.sha256(rest).digest() + rest


def from_bytes(content: bytes, key: str) -> Any:
    """The result in ``to_bytes(value, key)``; its arrays cannot be written to.

    Raises:
        Unreadable: it is cut short, altered, or of another key.
    """
    if not intact(content) or content[_KEY] != hashlib.sha256(key.encode()).digest():
        raise Unreadable("it is cut short, altered, or of another key")
    try:
        with np.load(io.BytesIO(content[_KEY.stop :]), allow_pickle=False) as archive:
            tree = json.loads(archive[_TREE].tobytes())
            arrays = [archive[str(number)] for number in range(len(archive.files) - 1)]
        for array in arrays:
            array.setflags(write=False)
        return _decoded(tree, arrays)
    except (ValueError, TypeError, LookupError, AttributeError, ImportError, OSError, zipfile.BadZipFile) as error:
        raise Unreadable(f"it does not fit this code: {error}") from error


def intact(content: bytes) -> bool:
    """Whether it is as ``to_bytes`` wrote it, for whatever key."""
    return content[: _KEY.start] == _FIRST_LINE + hashlib.sha256(content[_KEY.start :]).digest()


def _encoded(value: Any, arrays: list[np.ndarray]) -> Any:
    """As JSON; what JSON has no word for is an object with one key, its kind."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if type(value) in (list, tuple):
        return {type(value).__name__: [_encoded(item, arrays) for item in value]}
    if type(value) is dict:
        return {"dict": [[_encoded(name, arrays), _encoded(item, arrays)] for name, item in value.items()]}
    if isinstance(value, np.generic):
        return {"scalar": _kept(np.asarray(value), arrays)}
    if type(value) is np.ndarray:
        return {"array": _kept(value, arrays)}
    if type(value) is pd.DataFrame:
        return {"table": _columns(value, arrays)}
    return {"object": _fields(value, arrays)}


def _kept(array: np.ndarray, arrays: list[np.ndarray]) -> int:
    if array.dtype.hasobject:
        raise TypeError("an array of objects cannot be kept as values")
    arrays.append(array)
    return len(arrays) - 1


def _columns(table: pd.DataFrame, arrays: list[np.ndarray]) -> list[Any]:
    if not table.index.equals(pd.RangeIndex(len(table))):
        raise TypeError("a table with an index of its own cannot be kept as values")
    columns = ((str(name), table[name]) for name in table.columns)
    return [
        [name, str(column.dtype), _encoded(column.tolist() if column.dtype == "str" else column.to_numpy(), arrays)]
        for name, column in columns
    ]


def _fields(value: Any, arrays: list[np.ndarray]) -> list[Any]:
    kind = type(value)
    if not dataclasses.is_dataclass(kind) or not _OURS.fullmatch(kind.__module__):
        raise TypeError(f"a {kind.__module__}.{kind.__qualname__} cannot be kept as values")
    fields = {field.name: _encoded(getattr(value, field.name), arrays) for field in dataclasses.fields(value)}
    return [kind.__module__, kind.__qualname__, fields]


def _decoded(tree: Any, arrays: list[np.ndarray]) -> Any:
    if not isinstance(tree, dict):
        return tree
    [(kind, inside)] = tree.items()
    if kind == "float":
        return float(inside)
    if kind in ("list", "tuple"):
        found = [_decoded(item, arrays) for item in inside]
        return found if kind == "list" else tuple(found)
    if kind == "dict":
        return {_decoded(name, arrays): _decoded(item, arrays) for name, item in inside}
    if kind == "scalar":
        return arrays[inside][()]
    if kind == "array":
        return arrays[inside]
    if kind == "table":
        return pd.DataFrame({name: pd.Series(_decoded(column, arrays), dtype=dtype) for name, dtype, column in inside})
    if kind == "object":
        module, name, fields = inside
        return _object(module, name, fields, arrays)
    raise ValueError(f"there is no kind {kind!r}")


def _object(module: str, name: str, fields: dict[str, Any], arrays: list[np.ndarray]) -> Any:
    """A dataclass of this project with these fields, as it was: checks of its constructor passed when it was made."""
    if not _OURS.fullmatch(module):
        raise ValueError(f"{module} is no module of this project")
    kind = getattr(importlib.import_module(module), name)
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)) or kind.__module__ != module:
        raise ValueError(f"{name} is no dataclass of {module}")
    if {field.name for field in dataclasses.fields(kind)} != fields.keys():
        raise ValueError(f"{name} has other fields")
    made = object.__new__(kind)
    for field, value in fields.items():
        object.__setattr__(made, field, _decoded(value, arrays))
    return made

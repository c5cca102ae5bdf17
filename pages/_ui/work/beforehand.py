"""Results that are shipped because every first visitor would wait for them; ``opening`` lists them.

They are in one file of arrays without pickles: each result as its arrays and a text that says how they belong
together. Results that cannot be read, or that belong to other settings, are computed as if there were no file.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_name("beforehand.npz")
_OURS = ("dpgp_core.", "pages.")  # packages whose classes a file may name


def name_of(function: Callable[..., Any], settings: tuple[Hashable, ...]) -> str:
    """Return the name of a result in the file."""
    return f"{function.__module__}.{function.__qualname__}{settings!r}"


def find(function: Callable[..., Any], settings: tuple[Hashable, ...]) -> Any | None:
    """Return the shipped result for these settings, with read-only arrays; None if there is none."""
    return kept().get(name_of(function, settings))


@cache
def kept() -> Mapping[str, Any]:
    """Return all results of the file by name; an empty mapping if there is no file."""
    return read(FILE) if FILE.exists() else {}


def read(path: Path) -> dict[str, Any]:
    """Return the results of a file that can be read; results whose class has changed are left out."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    for array in arrays.values():
        array.setflags(write=False)  # shared by all sessions
    results = {}
    for name, form in json.loads(str(arrays.pop("forms"))).items():
        try:
            results[name] = _put_together(form, arrays)
        except (AttributeError, ImportError, KeyError, TypeError, ValueError):
            continue
    return results


def write(results: Iterable[tuple[str, Any]], path: Path = FILE) -> None:
    """Write results with their names to a file.

    Raises:
        TypeError: a result contains something that cannot be written as arrays.
    """
    arrays: dict[str, Any] = {}
    forms = {name: taken_apart(value, arrays) for name, value in results}
    np.savez_compressed(path, allow_pickle=False, forms=np.array(json.dumps(forms)), **arrays)


def taken_apart(value: Any, arrays: dict[str, Any]) -> Any:
    """Return a value as JSON; its arrays are added to ``arrays``."""
    if isinstance(value, np.ndarray):
        number = f"array_{len(arrays)}"
        arrays[number] = value
        return {"array": number}
    if isinstance(value, bool | int | float | str | None):
        return value
    if is_dataclass(value) or hasattr(value, "_fields"):
        names = [each.name for each in fields(value) if each.init] if is_dataclass(value) else value._fields
        kind = type(value)
        return {
            "class": [kind.__module__, kind.__qualname__],
            "fields": {name: taken_apart(getattr(value, name), arrays) for name in names},
        }
    if isinstance(value, tuple | list):
        return {type(value).__name__: [taken_apart(each, arrays) for each in value]}
    if isinstance(value, dict):
        return {"dict": [[taken_apart(part, arrays) for part in pair] for pair in value.items()]}
    raise TypeError(f"a file of results cannot hold {type(value).__name__}")


def _put_together(form: Any, arrays: Mapping[str, Any]) -> Any:
    """Return the value from the result of ``taken_apart``."""
    if not isinstance(form, dict):
        return form
    if "array" in form:
        return arrays[form["array"]]
    if "class" in form:
        module, name = form["class"]
        if not module.startswith(_OURS):
            raise ValueError(f"{module} is not part of this project")
        kind = getattr(importlib.import_module(module), name)
        return kind(**{key: _put_together(part, arrays) for key, part in form["fields"].items()})
    ((kind_name, parts),) = form.items()
    together = [
        [_put_together(each, arrays) for each in part] if kind_name == "dict" else _put_together(part, arrays)
        for part in parts
    ]
    return {"tuple": tuple, "list": list, "dict": dict}[kind_name](together)

"""Results that ship with the dashboard, because every first visitor would wait for them; ``opening`` says which.

One file of arrays without pickles: a result is written as its arrays and a text that says how they belong together.
Results that cannot be read, or are of other settings, are computed as if there were no file.
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
_OURS = ("dpgp_core.", "pages.")  # whose classes a file may name


def name_of(function: Callable[..., Any], settings: tuple[Hashable, ...]) -> str:
    """The name of a result in the file."""
    return f"{function.__module__}.{function.__qualname__}{settings!r}"


def find(function: Callable[..., Any], settings: tuple[Hashable, ...]) -> Any | None:
    """The result for these settings if it ships; its arrays cannot be written to."""
    return kept().get(name_of(function, settings))


@cache
def kept() -> Mapping[str, Any]:
    """All results of the file, by name; nothing if there is none."""
    return read(FILE) if FILE.exists() else {}


def read(path: Path) -> dict[str, Any]:
    """The results of a file that can be read; one whose class has changed since is left out."""
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
    """Keep results, each with its name, in a file.

    Raises:
        TypeError: a result holds something that a file of arrays cannot.
    """
    arrays: dict[str, Any] = {}
    forms = {name: taken_apart(value, arrays) for name, value in results}
    np.savez_compressed(path, allow_pickle=False, forms=np.array(json.dumps(forms)), **arrays)


def taken_apart(value: Any, arrays: dict[str, Any]) -> Any:
    """A value as JSON; its arrays go to ``arrays``."""
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
    """The value of ``taken_apart``."""
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

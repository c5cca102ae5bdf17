"""Lines of Python that compute what a page shows: written from the page's settings, and drawn in its tab."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import defaultdict
from typing import Any

import numpy as np
import streamlit as st

import datasets
import dpgp_core

TITLE = "In Python"
NOTE = (
    "These lines compute the numbers of this page with its settings as they are now. They need `dpgp_core` and "
    "`datasets` of this project, numpy, scipy, pandas and h3."
)
_WIDEST = 100  # characters of a line


class Script:
    """Lines of Python with the imports that they need. They use public names only."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._imports: dict[str, set[str]] = defaultdict(set)
        self._modules: list[str] = []

    def add(self, *lines: str) -> None:
        """Append lines to the body. The arguments of a call that is too long for one line get lines of their own."""
        for line in lines:
            self._lines += [line] if len(line) <= _WIDEST else _broken(line)

    def module(self, line: str) -> None:
        """Import a module of Python or numpy by this line."""
        if line not in self._modules:
            self._modules.append(line)

    def name(self, thing: Any, module: str | None = None) -> str:
        """Return the name of a public class, function or module, and import it.

        Args:
            thing: class, function or module.
            module: module to import it from; by default the shortest path to it.
        """
        name = thing.__name__.rpartition(".")[2]
        if module is None:
            fronts = [each for each in (dpgp_core, datasets) if getattr(each, name, None) is thing]
            module = fronts[0].__name__ if fronts else thing.__module__
        self._imports[module].add(name)
        return str(name)

    def constant(self, name: str, module: str) -> str:
        """Return the name of a public constant, and import it."""
        self._imports[module].add(name)
        return name

    def of(self, value: Any) -> str:
        """Return a value as Python code; a data class with the fields that differ from their defaults."""
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            given = ((field, getattr(value, field.name)) for field in dataclasses.fields(value) if field.init)
            written = (f"{field.name}={self._argument(field, each)}" for field, each in given if _differs(field, each))
            return f"{self.name(type(value))}({', '.join(written)})"
        if isinstance(value, tuple | list):
            inner = ", ".join(map(self.of, value))
            return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
        if isinstance(value, float | np.floating):
            return _number(float(value))
        return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)

    def _argument(self, field: dataclasses.Field[Any], value: Any) -> str:
        """Return an argument as Python code; a lengthscale that all inputs share becomes one number."""
        if field.name == "lengthscale" and isinstance(value, tuple) and len(value) == 1:
            return self.of(value[0])
        return self.of(value)

    def __str__(self) -> str:
        """Return the whole script: imports, an empty line, and the body."""
        found = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(self._imports.items())]
        return "\n".join([*sorted(self._modules), *found, "", *self._lines])


def _differs(field: dataclasses.Field[Any], value: Any) -> bool:
    default = field.default
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    return bool(default is dataclasses.MISSING or value != default)


def _number(value: float) -> str:
    if math.isinf(value):
        return 'float("inf")'
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _broken(line: str) -> list[str]:
    """Return the line with the arguments of its outermost call in lines of their own."""
    start = line.find("(") + 1
    if not start or not line.endswith(")"):
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    depth, parts, part = 0, list[str](), ""
    for character in line[start:-1]:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(character, 0)
        if depth < 0:  # the first bracket is closed before the end of the line
            return [line]
        if character == "," and depth == 0:
            parts, part = [*parts, part.strip()], ""
        else:
            part += character
    parts += [part.strip()] if part.strip() else []
    filled = [""]
    for each in parts:
        if len(indent) + len(filled[-1]) + len(each) + 2 > _WIDEST and filled[-1]:
            filled.append("")
        filled[-1] += f"{each}, "
    return [line[:start], *(f"{indent}{each.rstrip()}" for each in filled), f"{indent[4:]})"]


def draw(script: Script | str) -> None:
    """Draw the lines, ready to be copied."""
    st.caption(NOTE)
    st.code(str(script), language="python", wrap_lines=True)

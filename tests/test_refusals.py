"""Refusals are read at a glance: no sentence of one has more than twenty words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 20  # words
ROOMS = ("dpgp_core/release", "dpgp_core/reading", "dpgp_core/bounds", "dpgp_core/accounting", "pages")


def refusals(source: str) -> Iterator[str]:
    """What is said by each error that a module raises, with X for what is put in."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield from filter(None, map(_text, node.exc.args))


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
    return ""


@pytest.mark.parametrize("room", ROOMS)
def test_no_sentence_of_a_refusal_has_to_be_read_twice(room):
    said = {each for path in (ROOT / room).rglob("*.py") for each in refusals(path.read_text())}
    assert len(said) > 4
    parts = [part for each in said for part in re.split(r"(?<=[.:])\s", each)]
    assert [part for part in parts if len(part.split()) > LONGEST] == []

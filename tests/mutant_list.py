"""The edits of ``tests.mutants``: each breaks a promise, and each once went, or could go, unnoticed.

They stand in tests/edits/, a file a room. ``== file`` begins the edits of one file; each is a line ``# what it
breaks: the test that notices``, the text as it is after ``- `` and as it becomes after ``+ ``. A test's name alone is
one of the file's own test module, as ``tests/core/gp/test_grid.py`` is of ``dpgp_core/gp/grid.py``; another stands
with its path below tests/.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

EDITS = Path(__file__).parent / "edits"


class Mutant(NamedTuple):
    """One edit: ``before`` stands once in ``file`` and becomes ``after``; ``test`` fails then, and only then."""

    file: str
    breaks: str
    test: str
    before: str
    after: str


def own_tests(file: str) -> str:
    """The test module of a file of the project."""
    path = Path(file)
    room = Path("tests", *path.parent.parts)
    return str(Path(str(room).replace("dpgp_core", "core", 1), f"test_{path.name}"))


def read(text: str) -> Iterator[Mutant]:
    """The edits of one file of tests/edits/."""
    lines, file = text.splitlines(), ""
    starts = [number for number, line in enumerate(lines) if line.startswith(("==", "#"))]
    for start, end in pairwise([*starts, len(lines)]):
        kind, _, head = lines[start].partition(" ")
        if kind == "==":
            file = head
            continue
        breaks, _, test = head.rpartition(": ")
        test = f"tests/{test}" if "::" in test else f"{own_tests(file)}::{test}"
        text_of = {sign: "\n".join(line[2:] for line in lines[start + 1 : end] if line[0] == sign) for sign in "-+"}
        yield Mutant(file, breaks, test, text_of["-"], text_of["+"])


MUTANTS = tuple(mutant for file in sorted(EDITS.glob("*.txt")) for mutant in read(file.read_text(encoding="utf-8")))

"""Compute what pages open with, and keep it in pages/_ui/work/beforehand.npz, so that nobody waits for it.

    python -m benchmarks first_results          # after every change of a mechanism or of how errors are measured
    python -m benchmarks first_results --check  # writes nothing; says how far the file is from what it would be now

`python -m pytest -m full tests/pages/test_beforehand.py` fails as long as the file is not what it would be now.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from pages._ui import opening
from pages._ui.work import beforehand

_OF_ONE_RUN = {"seconds", "iterations", "gap"}


def change(old: Any, new: Any) -> float:
    """Largest relative difference of two results, in their numbers and in the sizes of their arrays."""
    arrays: dict[str, Any] = {}
    before, after = (np.array([*_sizes(beforehand.taken_apart(value, arrays), arrays)]) for value in (old, new))
    if before.shape != after.shape or (np.isfinite(before) != np.isfinite(after)).any():
        return np.inf
    differing = np.isfinite(after) & (after != before)
    with np.errstate(divide="ignore"):
        return float(np.max(np.abs(before[differing] / after[differing] - 1), initial=0.0))


def _sizes(form: Any, arrays: Mapping[str, Any]) -> Iterator[float]:
    """Every number, and the root of the sum of squares of every array; times and an optimiser's steps left out."""
    if isinstance(form, dict) and "array" in form:
        array = arrays[form["array"]]
        if array.dtype.kind in "fiu":
            yield float(np.sqrt(np.square(array[np.isfinite(array)], dtype=float).sum()))
    elif isinstance(form, dict):
        for key, part in form.items():
            if key not in _OF_ONE_RUN:
                yield from _sizes(part, arrays)
    elif isinstance(form, list):
        for part in form:
            yield from _sizes(part, arrays)
    elif isinstance(form, int | float):
        yield float(form)


def rows(found: dict[str, Any]) -> Iterator[dict[str, object]]:
    """One row a result, once it is there; ``found`` is filled meanwhile."""
    before = beforehand.kept()
    for request in opening.results():
        name, start = beforehand.name_of(request.function, request.settings), time.process_time()
        new = request.function(*request.given, *request.settings)
        seconds = time.process_time() - start
        changed = change(before[name], new) if name in before else math.inf
        found[name] = new if changed else before[name]  # of one that is as it was, the seconds that were measured stay
        said = f"{100 * changed:.2g} %" if name in before else "new"
        yield {"result": name, "seconds": f"{seconds:.2g}", "change, at most": said}


def main(argv: Sequence[str] | None = None) -> None:
    """Compute it, print the table, and keep it unless it is only checked."""
    given = options_of(__doc__, argv, {}, check=False)
    found: dict[str, Any] = {}
    show(rows(found))
    if not given.check:
        beforehand.write(found.items())

"""Compute what pages open with, and keep it in pages/_ui/work/beforehand.npz, so that nobody waits for it.

    python -m benchmarks first_results          # after every change of a mechanism or of how errors are measured
    python -m benchmarks first_results --check  # writes nothing; says how far the file is from what it would be now

`python -m pytest -m full tests/pages/test_beforehand.py` fails as long as the file is not what it would be now.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from pages._ui import opening
from pages._ui.work import beforehand


def rows(found: dict[str, Any]) -> Iterator[dict[str, object]]:
    """One row a result, once it is there; ``found`` is filled meanwhile."""
    before = beforehand.kept()
    for wish in opening.wishes():
        name, start = beforehand.name_of(wish.function, wish.settings), time.process_time()
        new = wish.function(*wish.given, *wish.settings)
        seconds = time.process_time() - start
        change = beforehand.change(before[name], new) if name in before else math.inf
        found[name] = new if change else before[name]  # of one that is as it was, the seconds that were measured stay
        said = f"{100 * change:.2g} %" if name in before else "new"
        yield {"result": name, "seconds": f"{seconds:.2g}", "change, at most": said}


def main(argv: Sequence[str] | None = None) -> None:
    """Compute it, print the table, and keep it unless it is only checked."""
    given = options_of(__doc__, argv, {}, check=False)
    found: dict[str, Any] = {}
    show(rows(found))
    if not given.check:
        beforehand.write(found.items())

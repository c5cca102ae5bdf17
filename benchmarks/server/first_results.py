"""Work out what Start and Compare open with, and keep it in pages/_ui/compare/built.npz, so that nobody waits for it.

    python -m benchmarks first_results          # after every change of a mechanism or of how errors are measured
    python -m benchmarks first_results --check  # writes nothing; says how far the file is from what it would be now

`python -m pytest -m full tests/pages/test_built.py` fails as long as the file is not what it would be now.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from pages._ui.compare import compute
from pages._ui.compare.compute import Built


def rows(found: dict[str, Built]) -> Iterator[dict[str, object]]:
    """One row a contender, once it is done; ``found`` is filled meanwhile."""
    before = compute.kept()
    for name, each in compute.computed():
        found[name] = each
        new, old = each.curve.mean, before[name].curve.mean if name in before else None
        yield {
            "contender": name,
            "error at the least epsilon": f"{new[0]:.4g}",
            "at the largest": f"{new[-1]:.4g}",
            "change, at most": "new" if old is None else f"{100 * float(np.abs(new / old - 1).max()):.2g} %",
        }


def main(argv: Sequence[str] | None = None) -> None:
    """Work it out, print the table, and keep it unless it is only checked."""
    given = options_of(__doc__, argv, {}, check=False)
    found: dict[str, Built] = {}
    show(rows(found))
    if not given.check:
        compute.write(found)

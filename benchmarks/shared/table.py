"""How tables are printed: rows with named cells, as they are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def show(rows: Iterable[Mapping[str, object]]) -> None:
    """Print rows as they are made, as Markdown, under the names of their cells; a number is printed in three digits."""
    for number, row in enumerate(rows):
        if not number:
            print(f"{_line(row)}\n|{'---|' * len(row)}")
        print(_line(f"{cell:.3g}" if isinstance(cell, float) else cell for cell in row.values()), flush=True)


def _line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"

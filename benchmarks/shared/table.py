"""How tables are printed: rows with named cells as they are made, or columns once all are there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def show(rows: Iterable[Mapping[str, object]]) -> None:
    """Print rows as they are made, as Markdown, under the names of their cells; a number is printed in three digits."""
    for number, row in enumerate(rows):
        if not number:
            print(f"{_line(row)}\n|{'---|' * len(row)}")
        print(_line(f"{cell:.3g}" if isinstance(cell, float) else cell for cell in row.values()), flush=True)


def _line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def columns(rows: Sequence[Sequence[str]], *, right: bool = False) -> str:
    """Rows of cells, the heading first, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    placed = str.rjust if right else str.ljust
    lines = ("  ".join(placed(cell, width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)

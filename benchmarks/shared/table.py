"""How tables are printed: in columns, or as Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def columns(rows: Sequence[Sequence[str]], *, right: bool = False) -> str:
    """Rows of cells, the heading first, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    placed = str.rjust if right else str.ljust
    lines = ("  ".join(placed(cell, width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def markdown(*cells: str) -> str:
    """One row."""
    return f"| {' | '.join(cells)} |"


def heading(*titles: str) -> str:
    """The first two lines."""
    return f"{markdown(*titles)}\n|{'---|' * len(titles)}"

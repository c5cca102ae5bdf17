"""Released values as CSV text that a spreadsheet reads as text and numbers, never as formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..arrays import FloatArray
from .declared.table import RESERVED
from .plan import decimals
from .publishing import Published, is_off_scale, within_tolerance
from .specification import ReleaseSpec

# What spreadsheets take for the start of a formula, full-width forms included; OWASP, "CSV Injection".
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def safe_text(text: str) -> str:
    """Text for a cell or header: an apostrophe goes before what a spreadsheet would run. Numbers never pass here."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def quoted(text: str) -> str:
    """Text as a cell or header of a CSV."""
    return '"{}"'.format(safe_text(text).replace('"', '""'))


def column_text(values: FloatArray, step: float | None = None) -> list[str]:
    """Numbers as text: multiples of a power of ten exactly, others to 10 digits."""
    if step is None:
        return [f"{value:.10g}" for value in values]
    return [f"{value:.{max(decimals(step), 0)}f}" for value in values]


def _input_text(spec: ReleaseSpec, name: str, values: FloatArray) -> list[str]:
    """An input as the table writes it."""
    if name in spec.levels:
        return [quoted(spec.levels[name][int(code)]) for code in values]
    dates = spec.dates_of(name)
    return column_text(values) if dates is None else [dates.text(value) for value in values]


def csv_text(columns: Mapping[str, Sequence[str]]) -> str:
    """CSV with quoted, safe headers, and cells as they are.

    Args:
        columns: name: cells, all of one length; cells are numbers and dates written as text, or quoted.
    """
    header = ",".join(quoted(name) for name in columns)
    rows = (",".join(row) for row in zip(*columns.values(), strict=True))
    return "\r\n".join([header, *rows, ""])


def published_columns(published: Published, spec: ReleaseSpec) -> dict[str, list[str]]:
    """Columns of the released table: the inputs, the value, ends of its intervals, centiles, and if it is of use."""
    columns = {name: _input_text(spec, name, x) for name, x in zip(spec.x, published.X_test.T, strict=True)}
    columns["value"] = column_text(published.values, published.step)
    ends = zip(RESERVED[1:-1], [*published.curve, *published.outputs, *published.centiles], strict=False)
    columns |= {name: column_text(end, published.step) for name, end in ends}
    if spec.tolerance is not None or is_off_scale(published):
        columns[RESERVED[-1]] = [str(int(within)) for within in within_tolerance(published, spec)]
    return columns

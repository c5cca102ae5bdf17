"""What is declared to an estimator and never inferred: bounds, box, a public grid over the box, columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..accounting.guarantee import Protects
from ..arrays import FloatArray
from ..checks import check_interval
from ..data import Dataset, Kind
from ..dates import declared_day
from ..levels import Category, check_codes, level_columns, levels_by_column, number_sides, whole_box
from ..reading.date_inputs import is_date_box

Pair = tuple[float, float]
_CURVE, _MAP, _MORE = 65, 17, 512  # places along a line, along each side of a map, and in a box of more dimensions


def declared_box(x_box: Sequence[float] | Sequence[Pair], dim: int) -> tuple[Pair, ...]:
    """A (low, high) pair for each of D columns.

    Args:
        x_box: one pair for all columns, or D pairs.
        dim: D.

    Raises:
        ValueError: it is neither, or an end is not finite or not above the other.
    """
    pairs = np.asarray(x_box, dtype=float)
    if pairs.shape not in ((2,), (dim, 2)):
        raise ValueError(
            f"x_box must be one (low, high) pair for all columns of X, or {dim} of them, one for each; "
            f"got shape {pairs.shape}"
        )
    box = tuple((float(low), float(high)) for low, high in np.broadcast_to(pairs, (dim, 2)))
    for number, pair in enumerate(box):
        check_interval(pair, f"x_box of column {number}")
    return box


def declared_dataset(
    X: FloatArray,
    y: FloatArray,
    *,
    names: tuple[str, ...] | None,
    y_bounds: Pair,
    x_box: Sequence[float] | Sequence[Pair],
    y_scale: float,
    protects: Protects = "outputs",
    kind: Kind = "number",
    groups: NDArray[np.generic] | None = None,
    levels: Sequence[Sequence[str] | None] | None = None,
) -> Dataset:
    """Records with what is declared about them.

    Args:
        X: inputs (n, D), public unless they are protected.
        y: outputs (n,), private.
        names: of the columns, if known.
        y_bounds: public (low, high) of the output.
        x_box: see ``declared_box``.
        y_scale: public constant that outputs are divided by before modelling.
        protects: where inputs are protected too, rows outside the box count at its edge, and nothing is said of them.
        kind: of the output.
        groups: whose row each is (n,); None: every row is another person's.
        levels: of each column its levels, where it is a category, and None where it is a number; None: all are numbers.

    Raises:
        ValueError: bounds, box, levels or scale is out of range, outputs are not of their kind, or a row of public X
            lies outside the box.
    """
    low, high = y_bounds
    names = names or tuple(f"x{number}" for number in range(X.shape[1]))
    by_name = declared_levels(names, levels)
    box = whole_box(declared_box(x_box, sum(each is None for each in by_name)), by_name)
    check_codes(X, box, names)
    if protects == "outputs":
        _check_inside(X, box)
    unit = "one record" if groups is None else "one person"
    return Dataset(
        name="fit",
        X=X,
        y=y,
        x_names=names,
        x_units=("",) * X.shape[1],
        y_name="y",
        y_unit="",
        y_bounds=(float(low), float(high)),
        x_box=box,
        privacy_unit=f"{unit}'s output{'' if groups is None else 's'}" if protects == "outputs" else unit,
        source="",
        licence="",
        bounds_reason="declared by the caller",
        y_scale=y_scale,
        y_kind=kind,
        person=groups,
        x_levels=by_name if any(by_name) else None,
    )


def _check_inside(X: FloatArray, box: Sequence[Pair]) -> None:
    lows, highs = np.array(box).T
    outside = int(((lows > X) | (highs < X)).any(axis=1).sum())
    if outside:
        raise ValueError(
            f"{outside} of {len(X)} rows of X lie outside x_box, {box}; declare the whole domain, or leave them out"
        )


def declared_levels(
    names: tuple[str, ...], levels: Sequence[Sequence[str] | None] | None
) -> tuple[tuple[str, ...] | None, ...]:
    """Levels of each column, checked; None where it is a number.

    Args:
        names: of the D columns.
        levels: as declared; None: all are numbers.

    Raises:
        ValueError: there are not D entries, or they are no levels.
    """
    if levels is None:
        return (None,) * len(names)
    if len(levels) != len(names):
        raise ValueError(f"x_levels must have {len(names)} entries, one per column of X, got {len(levels)}")
    return levels_by_column(names, {n: each for n, each in zip(names, levels, strict=True) if each is not None})


def grid_of(box: Sequence[Pair]) -> FloatArray:
    """Public places all over a box (P, D): evenly spaced in one or two dimensions, else an additive recurrence.

    Where inputs are categories, these places of the others for each combination of levels.

    Args:
        box: D (low, high) pairs.

    Source: in more dimensions x_k = frac(1/2 + k (g^-1, ..., g^-D)), g^(D+1) = g + 1 (Roberts 2018, R-sequence).
    """
    categories = level_columns(box)
    if categories:
        places = grid_of(number_sides(box))
        codes = list(product(*(range(round(box[d][1] - box[d][0])) for d in categories)))
        everywhere = np.tile(places, (len(codes), 1))
        for d, column in zip(categories, np.repeat(np.array(codes, dtype=float), len(places), axis=0).T, strict=True):
            everywhere = np.insert(everywhere, d, column, axis=1)
        return everywhere
    lows, highs = np.array(box).T
    dim = len(lows)
    if dim <= 2:
        sides = [np.linspace(0.0, 1.0, _CURVE if dim == 1 else _MAP)] * dim
        unit = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, dim)
    else:
        g = 1.0
        for _ in range(60):  # a contraction: to rounding
            g = (1 + g) ** (1 / (dim + 1))
        unit = (0.5 + np.arange(1, _MORE + 1)[:, None] * g ** -np.arange(1.0, dim + 1)) % 1.0
    grid: FloatArray = lows + unit * (highs - lows)
    return grid


Levels = Sequence[Sequence[str] | None] | None


def box_of_numbers(x_box: Any) -> Any:
    """A declared box whose sides of two dates are in days since the first of them; other sides as they were.

    Raises:
        ValueError: an end is no date.
    """
    if is_date_box(x_box):
        return _in_days(x_box)
    if not isinstance(x_box, list | tuple):
        return x_box
    return [_in_days(side) if is_date_box(side) else side for side in x_box]


def numbers_of(X: ArrayLike, x_box: Any, x_levels: Levels) -> ArrayLike:
    """A table whose columns of texts are the numbers of their levels and whose dates are days; all else as it was.

    Args:
        X: inputs; a table has columns by position (``iloc``).
        x_box: as declared: two dates where a column is one of dates.
        x_levels: as declared.

    Raises:
        ValueError: a text is none of the levels. The message says in how many rows, and no text.
    """
    columns: Any = getattr(X, "iloc", None)
    if columns is None or getattr(X, "ndim", 0) != 2:
        return X
    table: Any = X
    width = table.shape[1]
    levels = list(x_levels) if x_levels is not None and len(x_levels) == width else [None] * width
    sides = _sides(x_box, levels)
    read = [
        _column(columns[:, d], str(table.columns[d]), each, side)
        for d, (each, side) in enumerate(zip(levels, sides, strict=True))
    ]
    if all(each is None for each in read):
        return X
    return np.column_stack([np.asarray(columns[:, d]) if each is None else each for d, each in enumerate(read)])


def _sides(x_box: Any, levels: Sequence[object]) -> list[object]:
    """The declared side of each column; None where there is none."""
    if is_date_box(x_box):
        return [None if each is not None else x_box for each in levels]
    left = iter(x_box if isinstance(x_box, list | tuple) else ())
    return [None if each is not None else next(left, None) for each in levels]


def _column(column: Any, name: str, levels: Sequence[str] | None, side: Any) -> np.ndarray[Any, Any] | None:
    """A column of texts or dates as numbers; None for one of numbers."""
    if levels is not None and np.asarray(column).dtype.kind not in "iufb":
        of = Category(name=name, levels=tuple(levels))
        found = [of.number_of(str(cell)) for cell in column]
        wrong = sum(each is None for each in found)
        if wrong:
            raise ValueError(
                f"column {name!r} has none of its levels in {wrong:,} of {len(found):,} rows; name these levels too, "
                'or declare a level "other"'
            )
        return np.array(found, dtype=float)
    if side is not None and is_date_box(side):
        days = column.to_numpy(dtype="datetime64[ns]").astype("datetime64[D]")
        first = np.datetime64(declared_day("the first day of x_box", side[0]))
        return np.where(np.isnat(days), np.nan, (days - first).astype("timedelta64[D]").astype(float))
    return None


def _in_days(side: Any) -> tuple[float, float]:
    first, last = (declared_day("each end of x_box", end) for end in side)
    return 0.0, float((last - first).days if isinstance(last, date) else 0)

"""What is declared to an estimator and never inferred: bounds, box, a public grid over the box."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..accounting.guarantee import Protects
from ..arrays import FloatArray
from ..checks import check_interval
from ..data import Dataset, Kind
from ..levels import check_codes, level_columns, levels_by_column, number_sides, whole_box

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

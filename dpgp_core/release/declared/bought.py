"""Bounds that are bought, as declared: the smallest size of an outcome that matters, and a share of the budget."""

from __future__ import annotations

from ... import checks
from ...bounds.cells import LEAST_UNIT, MOST_UNIT, RoundCells, sides_of
from ...bounds.purchase import LEAST_SHARE, MOST_SHARE
from ...data import Kind
from ...mechanisms.entry import Entry


def checked_unit(unit: object) -> float | None:
    """The smallest size, or None where bounds are declared.

    Raises:
        ValueError: it is no number in range.
    """
    return None if unit is None else checks.number("bounds_unit", unit, LEAST_UNIT, MOST_UNIT)


def checked_share(share: object) -> float:
    """The share of mu^2 that bounds cost, where they are bought.

    Raises:
        ValueError: it is no number in range.
    """
    return checks.number("bounds_share", share, LEAST_SHARE, MOST_SHARE)


def checked_bounds(bounds: object, unit: float | None, kind: Kind, *, log: bool) -> tuple[float, float]:
    """The bounds as declared; those of all cells where they are bought and nothing is declared.

    Raises:
        ValueError: they are no bounds, neither declared nor bought, or there is nothing to buy.
    """
    if unit is None:
        if bounds is None and kind == "yes/no":
            return 0.0, 1.0
        if bounds is None:
            raise ValueError(
                "y_bounds must be [low, high]. Where nobody knows them, give bounds_unit, the smallest size of an "
                "outcome that matters. They are then bought with a share of the budget"
            )
        return checks.interval("y_bounds", bounds)
    cells = RoundCells(unit=unit, sides=sides_of(kind, log=log))
    return cells.interval(0, cells.count - 1) if bounds is None else checks.interval("y_bounds", bounds)


def check_buyer(mechanism: str, choice: Entry, y_scale: float | None) -> None:
    """Raise ValueError unless a mechanism can do with bounds that are bought: it makes everything itself from them."""
    if not choice.automatic:
        raise ValueError(f"mechanism {mechanism!r} needs declared bounds; use 'bayes_cells' or 'bayes' to buy them")
    if y_scale is not None:
        raise ValueError("y_scale follows from the bounds where they are bought; leave it out")

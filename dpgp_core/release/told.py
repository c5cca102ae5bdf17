"""What whoever owns a table is told around a release, in sentences: before it for their eyes, and on the card."""

from __future__ import annotations

import math

from ..data import Dataset, of_kind
from .specification import ReleaseSpec

FOR_YOUR_EYES = "For your eyes, in no file:"


def to_owner(spec: ReleaseSpec, dataset: Dataset) -> str:
    """What whoever owns a table should see before anything is spent; "" for nothing. Not private.

    Args:
        spec: of the release.
        dataset: from ``read_outcomes``, outcomes as the table has them.
    """
    outside = 0 if spec.bounds_unit is not None else dataset.clipped_count
    told = [*dataset.told]
    if outside:
        are, count = ("outcome lies", "counts") if outside == 1 else ("outcomes lie", "count")
        told.insert(
            0,
            f"{outside:,} of {dataset.n:,} {are} outside the bounds and {count} as the bound. If some of them only "
            "stand for a missing value, declare these codes as missing.",
        )
    return f"{FOR_YOUR_EYES} {' '.join(told)}" if told else ""


def not_of_its_kind(spec: ReleaseSpec, dataset: Dataset) -> str:
    """How many outcomes count as another; "" for none. Not private."""
    moved = int((of_kind(spec.y_kind, dataset.y) != dataset.y).sum())
    if not moved:
        return ""
    return (
        f"{FOR_YOUR_EYES} {moved:,} of {dataset.n:,} rows have an outcome that is not of its kind ({spec.y_kind}); "
        "each counts as the nearest one that is."
    )


def complete_rows(n: int, left_out: int, *, people: bool = False) -> str:
    """How many rows, or people, were read, of how many: "1,046 complete rows of 1,309"."""
    if people:
        return f"{n:,} people with a complete row of {n + left_out:,}" if left_out else f"{n:,} people"
    return f"{n:,} complete rows of {n + left_out:,}" if left_out else f"{n:,} rows"


def large_delta(delta: float, n: int) -> str:
    """What is wrong with a delta above 1/n; "" for nothing.

    Args:
        delta: of a release.
        n: number of records, or of people where they may have several; public.
    """
    if delta * n <= 1:
        return ""
    usual = 10.0 ** math.floor(math.log10(0.1 / n))
    return (
        f"delta = {delta:g} is above 1/n = {1 / n:.2g}: whoever published about {delta * n:,.0f} of the {n:,} records "
        f"as they are would keep this promise, too; declare {usual:g} or less."
    )

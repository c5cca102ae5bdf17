"""The private table of a release: read as it is declared, with notices for its owner before anything is spent."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import BinaryIO

from ..reading.csv_file import read_dataset
from ..reading.rows import as_written
from ..table import Dataset, Outcome, of_kind
from .specification import ReleaseSpec

FOR_YOUR_EYES = "For your eyes, in no file:"


def read_table(stream: BinaryIO, spec: ReleaseSpec) -> Dataset:
    """Read the columns that a specification names from a stream with a header line; outputs as measured.

    Raises:
        ValueError: see ``read_outcomes``.
    """
    return as_measured(spec.outcome, read_outcomes(stream, spec))


def declared_writing(stream: BinaryIO, spec: ReleaseSpec) -> ReleaseSpec:
    """The specification with separator and encoding, which the first line of the table and its byte order mark say.

    Args:
        stream: in binary mode; its position is the same afterwards.

    Raises:
        ValueError: there is no first line of column names.
    """
    return replace(spec, writing=as_written(stream, spec.writing))


def read_outcomes(stream: BinaryIO, spec: ReleaseSpec) -> Dataset:
    """Read the columns that a specification names; outputs as the table has them.

    Raises:
        ValueError: the stream is no such table or has too many rows for the mechanism. The message names the column
            and the line, never the content of a cell.
    """
    return read_dataset(
        stream,
        spec.columns,
        replace(spec.outcome, kind="number", log=False),
        privacy_unit=spec.unit,
        max_rows=spec.max_rows,
        private_inputs=spec.protects_inputs,
        writing=spec.writing,
        person=spec.person,
    )


def as_measured(outcome: Outcome, table: Dataset) -> Dataset:
    """The table of ``read_outcomes``, with outputs as they are measured."""
    return replace(table, y=outcome.taken(table.y), outcome=outcome.measured)


def check_declared(spec: ReleaseSpec, dataset: Dataset) -> None:
    """Raise ValueError unless a data set has the declarations of the specification."""
    if (spec.person is None) != (dataset.person is None):
        raise ValueError("the data set and the specification differ in person; read it with read_table")
    same = ["x_names", "y_name", "y_bounds", "x_box", "x_levels", "privacy_unit", "y_scale", "y_kind"]
    same += ["x_units"] if spec.dates else []  # which say the first day
    declared = spec.public_table(dataset.X)
    differ = [name for name in same if getattr(dataset, name) != getattr(declared, name)]
    if differ:
        raise ValueError(f"the data set and the specification differ in {', '.join(differ)}; read it with read_table")


def to_owner(spec: ReleaseSpec, dataset: Dataset) -> str:
    """Notices for whoever owns a table, before anything is spent; "" for none. Not private.

    Args:
        dataset: from ``read_outcomes``, outcomes as the table has them.
    """
    outside = 0 if spec.bounds_unit is not None else dataset.clipped_count
    notices = [*dataset.notices]
    if outside:
        are, count = ("outcome lies", "counts") if outside == 1 else ("outcomes lie", "count")
        notices.insert(
            0,
            f"{outside:,} of {dataset.n:,} {are} outside the bounds and {count} as the bound. If some of them only "
            "stand for a missing value, declare these codes as missing.",
        )
    return f"{FOR_YOUR_EYES} {' '.join(notices)}" if notices else ""


def not_of_its_kind(spec: ReleaseSpec, dataset: Dataset) -> str:
    """How many outcomes are not of their kind and count as another, in a sentence; "" for none. Not private.

    Args:
        dataset: from ``read_outcomes``.
    """
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
    """The fault of a delta above 1/n, n records, or people where they may have several; "" for none."""
    if delta * n <= 1:
        return ""
    usual = 10.0 ** math.floor(math.log10(0.1 / n))
    return (
        f"delta = {delta:g} is above 1/n = {1 / n:.2g}: whoever published about {delta * n:,.0f} of the {n:,} records "
        f"as they are would keep this promise, too; declare {usual:g} or less."
    )

"""Read the private table of a release as declared, and tell its owner what is unusual before any budget is spent."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import BinaryIO

from ..reading.csv_file import read_dataset
from ..reading.people import repeated_people, suggests_people
from ..reading.rows import Table, as_written, plain_name
from ..reading.survey import Contents, survey
from ..table import Dataset, Notice, Outcome, of_kind
from .specification import ReleaseSpec

FOR_YOUR_EYES = "For your eyes, in no file:"


def read_table(stream: BinaryIO, spec: ReleaseSpec) -> Dataset:
    """Read the columns that a specification names from a stream with a header line, with outputs as they are measured.

    Raises:
        ValueError: see ``read_outcomes``.
    """
    return as_measured(spec.outcome, read_outcomes(stream, spec))


def declared_writing(stream: BinaryIO, spec: ReleaseSpec) -> ReleaseSpec:
    """Return the specification, completed with the separator of the table's first line and its byte order mark.

    Args:
        stream: table in binary mode; its position is the same afterwards.

    Raises:
        ValueError: there is no first line of column names.
    """
    return replace(spec, writing=as_written(stream, spec.writing))


def read_outcomes(stream: BinaryIO, spec: ReleaseSpec) -> Dataset:
    """Read the columns that a specification names, with outputs as they are in the table.

    Raises:
        ValueError: the stream is not such a table, or has too many rows for the mechanism. The message names the column
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
    """Return a table from ``read_outcomes`` with outputs as they are measured."""
    return replace(table, y=outcome.to_measured(table.y), outcome=outcome.measured)


def check_declared(spec: ReleaseSpec, dataset: Dataset) -> None:
    """Raise ValueError unless a data set has the declarations of the specification."""
    if (spec.person is None) != (dataset.person is None):
        raise ValueError("the data set and the specification differ in person; read it with read_table")
    same = ["x_names", "y_name", "y_bounds", "x_box", "x_levels", "privacy_unit", "y_scale", "y_kind"]
    same += ["x_units"] if spec.dates else []  # the units name the first day
    declared = spec.public_table(dataset.X)
    differ = [name for name in same if getattr(dataset, name) != getattr(declared, name)]
    if differ:
        raise ValueError(f"the data set and the specification differ in {', '.join(differ)}; read it with read_table")


def notices_of(spec: ReleaseSpec, dataset: Dataset) -> list[Notice]:
    """Return notices for the owner of a table, before any budget is spent. They depend on private values.

    Args:
        dataset: table from ``read_outcomes``.
    """
    notices, n = [*dataset.notices], dataset.n
    outside = 0 if spec.bounds_unit is not None else dataset.clipped_count
    if outside:
        lie, count = ("lies", "counts") if outside == 1 else ("lie", "count")
        sentence = (
            f"{outside:,} of {n:,} outcomes {lie} outside the bounds and {count} as the bound. Check the bounds, their "
            "unit and how numbers are written. If some of them only stand for a missing value, declare these codes as "
            "missing."
        )
        notices.insert(0, Notice(outside, n, sentence))
    if moved := int((of_kind(spec.y_kind, dataset.y) != dataset.y).sum()):
        sentence = (
            f"{moved:,} of {n:,} rows have an outcome that is not of its kind ({spec.y_kind}); each counts as the "
            "nearest one that is. If that is not meant, correct the column or declare another kind."
        )
        notices.append(Notice(moved, n, sentence))
    return notices


def to_owner(notices: Sequence[Notice]) -> str:
    """Return all notices as one text; "" if there are none."""
    return f"{FOR_YOUR_EYES} {' '.join(each.sentence for each in notices)}" if notices else ""


def probably_wrong(notices: Sequence[Notice]) -> str:
    """Return why a declaration is probably wrong: a notice concerns more than half of the table; "" if none does."""
    most = max(notices, key=lambda each: each.rows / each.of, default=Notice(0, 1, ""))
    if 2 * most.rows <= most.of:
        return ""
    return f"the declaration is probably wrong, as it fits less than half of the table: {most.sentence}"


def people_not_declared(columns: Mapping[str, Contents]) -> str:
    """Return why rows seem to repeat people, of whom a release would protect one row each; "" if they do not.

    Args:
        columns: contents of the columns that are not used, by name.
    """
    name = repeated_people(columns)
    if name is None:
        return ""
    return (
        f"whose rows these are is not declared, and column {name!r} seems to repeat people, of whom only one row each "
        f"would be protected. Say --person {shlex.quote(name)} to protect all rows of a person together, "
        "--rows-per-person K to protect up to K rows of somebody, or --rows-per-person 1 if every row is another "
        "person."
    )


def unused_columns(stream: BinaryIO, spec: ReleaseSpec, *, all_names: bool = True) -> dict[str, Contents]:
    """Return the contents of columns that a release does not use, by name, for the owner of the table alone.

    Args:
        all_names: False for columns whose names suggest that they identify people, which takes less time and memory.
    """
    start = stream.tell()
    names = Table(stream, spec.writing).names
    stream.seek(start)
    used = {plain_name(name) for name in (*spec.x, spec.y, spec.person or "", "")}
    unused = [name for name in names if name not in used and (all_names or suggests_people(name))]
    return survey(stream, unused, spec.writing) if unused else {}


def complete_rows(n: int, left_out: int, rows_left_out: int = 0, *, people: bool = False) -> str:
    """Return how many rows, or people, out of how many were read: "1,046 complete rows of 1,309".

    Args:
        n: number of complete rows, or of people with one.
        left_out: number of other rows, or people.
        rows_left_out: if there are people, the public number of rows that were left out.
        people: whether n counts people.
    """
    if not people:
        return f"{n:,} complete rows of {n + left_out:,}" if left_out else f"{n:,} rows"
    read = f"{n:,} people with a complete row of {n + left_out:,}" if left_out else f"{n:,} people"
    return f"{read}, {rows_left_out:,} row{'s' * (rows_left_out != 1)} left out" if rows_left_out else read


def large_delta(delta: float, n: int) -> str:
    """Return what is wrong with a delta above 1/n, where n is the number of records or people; "" otherwise."""
    if delta * n <= 1:
        return ""
    usual = 10.0 ** math.floor(math.log10(0.1 / n))
    return (
        f"delta = {delta:g} is above 1/n = {1 / n:.2g}: whoever published about {delta * n:,.0f} of the {n:,} records "
        f"as they are would keep this promise, too; declare {usual:g} or less."
    )

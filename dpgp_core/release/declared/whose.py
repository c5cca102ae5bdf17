"""Whose rows a table holds, as declared: everybody has one, a column says whose each is, or nobody has more than k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ... import checks
from ...accounting.guarantee import MOST_ROWS, Budget, Guarantee, for_rows
from ...bayes.cells import MOST
from ...mechanisms import BayesCloaking
from ...mechanisms.base import Mechanism
from ...mechanisms.entry import Entry


def checked_rows(person: str | None, rows_per_person: int, columns: Sequence[str]) -> int:
    """How many rows of one person are declared at most; 1 where a column says whose each is.

    Args:
        person: name of that column, or None.
        rows_per_person: as declared.
        columns: the inputs and the output.

    Raises:
        ValueError: both are declared, or one is out of range.
    """
    rows = checks.whole("rows_per_person", rows_per_person, 1, MOST_ROWS)
    if person is None:
        return rows
    checks.text("person", person)
    if person in columns:
        raise ValueError(f"person names {person!r}, which is an input or the output too; name the column of people")
    if rows > 1:
        raise ValueError("person and rows_per_person are two answers to one question; with person leave the other out")
    return rows


def check_mechanism(person: str | None, mechanism: str, choice: Entry, inputs: int) -> None:
    """Raise ValueError unless the mechanism hides all rows of a person, where a column says whose each is."""
    if person is None:
        return
    if not choice.people:
        raise ValueError(
            f"mechanism {mechanism!r} hides one row, and person says that people may have several. Use 'bayes_cells' "
            "or 'bayes', or declare rows_per_person instead of person"
        )
    if inputs not in MOST:
        raise ValueError(f"people with several rows are counted over at most {max(MOST)} input columns, not {inputs}")


def promise(built: Mechanism, unit: str, person: str | None, rows: int, budget: Budget) -> Guarantee:
    """The promise of one release to whom was declared.

    Args:
        built: the mechanism; where rows > 1, for the budget of one row.
        unit: whom it is to.
        person: see ``checked_rows``.
        rows: most rows of a person.
        budget: of all rows of a person together.
    """
    if person is not None and isinstance(built, BayesCloaking):
        return replace(built.promise_to(unit, people=True), person=person)
    return for_rows(built.guarantee.for_unit(unit), rows, budget)

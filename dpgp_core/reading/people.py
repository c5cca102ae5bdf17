"""Recognise columns that identify people or rows, and columns of survey weights, for the owner of a table alone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from ..levels import MOST_LEVELS
from .survey import Contents

_IDENTIFIER = re.compile(
    r"(?:^|[\W_])(?:id|ids|nr|no|key|code|person|people|patient|subject|participant|name)$|ID$", re.IGNORECASE
)
_SOMEBODY = "person|people|patient|participant|respondent|subject|student|pupil|employee|customer|client|member|user"
_PEOPLE = re.compile(
    rf"who|ids?|(?:(?:first|last|full|family|given|sur)[\W_]*)?name|(?:{_SOMEBODY})s?[\W_]*(?:id|nr|no|key|code|name|number)?",
    re.IGNORECASE,
)
_REPEATED = 0.9  # most different values per row if people have several rows, rather than a few of them one name
_WEIGHTS = re.compile(
    r"(?:^|[\W_])(?:[a-z]{0,6}wg?h?ts?|[a-z]{0,8}weights?|[a-z]{0,6}wt[a-z]{0,3})(?:$|[\W_\d])", re.IGNORECASE
)
_MASS = re.compile(r"(?:body|birth)?[\W_]*weights?", re.IGNORECASE)  # how heavy somebody is


def suggests_survey_weights(name: str) -> bool:
    """Return whether the name of a column suggests survey weights, and does not begin like that of a body weight."""
    return _WEIGHTS.search(name) is not None and _MASS.match(name) is None


def suggests_people(name: str) -> bool:
    """Return whether the name of a column suggests that it identifies people or other things."""
    return _PEOPLE.fullmatch(name) is not None or _IDENTIFIER.search(name) is not None


def names_people(name: str, column: Contents) -> bool:
    """Return whether a column may identify people: it repeats texts, or repeats numbers and its name suggests it."""
    if not MOST_LEVELS < column.values < column.rows - column.usual:
        return False
    return suggests_people(name) or not (column.ways or column.orders)


def repeated_people(columns: Mapping[str, Contents]) -> str | None:
    """Return the first unused column whose name and values suggest several rows of one person; None if none does.

    Columns of texts that may name anything else, such as towns or diagnoses, are not among them.

    Args:
        columns: contents of the columns that are not used, by name.
    """
    return next(
        (
            name
            for name, column in columns.items()
            if names_people(name, column)
            and _PEOPLE.fullmatch(name)
            and column.values <= _REPEATED * (column.rows - column.usual)
        ),
        None,
    )


def lines_on_unused(columns: Mapping[str, Contents], *, whose: bool = True) -> list[str]:
    """Return lines about unused columns that may identify people or hold weights, for the owner of the table alone.

    Args:
        columns: contents of the columns that are not used, by name.
        whose: whether to mention columns that may identify people, because none is declared.
    """
    lines = [
        f"{name}: {column.values:,} different values in {column.rows:,} rows. Whose rows are these? If each value is a "
        f'person, declare "person": {json.dumps(name, ensure_ascii=False)}; otherwise a single row is protected'
        for name, column in columns.items()
        if whose and names_people(name, column)
    ]
    return lines + [
        f"{name}: if these are survey weights, a release ignores them: every row counts once"
        for name, column in columns.items()
        if column.ways and _WEIGHTS.search(name)
    ]


def identifies(name: str, column: Contents) -> bool:
    """Return whether a column of numbers identifies rows or people."""
    return column.numbered or (column.values > MOST_LEVELS and _IDENTIFIER.search(name) is not None)

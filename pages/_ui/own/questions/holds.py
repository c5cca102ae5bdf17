"""What each input holds, numbers, dates or groups: said, never guessed from the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dpgp_core.dates import SHOWN, Format
from dpgp_core.levels import Levels
from dpgp_core.reading.survey import Column
from pages._ui.look.text import plain
from pages._ui.own.questions import groups
from pages._ui.own.remembered import key

_DATES: dict[str, Format] = {
    f"dates, as {SHOWN['iso']}": "iso",
    f"dates, as {SHOWN['day.month.year']}": "day.month.year",
}
_KINDS = ("numbers", *_DATES, "groups")
_HELP = (
    "Said, never guessed. Dates are read in this way of writing alone, for example 2024-03-01. Groups, for example "
    "women and men, get a curve each from one budget."
)


def asked(x: Sequence[str], survey: Mapping[str, Column]) -> dict[str, Any]:
    """What each input holds; what cannot be read so is said at once.

    Args:
        x: the inputs.
        survey: what each column can be read as.

    Returns:
        ``formats``, how the inputs that are dates are written, by name; ``levels``, of those that are groups, None
        where they are still to declare; ``inputs_readable``.
    """
    formats, levels, wrong = dict[str, Format](), dict[str, Levels | None](), list[str]()
    kinds = {
        name: column.selectbox(f"{plain(name)} holds", _KINDS, key=key(f"holds_{name}", "numbers"), help=_HELP)
        for column, name in zip(st.columns(max(len(x), 1)), x, strict=False)
    }
    for name, kind in kinds.items():
        if kind == "groups":
            levels[name], problem = groups.asked(name, survey[name])
        elif kind in _DATES:
            formats[name] = _DATES[kind]
            problem = survey[name].as_dates(name, formats[name])
        else:
            problem = survey[name].as_numbers(name)
        wrong.append(problem)
    for problem in filter(None, wrong):
        st.error(plain(f"{problem}."))
    return {"formats": formats, "levels": levels, "inputs_readable": not any(wrong)}

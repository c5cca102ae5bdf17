"""What each input holds, numbers, dates or groups: said, never guessed. What it looks like is offered in one click."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dpgp_core.dates import ORDERS, Format, parsed, shown
from dpgp_core.levels import MOST_LEVELS, Levels
from pages._ui import session
from pages._ui.look.text import plain
from pages._ui.own import remembered, upload
from pages._ui.own.questions import groups, written
from pages._ui.own.remembered import PREFIX, key
from pages._ui.own.upload import Table

DATES: dict[str, Format] = {f"dates, as {shown(order)} ({order})": order for order in ORDERS}
_KINDS = ("numbers", *DATES, "groups")
_HELP = (
    "Said, never guessed. Dates are read in this order alone, with any of . / - between day, month and year, and with "
    "a time of day or not, which is left out. Groups, for example women and men, get a curve each from one budget."
)


def asked(x: Sequence[str], held: Table, numbers: str, *, gaps: bool) -> dict[str, Any]:
    """What each input holds; what cannot be read so is said at once.

    Args:
        x: the inputs.
        held: the table, and what each column can be read as.
        numbers: how they are written.
        gaps: whether something is declared as missing, so that a few cells that are not read may be just that.

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
        column = held.survey[name]
        if kind == "groups":
            levels[name], problem = groups.asked(name, column)
        elif kind in DATES:
            formats[name] = DATES[kind]
            problem = "" if gaps and formats[name] in column.orders else column.as_dates(name, formats[name])
        else:
            problem = "" if gaps and numbers in column.ways else column.as_numbers(name, numbers)
            unit = written.unit_said(name, f"x_unit_{name}", held, numbers) if problem else None
            if unit is not None:
                wrong.append("" if unit else problem)
                continue
        if problem and (kind == "groups" or not _offered(name, held)):
            st.error(plain(f"{problem}."))
        wrong.append(problem)
    return {"formats": formats, "levels": levels, "inputs_readable": not any(wrong)}


def _offered(name: str, held: Table) -> bool:
    """What the column looks like, in one click each; False where it looks like nothing that can be said of it here."""
    column = held.survey[name]
    if column.orders and not column.ways:
        st.info(f"{plain(name)} holds dates. In which order?", icon=":material/event:")
        example = next(iter(upload.examples(held, name)), "")
        with st.container(horizontal=True):
            for order in [each for each in ORDERS if column.undated[each] == column.undated[column.orders[0]]]:
                choice = next(kind for kind, format in DATES.items() if format == order)
                _button(f"{order}{_means(example, order)}", name, {f"holds_{name}": choice}, "event")
        return True
    if column.holds_words and column.values <= MOST_LEVELS:
        words = sorted(upload.words(held, name))
        st.info(f"{plain(name)} holds words: does it say which group somebody is in?", icon=":material/group:")
        said = {f"holds_{name}": "groups", f"levels_{name}": ", ".join(words)}
        _button(f"Yes: {', '.join(words)}", name, said, "group")
        return True
    return False


def _means(example: str, order: Format) -> str:
    """What an example means in an order."""
    day = parsed(example, order)
    return "" if day is None else f": {example.split()[0].split('T')[0]} is {day.day} {day:%B %Y}"


def _button(label: str, name: str, said: dict[str, str], icon: str) -> None:
    st.button(plain(label), key=f"own_say_{name}_{label}", on_click=_say, args=(said,), icon=f":material/{icon}:")


def _say(said: dict[str, str]) -> None:
    session.move({f"{PREFIX}{control}": value for control, value in said.items()})
    remembered.keep()

"""Slots of a visitor's own table and the form's answers, kept in this session's memory only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages._ui import session
from pages._ui.look.text import plain
from pages._ui.session import Kept, Slot

if TYPE_CHECKING:
    from dpgp_core.arrays import FloatArray
    from dpgp_core.release import Published
    from pages._ui.ledgers.state import Issued
    from pages._ui.own.upload import Prepared, Table


OWN_TABLE: Slot[Table] = Slot("own_table")
OWN_TAKEN: Slot[tuple[object, ...]] = Slot("own_taken")  # tables by digest of the uploaded file and how it is written
OWN_UNDECODED: Slot[str] = Slot("own_undecoded")  # digest of a file that is not UTF-8, whose encoding is asked
OWN_SHEETS: Kept[list[str]] = Kept("own_sheets")  # sheets of a workbook, by its digest
OWN_LINES: Kept[str] = Kept("own_lines")  # lines of a file that may not be rows, by its digest
OWN_READY: Kept[Prepared] = Kept("own_ready")  # by the table's digest and the specification
OWN_OUTLOOK: Kept[FloatArray] = Kept("own_outlook")  # the same with other budgets
OWN_RELEASED: Slot[tuple[Issued, Published]] = Slot("own_released")
OWN_REFUSED: Slot[str] = Slot("own_refused")
OWN_FILES: Slot[int] = Slot("own_files")  # number of files forgotten so far; a new number empties the uploader
OWN_TOKEN: Slot[str] = Slot("own_token")  # identifies the visitor if there are no cookies
OWN_LEDGER_TOKEN: Slot[str] = Slot("own_ledger_token")  # new token; shown until its owner has kept it

_PREFIX = "own_f_"  # prefix of the keys of the form's controls
_EMPTY: dict[str, dict[str, Any]] = {  # arguments of widgets that have no answer at first
    "selectbox": {"index": None},
    "radio": {"index": None},
    "number_input": {"value": None},
    "date_input": {"value": None},
}


@dataclass(frozen=True)
class Question:
    """A question of the form.

    Attributes:
        widget: name of the widget in streamlit.
        label, help: texts on the screen.
        default: answer at first; None for none.
        look: further arguments of the widget, such as range, format, options.
    """

    key: str
    widget: str
    label: str
    default: Any = None
    help: str | None = None
    look: Mapping[str, Any] = field(default_factory=dict)

    def of(self, column: str) -> Question:
        """Return the question about a column."""
        name = plain(column)
        text = self.help and self.help.format(name)
        return replace(self, key=self.key.format(column), label=self.label.format(name), help=text)

    def among(self, options: Sequence[Any], **rest: Any) -> Question:
        """Return the question with these options, and other fields by name. An answer that is not an option is
        dropped.
        """
        return replace(self, look={**self.look, "options": options}, **rest)

    @property
    def answer(self) -> Any:
        """Answer, even if the question is drawn further down; None before it was drawn."""
        return session.control(_PREFIX + self.key)

    def current(self) -> Any:
        """Answer, even before the question is drawn."""
        key = _PREFIX + self.key
        answer = session.begin(key, self.default)
        if self.widget == "selectbox" and answer not in (None, *self.look["options"]):
            session.move({key: self.default})
            return self.default
        return answer

    def ask(self, where: Any = st, **look: Any) -> Any:
        """Draw the question; return its answer."""
        self.current()
        empty = _EMPTY.get(self.widget, {}) if self.default is None else {}
        arguments = {"label": self.label, "help": self.help, **empty, **self.look, **look}
        return getattr(where, self.widget)(key=_PREFIX + self.key, persist_state="session", **arguments)


def set_answers(answers: Mapping[str, Any]) -> None:
    """Callback: answer questions, by their keys."""
    session.move({_PREFIX + key: value for key, value in answers.items()})


def forget() -> None:
    """Return all questions to their first answers."""
    session.forget(session.controls(_PREFIX))

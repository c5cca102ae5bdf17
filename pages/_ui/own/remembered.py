"""What was declared in the form, remembered while its controls are off screen."""

from __future__ import annotations

from typing import Any

from pages._ui import session
from pages._ui.own.practice import Practice
from pages._ui.own.slots import OWN_FORM

PREFIX = "own_f_"  # of the keys of the form's controls


def keep() -> None:
    """Remember what was declared: streamlit forgets controls that are off screen."""
    OWN_FORM.put(OWN_FORM.get({}) | session.controls(PREFIX))


def practise(table: Practice) -> None:
    """Fill in the form for a practice table."""
    forget()
    form = table.form | {"kind": table.kind}
    session.move({f"{PREFIX}{key}": value for key, value in form.items()})
    keep()


def forget() -> None:
    """Empty the form."""
    session.forget(session.controls(PREFIX))
    OWN_FORM.pop()


def key(name: str, default: Any = None) -> str:
    """The control's key, with what was declared before put back if streamlit forgot it."""
    full = f"{PREFIX}{name}"
    if full not in session.controls(PREFIX):
        session.move({full: OWN_FORM.get({}).get(full, default)})
    return full


def standing(name: str) -> Any:
    """The value of a control, which may be drawn further down; None before the first time."""
    return session.control(f"{PREFIX}{name}") or OWN_FORM.get({}).get(f"{PREFIX}{name}")

"""A visitor's own table: what is kept of it in this session's memory, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pages._ui import session
from pages._ui.own.practice import Practice
from pages._ui.session import Slot

if TYPE_CHECKING:
    from dpgp_core.arrays import FloatArray
    from dpgp_core.bayes.reading import Difference
    from dpgp_core.release import Published, ReleaseSpec
    from pages._ui.ledgers.state import Issued
    from pages._ui.own.upload import Prepared, Table


OWN_TABLE: Slot[Table] = Slot("own_table")
OWN_TAKEN: Slot[tuple[object, ...]] = Slot("own_taken")  # digest of what the uploader holds, and how it is written
OWN_UNDECODED: Slot[str] = Slot("own_undecoded")  # digest of a file that is no UTF-8: its encoding is asked for
OWN_SHEETS: Slot[tuple[str, list[str]]] = Slot("own_sheets")  # of a workbook, by its digest
OWN_LINES: Slot[tuple[str, str]] = Slot("own_lines")  # of a file, by its digest: lines that may be no rows
OWN_FORM: Slot[dict[str, Any]] = Slot("own_form")  # what was declared: streamlit forgets controls that are off screen
OWN_READY: Slot[tuple[tuple[str, ReleaseSpec], Prepared]] = Slot("own_ready")
OWN_PREVIEW: Slot[tuple[ReleaseSpec, FloatArray]] = Slot("own_preview")
OWN_OUTLOOK: Slot[tuple[ReleaseSpec, FloatArray]] = Slot("own_outlook")  # of other budgets
OWN_RELEASED: Slot[tuple[Issued, Published]] = Slot("own_released")
OWN_APART: Slot[tuple[tuple[str, str, str], Difference]] = Slot("own_apart")  # of a release: two groups
OWN_REFUSED: Slot[str] = Slot("own_refused")
OWN_FILES: Slot[int] = Slot("own_files")  # files forgotten so far: a new number empties the uploader
OWN_TOKEN: Slot[str] = Slot("own_token")  # who this is, where there are no cookies
OWN_LEDGER_TOKEN: Slot[str] = Slot("own_ledger_token")  # just made; shown until its owner has kept it


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


def value_of(name: str) -> Any:
    """The value of a control, which may be drawn further down; None before the first time."""
    return session.control(f"{PREFIX}{name}") or OWN_FORM.get({}).get(f"{PREFIX}{name}")

"""Everything that pages keep in a visitor's session, typed, in one place. No other module touches it.

Values of controls are kept by streamlit under the controls' keys; a control's key is its name in the address.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import streamlit as st

if TYPE_CHECKING:
    from dpgp_core.accounting.guarantee import Guarantee
    from dpgp_core.arrays import FloatArray
    from dpgp_core.release import Published, ReleaseSpec
    from pages._ui.ledgers.deliveries import Issued
    from pages._ui.look.state import Stand, Steps
    from pages._ui.own.upload import Prepared, Table

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Taken:
    """A published release as files.

    Attributes:
        name: shown to who explores it only.
        files: content by name.
        digest: tells whether it is another one.
    """

    name: str
    files: Mapping[str, bytes] = field(repr=False)
    digest: str


@dataclass(frozen=True)
class Slot(Generic[T]):
    """One value of a session."""

    key: str

    def find(self) -> T | None:
        """The value; None if there is none."""
        return cast("T | None", st.session_state.get(self.key))

    def get(self, default: T) -> T:
        """The value, or what stands for none."""
        return cast(T, st.session_state.get(self.key, default))

    def put(self, value: T) -> None:
        """Keep a value."""
        st.session_state[self.key] = value

    def pop(self) -> T | None:
        """The value, which is then forgotten; None if there is none."""
        return cast("T | None", st.session_state.pop(self.key, None))


# Addresses. None of these is a control.
PAGE: Slot[str] = Slot("page")  # the latest page that was drawn
CARRIED: Slot[dict[str, str]] = Slot("carried")  # parameters that go along from page to page
ASKED: Slot[dict[str, str]] = Slot("asked")  # what an address asked for before it was made usable
LAST_ADDRESS: Slot[dict[str, str]] = Slot("last_address")
EXPLAINED: Slot[frozenset[str]] = Slot("explained")  # parameters that a control has explained already
STANDS: Slot[dict[str, Stand]] = Slot("stands")  # where the controls of this page stand
STEPS: Slot[Steps] = Slot("steps")  # what can be undone
# Pages
SEEN: Slot[dict[str, dict[str, Guarantee]]] = Slot("seen_releases")  # dataset -> settings -> promise
TILE: Slot[tuple[float, float]] = Slot("tile")  # lengthscale and epsilon that were clicked
SEARCH_ASKED: Slot[bool] = Slot("search_asked")
# A visitor's own table: in this session's memory and nowhere else
OWN_TABLE: Slot[Table] = Slot("own_table")
OWN_TAKEN: Slot[tuple[str, str]] = Slot("own_taken")  # digest and dialect of what the uploader holds
OWN_FORM: Slot[dict[str, Any]] = Slot("own_form")  # what was declared: streamlit forgets controls that are off screen
OWN_READY: Slot[tuple[tuple[str, ReleaseSpec], Prepared]] = Slot("own_ready")
OWN_PREVIEW: Slot[tuple[ReleaseSpec, FloatArray]] = Slot("own_preview")
OWN_OUTLOOK: Slot[tuple[ReleaseSpec, FloatArray]] = Slot("own_outlook")  # of other budgets
OWN_RELEASED: Slot[tuple[Issued, Published, ReleaseSpec]] = Slot("own_released")
OWN_REFUSED: Slot[str] = Slot("own_refused")
OWN_FILES: Slot[int] = Slot("own_files")  # files forgotten so far: a new number empties the uploader
# A release that a visitor explores: in this session's memory and nowhere else
EXPLORED: Slot[Taken] = Slot("own_explored")
EXPLORED_REFIT: Slot[tuple[tuple[str, Any], Any]] = Slot("own_explored_refit")
EXPLORED_FILES: Slot[int] = Slot("own_explored_files")  # a new number empties the uploader
EXPLORED_SETTINGS: Slot[frozenset[str]] = Slot("own_explored_settings")  # all that were looked at
OWN_TOKEN: Slot[str] = Slot("own_token")  # who this is, where there are no cookies
OWN_LEDGER_TOKEN: Slot[str] = Slot("own_ledger_token")  # just made; shown until its owner has kept it

_OURS = frozenset(
    slot.key for slot in (PAGE, CARRIED, ASKED, LAST_ADDRESS, EXPLAINED, STANDS, STEPS, SEEN, TILE, SEARCH_ASKED)
)


def control(key: str) -> Any:
    """Where a control stands; None if it is not there."""
    return st.session_state.get(key)


def is_control(key: str) -> bool:
    """Whether a control that an address can set has this key. What is declared about a table is in no address."""
    return key in st.session_state and key not in _OURS and not key.startswith("own_")


def controls(prefix: str = "") -> dict[str, Any]:
    """Where the controls stand whose keys begin so."""
    return {str(key): value for key, value in st.session_state.items() if str(key).startswith(prefix)}


def move(values: Mapping[str, Any]) -> None:
    """Move controls, before they are drawn."""
    st.session_state.update(values)


def forget(keys: Iterable[str]) -> None:
    """Forget where controls stood."""
    for key in list(keys):
        st.session_state.pop(key, None)

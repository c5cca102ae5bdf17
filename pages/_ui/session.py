"""What a visitor's session keeps, typed. No other module touches it.

Values of controls are kept by streamlit under the controls' keys; a control's key is its name in the address.
Slots whose types are one room's are there: ``own/slots.py``, ``look/settings.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import streamlit as st

if TYPE_CHECKING:
    from dpgp_core.accounting.guarantee import Guarantee

T = TypeVar("T")


@dataclass(frozen=True)
class Untold:
    """An address whose values were not all examined, or not all explained yet.

    Attributes:
        unread: values of parameters whose controls have not been drawn since.
        sentences: about values that were not used, with where the control stood, by its name.
    """

    unread: dict[str, str]
    sentences: dict[str, tuple[Any, str]] = field(default_factory=dict)


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


@dataclass(frozen=True)
class Kept(Slot[tuple[Any, T]]):
    """The latest result of a kind, with what it is of."""

    def of(self, key: object) -> T | None:
        """The result, if it is of this; else None."""
        kept = self.find()
        return None if kept is None or kept[0] != key else kept[1]

    def made(self, key: object, make: Callable[[], T]) -> T:
        """The result of this, made unless it is the one that is kept."""
        kept = self.find()
        if kept is None or kept[0] != key:
            kept = key, make()
            self.put(kept)
        return kept[1]


# Addresses. None of these is a control.
PAGE: Slot[str] = Slot("page")  # the latest page that was drawn
CARRIED: Slot[dict[str, str]] = Slot("carried")  # parameters that go along from page to page
ASKED: Slot[dict[str, str]] = Slot("asked")  # what an address asked for before it was made usable
LAST_ADDRESS: Slot[dict[str, str]] = Slot("last_address")
UNTOLD: Slot[Untold] = Slot("untold")  # what an address asked for, as long as nobody was told what became of it
# Pages
SEEN: Slot[dict[str, dict[str, Guarantee]]] = Slot("seen_releases")  # dataset -> settings -> promise
TILE: Slot[tuple[float, float]] = Slot("tile")  # lengthscale and epsilon that were clicked
SEARCH_ASKED: Slot[bool] = Slot("search_asked")


def control(key: str) -> Any:
    """Where a control stands; None if it is not there."""
    return st.session_state.get(key)


def controls(prefix: str = "") -> dict[str, Any]:
    """Where the controls stand whose keys begin so."""
    return {str(key): value for key, value in st.session_state.items() if str(key).startswith(prefix)}


def begin(key: str, value: Any) -> Any:
    """Where a control stands; there, if it stands nowhere yet."""
    return st.session_state.setdefault(key, value)


def move(values: Mapping[str, Any]) -> None:
    """Move controls, before they are drawn."""
    st.session_state.update(values)


def forget(keys: Iterable[str]) -> None:
    """Forget where controls stood."""
    for key in list(keys):
        st.session_state.pop(key, None)

"""The values that a visitor's session keeps, typed. No other module touches it.

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
class Unexplained:
    """An address whose values were not all examined, or not all explained yet.

    Attributes:
        unread: values of parameters whose controls have not been drawn since.
        sentences: about unused values, each with its control's value, by name.
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
        """The value, or the default."""
        return cast(T, st.session_state.get(self.key, default))

    def put(self, value: T) -> None:
        """Keep a value."""
        st.session_state[self.key] = value

    def pop(self) -> T | None:
        """The value, which is then forgotten; None if there is none."""
        return cast("T | None", st.session_state.pop(self.key, None))


@dataclass(frozen=True)
class Kept(Slot[tuple[Any, T]]):
    """The latest result of a kind, with its key."""

    def of(self, key: object) -> T | None:
        """The result, if it has this key; else None."""
        kept = self.find()
        return None if kept is None or kept[0] != key else kept[1]

    def made(self, key: object, make: Callable[[], T]) -> T:
        """The result with this key, made unless it is kept."""
        kept = self.find()
        if kept is None or kept[0] != key:
            kept = key, make()
            self.put(kept)
        return kept[1]


# Addresses. None of these is a control.
PAGE: Slot[str] = Slot("page")  # the latest page that was drawn
CARRIED: Slot[dict[str, str]] = Slot("carried")  # parameters that go along from page to page
REQUESTED: Slot[dict[str, str]] = Slot("asked")  # parameters of an address before it was made usable
LAST_ADDRESS: Slot[dict[str, str]] = Slot("last_address")
UNEXPLAINED: Slot[Unexplained] = Slot("untold")
# Pages
RELEASES: Slot[dict[str, dict[str, Guarantee]]] = Slot("seen_releases")  # dataset -> settings -> promise
TILE: Slot[tuple[float, float]] = Slot("tile")  # lengthscale and epsilon that were clicked
SEARCH_REQUESTED: Slot[bool] = Slot("search_asked")


def control(key: str) -> Any:
    """The value of a control; None if it is not there."""
    return st.session_state.get(key)


def controls(prefix: str = "") -> dict[str, Any]:
    """The values of controls whose keys begin so."""
    return {str(key): value for key, value in st.session_state.items() if str(key).startswith(prefix)}


def begin(key: str, value: Any) -> Any:
    """The value of a control; this one, if it has none yet."""
    return st.session_state.setdefault(key, value)


def move(values: Mapping[str, Any]) -> None:
    """Move controls, before they are drawn."""
    st.session_state.update(values)


def forget(keys: Iterable[str]) -> None:
    """Forget the values of controls."""
    for key in list(keys):
        st.session_state.pop(key, None)

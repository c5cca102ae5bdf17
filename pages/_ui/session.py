"""The values that a visitor's session keeps, with types. No other module accesses the session.

Streamlit keeps the values of controls under their keys; the key of a control is its name in the address. Slots whose
type belongs to another package are defined there: ``own/slots.py``, ``look/settings.py``.
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
    """An address whose values have not all been examined, or not all been explained yet.

    Attributes:
        unread: values of parameters whose controls have not been drawn yet.
        sentences: sentences about unused values with the values of their controls, by name.
    """

    unread: dict[str, str]
    sentences: dict[str, tuple[Any, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Slot(Generic[T]):
    """One value of a session."""

    key: str

    def find(self) -> T | None:
        """Return the value; None if there is none."""
        return cast("T | None", st.session_state.get(self.key))

    def get(self, default: T) -> T:
        """Return the value, or the default if there is none."""
        return cast(T, st.session_state.get(self.key, default))

    def put(self, value: T) -> None:
        """Keep a value."""
        st.session_state[self.key] = value

    def pop(self) -> T | None:
        """Return the value and forget it; None if there is none."""
        return cast("T | None", st.session_state.pop(self.key, None))


@dataclass(frozen=True)
class Kept(Slot[tuple[Any, T]]):
    """The latest result of a kind, with its key."""

    def of(self, key: object) -> T | None:
        """Return the result if it has this key, otherwise None."""
        kept = self.find()
        return None if kept is None or kept[0] != key else kept[1]

    def made(self, key: object, make: Callable[[], T]) -> T:
        """Return the result with this key; make it unless it is kept."""
        kept = self.find()
        if kept is None or kept[0] != key:
            kept = key, make()
            self.put(kept)
        return kept[1]


# Addresses. None of these is a control.
PAGE: Slot[str] = Slot("page")  # page that was drawn last
CARRIED: Slot[dict[str, str]] = Slot("carried")  # parameters that are kept from page to page
REQUESTED: Slot[dict[str, str]] = Slot("asked")  # parameters of an address before it was made usable
LAST_ADDRESS: Slot[dict[str, str]] = Slot("last_address")
UNEXPLAINED: Slot[Unexplained] = Slot("untold")
# Pages
RELEASES: Slot[dict[str, dict[str, Guarantee]]] = Slot("seen_releases")  # dataset -> settings -> promise
SEARCH_REQUESTED: Slot[bool] = Slot("search_asked")


def control(key: str) -> Any:
    """Return the value of a control; None if it does not exist."""
    return st.session_state.get(key)


def controls(prefix: str = "") -> dict[str, Any]:
    """Return the values of controls whose keys begin with this prefix."""
    return {str(key): value for key, value in st.session_state.items() if str(key).startswith(prefix)}


def begin(key: str, value: Any) -> Any:
    """Return the value of a control after setting it to this one if it has none yet."""
    return st.session_state.setdefault(key, value)


def move(values: Mapping[str, Any]) -> None:
    """Move controls, before they are drawn."""
    st.session_state.update(values)


def forget(keys: Iterable[str]) -> None:
    """Forget the values of controls."""
    for key in list(keys):
        st.session_state.pop(key, None)

"""Controls as data: name, options and default of each, how it is drawn, and how an address writes its value.

Each control is defined once, as a constant or as a field of a page's settings. ``settings`` draws controls, and reads
addresses.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Generic, TypeVar

import streamlit as st

TOP, SIDE, HERE = "top", "side", "here"
"""Sections: top of the sidebar, visible part of the sidebar, current container. Any other name is a title under
More.
"""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LONGEST_WHOLE = 4000  # digits; Python does not convert longer texts to numbers

T = TypeVar("T")
V = TypeVar("V", bound=str)


@dataclass(frozen=True)
class Control(ABC, Generic[T]):
    """A control that is bound to ``?key=``.

    Attributes:
        key: name in the address and in the session.
        label: on the screen.
        default: value until a visitor moves it.
        help: help text next to it.
        section: part of the page in which it is drawn.
        disabled: whether it is drawn but cannot be moved.
        display_only: whether it only affects the display, so that it is not part of pinned and compared settings.
    """

    key: str
    label: str
    default: T
    _: KW_ONLY
    help: str | None = None
    section: str = SIDE
    disabled: bool = False
    display_only: bool = False

    @abstractmethod
    def draw(self) -> T:
        """Draw the control in the current container, and return its value."""

    @abstractmethod
    def read(self, raw: str) -> T:
        """Return the value that an address asks for.

        Raises:
            ValueError: the control does not offer it.
        """

    def written(self, value: T) -> str:
        """Return a value as an address writes it; "" for None."""
        if isinstance(value, bool):
            return str(value).lower()
        return "" if value is None else as_number(str(value))

    def widget_value(self, value: T) -> Any:
        """Return a value as the session keeps it and the screen shows it."""
        return value

    @property
    def offered(self) -> Sequence[object]:
        """Return all values as they are on screen; () if there are too many to list."""
        return ()

    def requirement(self) -> str:
        """Return the allowed values in a sentence, for a link with another value."""
        if self.offered:
            return f"it is not offered here; the choices are {', '.join(map(str, self.offered))}."
        return "it is not offered."

    @property
    def bound(self) -> dict[str, Any]:
        """Return arguments that every streamlit widget has."""
        return {"key": self.key, "bind": "query-params", "help": self.help, "disabled": self.disabled}

    def wrong(self) -> ValueError:
        """Return the error for a value that the control does not offer."""
        return ValueError(f"{self.key} cannot be what it says")


def as_number(value: str) -> str:
    """Return a number in a link as Python writes it: 1e-5 as 1e-05; 2.0, +2 and 02 as 2. Other texts are unchanged."""
    plain = value.strip()
    if not _NUMBER.fullmatch(plain):
        return value
    if len(plain) <= _LONGEST_WHOLE and not any(mark in plain for mark in ".eE"):
        return str(int(plain))
    number = float(plain)
    return str(number).removesuffix(".0") if number else "0"


def is_infinite(raw: str) -> bool:
    """Return whether a text is an infinite number."""
    try:
        return math.isinf(float(raw))
    except ValueError:
        return False


@dataclass(frozen=True)
class Slider(Control[T]):
    """A slider over a list of ``options``; ``width`` in pixels, or that of the container."""

    options: Sequence[T]
    width: Any = "stretch"

    def draw(self) -> T:
        """Draw the slider, and return its value."""
        return st.select_slider(self.label, self.options, self.default, width=self.width, **self.bound)

    def read(self, raw: str) -> T:
        """Return the option that is written so."""
        for option in self.options:
            if as_number(raw) == self.written(option):
                return option
        raise self.wrong()

    @property
    def offered(self) -> Sequence[object]:
        """The options."""
        return self.options


@dataclass(frozen=True)
class Menu(Control[V]):
    """Values to choose from. An address may contain a value or its title.

    Attributes:
        titles: title on the screen of each value, in order.
        buttons: whether they are buttons side by side instead of a drop-down.
        earlier: names of values in addresses of earlier versions.
    """

    titles: Mapping[V, str]
    values: Sequence[V]
    buttons: bool = False
    earlier: Mapping[str, V] = field(default_factory=dict)

    def draw(self) -> V:
        """Draw the menu, and return the value of the chosen title."""
        if not self.buttons:
            return self.value(st.selectbox(self.label, self.offered, **self.bound))
        look: Any = {"default": self.offered[0], "required": True, "label_visibility": "collapsed"}
        return self.value(st.segmented_control(self.label, self.offered, **look, **self.bound))

    def read(self, raw: str) -> V:
        """Return the value with this name or title."""
        for value in self.values:
            if raw in (value, self.titles[value]) or self.earlier.get(raw) == value:
                return value
        raise self.wrong()

    @property
    def written_titles(self) -> Mapping[str, str]:
        """Titles by everything that an address may contain."""
        return dict(self.titles) | {name: self.titles[value] for name, value in self.earlier.items()}

    def widget_value(self, value: V) -> str:
        """Return the title of a value."""
        return self.titles[value]

    def written(self, value: V) -> str:
        """Return the value as text."""
        return value

    @property
    def offered(self) -> Sequence[str]:
        """The titles."""
        return [self.titles[value] for value in self.values]

    def value(self, title: str) -> V:
        """Return the value with this title.

        Raises:
            ValueError: no value has it.
        """
        for value, label in self.titles.items():
            if label == title:
                return value
        raise ValueError(f"{self.key} offers no {title!r}; it offers {', '.join(self.titles.values())}")

    def among(self, values: Sequence[V]) -> Menu[V]:
        """Return the menu with some of its values, in their order, the first being the default."""
        return replace(self, values=tuple(values), default=values[0])


def menu(label: str, key: str, titles: Mapping[V, str], **rest: Any) -> Menu[V]:
    """Return a menu of all these values, the first being the default."""
    values = tuple(titles)
    return Menu(key, label, values[0], titles, values, **rest)


@dataclass(frozen=True)
class Switch(Control[bool]):
    """A toggle; ``width`` that of its label, or of the container."""

    default: bool = False
    width: Any = "stretch"

    def draw(self) -> bool:
        """Draw the toggle, and return whether it is on."""
        return st.toggle(self.label, self.default, width=self.width, **self.bound)

    def read(self, raw: str) -> bool:
        """Return the value of "true" or "false"."""
        if raw.lower() not in ("true", "false"):
            raise self.wrong()
        return raw.lower() == "true"

    def requirement(self) -> str:
        """Return its two values in a sentence."""
        return "it must be true or false."


@dataclass(frozen=True)
class _Bounded(Control[T]):
    """A number from ``low`` to ``high`` in the unit of its label; a whole number if the default is one."""

    low: float
    high: float | None

    @property
    def _kind(self) -> tuple[Any, str]:
        return (int, "a whole number") if isinstance(self.default, int) else (float, "a number")

    def read(self, raw: str) -> T:
        """Return a number within the range."""
        kind, name = self._kind
        number = float(raw) if _NUMBER.fullmatch(raw.strip()) else math.nan
        high = math.inf if self.high is None else self.high
        if not self.low <= number <= high or math.isinf(number) or kind(number) != number:
            raise ValueError(f"{self.key} must be {name} from {self.low} to {self.high}")
        value: T = kind(number)
        return value

    def requirement(self) -> str:
        """Return the range in a sentence."""
        return f"it must be {self._kind[1]} within the range of this control."


N = TypeVar("N", int, float)


@dataclass(frozen=True)
class Range(_Bounded[N]):
    """A slider over a range in steps of ``step``.

    Attributes:
        format: format of its numbers, as in C.
        width: width in pixels, or that of the container.
    """

    low: N
    high: N
    step: N
    format: str | None = None
    width: Any = "stretch"

    def draw(self) -> N:
        """Draw the slider, and return its value."""
        look: Any = {"format": self.format, "width": self.width} | self.bound
        moved: N = st.slider(self.label, self.low, self.high, self.default, self.step, **look)
        return moved


@dataclass(frozen=True)
class Number(_Bounded[T]):
    """A number to type; while it is empty, the page uses ``usual``, if there is one."""

    usual: str = ""

    def draw(self) -> T:
        """Draw the field, and return the typed number."""
        look: Any = {"value": self.default, "placeholder": self.usual or None} | self.bound
        typed: T = st.number_input(self.label, self.low, self.high, **look)
        return typed

    def written(self, value: T) -> str:
        """Return the typed number, or the page's own."""
        return self.usual if value is None else super().written(value)


@dataclass(frozen=True)
class Search(Control[str | None]):
    """One of many names, to type or choose; none at first."""

    default: str | None = None
    options: Sequence[str] = ()

    def draw(self) -> str | None:
        """Draw the field, and return the chosen name."""
        return st.selectbox(self.label, self.options, None, **self.bound)

    def read(self, raw: str) -> str | None:
        """Return a name that is offered."""
        if raw not in self.options:
            raise self.wrong()
        return raw


@dataclass(frozen=True)
class Words(Control[str]):
    """A line of text to type."""

    longest: int

    def draw(self) -> str:
        """Draw the field, and return the typed line."""
        return str(st.text_input(self.label, self.default, max_chars=self.longest, **self.bound))

    def read(self, raw: str) -> str:
        """Return any line that fits."""
        if len(raw) > self.longest:
            raise self.wrong()
        return raw

    def written(self, value: str) -> str:
        """Return the line unchanged."""
        return value

"""Controls as data: name, options and default of each, how it is drawn, and how an address writes it.

Each stands once, as a constant or as a field of a page's settings; ``settings`` draws them, and reads addresses.
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
"""Sections: first of the sidebar, in its sight, in the current container. Any other is a title under More."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LONGEST_WHOLE = 4000  # digits; python turns no longer ones into numbers

T = TypeVar("T")
V = TypeVar("V", bound=str)


@dataclass(frozen=True)
class Control(ABC, Generic[T]):
    """One control, bound to ``?key=``.

    Attributes:
        key: in the address, and of the session.
        label: on the screen.
        default: its value while untouched.
        help: beside it.
        section: where it is drawn.
        disabled: drawn, but not to be moved.
        looks: only a matter of display: no part of pinned and compared settings.
    """

    key: str
    label: str
    default: T
    _: KW_ONLY
    help: str | None = None
    section: str = SIDE
    disabled: bool = False
    looks: bool = False

    @abstractmethod
    def draw(self) -> T:
        """Draw it in the current container, and return its value."""

    @abstractmethod
    def read(self, raw: str) -> T:
        """The value that an address asks for. Raises ValueError for one that is not offered."""

    def written(self, value: T) -> str:
        """A value in an address; empty for none."""
        if isinstance(value, bool):
            return str(value).lower()
        return "" if value is None else as_number(str(value))

    def widget_value(self, value: T) -> Any:
        """A value as the session keeps it and the screen shows it."""
        return value

    @property
    def offered(self) -> Sequence[object]:
        """All its values, as on screen; empty if there are too many to name."""
        return ()

    def requirement(self) -> str:
        """The allowed values, as a sentence for somebody whose link has another."""
        if self.offered:
            return f"it is not offered here; the choices are {', '.join(map(str, self.offered))}."
        return "it is not offered."

    @property
    def bound(self) -> dict[str, Any]:
        """Arguments of every streamlit widget."""
        return {"key": self.key, "bind": "query-params", "help": self.help, "disabled": self.disabled}

    def wrong(self) -> ValueError:
        """The error for a value that it does not offer."""
        return ValueError(f"{self.key} cannot be what it says")


def as_number(value: str) -> str:
    """1e-5 as 1e-05, 2.0, +2 and 02 as 2: how python, and so a slider, writes that number. Anything else stays."""
    plain = value.strip()
    if not _NUMBER.fullmatch(plain):
        return value
    if len(plain) <= _LONGEST_WHOLE and not any(mark in plain for mark in ".eE"):
        return str(int(plain))
    number = float(plain)
    return str(number).removesuffix(".0") if number else "0"


def is_infinite(raw: str) -> bool:
    """Whether a text is an infinite number."""
    try:
        return math.isinf(float(raw))
    except ValueError:
        return False


@dataclass(frozen=True)
class Slider(Control[T]):
    """A discrete slider over ``options``; ``width`` in pixels, or of the container."""

    options: Sequence[T]
    width: Any = "stretch"

    def draw(self) -> T:
        """Draw it, and return its value."""
        return st.select_slider(self.label, self.options, self.default, width=self.width, **self.bound)

    def read(self, raw: str) -> T:
        """The option that is written so."""
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
    """Values to choose from. An address may give a value or its title.

    Attributes:
        titles: value -> title on the screen, in order.
        buttons: side by side, each one click away, in place of a drop-down.
        earlier: what addresses may say for a value since it was called so in an earlier version.
    """

    titles: Mapping[V, str]
    values: Sequence[V]
    buttons: bool = False
    earlier: Mapping[str, V] = field(default_factory=dict)

    def draw(self) -> V:
        """Draw it, and return the value of the chosen title."""
        if not self.buttons:
            return self.value(st.selectbox(self.label, self.offered, **self.bound))
        look: Any = {"default": self.offered[0], "required": True, "label_visibility": "collapsed"}
        return self.value(st.segmented_control(self.label, self.offered, **look, **self.bound))

    def read(self, raw: str) -> V:
        """The value that is written so, or whose title is."""
        for value in self.values:
            if raw in (value, self.titles[value]) or self.earlier.get(raw) == value:
                return value
        raise self.wrong()

    @property
    def written_titles(self) -> Mapping[str, str]:
        """The title for everything that an address may say."""
        return dict(self.titles) | {name: self.titles[value] for name, value in self.earlier.items()}

    def widget_value(self, value: V) -> str:
        """Its title."""
        return self.titles[value]

    def written(self, value: V) -> str:
        """The value."""
        return value

    @property
    def offered(self) -> Sequence[str]:
        """The titles."""
        return [self.titles[value] for value in self.values]

    def value(self, title: str) -> V:
        """The value with this title. Raises ValueError if none has it."""
        for value, label in self.titles.items():
            if label == title:
                return value
        raise ValueError(f"{self.key} offers no {title!r}; it offers {', '.join(self.titles.values())}")

    def among(self, values: Sequence[V]) -> Menu[V]:
        """With some of its values, in their order, the first by default."""
        return replace(self, values=tuple(values), default=values[0])


def menu(label: str, key: str, titles: Mapping[V, str], **rest: Any) -> Menu[V]:
    """All of the values, the first by default."""
    values = tuple(titles)
    return Menu(key, label, values[0], titles, values, **rest)


@dataclass(frozen=True)
class Switch(Control[bool]):
    """A toggle; ``width`` of its label, or of the container."""

    default: bool = False
    width: Any = "stretch"

    def draw(self) -> bool:
        """Draw it, and return whether it is on."""
        return st.toggle(self.label, self.default, width=self.width, **self.bound)

    def read(self, raw: str) -> bool:
        """true or false."""
        if raw.lower() not in ("true", "false"):
            raise self.wrong()
        return raw.lower() == "true"

    def requirement(self) -> str:
        """Its two values."""
        return "it must be true or false."


@dataclass(frozen=True)
class _Bounded(Control[T]):
    """A number from ``low`` to ``high``, in the unit of its label; a whole one where its default is."""

    low: float
    high: float | None

    @property
    def _kind(self) -> tuple[Any, str]:
        return (int, "a whole number") if isinstance(self.default, int) else (float, "a number")

    def read(self, raw: str) -> T:
        """A number within the range."""
        kind, name = self._kind
        number = float(raw) if _NUMBER.fullmatch(raw.strip()) else math.nan
        high = math.inf if self.high is None else self.high
        if not self.low <= number <= high or math.isinf(number) or kind(number) != number:
            raise ValueError(f"{self.key} must be {name} from {self.low} to {self.high}")
        value: T = kind(number)
        return value

    def requirement(self) -> str:
        """A number, or a whole number, within the range."""
        return f"it must be {self._kind[1]} within the range of this control."


N = TypeVar("N", int, float)


@dataclass(frozen=True)
class Range(_Bounded[N]):
    """A slider by ``step``.

    Attributes:
        format: of the numbers on it, as of C.
        width: in pixels, or of the container.
    """

    low: N
    high: N
    step: N
    format: str | None = None
    width: Any = "stretch"

    def draw(self) -> N:
        """Draw it, and return its value."""
        look: Any = {"format": self.format, "width": self.width} | self.bound
        moved: N = st.slider(self.label, self.low, self.high, self.default, self.step, **look)
        return moved


@dataclass(frozen=True)
class Number(_Bounded[T]):
    """A number to type or step through; while it is none the page takes ``usual``, if it has any."""

    usual: str = ""

    def draw(self) -> T:
        """Draw it, and return the typed number."""
        look: Any = {"value": self.default, "placeholder": self.usual or None} | self.bound
        typed: T = st.number_input(self.label, self.low, self.high, **look)
        return typed

    def written(self, value: T) -> str:
        """The typed number, or the page's own."""
        return self.usual if value is None else super().written(value)


@dataclass(frozen=True)
class Search(Control[str | None]):
    """One of many names, to type or choose; none at first."""

    default: str | None = None
    options: Sequence[str] = ()

    def draw(self) -> str | None:
        """Draw it, and return the chosen name."""
        return st.selectbox(self.label, self.options, None, **self.bound)

    def read(self, raw: str) -> str | None:
        """A name."""
        if raw not in self.options:
            raise self.wrong()
        return raw


@dataclass(frozen=True)
class Words(Control[str]):
    """A line to type."""

    longest: int

    def draw(self) -> str:
        """Draw it, and return the typed line."""
        return str(st.text_input(self.label, self.default, max_chars=self.longest, **self.bound))

    def read(self, raw: str) -> str:
        """Any line that fits."""
        if len(raw) > self.longest:
            raise self.wrong()
        return raw

    def written(self, value: str) -> str:
        """As it is."""
        return value

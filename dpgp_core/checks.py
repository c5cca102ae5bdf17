"""Checks of numbers, shapes and declarations. Each message names the value given and says what to change."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

import numpy as np

MAX_LETTERS = 200
_SHOWN_LETTERS = 60
MOST = 1e15  # beyond this, adjacent floating-point numbers are more than 0.1 apart
_NARROWEST = 1e-30  # its square, and the squares of small shares of it, do not underflow
_UNSEEN = {"Cc", "Cs", "Zl", "Zp"}  # Unicode categories of control characters, surrogates, line separators


def check_interval(name: str, interval: tuple[float, float]) -> None:
    """Raise ValueError unless ``interval`` is a finite (low, high) with low < high."""
    low, high = interval
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(f"{name} must be two finite numbers, got ({low}, {high})")
    if low >= high:
        raise ValueError(f"{name} must be (low, high) with low < high, got ({low}, {high}); swap or widen them")


def check_positive(name: str, value: float) -> None:
    """Raise ValueError unless ``value`` is a finite number above zero."""
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a finite number above 0, got {value}")


def check_share(name: str, value: float) -> None:
    """Raise ValueError unless ``value`` lies strictly between 0 and 1."""
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value}")


def excerpt(value: object) -> str:
    """Return a declared value as it was written, shortened so that it fits into a sentence."""
    if isinstance(value, str):
        return cut(repr(value[: _SHOWN_LETTERS + 1]))
    if isinstance(value, int) and abs(value) >= MOST:
        return "a whole number of more than 15 digits"
    if value is None or isinstance(value, int | float):
        return repr(value)
    return "an object" if isinstance(value, dict) else "a list"


def cut(text: str, letters: int = _SHOWN_LETTERS) -> str:
    """Return text shortened to at most ``letters`` characters, so that it fits into a message."""
    return text if len(text) <= letters else f"{text[: letters - 4]} ..."


def visible(value: str) -> bool:
    """Whether text is a single line without control characters or surrogates."""
    return not any(unicodedata.category(letter) in _UNSEEN for letter in value)


def text(name: str, value: object, *, empty: bool = False) -> str:
    """Return a declared name, unit or description; raise ValueError unless it is one short line of visible text.

    Args:
        name: what the text is, for the message.
        empty: whether the text may be empty.
    """
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text in quotes, got {excerpt(value)}")
    if len(value) > MAX_LETTERS:
        raise ValueError(f"{name} has {len(value)} letters, more than {MAX_LETTERS}, the limit; use a shorter one")
    if not visible(value):
        raise ValueError(f"{name} must be one line of visible text, got {excerpt(value)}; remove control characters")
    if value != value.strip():
        raise ValueError(f"{name} must not start or end with a space, got {excerpt(value)}; remove the space")
    if not (value or empty):
        raise ValueError(f"{name} is empty; write what it is")
    return value


def texts(name: str, values: object, *, empty: bool = False) -> tuple[str, ...]:
    """Return a declared list of texts as a tuple, each checked as ``text`` does."""
    return tuple(text(f"each entry of {name}", value, empty=empty) for value in entries(name, values))


def number(name: str, value: object, low: float = -MOST, high: float = MOST) -> float:
    """Return a declared number; raise ValueError unless it is finite and in [low, high]. True and "3" are refused."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} must be a number, got {excerpt(value)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {excerpt(value)}")
    if not low <= value <= high:
        raise ValueError(f"{name} must lie in {low:g} ... {high:g}, got {excerpt(value)}")
    return float(value)


def switch(name: str, value: object) -> bool:
    """Return a declared truth value; raise ValueError for anything else, such as 1."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false, got {excerpt(value)}")
    return value


def whole(name: str, value: object, low: int, high: int) -> int:
    """Return a declared whole number; raise ValueError unless it is an int in [low, high]."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{name} must be a whole number, got {excerpt(value)}")
    if not low <= value <= high:
        raise ValueError(f"{name} must lie in {low} ... {high}, got {excerpt(value)}")
    return value


def interval(name: str, value: object) -> tuple[float, float]:
    """Return a declared pair (low, high); raise ValueError unless low < high and the width is safe to divide by."""
    pair = entries(name, value)
    if len(pair) != 2:
        raise ValueError(f"{name} must be two numbers [low, high], got {len(pair)} entries")
    low, high = (number(name, end) for end in pair)
    if low >= high:
        raise ValueError(f"{name} must be [low, high] with low < high, got [{low:g}, {high:g}]; swap or widen them")
    if high - low < max(1e-9 * max(abs(low), abs(high)), _NARROWEST):
        raise ValueError(
            f"{name} is too narrow for its size to compute with, got [{low!r}, {high!r}]; subtract a public offset "
            f"such as {low:g} from the column and from these ends, or widen them"
        )
    return low, high


def entries(name: str, value: object, length: int | None = None) -> Sequence[object]:
    """Return a declared list; raise ValueError unless it is a list, and has ``length`` entries if that is given."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ValueError(f"{name} must be a list in square brackets, got {excerpt(value)}")
    if length is not None and len(value) != length:
        raise ValueError(f"{name} must have {length} entries, one per input of x, got {len(value)}")
    return value


def one_of(name: str, value: object, allowed: Sequence[str]) -> str:
    """Return a declared word; raise ValueError unless it is one of the allowed ones."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}; got {excerpt(value)}")
    return value

"""Rows of a table of refusals: what is called, and the words that it is refused with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

Row = tuple[Callable[[], Any], str]


def each(call: Callable[[Any], Any], words: str, values: Iterable[Any]) -> Iterator[Row]:
    """A row for each value, refused with the same words; ``{}`` in them is the value."""
    return ((partial(call, value), words.replace("{}", str(value))) for value in values)


def told(call: Callable[..., Any], rows: Iterable[tuple[Any, ...]]) -> Iterator[Row]:
    """A row for each list of arguments that ends with the words that these are refused with."""
    return ((partial(call, *arguments), words) for *arguments, words in rows)

"""Read further notations of numbers, each only if it is declared (``Writing.notations``).

A cell in a notation that is not declared is refused, and the message names the declaration that would read it. Such a
cell is never proposed as a missing value, because records with censored values differ from the others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from typing import NamedTuple

from .writing import NUMBERS, as_number

_LONGEST = 40  # characters of such a number
_DIGIT, _LETTERS = re.compile(r"[0-9]"), re.compile(r"[^\W\d_]+")
_WORDS = frozenset(  # words of all notations; a cell with any other word is in none of them
    _LETTERS.findall(
        "less more than under over above below and or up older younger ft feet foot in inch inches k m b bn mn mln mio "
        "million billion mrd thousand tsd am pm a p h hr hrs hour hours min mins minute minutes"
    )
)
_LIMIT = re.compile(
    r"(?:(?:[<>\u2264\u2265]=?|=[<>]|(?:less|more) than|under|over|above|below)\s*(?P<behind>.+)"
    r"|(?P<before>.+?)\s*(?:\+|(?:and|or) (?:over|above|more|up|older|under|below|less|younger)))",
    re.IGNORECASE,
)
_FEET = re.compile(
    r"(?P<feet>[0-9]{1,3})\s?(?:'|\u2032|\u2019|ft\.?|feet|foot)"
    r"(?:\s?(?P<inches>[0-9]{1,2}(?:[.,][0-9]+)?)\s?(?:\"|\u2033|\u201d|''|in\.?|inch(?:es)?)?)?",
    re.IGNORECASE,
)
_SUFFIX = re.compile(
    r"(?P<number>.*[0-9.,])(?:(?P<letter>[kKMB])|\s?(?P<word>(?i:bn|mn|mln|mio|million|billion|mrd|thousand|tsd))\.?)"
    r"\s?[$\u00a3\u20ac\u00a5]?"
)
_FACTORS = {
    **dict.fromkeys(("k", "thousand", "tsd"), 1e3),
    **dict.fromkeys(("m", "mn", "mln", "mio", "million"), 1e6),
    **dict.fromkeys(("b", "bn", "billion", "mrd"), 1e9),
}
_CLOCK = re.compile(
    r"(?P<hours>[0-9]{1,3}):(?P<minutes>[0-5][0-9])(?::(?P<seconds>[0-5][0-9](?:[.,][0-9]+)?))?"
    r"(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?"
)
_SPELT = re.compile(
    r"(?:(?P<hours>[0-9]{1,3})\s?(?:hours?|hrs?|h)\.?)?\s?(?:(?P<minutes>[0-9]{1,3})\s?(?P<unit>minutes?|mins?|m)?\.?)?",
    re.IGNORECASE,
)


def _limit(cell: str, numbers: str) -> float | None:
    """Return the limit of a censored value; None for any other text."""
    match = _LIMIT.fullmatch(cell)
    return None if match is None else as_number(match["behind"] or match["before"], numbers)


def _inches(cell: str, numbers: str) -> float | None:
    """Return feet and inches as inches; None for any other text."""
    match = _FEET.fullmatch(cell)
    if match is None:
        return None
    inches = float((match["inches"] or "0").replace(",", "."))
    return 12.0 * int(match["feet"]) + inches if inches < 12 else None


def _multiple(cell: str, numbers: str) -> float | None:
    """Return a number of thousands, millions or billions (10^9); None for any other text."""
    match = _SUFFIX.fullmatch(cell)
    number = None if match is None else as_number(match["number"], numbers)
    if match is None or number is None:
        return None
    factor = _FACTORS[(match["letter"] or match["word"]).lower()]
    return float(f"{number * factor:.15g}")  # 56.7M is 56,700,000 to the last digit


def _hours(cell: str, numbers: str) -> float | None:
    """Return a clock time or a duration in hours; None for any other text."""
    if match := _CLOCK.fullmatch(cell):
        hours, half = int(match["hours"]), (match["half"] or "").lower()
        if half and not 1 <= hours <= 12:
            return None
        hours = hours % 12 + 12 * (half == "p") if half else hours
        return hours + int(match["minutes"]) / 60 + float((match["seconds"] or "0").replace(",", ".")) / 3600
    match = _SPELT.fullmatch(cell)
    if match is None or not (match["hours"] or len(match["unit"] or "") > 1):  # 5 m may be metres
        return None
    minutes = int(match["minutes"] or 0)
    return None if match["hours"] and minutes > 59 else int(match["hours"] or 0) + minutes / 60


class Notation(NamedTuple):
    """A further notation of numbers.

    Attributes:
        read: function of a cell without surrounding spaces and of the format of numbers. It returns the number, or None
            for any other text.
        about: description in words.
        unit: unit of the numbers that are read; "" if the column's own unit applies.
    """

    read: Callable[[str, str], float | None]
    about: str
    unit: str = ""


READERS = {
    "censored": Notation(_limit, "censored values, such as <5 or 80+, which count as their limit"),
    "feet and inches": Notation(_inches, "feet and inches, which are read in inches", "in"),
    "multiples": Notation(_multiple, "multiples, such as 12k, 56.7M or 1.2bn"),
    "times": Notation(_hours, "clock times or durations, which are read in hours", "h"),
}


def as_noted(cell: str, notations: Collection[str], numbers: str) -> float | None:
    """Return the number that a cell means in one of the given notations; None for any other text."""
    if not _may_be_noted(cell):
        return None
    values = (READERS[name].read(cell, numbers) for name in notations)
    return next((value for value in values if value is not None and math.isfinite(value)), None)


def notation_of(cell: str) -> tuple[str, frozenset[str]]:
    """Return the first notation in which a cell is a number, and the formats of its numbers; "" if there is none."""
    if _may_be_noted(cell):
        for name in READERS:
            if ways := frozenset(way for way in NUMBERS if as_noted(cell, (name,), way) is not None):
                return name, ways
    return "", frozenset()


def _may_be_noted(cell: str) -> bool:
    return len(cell) <= _LONGEST and bool(_DIGIT.search(cell)) and _WORDS.issuperset(_LETTERS.findall(cell.lower()))

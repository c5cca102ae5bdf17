"""How a table is written: separator, numbers, encoding, dates and words, as its owner declares them.

Nothing is guessed from private cells, because the guess would be a release: all declarations are public and shown on
the card. Only the first line of a file, which holds no private cell, may decide the separator and the byte order mark.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial

from .. import checks
from ..dates import Format, checked_format, looks_like_a_date


def _listed(names: str) -> tuple[str, ...]:
    """Return the parts of a text between bars."""
    return tuple(names.split("|"))


SEPARATORS = {
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "pipe": "|",
    "space": " ",
    "caret": "^",
    "tilde": "~",
    "colon": ":",
}
NUMBERS = {
    "1234.5": ("", "."),
    "1,234.5": (",", "."),
    "1234,5": ("", ","),
    "1.234,5": (".", ","),
    "1 234,5": (" ", ","),
    "1 234.5": (" ", "."),
    "1'234.5": ("'", "."),
}
"""Formats of numbers: the mark between thousands, which may be left out, and the decimal mark."""
NOTATIONS = ("censored", "feet and inches", "multiples", "times")
"""Further notations of numbers, which are read only if they are declared; see ``notations``."""
ANY_DATE = "any date"
"""Word for yes or no that stands for every date."""
PLAIN = "1234.5"
ENCODINGS = _listed(
    "utf-8|utf-16|utf-32|cp1252|latin-1|iso-8859-2|iso-8859-15|cp1250|cp1251|cp1253|cp1254|cp437|cp850|mac-roman|"
    "koi8-r|shift_jis|euc-jp|gb18030|big5|euc-kr"
)
USUAL = _listed(
    "|NA|N/A|#N/A|n.a.|NaN|null|none|nil|unknown|missing|not available|not known|-|--|\u2013|\u2014|?|.|..|...|\u2026|"
    ":|<NA>|#NULL!|#DIV/0!|#VALUE!|#REF!|#NAME?|#NUM!"
)
"""Words for a missing value that need not be declared one by one, in upper or lower case."""
MOST_WORDS = 50
_LONGEST_NUMBER = 1_000  # characters of a number in another format than that of Python

_PLAINER = str.maketrans({**dict.fromkeys("\u00a0\u2009\u202f", " "), "\u2212": "-", "\u2019": "'"})


Declared = str | float | Sequence[str | float] | None
"""A word or code, or several of them; None for none."""


class Words:
    """Set of words and codes. A cell is in it as text in upper or lower case, or as a number in the declared format.

    ``ANY_DATE`` among the words stands for every text that is a date.
    """

    def __init__(self, declared: Declared, numbers: str) -> None:
        self._numbers = numbers
        values: tuple[str | float, ...] = (
            (declared,) if isinstance(declared, str | int | float) else tuple(declared or ())
        )
        self._dates = ANY_DATE in values
        self.texts = frozenset(folded(str(value)) for value in values)
        codes = (value if isinstance(value, float) else as_number(value, numbers) for value in values)
        self.codes = frozenset(code for code in codes if code is not None and math.isfinite(code))

    def __contains__(self, cell: str) -> bool:
        if folded(cell) in self.texts or (self.codes and as_number(cell, self._numbers) in self.codes):
            return True
        return self._dates and looks_like_a_date(cell)


@dataclass(frozen=True, kw_only=True)
class Writing:
    """How a table is written.

    Args:
        separator: one of ``SEPARATORS`` or its name; None for the mark that is most frequent in the first line, which
            holds the names.
        numbers: one of ``NUMBERS``; None for "1234.5". A column in which every fraction has exactly three digits is
            then refused, because 2.400 may mean 2,400.
        notations: some of ``NOTATIONS``, for numbers such as <5 and 80+ ("censored", which count as the limit), 5'10"
            ("feet and inches", in inches), 12k and 1.2bn ("multiples"), 8:30 and 1h20 ("times", in hours).
        encoding: one of ``ENCODINGS``; None for UTF-8. A byte order mark takes precedence.
        missing: words and codes that mean a missing value, for example -999, in addition to ``USUAL``. Rows that lack a
            value in a column that is used are then left out. If None, a table with such a row is refused.
        yes: words or codes that mean 1 in a yes/no outcome; "any date" stands for every date.
        no: words or codes that mean 0. Any other cell counts as missing.
        date_order: order of the dates in inputs, unless another is declared for one input; None for "year-month-day".
        ignore: lines that are not rows of the table, such as a title above the names, units below them, or notes at the
            end: line numbers from 1, and ranges such as "1-3", or "63-" for all lines from there on.
        sheet: name of the sheet with the table, for a workbook with several.

    Raises:
        ValueError: a declaration is of the wrong kind or out of range.
    """

    separator: str | None = None
    numbers: str | None = None
    notations: Sequence[str] | None = None
    encoding: str | None = None
    missing: Sequence[str | float] | None = None
    yes: Declared = None
    no: Declared = None
    date_order: Format | None = None
    ignore: Sequence[int | str] | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        for name, check in _CHECKS.items():
            if getattr(self, name) is not None:
                object.__setattr__(self, name, check(name, getattr(self, name)))
        if (self.yes is None) != (self.no is None):
            raise ValueError("yes and no must both be declared: the words that mean yes, and those that mean no")
        if self.two_valued:
            both = self.yes_words.texts & self.no_words.texts or self.yes_words.codes & self.no_words.codes
            if both or not self.yes or not self.no:
                raise ValueError("yes and no must each name a word, and no word may mean both; correct one of them")

    @property
    def number_format(self) -> str:
        """Format of numbers, one of ``NUMBERS``."""
        return self.numbers or PLAIN

    @property
    def two_valued(self) -> bool:
        """Whether words for yes and no are declared."""
        return self.yes is not None

    @cached_property
    def missing_words(self) -> Words:
        """Words and codes for a missing value, both the usual and the declared ones."""
        return Words((*USUAL, *(self.missing or ())), self.number_format)

    @cached_property
    def yes_words(self) -> Words:
        """Words and codes for yes."""
        return Words(self.yes, self.number_format)

    @cached_property
    def no_words(self) -> Words:
        """Words and codes for no."""
        return Words(self.no, self.number_format)

    def ignores(self, line: int) -> bool:
        """Return whether a line, counted from 1, is declared not to be a row."""
        return any(first <= line <= last for first, last in self._ranges)

    @cached_property
    def _ranges(self) -> tuple[tuple[int, float], ...]:
        """First and last line of each declared range."""
        return tuple(_range(each) for each in self.ignore or ())

    @property
    def separated(self) -> str:
        """Name of the separator for a sentence, such as "comma-separated"."""
        names = {mark: name for name, mark in SEPARATORS.items()}
        return f"{names[self.separator or ',']}-separated"


KEYS = tuple(each.name for each in fields(Writing))
"""Names of the declarations."""


def as_number(cell: str, numbers: str) -> float | None:
    """Return the number that a cell means, which may be infinite or undefined; None for any other text.

    Currency signs and per cent signs next to the number are ignored, because the unit is declared. A number in
    brackets, or before a minus, is negative, as in bookkeeping.
    """
    value = as_float(cell)
    if value is not None and (numbers == "1234.5" or not math.isfinite(value)):
        return value
    if len(cell) > _LONGEST_NUMBER:
        return None
    text = _bare(cell.translate(_PLAINER).strip())
    brackets, behind = text[:1] == "(" and text[-1:] == ")", len(text) > 1 and text[-1] == "-"
    match = _WRITTEN[numbers].fullmatch(text[1:-1] if brackets else text[:-1] if behind else text)
    if match is None or ((brackets or behind) and match[1]):
        return None
    sign, whole, fraction, power = match.groups("")
    digits = re.sub(r"\D", "", whole)
    sign = "-" if brackets or behind else sign
    return as_float(f"{sign}{digits}.{fraction}e{power or 0}") if digits or fraction else None


def as_float(text: str) -> float | None:
    """Return text as the number that Python reads, even if infinite or undefined; None for text such as 1_000."""
    # float() would read the code "1_000" as a thousand, and digits of any script.
    if "_" in text or not text.isascii():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _bare(text: str) -> str:
    """Return a cell without single quotes, and without the apostrophe or formula by which spreadsheets mark text."""
    if text.startswith('="') and text.endswith('"'):
        text = text[2:-1]
    return text.strip("'") if text.startswith("'") else text


def folded(text: str) -> str:
    """Return a word as it is compared: in lower case, without surrounding spaces."""
    return text.strip().casefold()


def entries_of(lines: Iterable[int]) -> list[int | str]:
    """Return line numbers as ``ignore`` takes them: 1, 2, 3 and 63 become ["1-3", 63]."""
    runs: list[list[int]] = []
    for line in sorted(lines):
        if runs and line == runs[-1][1] + 1:
            runs[-1][1] = line
        else:
            runs.append([line, line])
    return [first if first == last else f"{first}-{last}" for first, last in runs]


def ways_of(cell: str) -> frozenset[str]:
    """Return the formats in which a cell is a number."""
    text = cell.strip()
    if text.isdigit() and text.isascii():
        return _ALL_WAYS
    if _NO_NUMBER.search(text):
        return frozenset()
    return frozenset(way for way in NUMBERS if (value := as_number(text, way)) is not None and math.isfinite(value))


class TwoReadings:
    """Detector of numbers that can be read in two ways, because every fraction in a column has exactly three digits.

    2.400 may mean 2,400 or 2.4. Whole numbers do not help, but one number like 2.5, 0.400 or 2.400.000 decides.

    Attributes:
        mark: the ambiguous point or comma; "" if there is none so far, or if a number has decided.
        decided: whether a number has decided.
    """

    def __init__(self) -> None:
        self.mark = ""
        self.decided = False

    def take(self, cell: str) -> None:
        """Take one more number of the column into account."""
        if self.decided or not ("." in cell or "," in cell):
            return
        match = _THREE_DIGITS.fullmatch(cell.translate(_PLAINER).strip())
        if match is None or self.mark not in ("", match["mark"]):
            self.mark, self.decided = "", True
        else:
            self.mark = match["mark"]


def two_ways(mark: str) -> tuple[str, str]:
    """Return the formats of numbers in which this mark separates thousands, and in which it separates a fraction."""
    return ("1.234,5", "1234.5") if mark == "." else ("1,234.5", "1234,5")


def separator_of(first_line: str) -> str:
    """Return the most frequent separator in a first line, which is public; a comma if there is none."""
    bare = re.sub(r'"[^"]*"', "", first_line)
    counts = {mark: bare.count(mark) for mark in (";", "\t", "|", ",")}
    most = max(counts, key=lambda mark: counts[mark])
    if counts[most]:
        return most
    if re.search(r"\S +\S", bare.strip()) or re.search(r'" +"', first_line):
        return " "
    return next((mark for mark in "^~:" if mark in bare), ",")


def _pattern(group: str, decimal: str) -> re.Pattern[str]:
    mark, sign = re.escape(group), r"[$£€¥%]?"
    whole = rf"\d{{1,3}}(?:{mark}\d{{2,3}})*{mark}\d{{3}}|\d*" if group else r"\d*"
    number = rf"({whole})(?:{re.escape(decimal)}(\d*))?(?:[eE]([+-]?\d+))?"
    return re.compile(rf"{sign} ?([+-]?) ?{sign} ?{number} ?{sign}", re.ASCII)


_WRITTEN = {way: _pattern(*marks) for way, marks in NUMBERS.items()}
_ALL_WAYS = frozenset(NUMBERS)
_THREE_DIGITS = re.compile(r"\(?[^\d.,]{0,4}[1-9][0-9]{0,2}(?P<mark>[.,])[0-9]{3}[^\d.,]{0,20}")
_NO_NUMBER = re.compile(r"[A-DF-Za-df-z]")
_LINES = re.compile(r"\d{1,9}(-(\d{1,9})?)?", re.ASCII)
_ALIASES = {
    **dict.fromkeys(("utf8", "utf-8-sig"), "utf-8"),
    **dict.fromkeys(("windows-1252", "ansi"), "cp1252"),
    **dict.fromkeys(("iso-8859-1", "latin1"), "latin-1"),
    **{"utf16": "utf-16", "windows-1250": "cp1250", "windows-1251": "cp1251", "shift-jis": "shift_jis"},
}


def _encoding(name: str, value: object) -> str:
    """Return an encoding by its usual name."""
    usual = _ALIASES.get(value.lower(), value.lower()) if isinstance(value, str) else value
    return checks.one_of(name, usual, list(ENCODINGS))


def _separator(name: str, value: object) -> str:
    if isinstance(value, str) and value in SEPARATORS:
        return SEPARATORS[value]
    if not isinstance(value, str) or value not in SEPARATORS.values():
        names = ", ".join(f"{each} ({mark!r})" for each, mark in SEPARATORS.items())
        raise ValueError(f"{name} must be one of {names}; got {checks.excerpt(value)}")
    return value


def _entries(name: str, value: object) -> Sequence[object]:
    """Return a single word or number as a list, or a list as it is."""
    one = isinstance(value, str | int | float) and not isinstance(value, bool)
    entries: Sequence[object] = [value] if one else checks.entries(name, value)
    if len(entries) > MOST_WORDS:
        raise ValueError(f"{name} has {len(entries)} entries, more than {MOST_WORDS}, the limit; leave some out")
    return entries


def _lines(name: str, value: object) -> tuple[int | str, ...]:
    """Return declared lines and ranges as a tuple."""
    return tuple(_line(name, each) for each in _entries(name, value))


def _line(name: str, value: object) -> int | str:
    """Return a declared line or range in one spelling."""
    text = value.strip() if isinstance(value, str) else value
    if isinstance(text, str) and _LINES.fullmatch(text):
        first, last = _range(text)
        if 1 <= first <= last:
            return text
    elif isinstance(text, int) and not isinstance(text, bool) and 1 <= text <= checks.MOST:
        return text
    raise ValueError(
        f'each entry of {name} must be a line such as 63, or lines such as "1-3" or "63-", got {checks.excerpt(value)}'
    )


def _range(lines: int | str) -> tuple[int, float]:
    """Return the first and last line of an entry."""
    if isinstance(lines, int):
        return lines, lines
    first, dash, last = lines.partition("-")
    return int(first), int(last or (first if not dash else 0)) or math.inf


def _words(name: str, value: object) -> tuple[str | float, ...]:
    """Return declared words and codes as a tuple."""
    return tuple(
        checks.text(f"each entry of {name}", each, empty=True)
        if isinstance(each, str)
        else checks.number(f"each entry of {name}", each)
        for each in _entries(name, value)
    )


def _notations(name: str, value: object) -> tuple[str, ...]:
    """Return declared notations as a tuple."""
    return tuple(
        str(checks.one_of(f"each entry of {name}", each, allowed=list(NOTATIONS))) for each in _entries(name, value)
    )


_CHECKS: dict[str, Callable[[str, object], object]] = {
    "separator": _separator,
    "numbers": partial(checks.one_of, allowed=list(NUMBERS)),
    "notations": _notations,
    "encoding": _encoding,
    "missing": _words,
    "yes": _words,
    "no": _words,
    "date_order": checked_format,
    "ignore": _lines,
    "sheet": checks.text,
}
AS_USUAL = Writing()
"""Writing of a table for which nothing is declared."""

"""How a table is written: separator, numbers, encoding, dates, words. Declared by the owner, never guessed.

A guess from private cells would be a release: so all of this is public, in the specification and on the card.
Only the first line of a file, which has no private cell, may decide something: the separator, and a byte order mark.
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
    """Names with bars between them."""
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
"""Ways of writing numbers: marks between thousands, which may be left out, and the decimal mark."""
NOTATIONS = ("censored", "feet and inches", "multiples", "times")
"""Further ways of writing a number, which are read only where they are declared: see ``notations``."""
ANY_DATE = "any date"
"""As a word for yes or no: every date means it."""
PLAIN = "1234.5"
ENCODINGS = _listed(
    "utf-8|utf-16|utf-32|cp1252|latin-1|iso-8859-2|iso-8859-15|cp1250|cp1251|cp1253|cp1254|cp437|cp850|mac-roman|"
    "koi8-r|shift_jis|euc-jp|gb18030|big5|euc-kr"
)
USUAL = _listed(
    "|NA|N/A|#N/A|n.a.|NaN|null|none|nil|unknown|missing|not available|not known|-|--|\u2013|\u2014|?|.|..|...|\u2026|"
    ":|<NA>|#NULL!|#DIV/0!|#VALUE!|#REF!|#NAME?|#NUM!"
)
"""Words for a missing value that need not be declared one by one, in capitals or not."""
MOST_WORDS = 50
_LONGEST_NUMBER = 1_000  # letters of a number that is not written as python writes it

_PLAINER = str.maketrans({**dict.fromkeys("\u00a0\u2009\u202f", " "), "\u2212": "-", "\u2019": "'"})


class Words:
    """Words and codes: a cell is one of them as text without capitals, or as a number that is written in one way.

    ``ANY_DATE`` among the words stands for every text that is a date.
    """

    def __init__(self, values: Iterable[str | float], numbers: str) -> None:
        self._numbers = numbers
        values = tuple(values)
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
        separator: one of ``SEPARATORS`` or its name; None: the one that the first line, of column names, has most of.
        numbers: one of ``NUMBERS``; None: "1234.5", and a column in which every fraction has exactly three digits is
            refused, because 2.400 may mean 2,400.
        notations: some of ``NOTATIONS``, for numbers such as <5 and 80+ ("censored", which count as the limit), 5'10"
            ("feet and inches", in inches), 12k and 1.2bn ("multiples"), 8:30 and 1h20 ("times", in hours).
        encoding: one of ``ENCODINGS``; None for UTF-8. A byte order mark goes before both.
        missing: words and codes that mean that a value is missing, for example -999, beside ``USUAL``; rows that lack
            a value in a column that is used are then left out. None: there are none, and such a row is refused.
        yes: words or codes that mean 1 in an outcome of yes or no; "any date" among them stands for every date.
        no: those that mean 0; anything else is missing.
        date_order: the order of inputs that are dates, unless more is said of one; None for "year-month-day".
        ignore: lines that are no rows of the table, such as a title above the names, units below them, notes at the
            end: numbers of lines, the first being 1, and ranges such as "1-3" or "63-" for all from there on.
        sheet: of a workbook that has several, the name of the one that holds the table.

    Raises:
        ValueError: a declaration is of the wrong kind or out of range.
    """

    separator: str | None = None
    numbers: str | None = None
    notations: tuple[str, ...] | None = None
    encoding: str | None = None
    missing: tuple[str | float, ...] | None = None
    yes: tuple[str | float, ...] | None = None
    no: tuple[str | float, ...] | None = None
    date_order: Format | None = None
    ignore: tuple[int | str, ...] | None = None
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
        """How numbers are read, one of ``NUMBERS``."""
        return self.numbers or PLAIN

    @property
    def two_valued(self) -> bool:
        """Whether words for yes and no are declared."""
        return self.yes is not None

    @cached_property
    def missing_words(self) -> Words:
        """Words and codes for a missing value, where they are declared."""
        return Words((*USUAL, *(self.missing or ())), self.number_format)

    @cached_property
    def yes_words(self) -> Words:
        """Words and codes for yes."""
        return Words(self.yes or (), self.number_format)

    @cached_property
    def no_words(self) -> Words:
        """Words and codes for no."""
        return Words(self.no or (), self.number_format)

    def ignores(self, line: int) -> bool:
        """Whether a line, the first being 1, is declared to be no row."""
        return any(first <= line <= last for first, last in self._ranges)

    @cached_property
    def _ranges(self) -> tuple[tuple[int, float], ...]:
        """First and last of the lines that are no rows."""
        return tuple(_range(each) for each in self.ignore or ())

    @property
    def separated(self) -> str:
        """Comma-separated and the like."""
        names = {mark: name for name, mark in SEPARATORS.items()}
        return f"{names[self.separator or ',']}-separated"


KEYS = tuple(each.name for each in fields(Writing))
"""Its declarations, by name."""


Declared = str | float | Sequence[str | float] | None
"""A word or code, or several of them; None for none."""


def words(declared: Declared) -> tuple[str | float, ...] | None:
    """One word or several, as ``Writing`` keeps them."""
    if declared is None:
        return None
    return (declared,) if isinstance(declared, str | int | float) else tuple(declared)


def as_number(cell: str, numbers: str) -> float | None:
    """The number that a cell means, infinite and undefined ones too; None for any other text.

    Marks of a currency or of per cent beside it are left out: the unit is declared. A number in brackets, or before
    a minus, is negative, as bookkeepers write it.
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
    """Text as Python reads a number, infinite or undefined ones too; None for other text, such as 1_000."""
    # float() takes "1_000" for a thousand, but it is written for a code; it takes digits of any script too.
    if "_" in text or not text.isascii():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _bare(text: str) -> str:
    """A cell without the marks of a text: quotes of another kind, a spreadsheet's apostrophe or formula."""
    if text.startswith('="') and text.endswith('"'):
        text = text[2:-1]
    return text.strip("'") if text.startswith("'") else text


def folded(text: str) -> str:
    """A word as it is compared: without capitals and spaces around it."""
    return text.strip().casefold()


def entries_of(lines: Iterable[int]) -> list[int | str]:
    """Lines as ``ignore`` takes them: 1, 2, 3 and 63 are ["1-3", 63]."""
    runs: list[list[int]] = []
    for line in sorted(lines):
        if runs and line == runs[-1][1] + 1:
            runs[-1][1] = line
        else:
            runs.append([line, line])
    return [first if first == last else f"{first}-{last}" for first, last in runs]


def ways_of(cell: str) -> frozenset[str]:
    """The ways of writing numbers in which a cell is one."""
    text = cell.strip()
    if text.isdigit() and text.isascii():
        return _ALL_WAYS
    if _NO_NUMBER.search(text):
        return frozenset()
    return frozenset(way for way in NUMBERS if (value := as_number(text, way)) is not None and math.isfinite(value))


class TwoReadings:
    """Whether the numbers of a column can be read in two ways, because every fraction has exactly three digits.

    Numbers that are whole say nothing; 2.400 may be 2,400 or 2.4, and one number like 2.5, 0.400 or 2.400.000 decides.

    Attributes:
        mark: the point or the comma before the three digits; "" where there is none so far, or a number has decided.
    """

    def __init__(self) -> None:
        self.mark = ""
        self.decided = False

    def take(self, cell: str) -> None:
        """Consider one more number of the column."""
        if self.decided or not ("." in cell or "," in cell):
            return
        match = _THREE_DIGITS.fullmatch(cell.translate(_PLAINER).strip())
        if match is None or self.mark not in ("", match["mark"]):
            self.mark, self.decided = "", True
        else:
            self.mark = match["mark"]


def two_ways(mark: str) -> tuple[str, str]:
    """How numbers are written if this mark stands between thousands, and if it stands before a fraction."""
    return ("1.234,5", "1234.5") if mark == "." else ("1,234.5", "1234,5")


def separator_of(first_line: str) -> str:
    """The commonest separator of the names in a first line, which is public; a comma if there is none."""
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
    """An encoding by its usual name."""
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
    """One word or number, or a list of them."""
    one = isinstance(value, str | int | float) and not isinstance(value, bool)
    entries: Sequence[object] = [value] if one else checks.entries(name, value)
    if len(entries) > MOST_WORDS:
        raise ValueError(f"{name} has {len(entries)} entries, more than {MOST_WORDS}, the limit; leave some out")
    return entries


def _lines(name: str, value: object) -> tuple[int | str, ...]:
    """Lines and ranges of them, one or a list."""
    return tuple(_line(name, each) for each in _entries(name, value))


def _line(name: str, value: object) -> int | str:
    """A line, or a range of them, in one spelling."""
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
    """First and last of the lines of an entry."""
    if isinstance(lines, int):
        return lines, lines
    first, dash, last = lines.partition("-")
    return int(first), int(last or (first if not dash else 0)) or math.inf


def _words(name: str, value: object) -> tuple[str | float, ...]:
    """Words and codes, one or a list of them."""
    return tuple(
        checks.text(f"each entry of {name}", each, empty=True)
        if isinstance(each, str)
        else checks.number(f"each entry of {name}", each)
        for each in _entries(name, value)
    )


def _notations(name: str, value: object) -> tuple[str, ...]:
    """Some of the notations, one or a list of them."""
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
"""Where nothing is declared."""

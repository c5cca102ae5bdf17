"""Propose declarations for a table: a configuration that its owner checks and completes.

Proposals depend on private cells and are for the owner alone; ``MARK`` says so in the configuration. A proposal becomes
a declaration when the owner writes it into a configuration.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, BinaryIO, NamedTuple

from ..levels import MOST_LEVELS
from .faults import mark_of, unit_next_to
from .ignored import lines_within, with_ignored
from .notations import READERS, notation_of
from .people import identifies, lines_on_unused, suggests_survey_weights
from .rows import NotDecoded, Table, as_written, column_names, plain_name
from .survey import Contents, survey, words_of
from .writing import ANY_DATE, NUMBERS, PLAIN, Writing, as_number, folded, two_ways, ways_of

MARK = "not_private"
_MARKED = (
    "proposed by looking at the table, for the eyes of its owner: check every line, and fill in from what you knew "
    "before, above all y_bounds and x_box, which are null"
)
_TRIED = (None, "cp1252", "latin-1", "utf-16")  # UTF-8 first
_TRUE = ("true", "wahr", "vrai", "verdadero", "verdadeiro", "vero", "waar", "sand", "sant")  # in spreadsheets
_FALSE = ("false", "falsch", "faux", "falso", "onwaar", "falsk", "falskt")
_YES = ("yes", "y", "t", "positive", "pos", "ja", "oui", "si", "sí", "sim", "1", "present", "success", *_TRUE)
_NO = ("no", "n", "f", "negative", "neg", "nein", "non", "não", "0", "absent", "failure", *_FALSE)
# A code before its label, such as "1. Yes", as SPSS exports it
_LABELLED = re.compile(r"[(\[]?\d{1,3}(?:[)\].:=-]| -)?\s+(?=\D)")
_MOST_DELTA = 1e-5
_MOST_ANSWERS = 8  # largest number of different words in a yes/no outcome
_SOME = 50  # texts of a column that are searched for its unit
_TWIN = re.compile(r".* \(column [0-9]+\)")
_MOST_GAPS = 8  # largest number of words in a column of numbers or dates that may mean a missing value


class Look(NamedTuple):
    """How a table seems to be written, and what its columns contain.

    Attributes:
        writing: how the table seems to be written, without words for missing values, yes and no.
        columns: contents of each column, by name.
    """

    writing: Writing
    columns: Mapping[str, Contents]


def look(stream: BinaryIO, names: Sequence[str] = ()) -> Look:
    """Read a table; return how it seems to be written, and what its columns contain.

    Args:
        names: columns that will be used. If there are any, they alone decide how numbers and dates are written.

    Raises:
        ValueError: the stream is not a table.
    """
    problems = list[NotDecoded]()
    for encoding in _TRIED:
        try:
            writing, columns = _surveyed(stream, Writing(encoding=encoding), names)
        except NotDecoded as error:
            problems.append(error)
            stream.seek(0)
            continue
        return _written_as(Look(writing, columns), names)
    raise problems[0]


def _written_as(table: Look, names: Sequence[str]) -> Look:
    """Return the table with numbers and dates written as in these columns; as in all if it has none of them."""
    used = [table.columns[name] for name in names if name in table.columns] or list(table.columns.values())
    numbers = None if any(each.two_readings for each in used) else numbers_of(used)
    return table._replace(writing=replace(table.writing, numbers=numbers, date_order=order_of_dates(used)))


def _surveyed(stream: BinaryIO, declared: Writing, names: Sequence[str]) -> tuple[Writing, dict[str, Contents]]:
    """Return the writing and the contents of the columns, also for a table between lines that are not rows."""
    declared = with_ignored(stream, declared, names) or declared
    writing = as_written(stream, declared)
    header = column_names(stream, writing)
    stream.seek(0)
    columns = survey(stream, header, writing)
    stream.seek(0)
    if lines := lines_within(columns):
        writing = replace(writing, ignore=(*(writing.ignore or ()), *lines))
        columns = survey(stream, list(columns), writing)
        stream.seek(0)
    return writing, columns


def numbers_of(columns: Sequence[Contents]) -> str:
    """Return the format of numbers that reads most of the columns."""
    ways = [each.ways[0] for each in columns if each.ways]
    return max(dict.fromkeys(way for way in ways if way != "1234.5"), key=ways.count, default="1234.5")


def order_of_dates(columns: Sequence[Contents]) -> str | None:
    """Return the order that reads most columns of dates; None if there are none, or if it is year, month, day."""
    orders = [each.orders[0] for each in columns if each.orders and not each.ways]
    return max(dict.fromkeys(orders), key=orders.count, default=None)


def proposal(stream: BinaryIO, x: Sequence[str] = (), y: str | None = None) -> tuple[dict[str, Any], list[str]]:
    """Return a proposed configuration, and a line about each column. Both are computed from private cells.

    Args:
        x: names of the inputs; () to propose one.
        y: name of the outcome; None to propose one.

    Raises:
        ValueError: the stream is not a table, or has no such columns.
    """
    x, y = [plain_name(name) for name in x], None if y is None else plain_name(y)
    asked = [*x, *([] if y is None else [y])]
    first = look(stream, asked)
    stream.seek(0)
    Table(stream, first.writing).positions(asked)
    stream.seek(0)
    dates_mean_yes = [name for name in first.columns if _dates_mean_yes(stream, name, first)]
    y, inputs = _guessed(first.columns, x, y, dates_mean_yes)
    if all(first.columns[name].holds_words for name in inputs):
        raise ValueError(
            "no column of numbers or dates is left for an input, and a curve needs one; name one with --x, or add one"
        )
    table = _written_as(first, [*inputs, *([] if y is None else [y])])
    rows = next(iter(first.columns.values())).rows
    configuration, said = _configuration(stream, table, inputs, y, rows)
    numbers = table.writing.numbers or PLAIN
    lines = [f"{name}: {described(column, numbers)}" for name, column in table.columns.items()]
    lines += [*said, *lines_on_unused({name: each for name, each in table.columns.items() if name not in (*inputs, y)})]
    if twins := [name for name in table.columns if _TWIN.fullmatch(name)]:
        lines.append(
            f"{', '.join(twins)}: several columns have one name, so each is named with its number, here and in x, y"
        )
    if table.writing.ignore:
        what = "line" if len(table.writing.ignore) == 1 and isinstance(table.writing.ignore[0], int) else "lines"
        lines.append(f"{what} {', '.join(map(str, table.writing.ignore))}: proposed to be no rows of the table")
    return configuration, lines


def described(column: Contents, numbers: str = "1234.5") -> str:
    """Return the likely contents of a column in words, for the owner of the table alone."""
    if column.ways:
        text = "numbers" if numbers in column.ways or column.ways[0] == "1234.5" else f"numbers, as {column.ways[0]}"
        text += "".join(f"; {code:g} in {rows:,} rows may mean missing" for code, rows in column.codes.items())
    elif column.orders:
        text = f"dates, {' or '.join(column.orders)}"
    elif column.values:
        text = f"{column.values:,} different words" if column.holds_words else "text"
    else:
        text = "nothing"
    return f"{text}; {column.usual:,} of {column.rows:,} rows lack a value" if column.usual else text


def yes_and_no(words: Sequence[str]) -> tuple[str | None, str | None]:
    """Return the word that may mean yes and the one that may mean no; None for either if there is no such word."""

    def first_of(meanings: Sequence[str]) -> str | None:
        return next((word for word in words if _bare(word) in meanings), None)

    yes, no = first_of(_YES), first_of(_NO)
    others = [word for word in words if word not in (yes, no)]
    if len(words) == 2 and len(others) == 1:
        return yes or others[0], no or others[0]
    return yes, no


def usual_delta(rows: int) -> float:
    """Return the proposed delta: a power of ten, at most 1/(10 n) and at most 1e-5."""
    return float(min(_MOST_DELTA, 10.0 ** math.floor(math.log10(0.1 / max(rows, 1)))))


def missing_of(columns: Sequence[Contents]) -> list[str | float] | None:
    """Return codes that may mean a missing value; None if every row has a value in these columns."""
    codes: list[str | float] = [*dict.fromkeys(code for each in columns for code in each.codes)]
    return codes if codes or any(each.usual for each in columns) else None


def _configuration(
    stream: BinaryIO, table: Look, x: Sequence[str], y: str | None, rows: int
) -> tuple[dict[str, Any], list[str]]:
    """Return the configuration, and lines that say what it proposes and why."""
    used = [*x, *([] if y is None else [y])]
    columns = [table.columns[name] for name in used]
    words, gaps, units, said = dict[str, list[str]](), list[str](), dict[str, str](), list[str]()
    numbers, notations = table.writing.numbers, dict[str, str]()
    yes_no: tuple[Any, Any] = (None, None)
    two_valued = False
    for name, column in zip(used, columns, strict=True):
        unit, way = _unit(stream, name, table)
        if unit:
            units[name], numbers = unit, way
            said.append(f"{name}: numbers in {unit}, proposed as their unit")
            continue
        if name == y and (meant := _dates_mean_yes(stream, name, table)):
            two_valued, yes_no = True, meant
            said.append(
                f"{name}: dates in {column.dated:,} of {column.rows:,} rows among words for yes and no; proposed: any "
                "date means yes"
            )
            continue
        if column.two_readings:
            said.append(_either_reading(stream, name, table))
        for notation, (count, _) in column.noted.items() if column.ways else ():
            notations[notation] = READERS[notation].about
            example = next(text for text in _texts(stream, name, table) if notation_of(text)[0] == notation)
            said.append(
                f"{name}: {READERS[notation].about}, in {count:,} of {column.rows:,} rows, such as {example}; proposed "
                f'as "notations"'
            )
            units |= {name: READERS[notation].unit} if READERS[notation].unit else {}
        if column.holds_words and column.values <= (MOST_LEVELS if name in x else _MOST_ANSWERS):
            words[name] = words_of(stream, name, table.writing, MOST_LEVELS + 1)
            stream.seek(0)
        elif among := _words_among(stream, name, table):
            gaps += among
            said.append(f"{name}: proposed as missing, as they are no numbers: {', '.join(among)}")
        if column.ways and not column.orders and column.dated:
            said.append(
                f"{name}: dates in {column.dated:,} of {column.rows:,} rows among numbers; correct or declare them"
            )
    if y in words or (y is not None and _is_zero_or_one(table.columns[y])):
        two_valued, yes_no = True, yes_and_no(words[y]) if y in words else (None, None)
    missing = missing_of(columns)
    if gaps:
        missing = [*(missing or []), *dict.fromkeys(gaps)]
    writing = asdict(table.writing) | {"numbers": numbers, "notations": [*notations] or None, "missing": missing}
    writing |= {"yes": yes_no[0], "no": yes_no[1]}
    levels = [sorted(words[name]) if name in words else None for name in x]
    grid = [None if name in words else 51 if len(x) - len(set(words) & {*x}) == 1 else 20 for name in x]
    return (
        {MARK: _MARKED, "x": list(x), "x_box": None}
        | ({"x_levels": levels} if any(levels) else {})
        | ({"x_units": [units.get(name, "") for name in x]} if {*units} & {*x} else {})
        | ({"y_unit": units[y]} if y in units else {})
        | {"y": y, "y_bounds": None, "y_kind": "yes/no" if two_valued else "number"}
        | {"unit": f"one person's {y}", "grid": grid, "epsilon": 1.0, "delta": usual_delta(rows)}
        | writing
    ), said


def _unit(stream: BinaryIO, name: str, table: Look) -> tuple[str, str]:
    """Return the unit next to the numbers of a column, and the format of these numbers; "" for both if none."""
    column = table.columns[name]
    return ("", "") if not may_have_a_unit(column) else unit_of(_texts(stream, name, table)[:_SOME])


def may_have_a_unit(column: Contents) -> bool:
    """Return whether each number of a column may contain a unit: none is plain, and none is a multiple or censored."""
    noted = sum(count for count, _ in column.noted.values())
    plain = column.ways and column.rows - column.usual - column.unread[column.ways[0]][0] - noted
    return not (plain or column.orders or "multiples" in column.noted or "censored" in column.noted)


def _texts(stream: BinaryIO, name: str, table: Look) -> list[str]:
    """Return the different texts of a column, the most frequent first."""
    stream.seek(0)
    texts = words_of(stream, name, table.writing, table.columns[name].values)
    stream.seek(0)
    return texts


def _dates_mean_yes(stream: BinaryIO, name: str, table: Look) -> tuple[list[str], list[str]] | None:
    """Return the words for yes and for no of an outcome in which a date means yes; None for any other column."""
    column = table.columns[name]
    if not column.dated or not 1 <= column.other_than_dates <= _MOST_ANSWERS:
        return None
    words = words_of(stream, name, table.writing, _MOST_ANSWERS + 1, dates=False)
    stream.seek(0)
    yes, no = ([word for word in words if _bare(word) in meanings] for meanings in (_YES, _NO))
    return ([*yes, ANY_DATE], no) if no and len(yes) + len(no) == len(words) else None


def _bare(word: str) -> str:
    """Return a word in lower case, without the number of its label."""
    return folded(_LABELLED.sub("", word, count=1))


def _either_reading(stream: BinaryIO, name: str, table: Look) -> str:
    """Return a line about numbers that can be read in two ways, with an example."""
    example, mark = readings_of(_texts(stream, name, table))
    thousands, fraction = two_ways(mark)
    values = [as_number(example, way) or 0.0 for way in (thousands, fraction)]
    return (
        f"{name}: {example} is {values[0]:,g} or {values[1]:g}? Every fraction has exactly three digits, so nothing is "
        f'proposed: declare "numbers": "{thousands}" for the first, or "{fraction}" for the second'
    )


def readings_of(texts: Sequence[str]) -> tuple[str, str]:
    """Return the first text that can be read as two numbers, and its ambiguous mark; "" for both if there is none."""
    return next(((text, mark) for text in texts if (mark := mark_of([text]))), ("", ""))


def unit_of(cells: Sequence[str]) -> tuple[str, str]:
    """Return the unit that all cells contain next to a number, and the format of the numbers; "" for both if none."""
    units = {unit_next_to(cell) for cell in cells}
    unit = units.pop() if len(units) == 1 else ""
    bare = [cell.removesuffix(unit).removeprefix(unit) for cell in cells]
    way = next((way for way in NUMBERS if all(way in ways_of(cell) for cell in bare)), "") if unit else ""
    return (unit, way) if way else ("", "")


def _words_among(stream: BinaryIO, name: str, table: Look) -> list[str]:
    """Return the words among the numbers or dates of a column if they are few; dates among numbers are left out."""
    column = table.columns[name]
    numbers = table.writing.numbers or next(iter(column.ways), PLAIN)
    if numbers in column.ways and column.unread[numbers][0]:
        among = words_of(stream, name, table.writing, _MOST_GAPS + 1, numbers=numbers, dates=False)
    elif numbers not in column.ways and column.orders and column.undated[column.orders[0]][0]:
        among = words_of(stream, name, table.writing, _MOST_GAPS + 1, order=column.orders[0])
    else:
        return []
    stream.seek(0)
    return among if len(among) <= _MOST_GAPS else []


def _guessed(
    columns: Mapping[str, Contents], x: Sequence[str], y: str | None, dates_mean_yes: Collection[str]
) -> tuple[str | None, list[str]]:
    """Return the outcome and the inputs, as far as they are not given; survey weights only if nothing else is left."""
    others = {name: each for name, each in columns.items() if not suggests_survey_weights(name)}
    for candidates in (others, columns):
        outcome = y or _outcome(candidates, dates_mean_yes)
        inputs = list(x) or _inputs(candidates, (outcome, *dates_mean_yes))
        if outcome and inputs:
            break
    return outcome, inputs


def _outcome(columns: Mapping[str, Contents], dates_mean_yes: Collection[str]) -> str | None:
    """Return the last column that may be an outcome: numbers if another column is left as an input, otherwise a few
    words.

    Args:
        columns: contents of the columns, by name.
        dates_mean_yes: columns of words for yes and no in which a date means yes.
    """
    words = [name for name, each in columns.items() if each.holds_words and each.values < MOST_LEVELS]
    dates = [name for name, each in columns.items() if each.orders and not each.ways and name not in dates_mean_yes]
    numbers = [
        name for name, each in columns.items() if name in dates_mean_yes or (each.ways and not identifies(name, each))
    ]
    if len(numbers) + len(dates) > 1 or not words:
        return next(iter(numbers[::-1]), None)
    return words[-1]


def _inputs(columns: Mapping[str, Contents], outcomes: Collection[str | None]) -> list[str]:
    """Return the first column of dates, or else of numbers (no identifier, if possible with repeated values)."""
    others = {name: each for name, each in columns.items() if name not in outcomes and not identifies(name, each)}
    dates = [name for name, each in others.items() if each.orders and not each.ways]
    numbers = [name for name, each in others.items() if each.ways]
    return (dates or sorted(numbers, key=lambda name: others[name].values == others[name].rows))[:1]


def _is_zero_or_one(column: Contents) -> bool:
    rows = column.texts.rows
    return rows is not None and column.values == 2 and all(column.texts.digest(each) in rows for each in "01")

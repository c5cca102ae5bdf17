"""What is asked about columns and lines of a table: numbers, dates, groups or degrees, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import permutations
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpgp_core.dates import ORDERS, Format, parsed, shown
from dpgp_core.levels import MOST_LEVELS, Levels, checked_levels
from dpgp_core.reading.survey import Contents
from dpgp_core.reading.writing import NUMBERS
from dpgp_core.release.degrees import MOST_LATITUDE
from pages._ui import session
from pages._ui.look.text import plain
from pages._ui.own import slots, upload
from pages._ui.own.slots import OWN_LINES, PREFIX, key, value_of
from pages._ui.own.upload import Table

PERIODS = {"nothing": None, "every year": "year", "every week": "week"}
_SHOWN_AS: dict[Format, str] = dict(zip(ORDERS, ("YYYY-MM-DD", "DD/MM/YYYY", "MM/DD/YYYY"), strict=True))
_EARLIEST, _LATEST = date(1000, 1, 1), date(2999, 12, 31)


def side(
    row: Sequence[DeltaGenerator], name: str, format: Format, *, automatic: bool
) -> tuple[str | None, str | None, str | None]:
    """Period, first and last day of an input that is a date, as declared.

    Args:
        row: where the three controls stand.
        name: of the input.
        format: how its dates are written.
        automatic: whether the mechanism makes its models itself, and so can look for a period.
    """
    period = row[0].selectbox(
        "Comes again" if automatic else "Comes again (not here)",
        list(PERIODS),
        key=key(f"period_{name}", "nothing"),
        disabled=not automatic,
        help=f"What you expect to come again along {plain(name)}, for example every year for clinic visits. It is "
        "looked for, and found as far as the noisy numbers show it. The domain must hold it twice.",
    )
    first, last = (
        where.date_input(
            f"{plain(name)} {end}",
            value=None,
            min_value=_EARLIEST,
            max_value=_LATEST,
            format=_SHOWN_AS[format],
            key=key(f"{end}_day_{name}"),
            help=f"The {which} day of the curve. Say what you knew before, not the {which} in the table.",
        )
        for where, end, which in ((row[1], "from", "first"), (row[2], "to", "last"))
    )
    days = [day.isoformat() if isinstance(day, date) else None for day in (first, last)]
    return PERIODS[period] if automatic else None, days[0], days[1]


def days_between(first: str | None, last: str | None) -> float | None:
    """Days of a domain, if it is declared and not empty."""
    if first is None or last is None or first >= last:
        return None
    return float((date.fromisoformat(last) - date.fromisoformat(first)).days)


ONLY_BAYES = "Groups: only Bayes cloaking takes them, so the other mechanisms are not offered."
_CAPTION = (
    "For example: women, men. Name the groups that you knew before, as the table writes them, because which groups "
    "there are is published. A value that is none of them counts as *other* if you name a group other."
)


def groups_asked(name: str, column: Contents) -> tuple[Levels | None, str]:
    """The groups of an input, None while none are declared; and what is wrong with them, "" for nothing.

    Args:
        name: of the input.
        column: what it can be read as.
    """
    said = st.text_input(
        f"Groups of {plain(name)}", key=key(f"levels_{name}", ""), placeholder="women, men", max_chars=1000
    )
    st.caption(_CAPTION)
    texts = [text.strip() for text in said.split(",") if text.strip()]
    if not texts:
        return None, ""
    try:
        levels = checked_levels(name, texts)
    except ValueError as error:
        return None, str(error)
    return levels, column.as_levels(name, levels)


def groups_missing(values: Mapping[str, Any]) -> dict[str, bool]:
    """What of it is still to declare, by name."""
    return {f"the groups of {plain(name)}": levels is None for name, levels in values["levels"].items()}


def declared(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a specification."""
    return {"x_levels": tuple(values["levels"].get(name) for name in values["x"]) if values["levels"] else None}


_MOST = (180.0, MOST_LATITUDE)  # degrees of longitude, of latitude
_NONE = "None: they are no degrees"
_HELP_DEGREES = (
    "Distances between degrees are measured in kilometres, and so are lengthscales. The map is drawn with east across. "
    "For example, longitude -0.1 and latitude 51.5 are in London: longitude is east."
)


def degrees_asked(x: Sequence[str]) -> dict[str, Any]:
    """``coordinates``: (longitude, latitude), or None."""
    pairs = [pair for pair in permutations(x, 2) if all(map(_can_be, pair, _MOST))]
    if not pairs:
        return {"coordinates": None}
    choices = {_NONE: None} | {
        f"{plain(east)} is east, {plain(north)} is north": (east, north) for east, north in pairs
    }
    held = key("degrees", _NONE)
    if session.control(held) not in choices:
        session.move({held: _NONE})
    return {
        "coordinates": choices[st.selectbox("Are two of them degrees?", list(choices), key=held, help=_HELP_DEGREES)]
    }


def _can_be(name: str, most: float) -> bool:
    """Whether the declared domain of an input lies within so many degrees."""
    low, high = (session.control(key(f"box_{end}_{name}")) for end in ("low", "high"))
    return low is not None and high is not None and -most <= low < high <= most


USUAL = "an empty cell, NA and the like"
_NUMBERS_HELP = (
    "Declared, never guessed: 1,234 is a thousand to some and little more than one to others. Marks between thousands "
    "may be left out in the table; marks of a currency and of per cent are passed over."
)
_MISSING_HELP = (
    "Rows that hold one of these in a column that is used are left out. What is not chosen counts as an outcome, "
    "for example -999 as the lowest. You may type another word or number. How many rows are complete is published."
)


def numbers(columns: Iterable[Contents]) -> str:
    """How numbers are written: asked where a column that is used has numbers that are not plain.

    Args:
        columns: those that are used.
    """
    if not any(each.ways and each.ways[0] != "1234.5" for each in columns) and value_of("numbers") in (None, "1234.5"):
        return "1234.5"
    return str(
        st.selectbox("How are numbers written?", list(NUMBERS), key=key("numbers", "1234.5"), help=_NUMBERS_HELP)
    )


def declares_missing() -> bool:
    """Whether something stands declared as missing, in the control further down."""
    return bool(value_of("missing"))


def written_missing(
    names: Sequence[str], held: Table, way: str, free: str | None, formats: Mapping[str, Format]
) -> dict[str, Any]:
    """What means that a value is missing: one question, where a column that is used has such cells.

    Args:
        names: of the columns that are used.
        held: the table.
        way: how numbers are written.
        free: an outcome of yes and no, whose other words are missing anyway.
        formats: how the inputs that are dates are written, by name.

    Returns:
        ``missing``, as a specification has it, and ``gaps_declared``.
    """
    columns = {name: held.survey[name] for name in names if name != free}
    lacking = sum(each.usual for each in columns.values())
    offered = [USUAL] if lacking else []
    for name, each in columns.items():
        offered += [f"{code:g}" for code in each.codes]
        if name in formats and formats[name] in each.orders:
            offered += upload.words(held, name, order=formats[name]) if each.undated[formats[name]][0] else []
        elif way in each.ways and each.unread[way][0]:
            offered += upload.words(held, name, numbers=way)
    chosen = list(value_of("missing") or [])
    if not offered and not chosen:
        return {"missing": None, "gaps_declared": True}
    options = list(dict.fromkeys([*offered, *chosen]))
    chosen = st.multiselect(
        "Which of these mean that a value is missing?",
        options,
        key=key("missing", []),
        accept_new_options=True,
        placeholder="Choose, or type a word or a number",
        help=_MISSING_HELP,
    )
    if lacking:
        cells = ", ".join(f"{each.usual:,} of {plain(name)}" for name, each in columns.items() if each.usual)
        st.caption(
            f"Empty cells, NA and the like: {cells}, in {held.rows:,} rows. Rows with one of them can be left out."
        )
    declared = None if not chosen else tuple(word for word in chosen if word != USUAL)
    return {"missing": declared, "gaps_declared": not lacking or bool(chosen)}


def yes_and_no(y: str, held: Table) -> dict[str, Any]:
    """Which words of the outcome mean yes and no, where it is not written 1 and 0.

    Args:
        y: the outcome.
        held: the table.

    Returns:
        ``yes`` and ``no``, both None where they are not asked for; ``words_declared``.
    """
    words = upload.words(held, y)
    if not words or {*words} <= {"0", "1", "0.0", "1.0"}:
        return {"yes": None, "no": None, "words_declared": True}
    left, right = st.columns(2)
    yes = left.selectbox("Yes is written", words, index=None, key=key("yes"), help="What is neither is left out.")
    others = [word for word in words if word != yes]
    if yes is not None and len(others) == 1 and session.control(f"{PREFIX}no") not in others:
        session.move({f"{PREFIX}no": others[0]})
    no = right.selectbox("No is written", others, index=None, key=key("no"))
    both = yes is not None and no is not None
    return {"yes": yes if both else None, "no": no if both else None, "words_declared": both}


def offer_yes_and_no(y: str) -> None:
    """One click to say that an outcome that holds words is one of yes and no."""
    st.info(f"{plain(y)} holds words: is it yes or no?", icon=":material/rule:")
    st.button("Yes, an outcome of yes or no", key="own_say_kind", on_click=_is_yes_or_no, icon=":material/rule:")


def unit_said(name: str, control: str, held: Table, way: str) -> bool | None:
    """Whether the unit beside the numbers of a column is said, offered in one click; None where there is none.

    Args:
        name: of the column.
        control: for its unit.
        held: the table.
        way: how numbers are written.
    """
    unit, written = upload.unit(held, name)
    if not unit:
        return None
    if value_of(control) == unit and way == written:
        return True
    st.info(f"{plain(name)} holds numbers with {plain(unit)} beside them: is that their unit?", icon=":material/rule:")
    said = {control: unit, "numbers": written}
    st.button(f"Yes, in {plain(unit)}", key=f"own_say_{control}", on_click=_say, args=(said,), icon=":material/rule:")
    return False


def _say(said: Mapping[str, str]) -> None:
    session.move({f"{PREFIX}{control}": value for control, value in said.items()})
    slots.keep()


def _is_yes_or_no() -> None:
    session.move({f"{PREFIX}kind": "yes/no"})
    slots.keep()


DATES: dict[str, Format] = {f"dates, as {shown(order)} ({order})": order for order in ORDERS}
_KINDS = ("numbers", *DATES, "groups")
_HELP_HOLDS = (
    "Said, never guessed. Dates are read in this order alone, with any of . / - between day, month and year, and with "
    "a time of day or not, which is left out. Groups, for example women and men, get a curve each from one budget."
)


def one_way(columns: Iterable[Contents], numbers: str) -> str:
    """How the numbers of some columns are written, if that is not declared and all ways that read them read the same.

    Args:
        columns: those that are used.
        numbers: how they are declared to be written.

    Returns:
        The way; "" where there is nothing to say, or two ways would read other numbers.
    """
    if numbers != "1234.5":
        return ""
    ways = {each.ways[0]: each for each in columns if each.ways and each.ways[0] != numbers}
    if len(ways) != 1:
        return ""
    [(way, column)] = ways.items()
    as_good = [each for each in column.ways if column.unread[each] == column.unread[way]]
    return way if len({NUMBERS[each][1] for each in as_good}) == 1 else ""


def holds_asked(x: Sequence[str], y: str | None, held: Table, numbers: str, *, gaps: bool) -> dict[str, Any]:
    """What each input holds; what cannot be read so is said at once.

    Args:
        x: the inputs.
        y: the outcome, if it is chosen.
        held: the table, and what each column can be read as.
        numbers: how they are written.
        gaps: whether something is declared as missing, so that a few cells that are not read may be just that.

    Returns:
        ``formats``, how the inputs that are dates are written, by name; ``levels``, of those that are groups, None
        where they are still to declare; ``inputs_readable``.
    """
    formats, levels, wrong = dict[str, Format](), dict[str, Levels | None](), list[str]()
    way = one_way((held.survey[name] for name in [*x, *([] if y is None else [y])]), numbers)
    kinds = {
        name: column.selectbox(f"{plain(name)} holds", _KINDS, key=key(f"holds_{name}", "numbers"), help=_HELP_HOLDS)
        for column, name in zip(st.columns(max(len(x), 1)), x, strict=False)
    }
    for name, kind in kinds.items():
        column = held.survey[name]
        if kind == "groups":
            levels[name], problem = groups_asked(name, column)
        elif kind in DATES:
            formats[name] = DATES[kind]
            problem = "" if gaps and formats[name] in column.orders else column.as_dates(name, formats[name])
        else:
            problem = "" if gaps and numbers in column.ways else column.as_numbers(name, numbers)
            unit = unit_said(name, f"x_unit_{name}", held, numbers) if problem else None
            if unit is not None:
                wrong.append("" if unit else problem)
                continue
        if problem and (kind == "groups" or not _offered(name, held, way)):
            st.error(plain(f"{problem}."))
        wrong.append(problem)
    return {"formats": formats, "levels": levels, "inputs_readable": not any(wrong)}


def _offered(name: str, held: Table, way: str) -> bool:
    """What the column looks like, in one click each; False where it looks like nothing that can be said of it here.

    The click on dates says also how numbers are written, where a way is given.
    """
    column = held.survey[name]
    if column.orders and not column.ways:
        st.info(f"{plain(name)} holds dates. In which order?", icon=":material/event:")
        example = next(iter(upload.examples(held, name)), "")
        with st.container(horizontal=True):
            for order in [each for each in ORDERS if column.undated[each] == column.undated[column.orders[0]]]:
                choice = next(kind for kind, format in DATES.items() if format == order)
                said = {f"holds_{name}": choice} | ({"numbers": way} if way else {})
                _button(f"{order}{_means(example, order)}{f'; numbers as {way}' if way else ''}", name, said, "event")
        return True
    if column.holds_words and column.values <= MOST_LEVELS:
        words = sorted(upload.words(held, name))
        st.info(f"{plain(name)} holds words: does it say which group somebody is in?", icon=":material/group:")
        said = {f"holds_{name}": "groups", f"levels_{name}": ", ".join(words)}
        _button(f"Yes: {', '.join(words)}", name, said, "group")
        return True
    return False


def _means(example: str, order: Format) -> str:
    """What an example means in an order."""
    day = parsed(example, order)
    return "" if day is None else f": {example.split()[0].split('T')[0]} is {day.day} {day:%B %Y}"


def _button(label: str, name: str, said: dict[str, str], icon: str) -> None:
    st.button(plain(label), key=f"own_say_{name}_{label}", on_click=_say_kind, args=(said,), icon=f":material/{icon}:")


def _say_kind(said: dict[str, str]) -> None:
    session.move({f"{PREFIX}{control}": value for control, value in said.items()})
    slots.keep()


_IGNORE = "own_ignore"
_HELP_LINES = (
    "Titles above the names, units below them, notes and sums, for example: 1-3, 63. They are left out as if they were "
    "not there. A sheet's rows count as lines. Published with the release."
)


def lines_said(digest: str) -> tuple[int | str, ...] | None:
    """Lines that are said to be no rows of the file with this digest; None for none.

    The question is there once something was offered.
    """
    known = OWN_LINES.find()
    if known is None or known[0] != digest:
        OWN_LINES.pop()
        session.forget([_IGNORE])
        return None
    offered = known[1]
    text = st.text_input(
        "Lines that are no rows of the table",
        key=_IGNORE,
        placeholder=offered or "1-3, 63",
        max_chars=200,
        help=_HELP_LINES,
    )
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    if not entries and offered:
        st.info(f"Lines {plain(offered)} look like no rows of the table: a title, units or notes.")
        st.button(
            f"Leave out {'line' if offered.isdigit() else 'lines'} {plain(offered)}",
            key="own_say_ignore",
            on_click=_leave_out,
            args=(offered,),
            icon=":material/playlist_remove:",
        )
    return tuple(int(entry) if entry.isdigit() else entry for entry in entries) or None


def offer_lines(digest: str, lines: tuple[int | str, ...]) -> bool:
    """Ask about these lines of a file, or about none in particular; whether that is new."""
    known, asked = OWN_LINES.find(), (digest, ", ".join(map(str, lines)))
    if known is not None and known[0] == digest and (known == asked or not lines):
        return False
    OWN_LINES.put(asked)
    return True


def _leave_out(lines: str) -> None:
    session.move({_IGNORE: lines})

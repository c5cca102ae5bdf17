"""What a table's columns contain and how they are written: asked, checked at once, and offered for a click."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any

import streamlit as st

from dpgp_core.dates import Format, parsed
from dpgp_core.levels import MOST_LEVELS, Levels, checked_levels
from dpgp_core.reading.kinds import name_in, unit_in
from dpgp_core.reading.look import readings_of
from dpgp_core.reading.notations import READERS
from dpgp_core.reading.people import names_people
from dpgp_core.reading.survey import Contents
from dpgp_core.reading.writing import ANY_DATE, Writing, as_number, two_ways
from dpgp_core.reading.writing import NUMBERS as WAYS
from dpgp_core.release.degrees import MOST_LATITUDE
from pages._ui.look.text import plain
from pages._ui.own import questions, slots
from pages._ui.own.questions import AS_GROUPS, DATES, PLAIN_NUMBERS, USUAL
from pages._ui.own.slots import Question
from pages._ui.own.upload import Table

_MOST_ANSWERS = 8  # largest number of words in a yes/no outcome
_MOST = (180.0, MOST_LATITUDE)  # largest degrees of longitude and of latitude


@dataclass
class Draft:
    """A declaration that is not complete yet.

    Attributes:
        table: the table that it describes.
        y, x: names of the output (None before it is chosen) and of the inputs.
        way: format of numbers.
        formats: formats of inputs that are dates, by name.
        levels: categories of categorical inputs, by name; None if they are not declared yet.
        fields: further fields of a specification, by name.
        writing: fields of its ``Writing``, by name.
        missing: items that must still be declared, in words.
        readable: whether every column can be read as declared.
    """

    table: Table
    y: str | None = None
    x: list[str] = field(default_factory=list)
    way: str = PLAIN_NUMBERS
    formats: dict[str, Format] = field(default_factory=dict)
    levels: dict[str, Levels | None] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)
    writing: dict[str, Any] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    readable: bool = True

    @property
    def used(self) -> dict[str, Contents]:
        """Contents of the inputs, and of the output if it is chosen, by name."""
        return {name: self.table.survey[name] for name in (*self.x, self.y) if name is not None}

    def needs(self, item: str, given: object) -> None:
        """Note an item that must be declared, and whether it is."""
        if not given:
            self.missing.append(item)


def labels(draft: Draft) -> None:
    """Show the file's labels of the chosen columns, and offer its units for a click."""
    said = {name: draft.table.labels[name] for name in draft.used if name in draft.table.labels}
    if not said:
        return
    st.caption("The file says: " + "; ".join(f"{plain(name)} is “{plain(label)}”" for name, label in said.items()))
    units = {name: unit for name, label in said.items() if (unit := unit_in(label))}
    asked = [questions.Y_UNIT if name == draft.y else questions.X_UNIT.of(name) for name in units]
    if not all(question.answer for question in asked):
        answers = {question.key: unit for question, unit in zip(asked, units.values(), strict=True)}
        _offer("Take these units: " + ", ".join(f"{name} in {unit}" for name, unit in units.items()), answers, "label")


def name_of_outcome(draft: Draft) -> str:
    """Return the output in words: its label in the file without the unit, or else its column; "" if none is chosen."""
    y = draft.y or ""
    return name_in(draft.table.labels.get(y, "")) or y


def numbers(draft: Draft) -> None:
    """Ask how numbers are written if a column that is used has numbers in another format than 1234.5.

    If every fraction has exactly three digits there is no default, and both readings are shown.
    """
    if doubtful := [name for name, each in draft.used.items() if each.two_readings]:
        name = doubtful[0]
        example, mark = readings_of(draft.table.texts(name))
        thousands, fraction = two_ways(mark)
        says = {way: f"{as_number(example, way):,.15g}" for way in (thousands, fraction)}
        label = f"{plain(name)}: {plain(example)} is {says[thousands]} or {says[fraction]}?"
        question = questions.READING.among([thousands, fraction], label=label)
        answer = question.ask(format_func=lambda way: says[way])
        draft.needs(f"what {plain(example)} means", answer)
        draft.way = answer or PLAIN_NUMBERS
        draft.readable &= answer is not None
        return
    plain_throughout = not any(each.ways and each.ways[0] != PLAIN_NUMBERS for each in draft.used.values())
    if not plain_throughout or questions.NUMBERS.answer not in (None, PLAIN_NUMBERS):
        draft.way = questions.NUMBERS.ask()


def notations(draft: Draft) -> None:
    """Offer each further notation of numbers that occurs in columns that are used."""
    found = {
        (name, notation): count
        for name, each in draft.used.items()
        if each.ways and not draft.table.unit(name)[0]
        for notation, (count, _) in each.noted.items()
    }
    chosen = list(questions.NOTATIONS.answer or [])
    for (name, notation), count in found.items():
        if notation in chosen:
            continue
        rows = draft.table.survey[name].rows
        about = f"{count:,} of {rows:,} rows of {plain(name)} hold {READERS[notation].about}. Is that right?"
        st.info(about, icon=":material/rule:")
        _offer(f"Yes, read {name} so", {questions.NOTATIONS.key: [*chosen, notation]}, "rule")
        draft.needs(f"how {plain(name)} is written", None)
        draft.readable = False
    if chosen:
        options = list(dict.fromkeys([*chosen, *(notation for _, notation in found)]))
        chosen = questions.NOTATIONS.among(options).ask()
    draft.writing["notations"] = tuple(chosen) or None


def contents(draft: Draft) -> None:
    """Ask what each input contains; values that cannot be read so are reported at once."""
    other_way = _one_way(draft)
    places = st.columns(max(len(draft.x), 1))
    kinds = {name: _holds(name, draft.table).ask(where) for where, name in zip(places, draft.x, strict=False)}
    for name, kind in kinds.items():
        column = draft.table.survey[name]
        if kind == AS_GROUPS:
            draft.levels[name], problem = _groups(name, column)
            draft.needs(f"the groups of {plain(name)}", draft.levels[name])
        elif kind in DATES:
            order = draft.formats[name] = DATES[kind]
            problem = "" if _has_gaps() and order in column.orders else column.as_dates(name, order)
        else:
            problem = _fault_of_numbers(name, questions.X_UNIT.of(name), draft)
        if problem and (kind == AS_GROUPS or not _kind_offered(name, draft.table, other_way)):
            st.error(plain(f"{problem}."))
        draft.readable &= not problem


def _holds(name: str, table: Table) -> Question:
    """Return the question about what an input contains. The default is numbers, if it contains any."""
    question, column = questions.HOLDS.of(name), table.survey[name]
    return replace(question, default=None) if column.orders and not column.ways else question


def outcome(y: str, draft: Draft) -> None:
    """Check that an outcome other than yes/no can be read; report a fault at once."""
    column = draft.table.survey[y]
    problem = _fault_of_numbers(y, questions.Y_UNIT, draft, or_dates=False)
    words = column.holds_words and column.values <= _MOST_ANSWERS
    if problem and column.dated and 0 < column.other_than_dates <= _MOST_ANSWERS:
        st.info(f"{plain(y)} holds dates and other values: does a date mean yes or no?", icon=":material/rule:")
        _offer("Yes, an outcome of yes or no", {questions.KIND.key: "yes/no"}, "rule")
    elif problem and words:
        st.info(f"{plain(y)} holds words: is it yes or no?", icon=":material/rule:")
        _offer("Yes, an outcome of yes or no", {questions.KIND.key: "yes/no"}, "rule")
    elif problem:
        st.error(plain(f"{problem}."))
    draft.readable &= not problem


def _fault_of_numbers(name: str, unit: Question, draft: Draft, *, or_dates: bool = True) -> str:
    """Return what is wrong with a column of numbers; "" for nothing, or if its unit is offered for a click.

    Args:
        name: name of the column.
        unit: question about its unit.
        draft: the declaration so far.
        or_dates: whether it may be declared as dates instead.
    """
    column = draft.table.survey[name]
    if column.two_readings and draft.way not in two_ways(column.two_readings):
        return ""  # asked above, as are further notations
    if _has_gaps() and draft.way in column.ways:
        return ""
    problem = column.as_numbers(name, draft.way, column.noted.keys(), or_dates=or_dates)
    rows = Writing(ignore=draft.table.no_rows)
    if problem and draft.way in column.ways and rows.ignores(column.unread[draft.way][1]):
        return f"column {name!r} has text instead of a number in a line that may not be a row; leave it out above"
    beside, written = draft.table.unit(name) if problem else ("", "")
    if not beside:
        return problem
    if unit.answer != beside or draft.way != written:
        about = f"{plain(name)} holds numbers with {plain(beside)}: is that their unit?"
        st.info(about, icon=":material/rule:")
        _offer(f"Yes, in {beside}", {unit.key: beside, questions.NUMBERS.key: written}, "rule")
        draft.readable = False
    return ""


def yes_and_no(y: str, draft: Draft) -> None:
    """Ask which words of the outcome mean yes and no, if it is not written as 1 and 0."""
    dated = bool(draft.table.survey[y].dated)
    words = draft.table.words(y, dates=False)
    means = questions.DATES_MEAN.ask() if dated else None
    draft.needs("what a date means", not dated or means)
    if dated and words and means is not None:
        _words_and_dates(words, means, draft)
        return
    if not words or {*words} <= {"0", "1", "0.0", "1.0"}:
        return
    left, right = st.columns(2)
    yes = questions.YES.among(words).ask(left)
    others = [word for word in words if word != yes]
    no = questions.NO.among(others)
    if yes is not None and len(others) == 1 and no.current() is None:
        slots.set_answers({no.key: others[0]})
    chosen = no.ask(right)
    both = yes is not None and chosen is not None
    draft.needs("which word means yes, and which no", both)
    if both:
        draft.writing |= {"yes": (yes,), "no": (chosen,)}


def _words_and_dates(words: list[str], means: str, draft: Draft) -> None:
    """Ask which words mean yes and no in an outcome in which a date means one of the two."""
    left, right = st.columns(2)
    yes, no = questions.YES.among(words).ask(left), questions.NO.among(words).ask(right)
    chosen = {"yes": [yes] * (yes is not None), "no": [no] * (no is not None)}
    if means in chosen:
        chosen[means].append(ANY_DATE)
    both = bool(chosen["yes"] and chosen["no"]) and yes != no
    draft.needs("which words mean yes, and which no", both)
    if both:
        draft.writing |= {name: tuple(entries) for name, entries in chosen.items()}


def missing(draft: Draft) -> None:
    """Ask for the words that mean a missing value, if a column that is used has such cells.

    Words of a yes/no outcome that mean neither count as missing in any case.
    """
    person = draft.fields["person"]
    columns = draft.used | ({} if person is None else {person: draft.table.survey[person]})
    if draft.y is not None and "yes" in draft.writing:
        del columns[draft.y]
    lacking = [f"{each.usual:,} of {plain(name)}" for name, each in columns.items() if each.usual]
    offered = [USUAL] if lacking else []
    for name, each in columns.items():
        offered += [f"{code:g}" for code in each.codes]
        order = draft.formats.get(name)
        if order in each.orders:
            offered += draft.table.words(name, order=order) if each.undated[order][0] else []
        elif draft.way in each.ways and each.unread[draft.way][0]:
            offered += draft.table.words(name, numbers=draft.way, dates=False)
    chosen = list(questions.MISSING.answer or [])
    if not offered and not chosen:
        return
    chosen = questions.MISSING.among(list(dict.fromkeys([*offered, *chosen]))).ask()
    if lacking:
        st.caption(
            f"Empty cells, NA and the like: {', '.join(lacking)}, in {draft.table.rows:,} rows. Rows with one of them "
            "can be left out."
        )
    draft.needs(f"how to treat missing values (“{questions.MISSING.label}”)", not lacking or chosen)
    if chosen:
        draft.writing["missing"] = tuple(word for word in chosen if word != USUAL)


def people(draft: Draft) -> None:
    """Offer unused columns that may identify people."""
    for name, each in draft.table.survey.items():
        if name not in draft.used and names_people(name, each):
            st.info(
                f"{plain(name)} has {each.values:,} values in {each.rows:,} rows. Does it say whose row it is?",
                icon=":material/group:",
            )
            _offer(f"Yes, {name}", {questions.WHOSE.key: questions.COLUMN, questions.PERSON.key: name}, "group")


def degrees(draft: Draft) -> None:
    """Ask which inputs are longitude and latitude, in this order, if any may be."""
    numbers = [name for name in draft.x if name not in draft.levels and name not in draft.formats]
    pairs = [pair for pair in permutations(numbers, 2) if all(map(_may_be_degrees, pair, _MOST))]
    draft.fields["coordinates"] = None
    if pairs:
        choices = {f"{plain(east)} is east, {plain(north)} is north": (east, north) for east, north in pairs}
        answer = questions.DEGREES.among([questions.NO_DEGREES, *choices]).ask()
        draft.fields["coordinates"] = choices.get(answer)


def _may_be_degrees(name: str, most: float) -> bool:
    """Return whether the declared domain of an input is within this many degrees."""
    low, high = (end.of(name).answer for end in (questions.FROM, questions.TO))
    return low is not None and high is not None and -most <= low < high <= most


def _has_gaps() -> bool:
    """Return whether words for missing values are declared further down; a few unreadable cells may be just these."""
    return bool(questions.MISSING.answer)


def _groups(name: str, column: Contents) -> tuple[Levels | None, str]:
    """Return the categories of an input, None while none are declared; and what is wrong with them, "" for nothing."""
    entry = questions.GROUPS.of(name).ask()
    st.caption(questions.ABOUT_GROUPS)
    texts = [text.strip() for text in entry.split(",") if text.strip()]
    if not texts:
        return None, ""
    try:
        levels = checked_levels(name, texts)
    except ValueError as error:
        return None, str(error)
    return levels, column.as_levels(name, levels)


def _one_way(draft: Draft) -> str:
    """Return the format of numbers if it is not declared and all formats that read a column's numbers agree.

    Returns:
        The format; "" if there is nothing to declare, or if two formats give different numbers.
    """
    if draft.way != PLAIN_NUMBERS:
        return ""
    ways = {each.ways[0]: each for each in draft.used.values() if each.ways and each.ways[0] != PLAIN_NUMBERS}
    if len(ways) != 1:
        return ""
    [(other, column)] = ways.items()
    as_good = [each for each in column.ways if column.unread[each] == column.unread[other]]
    return other if len({WAYS[each][1] for each in as_good}) == 1 else ""


def _kind_offered(name: str, table: Table, way: str) -> bool:
    """Offer each likely kind of a column's contents for a click; return whether there are any.

    The click on dates also declares the format of numbers, if one is given.
    """
    column, holds = table.survey[name], questions.HOLDS.of(name).key
    if column.orders and not column.ways:
        st.info(f"{plain(name)} holds dates. In which order?", icon=":material/event:")
        [example] = table.commonest(name, 1)
        with st.container(horizontal=True):
            for kind, order in DATES.items():
                if column.undated[order] == column.undated[column.orders[0]]:
                    day, numbers = parsed(example, order), f"; numbers as {way}" if way else ""
                    written = example.split()[0].split("T")[0]
                    meaning = "" if day is None else f": {written} is {day.day} {day:%B %Y}"
                    answers = {holds: kind} | ({questions.NUMBERS.key: way} if way else {})
                    _offer(f"{order}{meaning}{numbers}", answers, "event")
        return True
    if column.holds_words and column.values <= MOST_LEVELS:
        words = ", ".join(sorted(table.words(name)))
        st.info(f"{plain(name)} holds words: does it say which group somebody is in?", icon=":material/group:")
        _offer(f"Yes: {words}", {holds: AS_GROUPS, questions.GROUPS.of(name).key: words}, "group")
        return True
    return False


def _offer(label: str, answers: dict[str, Any], icon: str) -> None:
    """Draw a button that answers questions, by their keys."""
    key = f"own_say_{next(iter(answers))}_{label}"
    st.button(plain(label), key=key, on_click=slots.set_answers, args=(answers,), icon=f":material/{icon}:")

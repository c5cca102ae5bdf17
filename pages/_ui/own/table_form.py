"""The part of the form that says what is public about a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpgp_core.dates import Format
from dpgp_core.table import KINDS, Kind
from pages._ui.look.text import plain
from pages._ui.own import columns as own_columns
from pages._ui.own import outcome as own_outcome
from pages._ui.own.slots import key
from pages._ui.own.upload import Table

MOST_INPUTS = 3  # offered in the form; the command line takes ten
_MOST_ANSWERS = 8  # words of an outcome that may be yes and no
_GRIDS = (51, 20, 9)  # points along each input, for one, two or three inputs
_KIND_NAMES: dict[Kind, str] = {"number": "A number", "amount": "An amount", "count": "A count", "yes/no": "Yes or no"}
_KIND_HELP: dict[Kind, str] = {
    "number": "Any number, with about as many people far above the usual as far below it: a height, a temperature.",
    "amount": "0 or more, with a few far above the rest: a wage, a price, a duration.",
    "count": "A whole number of 0 or more: visits a year, children, accidents.",
    "yes/no": "1 and 0, or two words for these: vaccinated, employed. The curve is then the share of yes, in per cent.",
}


def columns_of(held: Table) -> dict[str, Any]:
    """Which column is the output, and which are inputs; what cannot be one is said as soon as it is chosen.

    Args:
        held: the table, and what each column can be read as.
    """
    columns = held.columns
    left, right = st.columns(2)
    y = left.selectbox(
        "Private column: the output y",
        columns,
        index=None,
        key=key("y"),
        help="The value that the noise hides, for example a height, a wage, or yes and no.",
    )
    x = right.multiselect(
        "Inputs x",
        [name for name in columns if name != y],
        key=key("x", []),
        max_selections=MOST_INPUTS,
        help="What the curve runs over, for example age. Two inputs give a map, for example longitude and latitude.",
    )
    used = [held.survey[name] for name in [*x, *([] if y is None else [y])]]
    numbers, gaps = own_columns.numbers(used), own_columns.declares_missing()
    return {"y": y, "x": x, "numbers": numbers} | own_columns.holds_asked(x, y, held, numbers, gaps=gaps)


def outcome(y: str | None, held: Table, numbers: str) -> dict[str, Any]:
    """What kind of outcome the output is, and whether it can be read as that.

    Args:
        y: the column, if it is chosen.
        held: the table.
        numbers: how they are written.
    """
    kind: Kind = st.selectbox(
        "What kind of outcome is it?",
        KINDS,
        format_func=lambda each: _KIND_NAMES[each],
        key=key("kind", "number"),
        help="Declared, never guessed. It says what the method may expect, not what is promised: the privacy is the "
        "same whatever you choose.",
    )
    st.caption(_KIND_HELP[kind])
    nothing = {"yes": None, "no": None, "words_declared": True}
    if y is None:
        return {"y_kind": kind, "readable": True} | nothing
    if kind == "yes/no":
        return {"y_kind": kind, "readable": True} | own_columns.yes_and_no(y, held)
    column = held.survey[y]
    gaps = own_columns.declares_missing() and numbers in column.ways
    problem = "" if gaps else column.as_numbers(y, numbers, or_dates=False)
    unit = own_columns.unit_said(y, "y_unit", held, numbers) if problem else None
    if unit is not None:
        return {"y_kind": kind, "readable": unit} | nothing
    if problem and column.holds_words and column.values <= _MOST_ANSWERS:
        own_columns.offer_yes_and_no(y)
    elif problem:
        st.error(plain(f"{problem}."))
    return {"y_kind": kind, "readable": not problem} | nothing


def outputs(kind: Kind, y: str | None) -> dict[str, Any]:
    """Privacy unit, and unit, bounds and scale of the output. Yes and no have bounds of their own."""
    row = st.columns([2, 1, 1, 1])
    unit = row[0].text_input(
        "What is hidden",
        key=key("unit", ""),
        placeholder=usual_unit(y),
        help="What the card says is hidden, for example one woman's wage or one hexagon's median price. Left empty, it "
        f"says: {plain(usual_unit(y))}.",
    )
    if kind == "yes/no":
        for column, label, example in zip(
            row[1:], ("Unit of y", *own_outcome.LABELS), ("share of yes", "0, no", "1, yes"), strict=True
        ):
            column.text_input(label, example, disabled=True, key=f"own_fixed_{example}")
        known = {"low": 0.0, "high": 1.0, "bounds_unit": None, "bought": False}
        return {"unit": unit, "y_unit": "", "log": False} | known
    y_unit = row[1].text_input(
        "Unit of y", key=key("y_unit", ""), placeholder="cm", help="For the axis and the card, for example cm or €."
    )
    typed = own_outcome.bounds_asked(row[2], row[3])
    own_outcome.offered()
    log = kind != "count" and st.checkbox(
        "Measure the logarithm of y: for prices, incomes and the like",
        key=key("log", False),
        help="Errors are then factors, the same for cheap and dear. The bounds stay as they are and must lie above 0; "
        "released values come back as they are, as medians. It costs no privacy: it changes each row by itself.",
    )
    return {"unit": unit, "y_unit": y_unit, "log": log} | typed


def usual_unit(y: str | None) -> str:
    """What is hidden, if nothing else is said."""
    return f"one person's {y or 'height'}"


def inputs(
    x: Sequence[str],
    degrees: Sequence[str],
    formats: Mapping[str, Format],
    levels: Mapping[str, object],
    *,
    automatic: bool,
) -> dict[str, Any]:
    """Box, unit, lengthscale and grid of every input; those in degrees have lengthscales in km, dates in days.

    Groups have none of these.
    """
    typed: dict[str, Any] = {"x_unit": [], "box": [], "length": [], "grid": [], "dates": {}}
    for name in x:
        if name in levels:
            typed["x_unit"].append("")
            typed["grid"].append(None)
            continue
        row = st.columns([1, 1, 1, 1, 1])
        typed["grid"].append(_points(row[4], name, len(x) - len(levels)))
        if name in formats:
            period, first, last = own_columns.side(row, name, formats[name], automatic=automatic)
            typed["dates"][name] = {"format": formats[name], "period": period}
            typed["x_unit"].append("")
            typed["box"].append((first, last))
            days = own_columns.days_between(first, last)
            typed["length"].append((days or 4.0) / 4 if automatic else _length(row[3], name, " [days]"))
            continue
        label, unit = plain(name), " [km]" if name in degrees else ""
        typed["x_unit"].append(row[0].text_input(f"Unit of {label}", key=key(f"x_unit_{name}", "")))
        low = row[1].number_input(
            f"{label} from",
            value=None,
            key=key(f"box_low_{name}"),
            help="Where the curve begins, for example 18 years. Say what you knew before, not the least in the table.",
        )
        high = row[2].number_input(
            f"{label} to",
            value=None,
            key=key(f"box_high_{name}"),
            help="Where the curve ends, for example 90 years. Rows outside are moved to the edge where inputs are "
            "private, and refused where they are public.",
        )
        typed["box"].append((low, high))
        typed["length"].append(_unused_length(low, high) if automatic else _length(row[3], name, unit))
    return typed


def _points(column: DeltaGenerator, name: str, inputs: int) -> int:
    """A map has fewer along each side than a curve, also where an input was a curve's before."""
    which = "grid" if inputs == 1 else f"grid{inputs}"
    grid = column.number_input(
        "Points",
        2,
        2000,
        key=key(f"{which}_{name}", _GRIDS[min(inputs, len(_GRIDS)) - 1]),
        help="How many values are published along it, for example 51. They are evenly spaced, never at anyone's "
        "own place.",
    )
    return int(grid)


def _length(column: DeltaGenerator, name: str, unit: str) -> float | None:
    value: float | None = column.number_input(
        f"Lengthscale{unit}",
        value=None,
        key=key(f"length_{name}"),
        help=f"Over what distance in {plain(name)} the curve can change, for example 20 years of age for a wage. "
        "Longer needs less noise. Choosing it by looking at results is not covered by the guarantee.",
    )
    return value


def _unused_length(low: float | None, high: float | None) -> float | None:
    """A specification has a lengthscale also where the mechanism does not read it."""
    return (high - low) / 4 if low is not None and high is not None and high > low else 1.0

"""The part of the form that says what is public about a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpgp_core.data import KINDS, Kind
from pages._ui.look.text import plain
from pages._ui.own.remembered import key

MOST_INPUTS = 3  # offered in the form; the command line takes ten
_GRIDS = (51, 20, 9)  # points along each input, for one, two or three inputs
_BOUNDS = ("y is at least", "y is at most")
_KIND_NAMES: dict[Kind, str] = {"number": "A number", "amount": "An amount", "count": "A count", "yes/no": "Yes or no"}
_KIND_HELP: dict[Kind, str] = {
    "number": "Any number, with about as many people far above the usual as far below it: a height, a temperature.",
    "amount": "0 or more, with a few far above the rest: a wage, a price, a duration.",
    "count": "A whole number of 0 or more: visits a year, children, accidents.",
    "yes/no": "Written 1 for yes and 0 for no: vaccinated, employed. The curve is then the share of yes, in per cent.",
}


def columns_of(columns: Sequence[str]) -> dict[str, Any]:
    """Which column is the output, and which are inputs."""
    left, right = st.columns(2)
    y = left.selectbox(
        "Private column: the output y",
        columns,
        index=None,
        key=key("y"),
        help="The value that is to be protected, for example a height or a price. Numbers only.",
    )
    x = right.multiselect(
        "Inputs x",
        [name for name in columns if name != y],
        key=key("x", []),
        max_selections=MOST_INPUTS,
        help="What the curve or surface runs over, for example age. Public, unless the mechanism protects inputs too.",
    )
    return {"y": y, "x": x}


def outcome() -> dict[str, Any]:
    """What kind of outcome the output is."""
    kind: Kind = st.selectbox(
        "What kind of outcome is it?",
        KINDS,
        format_func=lambda each: _KIND_NAMES[each],
        key=key("kind", "number"),
        help="Declared, never guessed. It says what the method may expect, not what is promised: the privacy is the "
        "same whatever you choose.",
    )
    st.caption(_KIND_HELP[kind])
    return {"y_kind": kind}


def outputs(kind: Kind) -> dict[str, Any]:
    """Privacy unit, and unit, bounds and scale of the output. Yes and no have bounds of their own."""
    row = st.columns([2, 1, 1, 1])
    unit = row[0].text_input(
        "One row is about …",
        key=key("unit", ""),
        placeholder="one person's height",
        help="The unit of privacy. Each person must appear in one row only: someone in three rows is protected a third "
        "as well.",
    )
    if kind == "yes/no":
        for column, label, shown in zip(
            row[1:], ("Unit of y", *_BOUNDS), ("share of yes", "0, no", "1, yes"), strict=True
        ):
            column.text_input(label, shown, disabled=True, key=f"own_fixed_{shown}")
        return {"unit": unit, "y_unit": "", "low": 0.0, "high": 1.0, "log": False}
    y_unit = row[1].text_input("Unit of y", key=key("y_unit", ""), placeholder="cm")
    low = row[2].number_input(
        _BOUNDS[0],
        value=None,
        key=key("low"),
        help="Public lower bound. Values below it are clipped; a narrow range needs less noise.",
    )
    high = row[3].number_input(_BOUNDS[1], value=None, key=key("high"), help="Public upper bound.")
    log = kind != "count" and st.checkbox(
        "Measure the logarithm of y: for prices, incomes and the like",
        key=key("log", False),
        help="Errors are then factors, the same for cheap and dear. The bounds stay as they are and must lie above 0; "
        "released values come back as they are, as medians. It costs no privacy: it changes each row by itself.",
    )
    return {"unit": unit, "y_unit": y_unit, "low": low, "high": high, "log": log}


def coordinates(x: Sequence[str]) -> dict[str, Any]:
    """Whether two inputs are degrees: the first two."""
    if len(x) < 2:
        return {"coordinates": None}
    longitude, latitude = x[:2]
    are = st.checkbox(
        f"{plain(longitude)} is longitude and {plain(latitude)} latitude, in degrees",
        key=key("degrees", False),
        help="Distances and lengthscales are then in kilometres (equirectangular about the middle of the domain, which "
        "stays in degrees); the card says how far off they are. If it is the other way round, choose them in order.",
    )
    return {"coordinates": (longitude, latitude) if are else None}


def inputs(x: Sequence[str], degrees: Sequence[str], *, automatic: bool) -> dict[str, Any]:
    """Box, unit, lengthscale and grid of every input; those in degrees have lengthscales in km."""
    found: dict[str, list[Any]] = {"x_unit": [], "box": [], "length": [], "grid": []}
    for name in x:
        row = st.columns([1, 1, 1, 1, 1])
        shown, unit = plain(name), " [km]" if name in degrees else ""
        found["x_unit"].append(row[0].text_input(f"Unit of {shown}", key=key(f"x_unit_{name}", "")))
        low = row[1].number_input(
            f"{shown} from", value=None, key=key(f"box_low_{name}"), help="Public: the domain, not the data's range."
        )
        high = row[2].number_input(
            f"{shown} to",
            value=None,
            key=key(f"box_high_{name}"),
            help="Rows outside are refused, or moved to its edge where inputs are private too.",
        )
        found["box"].append((low, high))
        found["length"].append(_unused_length(low, high) if automatic else _length(row[3], name, unit))
        default = _GRIDS[min(len(x), len(_GRIDS)) - 1]
        grid = row[4].number_input(
            "Points",
            2,
            2000,
            key=key(f"grid_{name}", default),
            help="Predictions are released on a regular grid over the domain, never at anyone's own position.",
        )
        found["grid"].append(int(grid))
    return found


def _length(column: DeltaGenerator, name: str, unit: str) -> float | None:
    value: float | None = column.number_input(
        f"Lengthscale{unit}",
        value=None,
        key=key(f"length_{name}"),
        help=f"Over what distance in {plain(name)} the curve can change. Longer needs less noise. Choosing it by "
        "looking at results is not covered by the guarantee.",
    )
    return value


def _unused_length(low: float | None, high: float | None) -> float | None:
    """A specification has a lengthscale also where the mechanism does not read it."""
    return (high - low) / 4 if low is not None and high is not None and high > low else 1.0

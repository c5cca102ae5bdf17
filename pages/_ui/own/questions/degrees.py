"""Whether two inputs are degrees, and which of them is east: asked only where their declared domain allows it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import streamlit as st

from dpgp_core.release.units import MOST_LATITUDE
from pages._ui import session
from pages._ui.look.text import plain
from pages._ui.own.remembered import key

_MOST = (180.0, MOST_LATITUDE)  # degrees of longitude, of latitude
_NONE = "None: they are no degrees"
_HELP = (
    "Distances between degrees are measured in kilometres, and so are lengthscales. The map is drawn with east across. "
    "For example, longitude -0.1 and latitude 51.5 are in London: longitude is east."
)


def asked(x: Sequence[str]) -> dict[str, Any]:
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
    return {"coordinates": choices[st.selectbox("Are two of them degrees?", list(choices), key=held, help=_HELP)]}


def _can_be(name: str, most: float) -> bool:
    """Whether the declared domain of an input lies within so many degrees."""
    low, high = (session.control(key(f"box_{end}_{name}")) for end in ("low", "high"))
    return low is not None and high is not None and -most <= low < high <= most

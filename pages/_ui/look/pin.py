"""A pinned setting: a page's own link, kept in its address as ``pin=page?epsilon=1&...``. Settings, never data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from datasets import exhibit
from pages._ui import session
from pages._ui.look import offers, state, text
from pages._ui.look.offers import LAST_DRAW, DropDown
from pages._ui.model import Draw, Model, ReleaseSettings, chosen_design

PIN = state.PIN
_OWN = (PIN, "tour", "lesson", "overlay")  # no part of what is compared
_NAMES = {"epsilon": "ε", "delta": "δ"}

T = TypeVar("T")
Value = TypeVar("Value", bound=str)


def pinned(page: str, offered: DropDown[str]) -> ReleaseSettings | None:
    """What is pinned of this page; None if nothing is, or what the address says cannot be used: then it says so."""
    raw = st.query_params.get(PIN, "")
    file, _, query = raw.partition("?")
    if not raw or (file != page and "?" in raw):
        return None
    try:
        if file != page or not state.fits(raw):
            raise ValueError("it is no link of this page")
        return release_settings(dict(parse_qsl(query)), offered)
    except ValueError as error:
        st.warning(text.bad_link_value(PIN, raw, f"{error}.", "nothing pinned"))
        return None


def release_settings(address: Mapping[str, str], offered: DropDown[str]) -> ReleaseSettings:
    """The settings that the sidebar of a page that releases has at an address.

    Args:
        address: parameters as the page writes them; those left out stand at their defaults.
        offered: datasets of the page.

    Raises:
        ValueError: a value is not offered.
    """

    def one(key: str, options: Sequence[T], default: T) -> T:
        raw = address.get(key, str(default))
        for option in options:
            if raw in (str(option), str(option).removesuffix(".0")):
                return option
        raise ValueError(f"{key} cannot be what it says")

    def picked(drop_down: DropDown[Value]) -> Value:
        return one(drop_down.key, list(drop_down.titles), next(iter(drop_down.titles)))

    name = picked(offered)
    shown = exhibit(name)
    length = one(offers.lengthscale_key(shown), offers.whole(shown.lengthscales), offers.whole([shown.lengthscale])[0])
    model = Model(name, picked(offers.KERNEL), float(length), float(one("noise", offers.NOISES, 0.3)))
    draw = Draw(
        epsilon=float(one("epsilon", offers.EPSILONS, 1)),
        delta=float(one("delta", offers.DELTAS, offers.DELTA)),
        seed=_draw_number(address.get("draw", "1")),
    )
    design, draw = chosen_design(
        draw,
        mechanism=picked(offers.MECHANISM),
        objective=picked(offers.OBJECTIVE),
        calibration=picked(offers.CALIBRATION),
        focus=picked(offers.FOCUS),
        shrinkage=one("shrinkage", ("true", "false"), "false") == "true",
    )
    return ReleaseSettings(model, design, draw, overlay=False)


def _draw_number(raw: str) -> int:
    if not (raw.isascii() and raw.isdecimal() and 1 <= int(raw[:9]) <= LAST_DRAW):
        raise ValueError(f"draw must be a whole number from 1 to {LAST_DRAW}")
    return int(raw)


def buttons(page: str) -> None:
    """Pin what stands now; with something in the address already, also let go of it."""
    held = PIN in st.query_params
    with st.container(horizontal=True, key="pin_buttons"):
        st.button(
            "Pin this instead" if held else "Pin this, to compare",
            icon=":material/keep:",
            key="pin_this",
            on_click=_pin,
            args=(page,),
            help="Keeps this setting, not its data, in the link; figures then show it beside what you move to.",
        )
        if held:
            st.button("Unpin", icon=":material/keep_off:", key="unpin", on_click=_unpin)


def _pin(page: str) -> None:
    st.query_params[PIN] = f"{page}?{urlencode(_compared(state.address()))}"


def _unpin() -> None:
    """Out of the address, and out of what goes along to other pages."""
    if PIN in st.query_params:
        del st.query_params[PIN]
    session.CARRIED.put({key: value for key, value in session.CARRIED.get({}).items() if key != PIN})


def differences() -> str:
    """Which controls stand elsewhere than what is pinned says, in a sentence. After all controls have been drawn."""
    then, now = dict(parse_qsl(st.query_params.get(PIN, "").partition("?")[2])), _compared(state.address())
    keys = [key for key in now if key in then and then[key] != now[key]]
    whole = now.keys() <= then.keys()
    if not keys:
        same = "**Pinned (A)** is what you see now (B). Move a control, and both are shown."
        return same if whole else "**Pinned (A)** beside what you see now (B)."
    rest = " All else is the same." if whole else ""
    return f"**Pinned (A)**: {_listed(then, keys)}; **now (B)**: {_listed(now, keys)}.{rest}"


def _compared(address: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in address.items() if key not in _OWN}


def _listed(address: Mapping[str, str], keys: Iterable[str]) -> str:
    return ", ".join(f"{_NAMES.get(key, key.replace('_', ' '))} = {text.plain(address[key])}" for key in keys)

"""Controls of the map and of the two records that can be moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from pages._ui.cloaking.cells import LAYERS
from pages._ui.cloaking.two_points import TwoPointSettings
from pages._ui.look import state
from pages._ui.look.bound import pick, switch
from pages._ui.look.offers import DropDown

LAYER = DropDown("map", {kind: layer.title for kind, layer in LAYERS.items()})


_WIDE = 260  # px of a drop-down whose longest title is seen whole


class MapView(NamedTuple):
    """Which layer of the map, and whether the published method stands beside it."""

    layer: str
    beside: bool


def map_view(kinds: Sequence[str]) -> MapView:
    """Above the map, with the layers that are offered."""
    with st.container(horizontal=True, vertical_alignment="center", key="map_row"):
        st.markdown("The map shows", width="content")
        kind = pick("The map shows", LAYER, kinds, label_visibility="collapsed", width=_WIDE)
        beside = switch("Method of 2018 beside it", "beside", width="content")
    return MapView(kind, beside)


def two_point_sliders() -> TwoPointSettings:
    """In the page's body."""

    def slider(label: str, key: str, low: float, high: float, value: float, step: float) -> float:
        chosen = st.slider(label, low, high, value, step, key=key, bind="query-params")
        state.note(key, chosen, value)
        return chosen

    left, middle, right = st.columns(3)
    with left:
        x1 = slider("Record 1 at", "x1", 0.0, 10.0, 2.5, 0.5)
        x2 = slider("Record 2 at", "x2", 0.0, 10.0, 5.0, 0.5)
    with middle:
        lengthscale = slider("Lengthscale", "two_l", 0.5, 5.0, 1.5, 0.5)
        noise = slider("Noise variance", "two_noise", 0.05, 2.0, 0.1, 0.05)
    with right:
        d = slider("Largest change d", "two_d", 0.5, 3.0, 2.0, 0.5)
        moved = st.slider("Which record changes", 1, 2, 1, 1, key="moved", bind="query-params")
    state.note("moved", moved, 1)
    return TwoPointSettings(x1, x2, lengthscale, noise, d, int(moved))

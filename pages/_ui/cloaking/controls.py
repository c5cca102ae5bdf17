"""Controls of the map and of the two records that can be moved."""

from __future__ import annotations

import streamlit as st

from pages._ui.look.maps import LAYERS
from pages._ui.look.sidebar import pick


def map_view(show_overlay: bool) -> tuple[str, bool]:
    """Which layer of the map, and whether the published method stands beside it."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        kind = pick("The map shows", "map", [kind for kind, layer in LAYERS.items() if layer.private or show_overlay])
    beside = right.toggle("Published method beside it", key="beside", bind="query-params")
    return kind, beside


def two_point_sliders() -> tuple[float, float, float, float, float, int]:
    """Inputs of two records, lengthscale, noise variance, d and which record moves, in the page's body."""

    def slider(label: str, key: str, low: float, high: float, value: float, step: float) -> float:
        return st.slider(label, low, high, value, step, key=key, bind="query-params")

    left, middle, right = st.columns(3)
    with left:
        x1 = slider("Record 1 at", "x1", 0.0, 10.0, 2.5, 0.5)
        x2 = slider("Record 2 at", "x2", 0.0, 10.0, 5.0, 0.5)
    with middle:
        lengthscale = slider("Lengthscale", "two_l", 0.5, 5.0, 1.5, 0.5)
        noise = slider("Noise variance", "two_noise", 0.05, 2.0, 0.1, 0.05)
    with right:
        d = slider("Largest change d", "two_d", 0.5, 3.0, 2.0, 0.5)
        moved = slider("Which record changes", "moved", 1, 2, 1, 1)
    return x1, x2, lengthscale, noise, d, int(moved)

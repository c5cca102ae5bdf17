"""Controls of the map."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages._ui.cloaking.cells import LAYERS
from pages._ui.look.bound import segments, switch
from pages._ui.look.offers import DropDown

LAYER = DropDown("map", {kind: layer.title for kind, layer in LAYERS.items()})


def map_view(kinds: Sequence[str]) -> tuple[str, bool]:
    """Which of the layers the map shows, and whether the method of 2018 stands beside it; chosen above the map."""
    with st.container(horizontal=True, vertical_alignment="center", key="map_row"):
        kind = segments("The map shows", LAYER, kinds)
        beside = switch("Method of 2018 beside it", "beside", width="content")
    return kind, beside

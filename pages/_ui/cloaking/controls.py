"""Controls of the map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from pages._ui.cloaking.cells import LAYERS
from pages._ui.look.bound import segments, switch
from pages._ui.look.offers import DropDown

LAYER = DropDown("map", {kind: layer.title for kind, layer in LAYERS.items()})


class MapView(NamedTuple):
    """Which layer of the map, and whether the method of 2018 stands beside it."""

    layer: str
    beside: bool


def map_view(kinds: Sequence[str]) -> MapView:
    """Above the map, with the layers that are offered."""
    with st.container(horizontal=True, vertical_alignment="center", key="map_row"):
        kind = segments("The map shows", LAYER, kinds)
        beside = switch("Method of 2018 beside it", "beside", width="content")
    return MapView(kind, beside)

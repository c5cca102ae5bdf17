"""Charts and maps on a page, each with what it shows in words and its table one key further."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages._ui import session
from pages._ui.look import decks, maps, plots, state, tables
from pages._ui.look.maps import Layer
from pages._ui.look.plots import axis
from pages._ui.work import cached

_HEXAGON = "hexagon"  # in the address


def chart(figure: go.Figure, key: str, alt: str, **options: Any) -> None:
    """A plotly figure in the page's theme, with a caption that says what it shows, and its table."""
    enlarged = plots.enlarge(figure) if state.is_lesson() else figure
    camera = {"format": "png", "scale": 3, "filename": key}  # saves a PNG fit for print
    config = {"displaylogo": False, "toImageButtonOptions": camera}
    st.plotly_chart(enlarged, key=key, config=config, alt=alt, **options)
    _caption(key, alt, lambda: tables.of_figure(figure))


def table(rows: pd.DataFrame, key: str | None = None) -> None:
    """Rows on screen, with as many digits as mean something; whoever downloads them has all."""
    fractions = rows.select_dtypes("float").columns
    shown = {str(name): st.column_config.NumberColumn(format=f"%.{tables.DIGITS}g") for name in fractions}
    st.dataframe(rows, hide_index=True, key=key, column_config=shown)


def _caption(key: str, alt: str, numbers: Callable[[], pd.DataFrame]) -> None:
    """What a picture shows in words, and one key further in numbers, which are made only when they are asked for."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"below_{key}"):
        st.caption(alt)
        with st.popover(
            "Table", type="tertiary", icon=":material/table:", key=f"numbers_{key}", on_change="rerun"
        ) as box:
            if box.open:
                table(numbers())


def hexagon_map(
    cells: pd.DataFrame, layer: Layer, kind: str, key: str, picked: str | None, boroughs: bool = True
) -> None:
    """A map with its legend and table; a click picks a hexagon for ``pick_hexagon``. A fixed key keeps pan and zoom."""

    def on_click() -> None:
        clicked = [row for rows in session.control(key)["selection"]["objects"].values() for row in rows]
        if clicked:
            session.move({_HEXAGON: maps.names(cells)[clicked[0]["cell"]]})

    alt = f"Each hexagon of London, coloured by {axis(layer.title.lower(), layer.unit)}."
    with st.container(key=f"framed_{key}"):  # where there is room, the legend stands beside the map
        with st.container(key=f"fitted_{key}"):
            around = cached.value("Drawing the boroughs", decks.boroughs) if boroughs else None
            deck = decks.deck(cells, layer, kind, around, picked)
            st.pydeck_chart(deck, height=decks.HEIGHT, on_select=on_click, key=key, alt=alt)
        with st.container(key=f"legend_{key}"):
            st.html(maps.legend(layer))
    _caption(key, alt, lambda: cells)


def pick_hexagon(cells: pd.DataFrame) -> str | None:
    """The hexagon that was clicked or is named here, with its row of the table."""
    by_name = {name: cell for cell, name in maps.names(cells).items()}
    name = st.selectbox(
        "Hexagon: click one, or type its borough", list(by_name), None, key=_HEXAGON, bind="query-params"
    )
    state.note(_HEXAGON, name, None)
    if name is None:
        return None
    st.table(tables.rounded(cells[cells["cell"] == by_name[name]].set_index("cell")))
    return by_name[name]


def clickable(figure: go.Figure, key: str, alt: str, on_click: Callable[[], None]) -> None:
    """A chart whose points can be clicked; the callback reads them from the session under ``key``."""
    chart(figure, key, alt, on_select=on_click, selection_mode="points")


def clicked(key: str) -> list[Any] | None:
    """What the clicked point of such a chart carries as its customdata; None if nothing with any was clicked."""
    points = session.control(key)["selection"]["points"]
    return points[0].get("customdata") if points else None

"""The pictures of the excursion page: curves, fields, and hexagons of London."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import plotly.graph_objects as go
import streamlit as st

from dpgp_core.arrays import FloatArray
from pages._ui.excursion import controls, figures, words
from pages._ui.excursion.contender import Beside
from pages._ui.excursion.exploration import Explored, View
from pages._ui.look import pictures, sheet
from pages._ui.look.picture import Public
from pages._ui.look.sheet import About
from pages._ui.work import cached


def pictures_of(view: View, explored: Explored, beside: Beside | None, plain: FloatArray | None) -> None:
    """What is published, and under the overlay (``plain`` is not None) how it compares with the truth."""
    {"curve": _curve, "field": _field}.get(view.study.scene, _map)(view, explored, beside, plain)


def _curve(view: View, explored: Explored, beside: Beside | None, plain: FloatArray | None) -> None:
    picture = partial(cached.drawn, of=(view, plain is None))
    curve = picture(figures.curve, explored, beside, plain)
    public = _public(explored, partial(figures.curve, explored, beside, None), words.CURVE)
    pictures.chart(curve, "path_curves", words.CURVE if plain is None else words.CURVE_WITH_TRUTH, public)
    sets = picture(figures.sets, explored, beside, plain)
    public = _public(explored, partial(figures.sets, explored, beside, None), words.SETS)
    pictures.chart(sets, "path_sets", words.SETS if plain is None else words.SETS_WITH_TRUTH, public)


def _field(view: View, explored: Explored, beside: Beside | None, plain: FloatArray | None) -> None:
    if plain is None:
        drawn = cached.drawn(figures.field, explored, beside, of=view)
        pictures.chart(drawn, "field", words.FIELD, _public(explored, lambda: drawn, words.FIELD))
        return
    left, right = st.columns(2)
    with left:
        pictures.chart(cached.drawn(figures.truth_map, explored, of=view), "field_truth", words.TRUTH_MAP)
    with right:
        public = _public(explored, partial(figures.field, explored, beside), words.FIELD)
        pictures.chart(cached.drawn(figures.overlap_map, explored, of=view), "field", words.OVERLAP_MAP, public)


def _map(view: View, explored: Explored, beside: Beside | None, plain: FloatArray | None) -> None:
    show = plain is not None
    layer = figures.LAYERS[controls.excursion_layer(show, beside is not None)]
    cells = figures.cell_table(explored, beside, show)
    spot = st.container()
    picked = pictures.pick_hexagon(cells)
    with spot:
        pictures.hexagon_map(
            cells, layer, "excursion", "excursion_map", picked, boroughs=show, about=_about(explored, layer.title)
        )
    st.info(words.LONDON)


def _public(explored: Explored, figure: Callable[[], go.Figure], shows: str) -> Public:
    return Public(figure, _about(explored, shows))


def _about(explored: Explored, shows: str) -> About:
    many = f"{len(explored.paths)} posterior path{'s' if len(explored.paths) > 1 else ''}"
    return sheet.of_release(explored.dataset, explored.guarantee, f"{many}, example draw", shows)

"""The curves of the comparison, and beside them the release that was clicked."""

from __future__ import annotations

from functools import partial

import plotly.graph_objects as go
import streamlit as st

from pages._ui.cloaking import computed as cloaking
from pages._ui.compare import computed, controls, figures, notes, released
from pages._ui.compare.contenders import CONTENDERS, Contest, contender
from pages._ui.look import pictures, sheet
from pages._ui.look.picture import Public
from pages._ui.work import cached


def curves(picture: go.Figure, contest: Contest, name: str | None, epsilon: float) -> None:
    """The curves; with a contender chosen, one of its releases beside them.

    Args:
        picture: of all curves.
        contest: settings.
        name: of the contender; None: none is chosen.
        epsilon: of the release.
    """
    left, right = (st.container(), None) if name is None else st.columns([3, 2])
    with left:
        pictures.clickable(picture, controls.CHART, notes.ERRORS_CAPTION, controls.take_point)
    if name is not None and right is not None:
        with right:
            _release(contest, name, epsilon)


def _release(contest: Contest, name: str, epsilon: float) -> None:
    """Curve or map with its interval; of a curve the true data too."""
    model = contest.model
    data, scene = cached.dataset(model.dataset), cloaking.scene(model.dataset)
    drawn = computed.release(contest, name, epsilon)
    caption = released.caption(drawn, scene, data, name, epsilon)
    guarantee = contender(contest, name, epsilon).guarantee
    about = sheet.of_release(data, guarantee, f"{CONTENDERS[name].title}, example draw {released.SEED}", caption)
    st.header(f"{CONTENDERS[name].title}, ε = {epsilon:g}")
    if scene.labels is None:
        parts = drawn, scene, data, cloaking.without_privacy(model.dataset), name
        public = Public(partial(figures.release, drawn, scene, data, None, name), about)
        pictures.chart(cached.drawn(figures.release, *parts, of=(contest, name, epsilon)), "release", caption, public)
        return
    cells, above = released.cells(drawn, scene, data), st.container()
    st.caption(caption)
    picked = pictures.pick_hexagon(cells)
    with above:
        pictures.hexagon_map(cells, released.LAYER, name, "hexagons_release", picked, about=about)

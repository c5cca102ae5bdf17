"""The one button of every figure and map that takes it along: what may be published, or the screen, stamped."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._ui.look import sheet, sheet_figure, state
from pages._ui.look.sheet import SHAPES, About, Draw, Shape

_QUESTION: ContextVar[str] = ContextVar("question", default="")
_LATER: ContextVar[list[Callable[[], None]] | None] = ContextVar("later", default=None)
PUBLISHED, SCREEN = "What may be published", "The screen, stamped"
_SHAPE_TITLES = {f"{shape.width:,} × {shape.height:,} px": shape for shape in SHAPES}
_NONE_TO_PUBLISH = (
    "All of this figure is computed from true data, so none of it may be published. The screen as it is carries a "
    "stamp that says so."
)


@dataclass(frozen=True)
class Public:
    """What may be published of a figure: how it is drawn from the release alone, and what is said of it."""

    figure: Callable[[], go.Figure]
    about: About


class Drawn(NamedTuple):
    """How a figure is drawn where it goes.

    Attributes:
        screen: as it is on the screen.
        says: what it shows, in a sentence.
        public: from the release alone; None where nothing of it may be published.
        about: said of that.
        bare: whether the screen shows nothing but that, so that it needs no stamp.
    """

    screen: Draw
    says: str
    public: Draw | None = None
    about: About | None = None
    bare: bool = False


def of_figure(figure: go.Figure, says: str, public: Public | None) -> Drawn:
    """Of a plotly figure."""
    screen = partial(sheet_figure.drawn, figure)
    if public is None:
        return Drawn(screen, says)
    published = public.figure()
    return Drawn(screen, says, partial(sheet_figure.drawn, published), public.about, bare=published is figure)


def as_it_is(figure: go.Figure, about: About) -> Public:
    """Of a figure without true data: all of it."""
    return Public(lambda: figure, about)


def asks(question: str) -> None:
    """What the page asks stands above every picture of it."""
    _QUESTION.set(question)


def begin() -> None:
    """A page begins."""
    _QUESTION.set("")
    _LATER.set([])


def finish() -> None:
    """A page has drawn all its controls: its address is whole, and pictures that were asked for can be made."""
    for make in _LATER.get() or []:
        make()
    _LATER.set(None)


def button(key: str, made: Callable[[], Drawn]) -> None:
    """The button, and once it is open the picture with its downloads."""
    with st.popover(
        "Picture", type="tertiary", icon=":material/image:", key=f"picture_{key}", on_change="rerun"
    ) as box:
        if not box.open:
            return
        spot = st.container()
    waiting = _LATER.get()
    show = partial(_show, key, made, spot, _QUESTION.get())
    if waiting is None:
        show()
    else:
        waiting.append(show)


def written(drawn: Drawn, question: str, publish: bool, shape: Shape, address: str) -> str:
    """The picture as SVG.

    Raises:
        ValueError: nothing of it may be published.
    """
    day = datetime.now(UTC).date()
    if not publish:
        return sheet.on_screen(question, drawn.says, drawn.screen, shape, address, day)
    if drawn.public is None or drawn.about is None:
        raise ValueError(f"nothing of this figure may be published; take {SCREEN!r}")
    return sheet.publishable(question, drawn.about, drawn.public, shape, address, day)


def _show(key: str, made: Callable[[], Drawn], spot: DeltaGenerator, question: str) -> None:
    drawn = made()
    with spot:
        offered = ([] if drawn.public is None else [PUBLISHED]) + ([] if drawn.bare else [SCREEN])
        if drawn.public is None:
            st.caption(_NONE_TO_PUBLISH)
        kind = st.segmented_control("Which", offered, default=offered[0], required=True, key=f"picture_kind_{key}")
        title = st.segmented_control(
            "Size", list(_SHAPE_TITLES), default=next(iter(_SHAPE_TITLES)), required=True, key=f"picture_size_{key}"
        )
        shape = _SHAPE_TITLES[title]
        svg = written(drawn, question, kind == PUBLISHED, shape, state.link())
        name = f"{key}-{'published' if kind == PUBLISHED else 'with-true-data'}-{shape.name}"
        with st.container(key=f"sheet_{key}"):
            st.image(svg, width="stretch")
            with st.container(horizontal=True):
                st.download_button(
                    "SVG", svg, f"{name}.svg", "image/svg+xml", key=f"picture_svg_{key}", icon=":material/download:",
                    on_click="ignore",
                )  # fmt: skip
                st.html(f'<button class="save-png" data-name="{name}.png">PNG</button>', width="content")

"""Pictures on a page: the figure, its caption, its table, and its export figure."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpgp_core.arrays import FloatArray
from dpgp_core.figures import export
from dpgp_core.figures.export import SHAPES, Draw, Drawing, Kind, Panel, Shape
from pages._ui import session
from pages._ui.look import about as words
from pages._ui.look import maps, plots, redrawn, redrawn_maps, settings, tables
from pages._ui.look.about import About
from pages._ui.look.controls import HERE, Search
from pages._ui.look.maps import Layer
from pages._ui.look.plots import axis
from pages._ui.work import cached

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_TITLE: ContextVar[str] = ContextVar("title", default="")  # title of the screen's pictures: the headline sentence
_LATER: ContextVar[list[Callable[[], None]]] = ContextVar("later")  # functions that draw the opened pictures
PUBLISHED, SCREEN = "What may be published", "The screen, stamped"
_SHAPE_TITLES = {f"{shape.width:,} × {shape.height:,} px": shape for shape in SHAPES}
_NONE_TO_PUBLISH = (
    "All of this figure is computed from true data, so none of it may be published. The screen as it is carries a "
    "stamp that says so."
)


@dataclass(frozen=True)
class Public:
    """The publishable form of a figure, drawn from the release alone, and its description."""

    figure: Callable[[], go.Figure]
    about: About


class Drawn(NamedTuple):
    """How a figure is drawn as an export figure.

    Attributes:
        screen: drawing as on the screen.
        caption: a sentence below it.
        about: description of the release; None if nothing may be published.
        public: drawing from the release alone; None if the screen shows nothing else and needs no stamp.
    """

    screen: Drawing
    caption: str
    about: About | None = None
    public: Drawing | None = None


def of_figure(figure: go.Figure, caption: str, public: Public | None) -> Drawn:
    """Return how a plotly figure is drawn."""
    screen = redrawn.of_figure(figure)
    if public is None:
        return Drawn(screen, caption)
    published = public.figure()
    return Drawn(screen, caption, public.about, None if published is figure else redrawn.of_figure(published))


def as_it_is(figure: go.Figure, about: About) -> Public:
    """Return the publishable form of a figure without true data, which is the figure itself."""
    return Public(lambda: figure, about)


def set_title(headline: str) -> None:
    """Set the title of pictures of this screen: the first headline sentence, which states the result."""
    _TITLE.set(headline)


def begin() -> None:
    """Begin a page."""
    _TITLE.set("")
    _LATER.set([])


def finish() -> None:
    """Draw the opened pictures, once a page has drawn all its controls and its address is complete."""
    for show in _LATER.get():
        show()


def button(key: str, made: Callable[[], Drawn]) -> None:
    """Draw the button, and once it is open the picture with its downloads."""
    with st.popover(
        "Picture", type="tertiary", icon=":material/image:", key=f"picture_{key}", on_change="rerun"
    ) as box:
        if box.open:
            _LATER.get().append(partial(_show, key, made, st.container()))


def written(drawn: Drawn, title: str, publish: bool, shape: Shape, address: str, kind: Kind = "svg") -> bytes:
    """Return the picture as a file; ``title`` is that of the screen.

    Raises:
        ValueError: nothing of the figure may be published.
    """
    day = datetime.now(UTC).date()
    if not publish:
        return export.written(words.on_screen(title, drawn.caption, address, day), drawn.screen, shape, kind)
    if drawn.about is None:
        raise ValueError(f"nothing of this figure may be published; take {SCREEN!r}")
    return export.written(words.publishable(drawn.about, address, day), drawn.public or drawn.screen, shape, kind)


_KINDS: dict[str, tuple[Kind, str]] = {
    "SVG": ("svg", "image/svg+xml"),
    "PNG": ("png", "image/png"),
    "PDF": ("pdf", "application/pdf"),
}


def _show(key: str, made: Callable[[], Drawn], spot: DeltaGenerator) -> None:
    drawn, headline = made(), _TITLE.get()
    with spot:
        if drawn.about is None:
            st.caption(_NONE_TO_PUBLISH)
        offered = [SCREEN] if drawn.about is None else [PUBLISHED] if drawn.public is None else [PUBLISHED, SCREEN]
        kind = st.segmented_control("Which", offered, default=offered[0], required=True, key=f"picture_kind_{key}")
        title = st.segmented_control(
            "Size", list(_SHAPE_TITLES), default=next(iter(_SHAPE_TITLES)), required=True, key=f"picture_size_{key}"
        )
        shape = _SHAPE_TITLES[title]
        ending = st.segmented_control("File", list(_KINDS), default="SVG", required=True, key=f"picture_file_{key}")
        file_kind, mime = _KINDS[ending]
        make = partial(written, drawn, headline, kind == PUBLISHED, shape, settings.link())
        name = f"{key}-{'published' if kind == PUBLISHED else 'with-true-data'}-{shape.name}.{file_kind}"
        with st.container(key=f"sheet_{key}"):
            svg = make("svg")
            st.image(svg.decode(), width="stretch")
            st.download_button(
                "Download",
                svg if file_kind == "svg" else make(file_kind),
                name,
                mime,
                key=f"picture_download_{key}",
                icon=":material/download:",
                on_click="ignore",
            )


_HEXAGON = "hexagon"  # in the address
_MOST_ROWS = 2000  # largest number of rows of an HTML table
_PANELS, _ROW = (1600, 640), 3  # px of a row of several drawings, which shrink to the page; how many it has
_FRAME = (600, 500)  # px of a moving map
# Selects a page whose player is not at its first choice
PLAYED = "body:has(.player-play:checked, .player-pause:checked)"
_CALM = 2.0  # seconds for which a frame is shown if a browser wants reduced motion


def chart(
    figure: go.Figure,
    key: str,
    alt: str,
    public: Public | None = None,
    numbers: pd.DataFrame | None = None,
    action: str = "",
    caption: str | None = None,
    **options: Any,
) -> None:
    """Draw a plotly figure in the page's theme, with its caption, table and export figure.

    Args:
        figure: the figure.
        key: key of the chart.
        alt: description with values and trend, for screen readers and the export figure.
        public: its form without true data; None if all of it contains true data.
        numbers: rows of its table, if the page has them elsewhere too; None for the numbers drawn.
        action: sentence about what a click does; it is left out of the export figure.
        caption: sentence below it that says what to see; "" for none. None shows the description instead.
    """

    def rows() -> pd.DataFrame:
        return tables.of_figure(figure, true_data=public is None) if numbers is None else numbers

    enlarged = plots.enlarge(figure) if settings.is_lesson() else figure
    # plotly's own camera would save true data without a mark
    config = {"displaylogo": False, "modeBarButtonsToRemove": ["toImage"]}
    with _with_names_above(enlarged, key):
        called = plots.alt_text(figure, None if caption is None else alt)
        st.plotly_chart(enlarged, key=key, config=config, alt=called, **options)
    below = f"{alt if caption is None else caption} {action}".strip()
    _caption(key, below, rows, lambda: of_figure(figure, alt, public))


def _with_names_above(figure: go.Figure, key: str) -> DeltaGenerator:
    """Return the container of a chart; in small windows names of lines are above it, and their margin is hidden."""
    named = plots.ends_of(figure)
    if not named:
        return st.container()
    container = st.container(key=f"named_{key}")
    marks = "".join(
        f'<span><b style="color:{end.colour}">━</b> {html.escape(end.name)}</span> ' for end in reversed(named)
    )
    margin = f".st-key-named_{key} {{ --names: {round(figure.layout.margin.r)}px }}"
    container.html(f'<style>{margin}</style><p class="names" aria-hidden="true">{marks}</p>')
    return container


def table(rows: pd.DataFrame, key: str | None = None) -> None:
    """Draw rows on screen, rounded to meaningful digits and empty where there is no number; the download has all
    digits.
    """
    numbers = {name: st.column_config.NumberColumn(format=each) for name, each in tables.decimals_of(rows).items()}
    st.dataframe(rows, hide_index=True, key=key, column_config=numbers, placeholder="")


def panels(
    rows: Sequence[Panel],
    below: Draw | None,
    key: str,
    alt: str,
    numbers: pd.DataFrame,
    about: About | None,
    caption: str | None = None,
    *,
    of: Hashable,
    are_maps: bool = False,
) -> None:
    """Draw several drawings side by side at the same scale, with one caption, table and export figure.

    Args:
        rows: the drawings.
        below: drawing of their legend.
        key: key of the picture.
        alt: description for screen readers.
        numbers: rows of the table.
        about: description of the releases if no true data are drawn; otherwise None.
        caption: see ``chart``.
        of: settings that determine the drawings.
        are_maps: whether each drawing is about as tall as wide.
    """
    drawing, dark = Drawing(panels=tuple(rows), legend=below, is_tall=are_maps), st.context.theme.type == "dark"
    with st.container(key=f"panels_{key}"):
        picture = cached.value("Drawing", _inline, key, of, dark, given=(drawing, alt), here=True)
        st.image(picture, width="stretch", alt=None if caption is None else alt)
    _caption(key, alt if caption is None else caption, lambda: numbers, lambda: Drawn(drawing, alt, about))


def _inline(drawing: Drawing, alt: str, key: str, of: Hashable, dark: bool) -> str:
    """Return several drawings as SVG for a page, with light text if the page is dark."""
    (width, height), ink = _PANELS, "#e8e8e8" if dark else "#1a1a1a"
    rows = -(-len(drawing.panels) // _ROW)
    return export.inline(drawing, width, height * rows, title=alt, type_=20.0, ink=ink)


def _caption(key: str, caption: str, numbers: Callable[[], pd.DataFrame], drawn: Callable[[], Drawn]) -> None:
    """Draw the caption, if there is one, and on a click the table and the export figure."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"below_{key}"):
        if caption:
            st.caption(caption)
        with st.popover(
            "Table", type="tertiary", icon=":material/table:", key=f"numbers_{key}", on_change="rerun"
        ) as box:
            if box.open:
                _html_table(numbers())
        button(key, drawn)


def _html_table(rows: pd.DataFrame) -> None:
    """Draw rows as an HTML table, which screen readers can read cell by cell; very many rows as a grid, which
    scrolls.
    """
    if len(rows) > _MOST_ROWS:
        table(rows)
    else:
        st.html(tables.as_html(rows, "The numbers of this figure"))


def hexagon_map(
    cells: pd.DataFrame,
    layer: Layer,
    kind: str,
    key: str,
    picked: str | None,
    boroughs: bool = True,
    about: About | None = None,
    more: str = "",
    caption: str | None = None,
) -> None:
    """Draw a map with legend and table; a click picks a hexagon for ``pick_hexagon``. A fixed key keeps pan and zoom.

    Args:
        cells: a row for each hexagon.
        layer: the quantity that is shown.
        kind: kind of the layer, which identifies the deck.
        boroughs: whether it is public which hexagons have sales.
        about: description of the release. A layer with true data has no export figure to publish in any case.
        more: further sentences of its description.
        caption: see ``chart``.
    """

    def on_click() -> None:
        clicked = [row for rows in session.control(key)["selection"]["objects"].values() for row in rows]
        if clicked:
            session.move({_HEXAGON: maps.names(cells)[clicked[0]["cell"]]})

    alt = f"Each hexagon of London, coloured by {axis(layer.title.lower(), layer.unit)}. {more}".strip()
    with st.container(key=f"framed_{key}"):  # the legend is next to the map if there is room
        with st.container(key=f"fitted_{key}"):
            around = cached.value("Drawing the boroughs", maps.boroughs, here=True) if boroughs else None
            if around is not None:  # the boroughs of the caption first
                around = replace(around, names=sorted(around.names, key=lambda row: row["name"] not in (caption or "")))
            telephone = "Mobi" in (st.context.headers.get("User-Agent") or "")
            large = {"type_size": maps.TYPE_TELEPHONE} if telephone else {}
            deck = maps.deck(cells, layer, kind, around, picked, **large)
            called = f"Map of London: {layer.title.lower()}. "
            called += "The text below describes it." if caption is None else alt
            st.pydeck_chart(deck, height=maps.HEIGHT, on_select=on_click, key=key, alt=called)
        with st.container(key=f"legend_{key}"):
            st.html(maps.legend(layer, hatched=bool(layer.unsure(cells).any())))

    def drawn() -> Drawn:
        return Drawn(redrawn_maps.of_map(cells[layer.columns], layer, around), alt, about if layer.private else None)

    _caption(key, alt if caption is None else caption, lambda: cells, drawn)


def moving_map(
    cells: pd.DataFrame,
    layer: Layer,
    frames: FloatArray,
    key: str,
    alt: str,
    about: About,
    seconds: float = 0.16,
    *,
    of: Hashable,
) -> None:
    """Draw an animation of a map in the same colours, which runs while a player's Play is checked, with its legend.

    Args:
        cells: a row for each hexagon.
        layer: the quantity that is shown.
        frames: values (frames, hexagons).
        about: description of the numbers, which include no true data.
        seconds: time for which a frame is shown; longer if a browser wants reduced motion.
        of: the settings that determine the frames.
    """
    around = cached.value("Drawing the boroughs", maps.boroughs, here=True)
    first = cells.assign(**{layer.column: frames[0].round(4)})
    with st.container(key=f"moving_{key}"):
        given = cells, layer, frames, around
        strip = cached.value("Drawing", _strip, key, of, given=given, here=True)
        st.html(_frames_style(key, strip, len(frames), seconds))
        st.html(
            f'<div class="moving {key}" role="img" aria-label="Map of London, moving: {layer.title.lower()}"></div>'
        )
        st.html(maps.legend(layer, hatched=False))
    _caption(key, alt, lambda: first, lambda: Drawn(redrawn_maps.of_map(first, layer, around), alt, about))


def _strip(
    cells: pd.DataFrame, layer: Layer, frames: FloatArray, around: maps.Boroughs, key: str, of: Hashable
) -> bytes:
    """Return the frames as one bitmap, which the last two arguments determine."""
    return redrawn_maps.strip(cells, layer, frames, around, *_FRAME)


def _frames_style(key: str, strip: bytes, count: int, seconds: float) -> str:
    """Return a style sheet that moves a strip of frames behind a window while Play is checked, and holds it on
    Pause.
    """
    image, window, (width, height) = base64.b64encode(strip).decode(), f".moving.{key}", _FRAME
    return (
        f"<style>{window} {{ --frame: {seconds:g}s; }} "
        f"@media (prefers-reduced-motion: reduce) {{ {window} {{ --frame: {_CALM:g}s; }} }} "
        f"@keyframes moving-map {{ from {{ background-position: 0 0; }} to {{ background-position: 0 100%; }} }} "
        f"{window} {{ max-width: {width}px; aspect-ratio: {width} / {height}; "
        f"background: url(data:image/png;base64,{image}) 0 0 / 100% {100 * count}%; }} "
        f"{PLAYED} {window} {{ animation: moving-map steps({count}, jump-none) infinite; "
        f"animation-duration: calc(var(--frame) * {count}) !important; }} "
        f"body:has(.player-pause:checked) {window} {{ animation-play-state: paused; }}</style>"
    )


def pick_hexagon(cells: pd.DataFrame) -> str | None:
    """Return the hexagon that was clicked or is named here, and show its row of the table."""
    by_name = {name: cell for cell, name in maps.names(cells).items()}
    label = "Hexagon: click one, or type its borough"
    name = settings.value_of(Search(_HEXAGON, label, options=list(by_name), section=HERE))
    if name is None:
        return None
    st.table(tables.written(cells[cells["cell"] == by_name[name]].set_index("cell")))
    return by_name[name]


def clickable(
    figure: go.Figure,
    key: str,
    alt: str,
    action: str,
    on_click: Callable[[], None],
    numbers: pd.DataFrame | None = None,
    caption: str | None = None,
) -> None:
    """Draw a chart with points to click; ``action`` is a sentence about it. The callback reads the points from the
    session.
    """
    options: Any = {"on_select": on_click, "selection_mode": "points"}
    chart(figure, key, alt, numbers=numbers, action=action, caption=caption, **options)


def clicked(key: str) -> list[Any] | None:
    """Return the customdata of the clicked point of such a chart; None if there is none.

    A row of an array comes back from plotly as an object with numbers as keys; one of a list as a list.
    """
    points = session.control(key)["selection"]["points"]
    row = points[0].get("customdata") if points else None
    return list(row.values()) if isinstance(row, Mapping) else row

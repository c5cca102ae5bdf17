"""Write export figures: title, subtitle, caption, guarantee, source and stamp around a drawing.

matplotlib is imported when a picture is made. Its settings are global, so one picture is made at a time.
"""

from __future__ import annotations

import io
import math
import re
import threading
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from ..accounting.gaussian import rounded_up
from ..accounting.gaussian import written as decimal
from ..accounting.guarantee import Guarantee
from .drawing import settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STAMP = "contains true data: not for publication"
Kind = Literal["svg", "png", "pdf"]
Draw = Callable[["Axes"], object]
_INK, _SOFT, _RULE = "#1a1a1a", "#444444", "#bbbbbb"
_LINE = 1.3  # distance of lines in sizes of type
_MOST = 4  # lines of a caption
_BESIDE = 0.34  # share of a wide picture's width for words next to a drawing that is about as tall as wide
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]+")  # which XML does not allow
_LOCK = threading.Lock()


class Shape(NamedTuple):
    """Size of a picture in px, and the size of its smallest type."""

    name: str
    width: int
    height: int
    type: float = 18.0


SHAPES = (Shape("wide", 1600, 900), Shape("square", 1200, 1200))


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One of several drawings side by side: what differs, a caption and the drawing."""

    draw: Draw
    title: str = ""
    caption: str = ""


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A drawing with one panel, or with several at the same scale.

    Attributes:
        panels: the drawings.
        legend: drawn once, below all panels; None if each has its own.
        is_tall: whether the drawing is about as tall as wide, as maps are; words are then next to it if there is room.
    """

    panels: tuple[Panel, ...]
    legend: Draw | None = None
    is_tall: bool = False


def drawing(draw: Draw, *, is_tall: bool = False) -> Drawing:
    """Return a drawing of one panel."""
    return Drawing(panels=(Panel(draw=draw),), is_tall=is_tall)


@dataclass(frozen=True, kw_only=True)
class ExportText:
    """The words around the drawing of an export figure.

    Attributes:
        title: the finding, in a sentence.
        subtitle: epsilon, delta and the data set.
        captions: what is shown, in sentences.
        foot: guarantee, source, licence and date.
        link: address of the state that was drawn. Its host and path are printed, unless the host is this machine; all
            of it is in the file's metadata.
        stamp: text across the picture; "" for none.
    """

    title: str
    subtitle: str = ""
    captions: tuple[str, ...] = ()
    foot: tuple[str, ...] = ()
    link: str = ""
    stamp: str = ""


def can_draw() -> bool:
    """Return whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def require() -> None:
    """Raise ValueError unless matplotlib is installed."""
    if not can_draw():
        raise ValueError("a picture needs matplotlib; install it with pip install 'dpgp[figures]'")


def new_axes() -> Axes:
    """Return the axes of a new figure, which a notebook shows.

    Raises:
        ValueError: matplotlib is not installed.
    """
    require()
    from matplotlib import pyplot

    _, ax = pyplot.subplots(layout="constrained")
    return ax


def promise(guarantee: Guarantee) -> str:
    """Return a guarantee as a sentence for the foot of a picture: budget, what is protected, unit and neighbours."""
    made = "proven" if guarantee.established else "claimed, not proven at this epsilon"
    return (
        f"Promise ({made}): {budget_of(guarantee)}; protects {guarantee.protects} of {guarantee.hidden}: "
        f"{guarantee.unit} ({guarantee.neighbours})."
    )


def budget_of(guarantee: Guarantee) -> str:
    """Return epsilon, rounded up to three digits, and delta."""
    budget = guarantee.budget
    delta = f"{budget.delta:g}".replace("e-0", "e-")
    return f"ε = {decimal(rounded_up(budget.epsilon))}, δ = {delta}"


def short_link(link: str) -> str:
    """Return host and path of an address; "" if there is no host, or if it is this machine."""
    parts = urlsplit(link)
    host = parts.hostname or ""
    local = host in ("", "localhost", "0.0.0.0", "::1") or host.startswith("127.")
    return "" if local else f"{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def written(text: ExportText, drawn: Drawing, shape: Shape = SHAPES[0], kind: Kind = "svg") -> bytes:
    """Return the picture as a file: the same content for the same arguments, without a date.

    Args:
        text: the words.
        drawn: the drawing.
        shape: size in px.
        kind: format of the file.

    Raises:
        ValueError: matplotlib is not installed.
    """
    with _style(shape.type, _INK):
        figure = _figure(shape)
        _laid_out(figure, drawn, _words(figure, text, shape, drawn.is_tall), shape)
        if text.stamp:
            _stamp(figure, text.stamp, shape)
        return _saved(figure, kind, _plain(text.title), _described(text), _plain(text.link))


def inline(drawn: Drawing, width: int, height: int, *, title: str, type_: float = 16.0, ink: str = _INK) -> str:
    """Return a drawing as an ``svg`` element for an HTML page: without a visible title, on a transparent background.

    Args:
        drawn: the drawing.
        width: in px.
        height: in px.
        title: name for screen readers.
        type_: size of the type in px.
        ink: colour of the text.

    Raises:
        ValueError: matplotlib is not installed.
    """
    shape = Shape("inline", width, height, type_)
    with _style(type_, ink):
        figure = _figure(shape)
        figure.set_facecolor("none")
        _laid_out(figure, drawn, (0.0, 0.0, float(width), float(height)), shape)
        return _saved(figure, "svg", _plain(title), "", "").decode()


def bitmap(drawn: Drawing, width: int, height: int) -> bytes:
    """Return a drawing as PNG with a transparent background and without words.

    Raises:
        ValueError: matplotlib is not installed.
    """
    shape = Shape("bitmap", width, height)
    with _style(shape.type, _INK):
        figure = _figure(shape)
        figure.set_facecolor("none")
        _laid_out(figure, drawn, (0.0, 0.0, float(width), float(height)), shape)
        return _saved(figure, "png", "", "", "")


@contextmanager
def _style(size: float, ink: str) -> Iterator[None]:
    """Set the style of all pictures, whatever matplotlib's settings are; only one thread at a time may draw."""
    require()
    from matplotlib import style

    own: dict[str, Any] = {
        "font.size": size,
        "axes.titlesize": size,
        "axes.labelsize": size,
        "xtick.labelsize": size,
        "ytick.labelsize": size,
        "legend.fontsize": size,
        "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],  # the first comes with matplotlib
        "text.color": ink,
        "text.parse_math": False,
        "axes.labelcolor": ink,
        "axes.edgecolor": "#808080",
        "xtick.color": ink,
        "ytick.color": ink,
        "hatch.linewidth": 1.0,
        "path.simplify": False,
        "svg.fonttype": "none",
        "svg.hashsalt": "dpgp",
        "pdf.fonttype": 42,
        "axes.facecolor": "none",
        "figure.dpi": 72,
        "savefig.dpi": 72,
    }
    with _LOCK, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)  # a reader's own font may have it
        with style.context(["default", own]):
            yield


def _figure(shape: Shape) -> Figure:
    """Return an empty figure in which a point is a px."""
    from matplotlib.figure import Figure

    return Figure(figsize=(shape.width / 72, shape.height / 72), dpi=72)


Area = tuple[float, float, float, float]  # left, lower edge, width, height in px


def _laid_out(figure: Figure, drawn: Drawing, area: Area, shape: Shape) -> None:
    """Draw all panels within an area, in the number of rows that makes them largest, with one legend below them."""
    left, low, across, up = area
    count, size = len(drawn.panels), shape.type
    strip = 0.0 if drawn.legend is None else 5.2 * size
    rows = 1 if count == 1 else _rows(drawn, across, up - strip, size)
    columns, gap = math.ceil(count / rows), 1.2 * size
    wide, tall = (across - gap * (columns - 1)) / columns, (up - strip) / rows
    for at, panel in enumerate(drawn.panels):
        row, column = divmod(at, columns)
        x, top = left + column * (wide + gap), low + up - row * tall
        y = _lines(figure, _wrapped(panel.title, 1.15 * size, wide, bold=True), x, top, 1.15 * size, weight="bold")
        y = _lines(figure, _wrapped(panel.caption, size, wide), x, y, size, colour=_soft(figure))
        _axes(figure, panel.draw, (x, top - tall, wide, y - top + tall), shape)
    if drawn.legend is not None:
        _axes(figure, drawn.legend, (left, low, across, strip), shape)
    settle(figure.axes)


def _soft(figure: Figure) -> str:
    from matplotlib import rcParams

    ink = str(rcParams["text.color"])
    return _SOFT if ink == _INK else ink


def _rows(drawn: Drawing, across: float, up: float, size: float) -> int:
    """Return the number of rows in which panels, below their words, are largest; maps are slightly wider than tall."""
    ratio, count = 1.2 if drawn.is_tall else 1.6, len(drawn.panels)

    def width(rows: int) -> float:
        return min(across / math.ceil(count / rows), ratio * (up / rows - 4 * size))

    return max(range(1, count + 1), key=width)


def _axes(figure: Figure, draw: Draw, area: Area, shape: Shape) -> None:
    """Draw on axes that lie with all of their labels within an area."""
    from matplotlib.text import Text

    left, low, across, up = area

    def place(margins: Sequence[float] = (0.0, 0.0, 0.0, 0.0)) -> tuple[float, float, float, float]:
        west, south, east, north = margins
        wide, tall = max(across - west - east, 0.2 * across), max(up - south - north, 0.2 * up)
        return (left + west) / shape.width, (low + south) / shape.height, wide / shape.width, tall / shape.height

    ax = figure.add_axes(place((0.08 * across, 0.0, 0.04 * across, 0.0)))
    draw(ax)
    for text in ax.findobj(Text):
        text.set_text(_plain(text.get_text()))
    for _ in range(2):  # tick labels and names take room, which changes where they are
        ax.apply_aspect()
        inner, outer = ax.bbox, ax.get_tightbbox()
        if outer is not None:
            margins = inner.x0 - outer.x0, inner.y0 - outer.y0, outer.x1 - inner.x1, outer.y1 - inner.y1
            ax.set_position(place([max(each, 0.0) for each in margins]))


def _words(figure: Figure, text: ExportText, shape: Shape, is_tall: bool) -> Area:
    """Write title, captions and foot; return the area that they leave."""
    size, edge = shape.type, 2.6 * shape.type
    beside = is_tall and shape.width > 1.3 * shape.height
    across = (_BESIDE if beside else 1.0) * (shape.width - 2 * edge)
    top = shape.height - 0.8 * edge
    *foot, last = text.foot or ("",)
    foot = [line for words in (*foot, f"{last} {short_link(text.link)}") for line in _wrapped(words, size, across)]
    foot = _cut(foot, _MOST * (3 if beside else 2))
    for words, scale, colour, weight in (
        (text.title, 1.7, _INK, "bold"),
        (text.subtitle, 1.25, _INK, "normal"),
        *((caption, 1.1, _SOFT, "normal") for caption in text.captions),
    ):
        lines = _cut(_wrapped(words, scale * size, across, bold=weight == "bold"), _MOST * (2 if beside else 1))
        top = _lines(figure, lines, edge, top, scale * size, colour=colour, weight=weight)
        top -= 0.25 * size if lines else 0.0
    low = 0.5 * edge + _LINE * size * len(foot)
    _lines(figure, foot, edge, low, size, colour=_SOFT)
    if beside:
        left = edge + across + size
        return left, 0.5 * edge, shape.width - left - 0.5 * edge, shape.height - edge
    return edge, low + 1.2 * size, across, top - low - 1.7 * size


def _lines(
    figure: Figure,
    lines: Sequence[str],
    left: float,
    top: float,
    size: float,
    *,
    colour: str | None = None,
    weight: str = "normal",
) -> float:
    """Write lines below each other; return where the next one would begin."""
    across, up = figure.bbox.width, figure.bbox.height
    style: dict[str, Any] = {} if colour is None else {"color": colour}
    for line in lines:
        figure.text(left / across, (top - 0.95 * size) / up, line, fontsize=size, fontweight=weight, **style)
        top -= _LINE * size
    return top


def _wrapped(words: str, size: float, across: float, *, bold: bool = False) -> list[str]:
    """Return words in lines that are not longer than ``across`` px; words that are longer are broken."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight="bold" if bold else "normal")

    def long(line: str) -> float:
        return float(text_to_path.get_text_width_height_descent(line, font, ismath=False)[0])

    space, used, lines = long("n n") - long("nn"), 0.0, list[str]()
    for word in _plain(words).split():
        width = long(word)
        if lines and used + space + width <= across:
            lines[-1] += f" {word}"
            used += space + width
            continue
        while width > across and len(word) > 1:
            fits = max(1, bisect_right(range(1, len(word)), across, key=lambda count: long(word[:count])))
            lines.append(word[:fits])
            word = word[fits:]
            width = long(word)
        lines.append(word)
        used = width
    return lines


def _cut(lines: list[str], most: int) -> list[str]:
    """Return at most ``most`` lines, so that words of any length leave room for the drawing."""
    return lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1][:-2]} …"]


def _stamp(figure: Figure, stamp: str, shape: Shape) -> None:
    """Write the stamp from corner to corner, three times, so that no part can be cut out without it."""
    size = 0.8 * math.hypot(shape.width, shape.height) / (0.62 * len(stamp))
    angle = math.degrees(math.atan2(shape.height, shape.width))
    style: dict[str, Any] = {"ha": "center", "va": "center", "rotation": angle, "rotation_mode": "anchor"}
    for shift in (-1, 0, 1):
        place = 0.5, 0.5 + shift / 3
        figure.text(*place, stamp, fontsize=size, fontweight="bold", color="#D55E00", alpha=0.4, zorder=10, **style)


def _plain(words: str) -> str:
    """Return words without control characters, which no file of a picture may hold."""
    return _CONTROL.sub(" ", words)


def _described(text: ExportText) -> str:
    return _plain(" ".join(filter(None, (text.subtitle, *text.captions, *text.foot, text.stamp))))


def _saved(figure: Figure, kind: Kind, title: str, description: str, link: str) -> bytes:
    stream = io.BytesIO()
    if kind == "svg":
        nothing: dict[str, Any] = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(stream, format="svg", metadata=nothing)
        return _described_svg(stream.getvalue().decode(), figure, title, description, link).encode()
    metadata: dict[str, Any]
    if kind == "pdf":
        metadata = {"Title": title, "Subject": description, "Keywords": link}
        metadata |= dict.fromkeys(("Creator", "Producer", "CreationDate"))
    else:
        metadata = {"Software": None, "Title": title, "Description": description, "Source": link}
    figure.savefig(stream, format=kind, metadata={key: value for key, value in metadata.items() if value != ""})
    return stream.getvalue()


def _described_svg(svg: str, figure: Figure, title: str, description: str, link: str) -> str:
    """Return the ``svg`` element alone, with its size in px; title, description and link are for screen readers."""
    _, _, content = svg.partition("<svg ")
    _, _, content = content.partition(">")
    wide, tall = (f"{each:.0f}" for each in (figure.bbox.width, figure.bbox.height))
    named = "".join(
        f"<{name}>{escape(words)}</{name}>"
        for name, words in (("title", title), ("desc", description), ("metadata", link))
        if words
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{wide}" '
        f'height="{tall}" viewBox="0 0 {wide} {tall}" role="img" aria-label="{escape(title)}">{named}{content}'
    )

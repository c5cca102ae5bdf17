"""A picture that stands by itself, as SVG: title, caption, and the promise below. No streamlit here."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from typing import Any, NamedTuple

from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.arrays import FloatArray
from dpgp_core.table import Dataset
from pages._ui.look import text

_EDGE, _INK, _SOFT, _PAPER = 48, "#1a1a1a", "#444444", "#ffffff"
_TITLE, _LEAD, _PANEL, _FOOT = 40, 24, 20, 18  # px of type
_LETTER = 0.56  # of a sans-serif letter's width over its size, about
_OF_LINKS = 0.6  # the same of an address, which has no spaces
_FONT = "system-ui, 'Segoe UI', Arial, sans-serif"
STAMP = "contains true data: not for publication"


class Shape(NamedTuple):
    """Of a picture, in px."""

    name: str
    width: int
    height: int


SHAPES = (Shape("wide", 1600, 900), Shape("square", 1200, 1200))


class Box(NamedTuple):
    """A rectangle, in px."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.top + self.height


Draw = Callable[[Box], str]  # SVG of a box


@dataclass(frozen=True)
class About:
    """The description of a released figure.

    Attributes:
        release: the released quantity and its mechanism, in a sentence.
        shows: the meaning of line, band or colour, in a sentence.
        guarantee: of the release; None for a figure without any output.
        basis: in its place, the source of the figure.
        source, licence: of the data; "" where there are none.
        taught: whether the noise is a numbered draw's.
    """

    release: str
    shows: str
    guarantee: Guarantee | None = None
    source: str = ""
    licence: str = ""
    taught: bool = True
    basis: str = "Computed from the definition of differential privacy alone: no data are in it."


def of_release(data: Dataset, guarantee: Guarantee, made: str, shows: str) -> About:
    """Of a numbered draw of a shipped dataset.

    Args:
        made: by which method, and which draw.
    """
    inputs = " and ".join(data.x_names)
    return About(
        release=f"Published: {data.y_name.removeprefix('ln ')} by {inputs}; {made}.",
        shows=shows,
        guarantee=guarantee.for_unit(data.privacy_unit),
        source=data.source,
        licence=data.licence,
    )


def of_theory(shows: str) -> About:
    """Of a figure without any data."""
    return About("", shows)


def of_inputs(data: Dataset, shows: str) -> About:
    """Of a figure of public inputs: no output enters."""
    basis = "Computed from public inputs, settings and budget: no output is in it, and nothing is spent."
    return About("", shows, source=data.source, licence=data.licence, basis=basis)


class Panel(NamedTuple):
    """One of several pictures beside each other: its difference from the others, a caption, and the picture."""

    title: str
    caption: str
    draw: Draw


_GAP, _STRIP, _ABOVE = 24.0, 96.0, 80.0  # px between panels, of a legend below them, of the words above each
_LONG = 1.2  # of a map's width over its height, about


def side_by_side(panels: Sequence[Panel], below: Draw | None, box: Box) -> str:
    """Panels at the same scale, as many in a row as leaves them largest, with one legend ``below`` them."""
    strip, count = 0.0 if below is None else _STRIP, len(panels)

    def panel_size(columns: int) -> tuple[float, float]:
        tall = (box.height - strip) / math.ceil(count / columns)
        return (box.width - _GAP * (columns - 1)) / columns, tall

    columns = max(
        range(1, count + 1), key=lambda many: min(panel_size(many)[0], _LONG * (panel_size(many)[1] - _ABOVE))
    )
    across, tall = panel_size(columns)
    out = ""
    for at, panel in enumerate(panels):
        row, column = divmod(at, columns)
        left, top, y = box.left + column * (across + _GAP), box.top + row * tall, 0.0
        out += label(left, top + 22, panel.title, _LEAD, weight=600)
        for line in wrapped(panel.caption, _PANEL, across):
            y += 1.25 * _PANEL
            out += label(left, top + 24 + y, line, _PANEL, fill=_SOFT)
        out += panel.draw(Box(left, top + 36 + y, across, tall - y - 48))
    return out + ("" if below is None else below(Box(box.left, box.bottom - strip, box.width, strip)))


def bare(draw: Draw, width: int, height: int, dark: bool) -> str:
    """A drawing within a page, light text where the page is dark."""
    ink = "<style>text { fill: #e8e8e8 }</style>" if dark else ""
    return svg(width, height, ink + draw(Box(0, 0, width, height)), f'font-family="{_FONT}"')


def svg(width: float, height: float, content: str, look: str = "") -> str:
    """A drawing of that many px."""
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {look}>{content}</svg>'


def publishable(question: str, about: About, draw: Draw, shape: Shape, address: str, day: date) -> str:
    """A picture to publish: drawn from the release alone, with its promise, source, date and address."""
    foot = [about.basis]
    if about.guarantee is not None:
        foot = [_promise(about.guarantee)]
        foot += ["A numbered example draw, to teach: its noise can be drawn again."] if about.taught else []
    if about.source:
        foot.append(f"Source: {about.source}. Licence: {about.licence or 'not stated'}.")
    foot.append(f"{day.isoformat()}. {address}".strip())
    return _sheet(question, filter(None, (about.release, about.shows)), foot, draw, shape)


def on_screen(question: str, caption: str, draw: Draw, shape: Shape, address: str, day: date) -> str:
    """The screen as it is, stamped across."""
    return _sheet(question, (caption,), [f"{day.isoformat()}. {address}".strip()], draw, shape, stamp=STAMP)


def _promise(guarantee: Guarantee) -> str:
    budget = guarantee.budget
    made = "proven" if guarantee.established else "claimed, not proven at this epsilon"
    return (
        f"Promise ({made}): ε = {text.at_most(budget.epsilon)}, δ = {text.small(budget.delta)}; protects "
        f"{guarantee.protects} of {guarantee.hidden}: {guarantee.unit} ({guarantee.neighbours})."
    )


def _sheet(title: str, lead: Iterable[str], foot: Sequence[str], draw: Draw, shape: Shape, stamp: str = "") -> str:
    across = shape.width - 2 * _EDGE
    body, y = "", _EDGE + _TITLE * 0.8
    for size, colour, weight, words in ((_TITLE, _INK, 600, title), *((_LEAD, _SOFT, 400, each) for each in lead)):
        for line in wrapped(words, size, across):
            body += label(_EDGE, y, line, size, fill=colour, weight=weight)
            y += 1.25 * size
    lines = [line for each in foot for line in wrapped(each, _FOOT, across)]
    below = shape.height - _EDGE / 2 - 1.3 * _FOOT * len(lines)
    rule = f'<path d="M{_EDGE} {below - 8:.0f}H{shape.width - _EDGE}" stroke="#bbbbbb"/>'
    footer = "".join(
        label(_EDGE, below + 1.3 * _FOOT * (at + 0.75), line, _FOOT, fill=_SOFT) for at, line in enumerate(lines)
    )
    drawn = draw(Box(_EDGE, y - 4, across, below - 20 - y))
    paper = f'<title>{escape(title)}</title><rect width="100%" height="100%" fill="{_PAPER}"/>'
    content = f"{paper}{body}{drawn}{rule}{footer}{_across(stamp, shape) if stamp else ''}"
    return svg(shape.width, shape.height, content, f'font-family="{_FONT}" role="img"') + "\n"


def _across(stamp: str, shape: Shape) -> str:
    """A stamp from corner to corner, three times, so that no part of the picture can be cut out without it."""
    size = 0.8 * math.hypot(shape.width, shape.height) / (_LETTER * len(stamp))
    angle = -math.degrees(math.atan2(shape.height, shape.width))
    middle = f"translate({shape.width / 2:.0f} {shape.height / 2:.0f}) rotate({angle:.1f})"
    rows = "".join(
        f'<text y="{shift * shape.height / 3 + size / 3:.0f}" text-anchor="middle" font-size="{size:.0f}" '
        f'font-weight="700" fill="#D55E00" fill-opacity=".4">{escape(stamp)}</text>'
        for shift in (-1, 0, 1)
    )
    return f'<g transform="{middle}">{rows}</g>'


def wrapped(words: str, size: float, across: float) -> list[str]:
    """Words in lines that fit."""
    letters = int(across / (_LETTER * size))
    if max(map(len, words.split()), default=0) > letters:
        letters = int(across / (_OF_LINKS * size))
    return textwrap.wrap(words, max(12, letters), break_on_hyphens=False)


def wide(words: str, size: float) -> float:
    """How long words are, in px, about."""
    return _LETTER * size * len(words)


def label(
    x: float, y: float, words: str, size: float, anchor: str = "start", fill: str = _INK, weight: int = 400
) -> str:
    """Words at (x, y)."""
    bold = f' font-weight="{weight}"' if weight != 400 else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}" fill="{fill}"{bold}>'
        f"{escape(words)}</text>"
    )


def rect(left: float, top: float, width: float, height: float, look: str) -> str:
    """A rectangle in px."""
    return f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" {look}/>'


def filled(colour: Any) -> str:
    """A colour as SVG has it, its opacity apart."""
    parts = re.fullmatch(r"rgba\((\d+), ?(\d+), ?(\d+), ?([\d.e-]+)\)", str(colour))
    if parts is None:
        return f'fill="{colour}"'
    cover = "" if parts[4] == "1" else f' fill-opacity="{float(parts[4]):g}"'
    return f'fill="rgb({parts[1]},{parts[2]},{parts[3]})"{cover}'


def gradient(colours: Sequence[str], box: Box) -> str:
    """Colours from left to right, or down an upright box, each a little over the next: no line shows between them."""
    out, lies, count = "", box.width > box.height, len(colours)
    for at, colour in enumerate(colours):
        if lies:
            strip = Box(box.left + at * box.width / count, box.top, box.width / count + 0.6, box.height)
        else:
            strip = Box(box.left, box.top + at * box.height / count, box.width, box.height / count + 0.6)
        out += rect(*strip, filled(colour))
    return out


def corners(points: FloatArray) -> str:
    """Points (n, 2) as SVG has them, without those that are not finite."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points if math.isfinite(x) and math.isfinite(y))

"""The map of hexagons drawn as SVG by our own hand, with its legend. No streamlit here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpgp_core.arrays import FloatArray
from pages._ui.look.maps import HATCH, UNSURE, Boroughs, Layer, free, hatched, mark_text, mercator, rings
from pages._ui.look.sheet import Box, corners, filled, gradient, label, rect, svg, wide, wrapped

_TYPE, _SMALL = 20, 16
_HATCHED = f"rgb({HATCH[0]},{HATCH[1]},{HATCH[2]})"
_LEGEND = 300  # px beside the map
_FULL = 600.0  # px across, from which on outlines are as thick as on the screen


def drawn(cells: pd.DataFrame, layer: Layer, around: Boroughs | None, box: Box) -> str:
    """Hexagons coloured by one column in a box, with boroughs where these are public, and the legend beside them."""
    inner = Box(box.left, box.top, box.width - _LEGEND, box.height)
    return hexagons(cells, layer, around, inner) + legend(
        layer, Box(inner.right + 24, box.top + 20, _LEGEND - 24, box.height - 40)
    )


def hexagons(cells: pd.DataFrame, layer: Layer, around: Boroughs | None, box: Box, *, named: bool = True) -> str:
    """The hexagons alone; ``named``: with the names of boroughs."""
    outlines = rings(cells["cell"])
    projection = _Projection(outlines, box)
    values, unsure = cells[layer.column].to_numpy(float), layer.unsure(cells)
    out = ""
    for ring, fill, hidden in zip(outlines, layer.colours(values), unsure, strict=True):
        red, green, blue, alpha = UNSURE if hidden else fill
        if alpha:
            paint = filled(f"rgba({red},{green},{blue},{alpha / 255:.2g})")
            seam = f' stroke="rgb({red},{green},{blue})" stroke-width="0.8"' if alpha == 255 else ""
            out += f'<polygon points="{projection.points(ring)}" {paint}{seam}/>'
    for ends in hatched(cells["cell"][unsure]):
        (a, b), (c, d) = projection.at(np.array(ends))
        out += f'<path d="M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" stroke="{_HATCHED}"/>'
    if around is not None:
        out += _outlines(around, projection)
        out += _names(around.names, projection) if named else ""
    return out


def strip(cells: pd.DataFrame, layer: Layer, frames: FloatArray, around: Boroughs, frame: Box) -> str:
    """Frames below each other, each as large as ``frame``: the hexagons coloured by values (frames, hexagons)."""
    outlines = rings(cells["cell"])
    projection = _Projection(outlines, frame)
    shapes = "".join(f'<polygon id="{at}" points="{projection.points(ring)}"/>' for at, ring in enumerate(outlines))
    out = ""
    for number, values in enumerate(frames):
        coloured: dict[tuple[int, ...], str] = {}
        for at, (red, green, blue, _) in enumerate(layer.colours(values)):
            paint = red, green, blue
            coloured[paint] = coloured.get(paint, "") + f'<use href="#{at}"/>'
        painted = "".join(f'<g fill="rgb{paint}">{uses}</g>' for paint, uses in coloured.items())
        out += f'<g transform="translate(0 {number * frame.height:g})">{painted}<use href="#around"/></g>'
    tall = len(frames) * frame.height
    defined = f'<defs>{shapes}<g id="around">{_outlines(around, projection)}</g></defs>'
    return svg(frame.width, tall, defined + out)


class _Projection:
    """From longitudes and latitudes to px, as large as the box allows."""

    def __init__(self, outlines: Sequence[FloatArray], box: Box) -> None:
        points = mercator(np.vstack(outlines))
        low, high = points.min(axis=0), points.max(axis=0)
        self.scale = float(min(np.array([box.width, box.height]) / (high - low)))
        self.across = float(self.scale * (high - low)[0])
        middle = (low + high) / 2
        self.shift = np.array([box.left + box.width / 2, box.top + box.height / 2]) - self.scale * middle * [1, -1]

    def at(self, degrees: FloatArray) -> FloatArray:
        """In px (n, 2)."""
        return np.asarray(mercator(degrees) * [self.scale, -self.scale] + self.shift)

    def points(self, ring: FloatArray) -> str:
        """As SVG has them."""
        return corners(self.at(ring))


def _outlines(around: Boroughs, projection: _Projection) -> str:
    """Of boroughs: a light line on a dark one, thinner where the map is small."""
    thin = min(1.0, projection.across / _FULL)
    return "".join(
        f'<polygon points="{ring}" fill="none" stroke="{colour}" stroke-width="{thick * thin:.2g}"/>'
        for ring in [projection.points(np.array(each["path"])) for each in around.outlines]
        for colour, thick in (("#191919", 3.2), ("#f0f0f0", 1.4))
    )


def _names(names: Sequence[dict[object, object]], projection: _Projection) -> str:
    """Of boroughs, the largest first; one that would lie on another is left out."""
    texts = [str(row["name"]) for row in names]
    points = [projection.at(np.array([row["at"]], float))[0] for row in names]
    boxes = [(x, y, wide(words, _SMALL) / 2, 0.6 * _SMALL) for words, (x, y) in zip(texts, points, strict=True)]
    return "".join(
        f'<text x="{x:.1f}" y="{y + 5:.1f}" font-size="{_SMALL}" text-anchor="middle" fill="#191919" '
        f'stroke="#ffffff" stroke-width="4" stroke-opacity=".75" paint-order="stroke">{words}</text>'
        for words, (x, y), is_free in zip(texts, points, free(boxes), strict=True)
        if is_free
    )


def across(layer: Layer, box: Box) -> str:
    """The legend as a strip below maps."""
    words = f"{layer.title} [{layer.unit}]" + ("" if layer.hides is None else f". Hatched: {layer.hides.meaning}.")
    bar, last = Box(box.left, box.top + 50, min(640.0, box.width), 14), len(layer.marks) - 1
    out = gradient(layer.ramp(64), bar)
    for at, line in enumerate(wrapped(words, _TYPE, box.width)[:2]):
        out += label(box.left, box.top + 18 + 24 * at, line, _TYPE)
    for at, value in enumerate(layer.marks):
        anchor = {0: "start", last: "end"}.get(at, "middle")
        out += label(bar.left + bar.width * at / last, bar.top + 36, mark_text(value, layer), _TYPE, anchor)
    return out


def legend(layer: Layer, box: Box) -> str:
    """A colour bar with its unit, or a swatch for each name."""
    out, y = "", box.top
    if layer.names:
        for colour, name in zip(layer.scale, layer.names, strict=True):
            out += rect(box.left, y - 14, 18, 18, f'fill="{colour}"')
            out += label(box.left + 26, y, name, _TYPE)
            y += 1.4 * _TYPE
        return out
    for line in wrapped(f"{layer.title} [{layer.unit}]", _TYPE, box.width):
        out += label(box.left, y, line, _TYPE, weight=600)
        y += 1.25 * _TYPE
    bar, last = Box(box.left, y, 24, 220), len(layer.marks) - 1
    out += gradient(layer.ramp(55)[::-1], bar)
    for at, value in enumerate(layer.marks):
        out += label(bar.right + 10, bar.bottom - bar.height * at / last + 7, mark_text(value, layer), _TYPE)
    y = bar.bottom + 1.8 * _TYPE
    if layer.hides is not None:
        for line in wrapped(f"Hatched: {layer.hides.meaning}", _TYPE, box.width):
            out += label(box.left, y, line, _TYPE)
            y += 1.25 * _TYPE
    return out

"""Maps of hexagons: layers, colours and decks, drawn without a map provider."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import h3
import numpy as np
import pandas as pd
import pydeck as pdk
from numpy.typing import NDArray
from plotly.colors import hex_to_rgb, sample_colorscale, unlabel_rgb
from pydeck.bindings.json_tools import default_serialize

from datasets import london_hexes
from dpgp_core.arrays import FloatArray
from pages._ui.look import text

HEIGHT = 520
_FIT = (606.0, 500.0)  # largest width and height of the hexagons in px; page.css shrinks maps in narrower containers
TELLS_NOTHING = "tells nothing"
_HALO, _INK, _PAPER = [240, 240, 240, 230], [25, 25, 25, 255], [255, 255, 255, 150]
_TYPE, _LINE = 11, 7  # px of a name's type, and how many times that its lines may be long
TYPE_TELEPHONE = 20  # px of it on a telephone, where page.css shrinks the whole map
_PIXELS = pdk.types.String("pixels")
Rows = list[dict[Any, Any]]


class CompactDeck(pdk.Deck):
    """A deck whose JSON has no blanks, which halves its size and saves time."""

    def to_json(self) -> str:
        """Return the JSON that the browser draws."""
        return json.dumps(self, sort_keys=True, default=default_serialize, separators=(",", ":"))


@dataclass(frozen=True, kw_only=True)
class Boroughs:
    """Outlines of boroughs as rings of [longitude, latitude], and their names with positions."""

    outlines: Rows
    names: Rows


def boroughs() -> Boroughs:
    """Return the boroughs of the hexagons with sales, the largest first."""
    outlines = sorted(london_hexes.borough_outlines(), key=lambda each: max(map(len, each[1])), reverse=True)
    return Boroughs(
        outlines=[{"path": np.round(ring, 4).tolist()} for _, rings in outlines for ring in rings],  # to 10 m
        names=[
            {"name": name, "at": np.mean(max(rings, key=len), axis=0).round(4).tolist()} for name, rings in outlines
        ],
    )


def deck(
    cells: pd.DataFrame,
    layer: Layer,
    kind: str,
    around: Boroughs | None = None,
    picked: str | None = None,
    type_size: float = _TYPE,
) -> pdk.Deck:
    """Draw the hexagons coloured by one column, without a background map and without external requests.

    Outlines and names of boroughs are those of hexagons with sales; None if it is private which these are. Names for
    which there is no room beside earlier ones are left out; ``type_size`` in px.
    """
    unsure = cells["cell"][layer.unsure(cells)]
    layers, view = [_hexagons(cells, layer, kind, picked), *_hatching(unsure, kind)], _view(cells["cell"])
    if around is not None:
        names = _apart(around.names, view.zoom, type_size)
        layers += [*_outlines(around.outlines, kind, 1.2), _names(names, kind, type_size)]
    if picked is not None:
        layers += _outlines([{"path": rings([picked])[0].tolist()}], f"{kind}-{picked}", 4)
    named = "{borough}\n{sold}\n" if "borough" in cells else ""
    return CompactDeck(
        layers=layers,
        initial_view_state=view,
        map_provider=None,
        tooltip={"text": f"{named}{layer.title}: {{value}}"},
    )


def _hexagons(cells: pd.DataFrame, layer: Layer, kind: str, picked: str | None) -> pdk.Layer:
    values, unsure = cells[layer.column].to_numpy(float), layer.unsure(cells)
    if "sales" in cells:
        cells = cells.assign(sold=[f"{count:,} sale{'' if count == 1 else 's'}" for count in cells["sales"]])
    named = [name for name in ("cell", "borough", "sold") if name in cells]
    rows: Rows = [
        labels
        | {
            "value": value_text(value, layer) + (f" ({TELLS_NOTHING})" if hidden else ""),
            "fill": UNSURE if hidden else fill,
        }
        for labels, value, fill, hidden in zip(
            cells[named].to_dict("records"), values, layer.colours(values), unsure, strict=True
        )
    ]
    # Streamlit fades unselected hexagons through ``get_fill_color``, so the layers underneath have the colours.
    # Each hexagon picked has another id, so that a second click on the same hexagon counts.
    fill = {"getFillColor": "@@=fill"}
    return pdk.Layer(
        "H3HexagonLayer",
        rows,
        id=f"hex-{kind}" + (f"-{picked}" if picked else ""),
        get_hexagon="cell",
        extruded=False,
        stroked=False,
        pickable=True,
        auto_highlight=True,
        _sub_layer_props={"hexagon-cell": fill, "hexagon-cell-hifi": fill},
    )


def _hatching(unsure: Iterable[str], kind: str) -> list[pdk.Layer]:
    """Return one layer for all cells, because a hundred layers would be slow."""
    lines = hatched(unsure)
    if not lines:
        return []
    shape = {"type": "Feature", "geometry": {"type": "MultiLineString", "coordinates": lines}, "properties": {}}
    return [
        pdk.Layer(
            "GeoJsonLayer",
            {"type": "FeatureCollection", "features": [shape]},
            id=f"hatch-{kind}",
            get_line_color=HATCH,
            line_width_units=_PIXELS,
            get_line_width=1,
        )
    ]


def _outlines(paths: Rows, kind: str, width: float) -> list[pdk.Layer]:
    """Return light lines on dark ones, which are visible on every colour of the scales."""
    return [
        pdk.Layer(
            "PolygonLayer",
            paths,
            id=f"{name}-{kind}",
            get_polygon="path",
            filled=False,
            stroked=True,
            get_line_color=colour,
            line_width_units=_PIXELS,
            get_line_width=thick,
        )
        for name, colour, thick in (("casing", _INK, width + 1.8), ("outline", _HALO, width))
    ]


def _names(rows: Rows, kind: str, type_size: float) -> pdk.Layer:
    return pdk.Layer(
        "TextLayer",
        rows,
        id=f"names-{kind}",
        get_text="name",
        get_position="at",
        get_size=type_size,
        size_units=_PIXELS,
        font_family=pdk.types.String("sans-serif"),
        background=True,
        get_background_color=_PAPER,
        background_padding=[2, 0],
        max_width=_LINE,
        word_break=pdk.types.String("break-word"),
        character_set=pdk.types.String("auto"),
        _sub_layer_props={"characters": {"getColor": _INK}},
    )


def _apart(names: Rows, zoom: float, type_size: float) -> Rows:
    """Return the names that do not overlap earlier ones at this zoom; the table contains the others."""
    boxes = []
    for row in names:
        long = 0.6 * type_size * len(row["name"])  # px in one line
        x, y = 512 * 2**zoom * mercator(np.array([row["at"]]))[0]
        wide = _LINE * type_size
        boxes.append((x, y, min(long, wide) / 2, 0.6 * type_size * math.ceil(long / wide)))
    return [row for row, is_free in zip(names, free(boxes), strict=True) if is_free]


def free(boxes: Iterable[tuple[float, float, float, float]]) -> Iterator[bool]:
    """Yield for each box (x and y of its middle, half its width and height) whether it overlaps no free box before
    it.
    """
    kept: list[tuple[float, float, float, float]] = []
    for x, y, across, up in boxes:
        is_free = all(abs(x - a) > across + c or abs(y - b) > up + d for a, b, c, d in kept)
        if is_free:
            kept.append((x, y, across, up))
        yield is_free


def _view(cells: Iterable[str]) -> pdk.ViewState:
    """Return the middle of the cells, and the zoom at which they fill ``_FIT``, in the Mercator projection."""
    points = mercator(np.array([h3.cell_to_latlng(cell) for cell in cells])[:, ::-1])
    ends = [(float(each.min()), float(each.max())) for each in points.T]
    # at zoom z the Earth is 512 * 2^z px wide; centres are one cell from the edge, 5 % on both sides together
    zoom = min(math.log2(size / (1.05 * 512 * (high - low))) for size, (low, high) in zip(_FIT, ends, strict=True))
    (west, east), (south, north) = ends
    middle = math.degrees(math.asin(math.tanh(math.pi * (south + north))))
    return pdk.ViewState(latitude=round(middle, 4), longitude=round(180 * (west + east), 4), zoom=round(zoom, 3))


TIMES = "times too high or too low"
"""Unit of a factor by which a value may be off, in legends, tooltips, tables and sentences."""
UNSURE = [128, 128, 128, 90]  # colour of useless values; no colour scale contains grey
HATCH = [140, 45, 107, 235]  # colour of their hatching, which no colour scale contains
_STEPS = 64
_CLASSES = 6  # number of colours of a scale in steps that can be distinguished
_NEAR = 1.5  # a factor below it is written with one more digit
_SAME = 0.02  # values that differ by a smaller share count as equal
# Share of a step by which rounding may move a mark; share of a unit that counts as no difference
_ROUNDED, _ODD = 0.25, 1e-9
_ACROSS = 3.0  # lines of hatching in a hexagon
Segment = list[list[float]]


class Unsure(NamedTuple):
    """Useless values, which are hatched: those with an uncertainty (a column) above ``most``, and their description."""

    column: str
    most: float
    meaning: str


@dataclass(frozen=True)
class Layer:
    """A quantity that a map can show.

    Attributes:
        title: title in the control.
        column: column of the table of cells with the values.
        unit: unit in the legend.
        marks: values at equal steps of the colour scale; values beyond them have the colours of its ends.
        stepped: whether there is one colour between two marks, instead of a gradual change.
        scale: name or colours of the plotly colour scale.
        private: whether it is a release; False if it may only be shown with the overlay.
        log: whether colours between marks follow the logarithm of the value.
        hides: which values are useless; None if none are.
        names: names of the values 0, 1, 2, ...; there are then no marks, and ``scale`` has a colour for each, #rrggbb
            or #rrggbbaa.
    """

    title: str
    column: str
    unit: str
    marks: tuple[float, ...]
    scale: str | tuple[str, ...]
    private: bool
    log: bool = False
    stepped: bool = False
    hides: Unsure | None = None
    names: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """Columns of the table of cells from which the layer is drawn."""
        read = ["cell", self.column, *(() if self.hides is None else [self.hides.column])]
        return list(dict.fromkeys(read))

    def over(self, values: FloatArray) -> Layer:
        """Return the layer in steps that cover the range of values (n,), without the useless ones."""
        found = values[np.isfinite(values)]
        return replace(self, marks=steps_over(found), stepped=True) if len(found) else self

    def ramp(self, count: int) -> list[str]:
        """Return colours at equal distances along the scale, from its first end to its last."""
        at = np.linspace(0, 1, count)
        if self.stepped:
            classes = len(self.marks) - 1
            at = np.minimum(np.floor(at * classes), classes - 1) / max(classes - 1, 1)
        return list(sample_colorscale(self.scale, at))

    def colours(self, values: FloatArray) -> list[list[int]]:
        """Return [red, green, blue, alpha] for each value; transparent if it is missing."""
        if self.names:
            palette, at = [[*hex_to_rgb(each[:7]), int(each[7:] or "ff", 16)] for each in self.scale], values
        else:
            colours = self.ramp(len(self.marks) - 1 if self.stepped else _STEPS)
            palette = [[*(round(c) for c in unlabel_rgb(rgb)), 255] for rgb in colours]
            measure = np.log if self.log else np.asarray
            steps = np.linspace(0, len(palette) if self.stepped else _STEPS - 1, len(self.marks))
            at = np.interp(measure(np.maximum(values, self.marks[0])), measure(self.marks), steps)
            at = np.minimum(at, len(palette) - 1)
        return [[*palette[0][:3], 0] if np.isnan(step) else palette[int(step)] for step in at]

    def unsure(self, cells: pd.DataFrame) -> NDArray[np.bool_]:
        """Return which values are useless."""
        if self.hides is None:
            return np.zeros(len(cells), bool)
        return cells[self.hides.column].to_numpy(float) > self.hides.most


def steps_over(values: FloatArray) -> tuple[float, ...]:
    """Return marks of ``_CLASSES`` steps that contain about equally many of some finite values (n,), with few digits.

    Every colour is then on the map, whatever the range. If too many values are equal, steps are equally wide.
    """
    even = np.quantile(values, np.linspace(0, 1, _CLASSES + 1))
    low, high = float(even[0]), float(even[-1])
    if high - low < _SAME * abs(high):  # the values are almost equal; one step to each side makes a scale
        low, high = low - _SAME * abs(low) - _ODD, high + _SAME * abs(high) + _ODD
    if (np.diff(even) <= _ODD * abs(high)).any():
        even = np.linspace(low, high, _CLASSES + 1)
    near = np.minimum(np.diff(even)[:-1], np.diff(even)[1:])  # the smaller of the two steps at each inner mark
    for digits in range(-math.floor(math.log10(high - low)) - 1, 12):
        unit = 10.0**-digits
        first, last = math.floor(low / unit + _ODD) * unit, math.ceil(high / unit - _ODD) * unit
        inner = np.round(even[1:-1], digits)
        ends = max(even[0] - first, 0.0) <= even[1] - even[0] and max(last - even[-1], 0.0) <= even[-1] - even[-2]
        if ends and (np.abs(inner - even[1:-1]) <= _ROUNDED * near).all():
            return tuple(float(f"{mark:.10g}") for mark in (first, *inner, last))
    return tuple(map(float, even))


def names(cells: pd.DataFrame) -> dict[str, str]:
    """Return the name of each cell: its borough and a number, if it is public which cells have sales."""
    if "borough" not in cells:
        return {cell: cell for cell in cells["cell"]}
    borough = cells["borough"].where(cells["borough"].fillna("") != "", "No sales")
    called = borough + " " + (cells.groupby(borough).cumcount() + 1).astype(str)
    return dict(zip(cells["cell"], called, strict=True))


def legend(layer: Layer, hatched: bool) -> str:
    """Return a colour bar with units, or a swatch for each name, as HTML; ``hatched``: with the meaning of hatching."""
    if layer.names:
        return "".join(
            f'<div style="font-size:.85rem"><span aria-hidden="true" class="swatch" style="background:{colour}"></span>'
            f"{name}</div>"
            for colour, name in zip(layer.scale, layer.names, strict=True)
        )
    if layer.stepped:
        ends = np.linspace(0, 100, len(layer.marks))
        colours = layer.ramp(len(layer.marks) - 1)
        stops = ", ".join(f"{colour} {a:.3g}% {b:.3g}%" for colour, a, b in zip(colours, ends, ends[1:], strict=False))
    else:
        stops = ", ".join(layer.ramp(9))
    marks = [mark_text(value, layer) for value in layer.marks]
    ticks = "".join(f"<span>{mark}</span>" for mark in marks)
    return (
        f'<div role="img" aria-label="{layer.title}, from {marks[0]} to {marks[-1]}">'
        f'<div style="font-size:.85rem">{layer.title} [{layer.unit}]</div>'
        f'<div style="height:10px;border-radius:5px;background:linear-gradient(90deg, {stops})"></div>'
        f'<div style="display:flex;justify-content:space-between;font-size:.8rem">{ticks}</div></div>'
    ) + ("" if layer.hides is None or not hatched else _swatch_of_grey(layer.hides.meaning))


def _swatch_of_grey(meaning: str) -> str:
    colour = ",".join(map(str, [*UNSURE[:3], round(UNSURE[3] / 255, 2)]))
    return (
        f'<p style="font-size:.85rem"><span aria-hidden="true" class="swatch hatched" '
        f'style="background-color:rgba({colour})"></span>'
        f"hatched: {meaning}</p>"
    )


def value_text(value: float, layer: Layer) -> str:
    """Return a value with its unit, as a tooltip writes it."""
    if np.isnan(value):
        return "no sale here"
    if layer.names:
        return layer.names[int(value)]
    return f"up to {times(value)} {TIMES}" if layer.unit == TIMES else mark_text(value, layer)


def mark_text(value: float, layer: Layer) -> str:
    """Return a value without its unit, as a legend writes it."""
    if layer.unit == "GBP":
        return f"£{value / 1000:,.0f}k"
    if layer.unit == TIMES:
        return text.number(value, 4)
    most = layer.marks[-1]
    if layer.log:
        return f"× {value:.3g}" if value < most else f"≥ × {most:g}"
    return f"{'≥ ' if value >= most and not layer.stepped else ''}{min(value, most):.0f} %"


def times(factor: float) -> str:
    """Return how many times a value may be too high or too low, such as 1.07, 1.9 or 12."""
    return text.number(factor, 3 if factor < _NEAR else 2)


def mercator(degrees: FloatArray) -> FloatArray:
    """Return points (n, 2) on a map of the Earth with width 1, from longitudes and latitudes in degrees."""
    longitude, latitude = degrees.T
    return np.column_stack([longitude / 360, np.arctanh(np.sin(np.radians(latitude))) / (2 * np.pi)])


def hatched(cells: Iterable[str]) -> list[Segment]:
    """Return parallel lines across cells as pairs of [longitude, latitude]; lines of neighbours meet."""
    outlines = rings(cells)
    if not outlines:
        return []
    apart = float(np.ptp(np.subtract(*mercator(outlines[0]).T))) / _ACROSS  # all cells of a map are about equally large
    return [segment for ring in outlines for segment in _across(ring, apart)]


def rings(cells: Iterable[str]) -> list[FloatArray]:
    """Return the outlines of cells, each a ring of longitudes and latitudes (k, 2)."""
    return [np.array(h3.cell_to_boundary(cell))[:, ::-1] for cell in cells]


def _across(ring: FloatArray, apart: float) -> Iterator[Segment]:
    """Yield where lines of constant x - y = k apart cross a convex ring (k, 2)."""
    points = mercator(ring)
    at = np.subtract(*points.T) / apart
    after, there = np.roll(at, -1), np.roll(ring, -1, axis=0)
    for k in range(math.ceil(at.min()), math.floor(at.max()) + 1):
        crossed = (at <= k) != (after <= k)
        share = ((k - at[crossed]) / (after - at)[crossed])[:, None]
        ends = ring[crossed] + share * (there - ring)[crossed]
        if len(ends) == 2:
            yield ends.round(4).tolist()

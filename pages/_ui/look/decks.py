"""Pydeck maps of London hexagons, without a background map and without any outside request. No streamlit here."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import h3
import numpy as np
import pandas as pd
import pydeck as pdk
from pydeck.bindings.json_tools import default_serialize

from datasets import london_hexes
from pages._ui.look.maps import HATCH, UNSURE, Layer, hatched, mercator, shown

HEIGHT = 520
_FIT = (606.0, 500.0)  # px that the hexagons fill at most; page.css shrinks a map whose place is narrower
TELLS_NOTHING = "tells nothing"
_HALO, _INK, _PAPER = [240, 240, 240, 230], [25, 25, 25, 255], [255, 255, 255, 150]
_TYPE, _LINE = 11, 7  # px of a name's type, and how many times that its lines may be long
Rows = list[dict[Any, Any]]


class CompactDeck(pdk.Deck):
    """A deck whose JSON has no blanks: half the bytes, and no second of pure Python for twenty visitors."""

    def to_json(self) -> str:
        """The JSON that the browser draws."""
        return json.dumps(self, sort_keys=True, default=default_serialize, separators=(",", ":"))


@dataclass(frozen=True, kw_only=True)
class Boroughs:
    """What is drawn of them: outlines as rings of [longitude, latitude], and where their names stand."""

    outlines: Rows
    names: Rows


def boroughs() -> Boroughs:
    """Those of the hexagons with sales, the largest first."""
    outlines = sorted(london_hexes.borough_outlines(), key=_size, reverse=True)
    return Boroughs(
        outlines=[{"path": np.round(ring, 4).tolist()} for _, rings in outlines for ring in rings],  # to 10 m
        names=[{"name": name, "at": _middle(rings)} for name, rings in outlines],
    )


def deck(
    cells: pd.DataFrame, layer: Layer, kind: str, around: Boroughs | None = None, picked: str | None = None
) -> pdk.Deck:
    """The hexagons coloured by one column; no background map, no external request.

    Outlines and names of boroughs come from the hexagons with sales: None where it is private which those are.
    """
    unsure = cells["cell"][layer.unsure(cells)]
    layers, view = [_hexagons(cells, layer, kind, picked), *_hatching(unsure, kind)], _view(cells["cell"])
    if around is not None:
        layers += [*_outlines(around.outlines, kind, 1.2), _names(_apart(around.names, view.zoom), kind)]
    if picked is not None:
        ring = [[lon, lat] for lat, lon in h3.cell_to_boundary(picked)]
        layers += _outlines([{"path": ring}], f"{kind}-{picked}", 4)
    named = "{borough}\n{sold}\n" if "borough" in cells else ""
    return CompactDeck(
        layers=layers,
        initial_view_state=view,
        map_provider=None,
        tooltip={"text": f"{named}{layer.title}: {{value}}"},
    )


def _hexagons(cells: pd.DataFrame, layer: Layer, kind: str, picked: str | None) -> pdk.Layer:
    values, unsure = cells[layer.column].to_numpy(float), layer.unsure(cells)
    named = [name for name in ("borough", "sold") if name in cells or (name == "sold" and "sales" in cells)]
    if "sales" in cells:
        cells = cells.assign(sold=[f"{count:,} sale{'' if count == 1 else 's'}" for count in cells["sales"]])
    rows: Rows = [
        labels
        | {
            "value": shown(value, layer) + (f" ({TELLS_NOTHING})" if hidden else ""),
            "fill": UNSURE if hidden else fill,
        }
        for labels, value, fill, hidden in zip(
            cells[["cell", *named]].to_dict("records"), values, layer.colours(values), unsure, strict=True
        )
    ]
    # Streamlit fades by ``get_fill_color`` what is not selected, so the colours are given to the layers underneath. And
    # another id for each hexagon picked: the click is forgotten, so that the next on the same one counts.
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
    """One figure for all cells: a hundred would be slow."""
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
            line_width_units=pdk.types.String("pixels"),
            get_line_width=1,
        )
    ]


def _outlines(paths: Rows, kind: str, width: float) -> list[pdk.Layer]:
    """A light line on a dark one shows on every colour of the scales."""
    return [
        pdk.Layer(
            "PolygonLayer",
            paths,
            id=f"{name}-{kind}",
            get_polygon="path",
            filled=False,
            stroked=True,
            get_line_color=colour,
            line_width_units=pdk.types.String("pixels"),
            get_line_width=thick,
        )
        for name, colour, thick in (("casing", _INK, width + 1.8), ("outline", _HALO, width))
    ]


def _names(rows: Rows, kind: str) -> pdk.Layer:
    return pdk.Layer(
        "TextLayer",
        rows,
        id=f"names-{kind}",
        get_text="name",
        get_position="at",
        get_size=_TYPE,
        size_units=pdk.types.String("pixels"),
        font_family=pdk.types.String("sans-serif"),
        background=True,
        get_background_color=_PAPER,
        background_padding=[2, 0],
        max_width=_LINE,
        word_break=pdk.types.String("break-word"),
        character_set=pdk.types.String("auto"),
        _sub_layer_props={"characters": {"getColor": _INK}},
    )


def _apart(names: Rows, zoom: float) -> Rows:
    """Those names that lie on none before them, as large as they are drawn at a zoom; the others are in the table."""
    kept: list[tuple[float, float, float, float]] = []
    apart = []
    for row in names:
        long = 0.6 * _TYPE * len(row["name"])  # px in one line
        half = min(long, _LINE * _TYPE) / 2, 0.6 * _TYPE * math.ceil(long / (_LINE * _TYPE))
        x, y = 512 * 2**zoom * mercator(np.array([row["at"]]))[0]
        if all(abs(x - a) > half[0] + b or abs(y - c) > half[1] + d for a, b, c, d in kept):
            kept.append((x, half[0], y, half[1]))
            apart.append(row)
    return apart


def _size(outline: tuple[str, list[list[list[float]]]]) -> int:
    return max(len(ring) for ring in outline[1])


def _middle(rings: list[list[list[float]]]) -> list[float]:
    corners = np.array(max(rings, key=len))
    middle: list[float] = corners.mean(axis=0).round(4).tolist()
    return middle


def _view(cells: Iterable[str]) -> pdk.ViewState:
    """The middle of the cells, and the zoom at which they fill ``_FIT``, in the map's projection (Mercator's)."""
    places = mercator(np.array([h3.cell_to_latlng(cell) for cell in cells])[:, ::-1])
    ends = [(float(each.min()), float(each.max())) for each in places.T]
    # a map at zoom z shows the world's width on 512 * 2^z px; centres end a cell before the edge, 5 % together
    zoom = min(math.log2(size / (1.05 * 512 * (high - low))) for size, (low, high) in zip(_FIT, ends, strict=True))
    (west, east), (south, north) = ends
    middle = math.degrees(math.asin(math.tanh(math.pi * (south + north))))
    return pdk.ViewState(latitude=round(middle, 4), longitude=round(180 * (west + east), 4), zoom=round(zoom, 3))

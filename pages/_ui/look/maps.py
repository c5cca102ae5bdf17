"""What a map of hexagons shows: colours, legend, names. No streamlit here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import h3
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from plotly.colors import hex_to_rgb, sample_colorscale, unlabel_rgb

from dpgp_core.arrays import FloatArray

UNSURE = [128, 128, 128, 90]  # where a value tells nothing: grey is in no colour scale
HATCH = [140, 45, 107, 235]  # of its hatching: a hue that is in no colour scale
FACTORS = (1.1, 1.25, 1.5, 2.0, 4.0, 10.0)  # marks of a scale of noise that is multiplied
_STEPS = 64
_ACROSS = 3.0  # lines a hexagon
Segment = list[list[float]]


@dataclass(frozen=True)
class Layer:
    """What a map can show.

    Attributes:
        title: for the control.
        column: of the table of cells, with the values.
        unit: for the legend.
        low, high: fixed colour range; values outside take the end colours.
        scale: plotly colour scale.
        private: False if it may only appear as an educational overlay.
        log: colours in proportion to the logarithm of the value.
        spread: column of how uncertain the values are; above ``most`` a value tells nothing and is hatched.
        most: see ``spread``.
        grey: what grey means, in words.
        names: of values that are 0, 1, 2, ...; then ``scale`` has a colour for each.
        marks: values at equal steps of the colour scale, for factors; none: low, middle and high of it.
    """

    title: str
    column: str
    unit: str
    low: float
    high: float
    scale: str | tuple[str, ...]
    private: bool
    log: bool = False
    spread: str = ""
    most: float = float("inf")
    grey: str = ""
    names: tuple[str, ...] = ()
    marks: tuple[float, ...] = ()

    def shares(self, values: FloatArray) -> FloatArray:
        """Where values are on the colour scale, from 0 to 1; NaN where they are missing."""
        if self.marks:
            steps = np.linspace(0, 1, len(self.marks))
            placed = np.interp(np.log(np.maximum(values, 1.0)), np.log(self.marks), steps)
            return np.where(np.isnan(values), np.nan, placed)
        transform = np.log if self.log else np.asarray
        low, high = transform(self.low), transform(self.high)
        return np.asarray(np.clip((transform(values) - low) / (high - low), 0, 1))

    def colours(self, values: FloatArray) -> list[list[int]]:
        """[red, green, blue, alpha] per value; transparent where the value is missing."""
        if self.names:
            known = np.nan_to_num(values).astype(int)
            named = [[*map(int, hex_to_rgb(self.scale[at])), 255] for at in range(len(self.names))]
            return [named[at] if here else [0, 0, 0, 0] for at, here in zip(known, np.isfinite(values), strict=True)]
        share = self.shares(values)
        palette = [[round(c) for c in unlabel_rgb(rgb)] for rgb in sample_colorscale(self.scale, _STEPS)]
        known = np.nan_to_num(share * (_STEPS - 1)).astype(int)
        return [[*palette[i], 0 if missing else 255] for i, missing in zip(known, np.isnan(share), strict=True)]

    def unsure(self, cells: pd.DataFrame) -> NDArray[np.bool_]:
        """Which values tell nothing."""
        return cells[self.spread].to_numpy(float) > self.most if self.spread else np.zeros(len(cells), bool)


def names(cells: pd.DataFrame) -> dict[str, str]:
    """What each cell is called in words: its borough and a number, where it is public which cells have sales."""
    if "borough" not in cells:
        return {cell: cell for cell in cells["cell"]}
    borough = cells["borough"].where(cells["borough"].fillna("") != "", "No sales")
    called = borough + " " + (cells.groupby(borough).cumcount() + 1).astype(str)
    return dict(zip(cells["cell"], called, strict=True))


def legend(layer: Layer) -> str:
    """A colour bar with units, or a swatch for each name, as HTML."""
    if layer.names:
        return "".join(
            f'<div style="font-size:.85rem"><span aria-hidden="true" class="swatch" style="background:{colour}"></span>'
            f"{name}</div>"
            for colour, name in zip(layer.scale, layer.names, strict=True)
        )
    stops = ", ".join(sample_colorscale(layer.scale, 9))
    marks = [shown(value, layer) for _, value in ticks_of(layer)]
    ticks = "".join(f"<span>{mark}</span>" for mark in marks)
    return (
        f'<div role="img" aria-label="{layer.title}, from {marks[0]} to {marks[-1]}">'
        f'<div style="font-size:.85rem">{layer.title} [{layer.unit}]</div>'
        f'<div style="height:10px;border-radius:5px;background:linear-gradient(90deg, {stops})"></div>'
        f'<div style="display:flex;justify-content:space-between;font-size:.8rem">{ticks}</div></div>{_grey(layer)}'
    )


def ticks_of(layer: Layer) -> list[tuple[float, float]]:
    """What stands beside the colour bar: a share of its length, and the value there."""
    if layer.marks:
        return list(zip(np.linspace(0, 1, len(layer.marks)).tolist(), layer.marks, strict=True))
    middle = math.sqrt(layer.low * layer.high) if layer.log else (layer.low + layer.high) / 2
    return [(0.0, layer.low), (0.5, middle), (1.0, layer.high)]


def _grey(layer: Layer) -> str:
    if not layer.spread:
        return ""
    colour = ",".join(map(str, [*UNSURE[:3], round(UNSURE[3] / 255, 2)]))
    return (
        f'<p style="font-size:.85rem"><span aria-hidden="true" class="swatch hatched" '
        f'style="background-color:rgba({colour})"></span>'
        f"hatched: {layer.grey}</p>"
    )


def shown(value: float, layer: Layer) -> str:
    """A value as legend and tooltip write it."""
    if np.isnan(value):
        return "no sale here"
    if layer.names:
        return layer.names[int(value)]
    if layer.unit == "GBP":
        return f"£{value / 1000:,.0f}k"
    if layer.marks:
        return f"× {value:.3g}" if value < layer.marks[-1] else f"≥ × {layer.marks[-1]:g}"
    return f"{'≥ ' if value >= layer.high else ''}{min(value, layer.high):.0f} %"


def mercator(places: FloatArray) -> FloatArray:
    """Places (n, 2) on a world of width 1, from longitudes and latitudes in degrees."""
    longitude, latitude = places.T
    return np.column_stack([longitude / 360, np.arctanh(np.sin(np.radians(latitude))) / (2 * np.pi)])


def hatched(cells: Iterable[str]) -> list[Segment]:
    """Parallel lines from edge to edge of cells, as pairs of [longitude, latitude]; they meet those of neighbours."""
    rings = [np.array(h3.cell_to_boundary(cell))[:, ::-1] for cell in cells]
    if not rings:
        return []
    apart = float(np.ptp(np.subtract(*mercator(rings[0]).T))) / _ACROSS  # all cells of a map are about as large
    return [segment for ring in rings for segment in _across(ring, apart)]


def _across(ring: FloatArray, apart: float) -> Iterator[Segment]:
    """Where lines of constant x - y = k apart cross a convex ring (k, 2)."""
    places = mercator(ring)
    at = np.subtract(*places.T) / apart
    after, there = np.roll(at, -1), np.roll(ring, -1, axis=0)
    for k in range(math.ceil(at.min()), math.floor(at.max()) + 1):
        crossed = (at <= k) != (after <= k)
        share = ((k - at[crossed]) / (after - at)[crossed])[:, None]
        ends = ring[crossed] + share * (there - ring)[crossed]
        if len(ends) == 2:
            yield ends.round(4).tolist()

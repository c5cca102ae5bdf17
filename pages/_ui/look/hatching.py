"""Lines across hexagons whose value tells nothing, for maps. No streamlit here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import h3
import numpy as np

from dpgp_core.arrays import FloatArray

Segment = list[list[float]]
_ACROSS = 3.0  # lines a hexagon


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

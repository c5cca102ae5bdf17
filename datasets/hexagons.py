"""Records in London to H3 hexagons, for display: however many rows, a map gets at most a few thousand cells.

H3's cells of resolution 7, of about 5 km^2, are the points of a lattice of regular hexagons: a cell is what lies
nearest to its point when positions are written in lattice coordinates (i, j). Over London these are a smooth function
of easting and northing, here a polynomial fitted to the centres of the map's cells, so that whole blocks of rows are
placed by arithmetic instead of one call a row. It agrees with H3's own cells but for points within a metre of an edge.
"""

from __future__ import annotations

from itertools import pairwise

import h3
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from datasets import london_hexes
from datasets.british_grid import centres, on_map, powers
from dpgp_core.arrays import FloatArray

BLOCK = 65_536  # rows placed at a time: bounds the memory beside the result
_DEGREE = 4  # lattice coordinates are then good to 1e-7 of a cell
_CENTRE, _SCALE = np.array([530.0, 177.5]), 40.0  # km: the middle of the box, half its width


def aggregate(X: FloatArray, values: FloatArray) -> pd.DataFrame:
    """Count the records of every occupied cell and average their values. Not private.

    Args:
        X: easting and northing (n, 2) [km, British National Grid], inside ``london_hexes.X_BOX``.
        values: (n,), any unit; averaged as they are.

    Returns:
        One row a cell, sorted: cell (H3 index), count, mean. Needs memory for the cells and one block, whatever n is.

    Raises:
        ValueError: shapes disagree, or a position is outside the box or not a number.
    """
    if X.ndim != 2 or X.shape[1] != 2 or values.shape != X.shape[:1]:
        raise ValueError(f"X must be (n, 2) and values (n,), got shapes {X.shape} and {values.shape}")
    origin, coefficients = _lattice()
    low, side = _extent(coefficients)
    counts, sums = np.zeros(side.prod()), np.zeros(side.prod())
    for start in range(0, len(X), BLOCK):
        block = X[start : start + BLOCK]
        _check_inside(block)
        place = np.ravel_multi_index(tuple((_nearest(_powers(block) @ coefficients) - low).T), tuple(side))
        counts += np.bincount(place, minlength=side.prod())
        sums += np.bincount(place, weights=values[start : start + BLOCK], minlength=side.prod())
    occupied = np.flatnonzero(counts)
    points = np.stack(np.unravel_index(occupied, tuple(side)), axis=1) + low
    cells = [h3.local_ij_to_cell(origin, int(i), int(j)) for i, j in points]
    table = pd.DataFrame(
        {"cell": cells, "count": counts[occupied].astype(np.int64), "mean": sums[occupied] / counts[occupied]}
    )
    return table.sort_values("cell", ignore_index=True)


def box_cells() -> pd.DataFrame:
    """Every cell whose centre lies in ``london_hexes.X_BOX``, whether it has sales or not: public.

    Returns:
        One row a cell, sorted: cell (H3 index), easting_km, northing_km of its centre.
    """
    origin, coefficients = _lattice()
    low, side = _extent(coefficients)
    found = [h3.local_ij_to_cell(origin, int(i), int(j)) for i, j in np.array(list(np.ndindex(*side))) + low]
    easting, northing = on_map(centres(found)).T
    table = pd.DataFrame({"cell": found, "easting_km": easting, "northing_km": northing})
    (west, east), (south, north) = london_hexes.X_BOX
    inside = table["easting_km"].between(west, east) & table["northing_km"].between(south, north)
    return table[inside].sort_values("cell", ignore_index=True)


def _lattice() -> tuple[str, FloatArray]:
    """The cell that lattice coordinates are counted from, and the polynomial (k, 2) from the grid to them."""
    cells = london_hexes.map_cells()["cell"].tolist()
    origin = cells[len(cells) // 2]
    points = np.array([h3.cell_to_local_ij(origin, cell) for cell in cells], dtype=np.float64)
    coefficients, *_ = np.linalg.lstsq(_powers(on_map(centres(cells))), points, rcond=None)
    return origin, np.asarray(coefficients, dtype=np.float64)


def _powers(X: FloatArray) -> FloatArray:
    return powers((X - _CENTRE) / _SCALE, _DEGREE)


def _nearest(ij: FloatArray) -> NDArray[np.int64]:
    """The lattice point (n, 2) nearest to each position (n, 2)."""
    # The axes i and j stand at 120 degrees: with (x, y, z) = (i, j - i, -j) neighbours differ by 1 in two of three
    # coordinates that add up to 0. Round all three, then give up the one that was rounded most.
    cube = np.stack([ij[:, 0], ij[:, 1] - ij[:, 0], -ij[:, 1]], axis=1)
    rounded = np.rint(cube)
    rows, worst = np.arange(len(cube)), np.abs(rounded - cube).argmax(axis=1)
    rounded[rows, worst] -= rounded.sum(axis=1)
    return np.stack([rounded[:, 0], -rounded[:, 2]], axis=1).astype(np.int64)


def _extent(coefficients: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lowest lattice point and number of points along each axis that hold the whole box."""
    edge = np.linspace(0, 1, 21)[:, None]
    corners = np.array([[x, y] for x in london_hexes.X_BOX[0] for y in london_hexes.X_BOX[1]])[[0, 1, 3, 2, 0]]
    outline = np.concatenate([a + edge * (b - a) for a, b in pairwise(corners)])
    ij = _powers(outline) @ coefficients
    low = np.floor(ij.min(axis=0)).astype(np.int64) - 1
    return low, np.ceil(ij.max(axis=0)).astype(np.int64) + 2 - low


def _check_inside(X: FloatArray) -> None:
    low, high = np.array(london_hexes.X_BOX).T
    outside = int((~((low <= X) & (high >= X)).all(axis=1)).sum())
    if outside:
        raise ValueError(f"{outside} positions are outside {london_hexes.X_BOX} km; the hexagons cover London only")

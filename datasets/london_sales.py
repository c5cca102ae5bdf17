"""Simulated sales of houses, based on the real medians of hexagons. There are as many as in the published experiment.

No row is a real sale. The cell of a sale is sampled in proportion to the number of sales in the cell, its position
uniformly within the cell, and its ln price from Normal(ln median of the cell, 0.25^2).

The six corners of a cell are converted from longitude and latitude to the British National Grid, with an error of about
a metre (``british_grid``, fitted to the centres of the empty cells of the map). Positions are uniform in the hexagon
with these corners and straight sides.

Source of the medians: Contains HM Land Registry data (c) Crown copyright and database right
2024. Licensed under the Open Government Licence v3.0.
"""

from __future__ import annotations

import h3
import numpy as np

from datasets import london_hexes
from datasets.british_grid import on_map
from datasets.exhibits import Exhibit
from dpgp_core.arrays import FloatArray
from dpgp_core.table import Dataset, Outcome

NAME = "london_sales"
TITLE = "London sales (simulated)"
FAMILY = "london"  # the same sales, as single sales or as medians of hexagons
N_PUBLISHED = 4766  # sales of the published London experiment
LN_PRICE_SD = 0.25  # standard deviation of ln price about the ln median of its cell
Y_BOUNDS = london_hexes.Y_BOUNDS


def load(*, n: int = N_PUBLISHED, seed: int = 20180103) -> Dataset:
    """Simulate ``n`` sales: y = ln(price in GBP) at X = (easting, northing) [km].

    Args:
        n: number of sales, at least 1.
        seed: seed of the simulation; the same seed gives the same sales.

    Returns:
        X (n, 2) [km], y (n,) [ln GBP], labels ``cell`` (H3 index, str).

    Raises:
        ValueError: ``n`` is below 1 or ``seed`` is negative.
    """
    if n < 1 or seed < 0:
        raise ValueError(f"n must be at least 1 and seed at least 0, got n={n} and seed={seed}")
    hexes = london_hexes.load()
    rng = np.random.default_rng(seed)
    weights = hexes.labels["sales"].astype(np.float64)
    chosen = rng.choice(hexes.n, size=n, p=weights / weights.sum())
    cells = hexes.labels["cell"]
    return Dataset(
        name=NAME,
        X=_uniform_in_hexagons(_corners(cells.tolist())[chosen], rng),
        y=rng.normal(hexes.y[chosen], LN_PRICE_SD),
        columns=hexes.columns,
        outcome=Outcome(name="ln price", unit=hexes.y_unit, bounds=Y_BOUNDS, scale=hexes.y_scale),
        privacy_unit="one (simulated) sale's price",
        source=f"simulated from real hexagon medians. {london_hexes.SOURCE}",
        licence=london_hexes.LICENCE,
        bounds_reason=hexes.bounds_reason,
        simulated=True,
        labels={"cell": cells[chosen]},
    )


def _corners(cells: list[str]) -> FloatArray:
    """Return the corners (len(cells), 6, 2) of cells in grid km, in order around each cell."""
    corners = np.array([[corner[::-1] for corner in h3.cell_to_boundary(cell)] for cell in cells])
    return on_map(corners.reshape(-1, 2)).reshape(corners.shape)


def _uniform_in_hexagons(corners: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Sample one uniform point (n, 2) in each convex hexagon of ``corners`` (n, 6, 2)."""
    first = corners[:, :1]
    # The hexagon is a fan of triangles from corner 0. A triangle is sampled in proportion to its area.
    left, right = corners[:, 1:-1] - first, corners[:, 2:] - first
    areas = np.abs(left[..., 0] * right[..., 1] - left[..., 1] * right[..., 0]).cumsum(axis=1)
    n = len(corners)
    triangle = (rng.random((n, 1)) * areas[:, -1:] >= areas).sum(axis=1)
    a, b = rng.random((2, n, 1))
    # Points of the parallelogram that are outside the triangle are reflected into it.
    beyond = a + b > 1
    a, b = np.where(beyond, 1 - a, a), np.where(beyond, 1 - b, b)
    rows = np.arange(n)
    points: FloatArray = first[:, 0] + a * left[rows, triangle] + b * right[rows, triangle]
    return points


EXHIBITS = (
    Exhibit(
        name=NAME,
        title=TITLE,
        load=load,
        unit="km",
        lengthscales=(6.0, 8.0, 10.0, 12.0, 15.0, 20.0, 30.0, 40.0),
        lengthscale=15.0,
        side_by_side=(12.0, 20.0, 40.0),
        ratios=(1.0, 1.0),
        scene="map",
        cross_validated=False,
        smooth_only=True,  # a rough kernel would take minutes instead of seconds
        simulated=True,
    ),
)

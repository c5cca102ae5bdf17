"""Conversion of longitude and latitude to British National Grid kilometres, for London only.

The conversion is a cubic polynomial, fitted to points of which both positions are known. Over Greater London it agrees
with the positions of the sales to about 7 cm, which is less than their rounding (1 m), so no projection library is
needed. It must not be used far from the fitted points, for example in the rest of Britain.
"""

from __future__ import annotations

from collections.abc import Iterable

import h3
import numpy as np

from datasets import london_hexes
from dpgp_core.arrays import FloatArray

DEGREE = 3
CENTRE = (-0.1, 51.5)  # near Charing Cross; subtracting it keeps the fit well conditioned


def fit_grid(lon_lat: FloatArray, east_north: FloatArray) -> FloatArray:
    """Fit the polynomial by least squares.

    Args:
        lon_lat: positions (n, 2) in degrees, WGS 84.
        east_north: the same positions (n, 2), British National Grid, km.

    Returns:
        Coefficients (10, 2), one column for easting and one for northing.

    Raises:
        ValueError: fewer points than coefficients.
    """
    powers = _powers(lon_lat)
    if len(powers) < powers.shape[1]:
        raise ValueError(f"the grid fit needs at least {powers.shape[1]} points, got {len(powers)}; add more")
    coefficients, *_ = np.linalg.lstsq(powers, east_north, rcond=None)
    return np.asarray(coefficients, dtype=np.float64)


def to_grid(lon_lat: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Convert positions (n, 2) in degrees to easting and northing (n, 2) in km, with the result of ``fit_grid``."""
    return _powers(lon_lat) @ coefficients


def on_map(lon_lat: FloatArray) -> FloatArray:
    """Convert positions (n, 2) in degrees to km (n, 2) on the map of London, with an error of about a metre."""
    table = london_hexes.map_cells()
    empty = table[table["sales"] == 0]  # empty cells are at their centres, which h3 has in degrees
    coefficients = fit_grid(centres(empty["cell"]), empty[["easting_km", "northing_km"]].to_numpy(dtype=np.float64))
    return to_grid(lon_lat, coefficients)


def centres(cells: Iterable[str]) -> FloatArray:
    """Return longitude and latitude (n, 2) of the centres of H3 cells, in degrees."""
    return np.array([h3.cell_to_latlng(cell)[::-1] for cell in cells])


def _powers(lon_lat: FloatArray) -> FloatArray:
    u, v = (lon_lat - np.asarray(CENTRE)).T
    terms = [u**i * v**j for i in range(DEGREE + 1) for j in range(DEGREE + 1 - i)]
    return np.stack(terms, axis=1)

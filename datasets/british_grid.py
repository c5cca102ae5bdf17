"""Longitude and latitude to British National Grid kilometres, for London only.

A cubic polynomial fitted to points whose two positions are known. Over Greater London it
agrees with the positions of the sales to about 7 cm, which is the rounding of the sales
themselves (1 m), so a projection library is not needed. Outside the fitted points'
neighbourhood it is meaningless: do not use it for the rest of Britain.
"""

from __future__ import annotations

from collections.abc import Iterable

import h3
import numpy as np

from datasets import london_hexes
from dpgp_core.arrays import FloatArray

DEGREE = 3
CENTRE = (-0.1, 51.5)  # near Charing Cross: keeps the powers small and the fit well conditioned


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
    """Map positions (n, 2) in degrees to easting and northing (n, 2) in km with ``fit_grid``'s result."""
    return _powers(lon_lat) @ coefficients


def on_map(lon_lat: FloatArray) -> FloatArray:
    """Map positions (n, 2) in degrees to km (n, 2) as London's map has them, good to about a metre."""
    table = london_hexes.map_cells()
    empty = table[table["sales"] == 0]  # these stand at their centres, whose longitude and latitude h3 knows
    coefficients = fit_grid(centres(empty["cell"]), empty[["easting_km", "northing_km"]].to_numpy(dtype=np.float64))
    return to_grid(lon_lat, coefficients)


def centres(cells: Iterable[str]) -> FloatArray:
    """Longitude and latitude (n, 2) of the centres of H3 cells, in degrees."""
    return np.array([h3.cell_to_latlng(cell)[::-1] for cell in cells])


def _powers(lon_lat: FloatArray) -> FloatArray:
    u, v = (lon_lat - np.asarray(CENTRE)).T
    terms = [u**i * v**j for i in range(DEGREE + 1) for j in range(DEGREE + 1 - i)]
    return np.stack(terms, axis=1)

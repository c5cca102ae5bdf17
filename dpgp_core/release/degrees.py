"""Convert degrees of longitude and latitude to kilometres about the middle of the declared box.

The equirectangular projection about (lon_0, lat_0) multiplies each axis by a factor, on a sphere with the Earth's mean
radius R:

    east = R cos(lat_0) (lon - lon_0) pi / 180,    north = R (lat - lat_0) pi / 180

A kernel with lengthscale l [km] on projected inputs therefore equals one with lengthscale l / (km per degree) on
degrees, and nothing else has to be projected. North-south distances equal those on the sphere. East-west distances at
latitude lat are the true ones times cos(lat_0) / cos(lat). Source: Snyder 1987, Map projections: a working manual,
chapter 12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..table import Column

RADIUS = 6371.0088  # mean radius of the Earth [km]; IUGG
MOST_LATITUDE = 85.0  # [degrees]; nearer to a pole, a degree of longitude is almost no distance


@dataclass(frozen=True, kw_only=True)
class Coordinates:
    """The inputs that are longitude and latitude, and the length of a degree.

    Raises:
        ValueError: the box is not on the Earth, or extends too close to a pole.
    """

    longitude: Column
    latitude: Column

    def __post_init__(self) -> None:
        for column, most in ((self.longitude, 180.0), (self.latitude, MOST_LATITUDE)):
            low, high = column.box
            if low < -most or high > most:
                raise ValueError(
                    f"coordinates need x_box of {column.name!r} in degrees within {-most:g} ... {most:g}, got "
                    f"[{low:g}, {high:g}]; narrow it, or check which column is which"
                )

    @property
    def kilometres(self) -> tuple[float, float]:
        """Length of a degree of longitude and of one of latitude [km]."""
        north = math.radians(RADIUS)
        return north * math.cos(math.radians(sum(self.latitude.box) / 2)), north

    @property
    def error(self) -> float:
        """Largest relative error of short east-west distances in the box: max |cos(lat_0) / cos(lat) - 1|."""
        low, high = self.latitude.box
        middle = math.cos(math.radians((low + high) / 2))
        # cos is largest at the latitude nearest to the equator, and smallest at the one farthest from it
        nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        farthest = max(abs(low), abs(high))
        return max(abs(middle / math.cos(math.radians(latitude)) - 1) for latitude in (nearest, farthest))

    def in_degrees(self, column: str, kilometres: float) -> float:
        """Return a length in the unit of an input; along longitude and latitude, a length in km becomes degrees."""
        worth = dict(zip((self.longitude.name, self.latitude.name), self.kilometres, strict=True))
        return kilometres / worth.get(column, 1.0)


def declared_coordinates(names: Sequence[str], columns: Sequence[Column]) -> Coordinates:
    """Return longitude and latitude of a table, in this order.

    Raises:
        ValueError: they are not two numerical inputs.
    """
    by_name = {each.name: each for each in columns if each.name in names}
    if len(names) != 2 or len(by_name) != 2:
        raise ValueError("coordinates must be two different names of x: [longitude, latitude]")
    if any(each.dates for each in by_name.values()):
        raise ValueError("coordinates must be degrees, and one of them is declared a date; take it out of one")
    if any(each.levels for each in by_name.values()):
        raise ValueError("coordinates must be numbers, and one of them has levels; leave its levels out")
    longitude, latitude = (by_name[name] for name in names)
    return Coordinates(longitude=longitude, latitude=latitude)

"""Degrees of a declared table as kilometres about the middle of their box.

The equirectangular projection about (lon_0, lat_0) is a factor on each axis, on a sphere of the Earth's mean radius R:

    east = R cos(lat_0) (lon - lon_0) pi / 180,    north = R (lat - lat_0) pi / 180

so a kernel of lengthscale l [km] on projected inputs is one of lengthscale l / (km in a degree) on degrees, and nothing
else has to be projected. North-south distances are those of the sphere; at latitude lat east-west ones are true times
cos(lat_0) / cos(lat). Source: Snyder 1987, Map projections: a working manual, chapter 12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..table import Column

RADIUS = 6371.0088  # of the Earth, mean [km]; IUGG
MOST_LATITUDE = 85.0  # [degrees]; nearer to a pole a degree of longitude is next to nothing


@dataclass(frozen=True, kw_only=True)
class Coordinates:
    """Which inputs are degrees, and the length of a degree.

    Raises:
        ValueError: the box is not on the Earth, or reaches too near to a pole.
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
        """In a degree of longitude and in one of latitude."""
        north = math.radians(RADIUS)
        return north * math.cos(math.radians(sum(self.latitude.box) / 2)), north

    @property
    def error(self) -> float:
        """Largest relative error of short east-west distances in the box: max |cos(lat_0) / cos(lat) - 1|."""
        low, high = self.latitude.box
        middle = math.cos(math.radians((low + high) / 2))
        # cos is largest where the latitude is nearest to the equator, least at the end that is farthest from it
        nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        farthest = max(abs(low), abs(high))
        return max(abs(middle / math.cos(math.radians(latitude)) - 1) for latitude in (nearest, farthest))

    def in_degrees(self, column: str, kilometres: float) -> float:
        """A length along an input in the input's unit: degrees if it is one of the two, else as it is."""
        worth = dict(zip((self.longitude.name, self.latitude.name), self.kilometres, strict=True))
        return kilometres / worth.get(column, 1.0)


def declared_coordinates(names: Sequence[str], columns: Sequence[Column]) -> Coordinates:
    """Longitude and latitude of a table, in this order. ValueError unless they are two inputs that are numbers."""
    by_name = {each.name: each for each in columns if each.name in names}
    if len(names) != 2 or len(by_name) != 2:
        raise ValueError("coordinates must be two different names of x: [longitude, latitude]")
    if any(each.dates for each in by_name.values()):
        raise ValueError("coordinates must be degrees, and one of them is declared a date; take it out of one")
    if any(each.levels for each in by_name.values()):
        raise ValueError("coordinates must be numbers, and one of them has levels; leave its levels out")
    longitude, latitude = (by_name[name] for name in names)
    return Coordinates(longitude=longitude, latitude=latitude)

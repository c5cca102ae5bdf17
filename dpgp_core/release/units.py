"""Units of a declared table: degrees as kilometres about the middle of their box, and outputs or their logarithms.

The equirectangular projection about (lon_0, lat_0) is a factor on each axis, on a sphere of the Earth's mean radius R:

    east = R cos(lat_0) (lon - lon_0) pi / 180,    north = R (lat - lat_0) pi / 180

so a kernel of lengthscale l [km] on projected inputs is one of lengthscale l / (km in a degree) on degrees, and nothing
else has to be projected. North-south distances are those of the sphere; at latitude lat east-west ones are true times
cos(lat_0) / cos(lat). Source: Snyder 1987, Map projections: a working manual, chapter 12.

Taking logarithms first costs no privacy: y_j -> ln(clip(y_j, bounds)) is a public function of one record alone, so
tables that differ in one record still do, and its result lies within the logarithms of the bounds, which is all that
the proof of a mechanism asks of an output. Going back by exp is a public function of what was released.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray

RADIUS = 6371.0088  # of the Earth, mean [km]; IUGG
MOST_LATITUDE = 85.0  # [degrees]; nearer to a pole a degree of longitude is next to nothing


@dataclass(frozen=True, kw_only=True)
class Coordinates:
    """Which inputs are degrees, and what a degree is worth.

    Args:
        longitude, latitude: names of the columns.
        longitudes, latitudes: the box, (low, high) each, in degrees.

    Raises:
        ValueError: the box is not on the Earth, or reaches too near to a pole.
    """

    longitude: str
    latitude: str
    longitudes: tuple[float, float]
    latitudes: tuple[float, float]

    def __post_init__(self) -> None:
        for name, (low, high), most in (
            (self.longitude, self.longitudes, 180.0),
            (self.latitude, self.latitudes, MOST_LATITUDE),
        ):
            if low < -most or high > most:
                raise ValueError(
                    f"coordinates need x_box of {name!r} in degrees within {-most:g} ... {most:g}, got "
                    f"[{low:g}, {high:g}]; narrow it, or check which column is which"
                )

    @property
    def kilometres(self) -> tuple[float, float]:
        """In a degree of longitude and in one of latitude."""
        north = math.radians(RADIUS)
        return north * math.cos(math.radians(sum(self.latitudes) / 2)), north

    @property
    def error(self) -> float:
        """Largest relative error of short east-west distances in the box: max |cos(lat_0) / cos(lat) - 1|."""
        low, high = self.latitudes
        middle = math.cos(math.radians((low + high) / 2))
        # cos is largest where the latitude is nearest to the equator, least at the end that is farthest from it
        nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        farthest = max(abs(low), abs(high))
        return max(abs(middle / math.cos(math.radians(latitude)) - 1) for latitude in (nearest, farthest))

    def in_degrees(self, column: str, kilometres: float) -> float:
        """A length along an input in the input's unit: degrees if it is one of the two, else as it is."""
        worth = dict(zip((self.longitude, self.latitude), self.kilometres, strict=True))
        return kilometres / worth.get(column, 1.0)


def declared_coordinates(
    names: Sequence[str], box: Mapping[str, tuple[float, float]], dates: Collection[str], categories: Collection[str]
) -> Coordinates:
    """Longitude and latitude of a table.

    Args:
        names: of the two columns, longitude first.
        box: of the inputs, by name.
        dates: inputs that are dates.
        categories: inputs that have levels.

    Raises:
        ValueError: they are not two inputs that are numbers, or see ``Coordinates``.
    """
    if len(names) != 2 or len(set(names) & set(box)) != 2:
        raise ValueError("coordinates must be two different names of x: [longitude, latitude]")
    if any(name in dates for name in names):
        raise ValueError("coordinates must be degrees, and one of them is declared a date; take it out of one")
    if any(name in categories for name in names):
        raise ValueError("coordinates must be numbers, and one of them has levels; leave its levels out")
    longitude, latitude = names
    return Coordinates(longitude=longitude, latitude=latitude, longitudes=box[longitude], latitudes=box[latitude])


MOST_RATIO = 1e12  # of bounds whose logarithm is measured


@dataclass(frozen=True, kw_only=True)
class OutputScale:
    """Both ways between the output as declared and as measured.

    Args:
        bounds: public (low, high), in ``unit``; above 0 where ``log``.
        unit: as declared.
        log: whether the natural logarithm is measured.

    Raises:
        ValueError: the bounds have no logarithms, or are too far apart.
    """

    bounds: tuple[float, float]
    unit: str
    log: bool

    def __post_init__(self) -> None:
        low, high = self.bounds
        if self.log and low <= 0:
            raise ValueError(f"y_bounds must lie above 0 where logarithms are measured, got low = {low:g}; raise it")
        if self.log and high / low > MOST_RATIO * (1 + 1e-9):
            raise ValueError(
                f"y_bounds are a factor {high / low:g} apart, more than {MOST_RATIO:g}; narrow them for log"
            )

    @property
    def measured_bounds(self) -> tuple[float, float]:
        """Public (low, high) of what is measured."""
        low, high = self.bounds
        return (math.log(low), math.log(high)) if self.log else self.bounds

    @property
    def measured_unit(self) -> str:
        """Unit of what is measured, for example "ln GBP"."""
        return f"ln {self.unit}".strip() if self.log else self.unit

    def measured(self, y: FloatArray) -> FloatArray:
        """Outputs (n,) as they are measured; each by itself, so that a neighbour's differ in one."""
        return np.log(np.clip(y, *self.bounds)) if self.log else y

    def declared(self, values: FloatArray) -> FloatArray:
        """Released values of any shape in ``unit``: of a curve of logarithms the median, ends of intervals as such.

        What passes the bounds by more than their ratio, where noise is all there is, is cut there.
        """
        if not self.log:
            return values
        low, high = self.measured_bounds
        return np.asarray(np.exp(np.clip(values, 2 * low - high, 2 * high - low)))

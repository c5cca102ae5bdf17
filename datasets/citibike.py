"""Duration of journeys between stations of New York's bicycle hire.

By default the data are **simulated**: no row is a real journey. The published experiment (M. T. Smith et al.,
Differentially Private Regression with Gaussian Processes, AISTATS 2018, table 1) used the operator's
journeys of June 2016. The box, the number of stations (600), the limit of 2000 s and the standard deviation
of the kernel (1581 s) are taken from it. Simulated stations form clusters around round positions in Manhattan
and Brooklyn, and are always the same. The stations of a journey are sampled in proportion to their popularity
and to a preference for 1 to 3 km. The duration is the distance along the streets divided by the rider's speed,
plus the time at both docks, plus a detour on some journeys. Real files are read by ``load(file=...)``.

A row is a journey. The public files do not identify subscribers, so the journeys of one subscriber cannot be protected
together.

The operator publishes monthly files at https://citibikenyc.com/system-data under its own licence
(NYCBS Data Use Policy). Nothing is downloaded by this project.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from datasets.exhibits import Exhibit
from datasets.files.citibike import read_journeys
from dpgp_core.arrays import FloatArray
from dpgp_core.table import Dataset, Outcome, declared_columns

NAME = "citibike"
TITLE = "Citi Bike journeys (simulated)"
FAMILY = NAME
LATITUDES = (40.6794, 40.7872)  # degrees north, the published box
LONGITUDES = (-74.0171, -73.9299)  # degrees east
X_BOX = (LATITUDES, LONGITUDES, LATITUDES, LONGITUDES)
Y_BOUNDS = (0.0, 2000.0)  # s
Y_SCALE = 1581.0  # s, the published kernel's standard deviation
N_PUBLISHED = 5000  # journeys in each repetition of the published experiment
STATIONS = 600
BOUNDS_REASON = "a journey cannot take less than 0 s; 2000 s is the published limit, half an hour and a little"

_KM_PER_DEGREE = np.array([111.2, 84.3])  # of latitude, of longitude at 40.73 N
_STATION_SEED = 600
_CENTRES = np.array(  # latitude, longitude, spread in km, share of the stations: round figures
    [
        [40.755, -73.985, 1.2, 0.24],  # Midtown
        [40.735, -73.992, 0.9, 0.20],  # Union Square
        [40.712, -74.008, 0.8, 0.14],  # Lower Manhattan
        [40.722, -73.985, 0.7, 0.12],  # East Village
        [40.775, -73.965, 1.3, 0.12],  # Upper East and West Side
        [40.690, -73.985, 0.9, 0.10],  # Downtown Brooklyn
        [40.715, -73.955, 1.0, 0.08],  # Williamsburg
    ]
)


def load(*, n: int = N_PUBLISHED, seed: int = 20160601, file: str | Path | None = None) -> Dataset:
    """Simulate ``n`` journeys, or sample ``n`` from one of the operator's files.

    Args:
        n: number of journeys, at least 1. If ``file`` has fewer, all of its journeys are returned.
        seed: seed of the simulation or of the sampling; the same seed gives the same journeys.
        file: the operator's monthly CSV or zip, in its layout before or since 2021.

    Returns:
        X (n, 4): latitude and longitude [degrees] of the first and of the last station; y (n,): duration [s].

    Raises:
        ValueError: ``n`` is below 1, ``seed`` is negative, or the file cannot be read as such journeys.
    """
    if n < 1 or seed < 0:
        raise ValueError(f"n must be at least 1 and seed at least 0, got n={n} and seed={seed}")
    rng = np.random.default_rng(seed)
    if file is None:
        X, y = _simulate(n, rng)
        source = "simulated by this project (datasets/citibike.py); no row is a real journey"
        return _dataset(X, y, source, "MIT, as the project", simulated=True)
    whole = load_file(file)
    chosen = np.sort(rng.choice(whole.n, size=min(n, whole.n), replace=False))
    return whole.subset(chosen)


def load_file(file: str | Path) -> Dataset:
    """Read all journeys between two stations in the published box from one of the operator's files.

    Args:
        file: monthly CSV or zip, in the layout before or since 2021.

    Returns:
        X (n, 4) and y (n,) as for ``load``. Journeys without a position, or outside the box, are left out.

    Raises:
        ValueError: the file cannot be read as such journeys. No message repeats a cell.
    """
    X, y = read_journeys(file, X_BOX)
    source = "the operator's monthly journey file that you chose (https://citibikenyc.com/system-data)"
    return _dataset(X, y, source, "NYCBS Data Use Policy, the operator's", simulated=False)


def stations() -> FloatArray:
    """Return latitude and longitude (STATIONS, 2) of the simulated stations, in degrees. All are in the box."""
    rng = np.random.default_rng(_STATION_SEED)
    low, high = np.array([LATITUDES, LONGITUDES]).T
    centre = rng.choice(len(_CENTRES), size=20 * STATIONS, p=_CENTRES[:, 3])
    spread = _CENTRES[centre, 2:3] / _KM_PER_DEGREE
    places = rng.normal(_CENTRES[centre, :2], spread)
    inside: FloatArray = places[((low <= places) & (places <= high)).all(axis=1)]
    return inside[:STATIONS]


def _simulate(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Simulate n journeys between stations, as described above."""
    places = stations()
    # Distances are measured along streets that run 29 degrees east of north, as the sum of the two legs.
    turn = np.deg2rad(29)
    along = places * _KM_PER_DEGREE @ np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    distance = np.abs(along[:, None] - along[None]).sum(axis=2)
    popularity = np.random.default_rng(_STATION_SEED + 1).lognormal(0, 0.8, STATIONS)
    # There are few journeys below 500 m, most are 1 to 3 km long, and some are much longer.
    liking = np.outer(popularity, popularity) * (1 - np.exp(-((distance / 0.8) ** 2))) * np.exp(-distance / 1.3)
    chosen = rng.choice(STATIONS**2, size=n, p=liking.ravel() / liking.sum())
    speed = 2.9 * rng.lognormal(0, 0.2, n)  # m/s
    docks = rng.gamma(4.0, 30.0, n)  # s, mean 120
    detour = np.where(rng.random(n) < 0.08, rng.exponential(900.0, n), 0.0)  # s
    duration = np.round(1000 * distance.ravel()[chosen] / speed + docks + detour)
    return np.hstack([places[chosen // STATIONS], places[chosen % STATIONS]]), duration


def _dataset(X: FloatArray, y: FloatArray, source: str, licence: str, *, simulated: bool) -> Dataset:
    return Dataset(
        name=NAME,
        X=X,
        y=y,
        columns=declared_columns(
            ("start latitude", "start longitude", "end latitude", "end longitude"), X_BOX, units=("degrees",) * 4
        ),
        outcome=Outcome(name="duration", unit="s", bounds=Y_BOUNDS, scale=Y_SCALE),
        privacy_unit="one journey's duration",
        source=source,
        licence=licence,
        bounds_reason=BOUNDS_REASON,
        simulated=simulated,
    )


EXHIBITS: tuple[Exhibit, ...] = ()  # no page shows data with four inputs

"""Is a season seen? Daily counts over years whose rate has a trend and a wave, with and without its period declared.

    python -m benchmarks dates

Error of the daily rate [visits] at 500 days and share of them inside the 95 % interval. A wave of size 1 has a standard
deviation of about 6 visits of 20, so an error near that says that it is not seen; one of size .12 swings by a twentieth
of the rate. "public" protects counts, "private" days too. The year has two hills, one high; the week has Sundays that
are low. Of a week beside a year the week alone is declared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.shared.curves import Curves
from benchmarks.shared.options import options_of
from benchmarks.shared.simulated import simulated
from benchmarks.shared.table import show
from dpgp_core.accounting.guarantee import Protects
from dpgp_core.arrays import FloatArray
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.seasons import WEEK, YEAR
from dpgp_core.table import Dataset

_BESIDE = "week beside a year"
CASES = (
    *((5000, 1.0, "year", size) for size in (1.0, 0.4, 0.12, 0.0)),
    (5000, 0.3, "year", 1.0),
    (1826, 1.0, "year", 1.0),
    *((5000, 1.0, "week", size) for size in (1.0, 0.12)),
    *((1826, epsilon, _BESIDE, 0.4) for epsilon in (1.0, 5.0)),
)
PROTECTS: dict[str, Protects] = {"public days": "outputs", "private days": "inputs and outputs"}
PERIODS = {"year": YEAR, "week": WEEK, _BESIDE: WEEK}
DELTA, SHOWN = 1e-5, 500


def rate(day: FloatArray, days: int, wave: str, size: float) -> FloatArray:
    """Expected visits on a day; size 0 has no wave."""
    turn = 2 * np.pi * day / PERIODS[wave]
    trend = 20 + (8 * np.sin(2 * np.pi * day / YEAR) if wave == _BESIDE else 4 * np.sin(8 * day / days))
    return trend + size * (8 * np.sin(turn - 1.4) + 2 * np.sin(2 * turn))


def visits(days: int, wave: str, size: float, rng: np.random.Generator) -> Dataset:
    """A count for each day."""
    day = np.arange(float(days))
    counts = rng.poisson(rate(day, days, wave, size)).astype(float)
    box = ((0.0, days - 1.0),)
    return simulated(day[:, None], counts, (0.0, 60.0), box, y_scale=15.0, y_kind="count")


def measured(mechanism: BayesCloaking, days: int, wave: str, size: float, repeats: int) -> Curves:
    """Releases of one case."""
    day = np.rint(np.linspace(0, days - 1, SHOWN))
    found, truth = Curves(), rate(day, days, wave, size)
    for repeat in range(repeats):
        rng = np.random.default_rng([days, repeat])
        found.measure(mechanism, visits(days, wave, size, rng), day[:, None], truth, rng)
    return found


def rows(repeats: int) -> Iterator[dict[str, object]]:
    """One a case."""
    for days, epsilon, wave, size in CASES:
        row: dict[str, object] = {"days": days, "epsilon": epsilon, "wave": wave, "size": size}
        for name, protects in PROTECTS.items():
            for declared, periods in ((name, None), (f"{name}, declared", [PERIODS[wave]])):
                mechanism = BayesCloaking(epsilon=epsilon, delta=DELTA, protects=protects, periods=periods)
                row[declared] = measured(mechanism, days, wave, size, repeats)
        yield row


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    repeats = options_of(__doc__, argv, repeats=3).repeats
    print(f"{repeats} repeats, delta {DELTA:g}: error [visits] (share inside)")
    show(rows(repeats))

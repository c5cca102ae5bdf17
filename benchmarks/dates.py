"""Is a season seen? Daily counts over years whose rate has a trend and a wave, with and without its period declared.

    python -m benchmarks dates

Error of the daily rate [visits] at 500 days and share of them inside the 95 % interval. The wave alone has a standard
deviation of about 6 visits, so an error near that says that it is not seen. "public" protects counts, "private" days
too. The year has two hills, one high; the week has Sundays that are low.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.shared.curves import Curves
from benchmarks.shared.options import options_of
from benchmarks.shared.simulated import simulated
from dpgp_core.accounting.guarantee import Protects
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.seasons import WEEK, YEAR

CASES = ((5000, 1.0, "year"), (5000, 0.3, "year"), (1826, 1.0, "year"), (5000, 1.0, "week"))
PROTECTS: tuple[Protects, ...] = ("outputs", "inputs and outputs")
PERIODS = {"year": YEAR, "week": WEEK}
DELTA, SHOWN = 1e-5, 500


def rate(day: FloatArray, days: int, wave: str) -> FloatArray:
    """Expected visits on a day."""
    turn = 2 * np.pi * day / PERIODS[wave]
    return 20 + 4 * np.sin(8 * day / days) + 8 * np.sin(turn - 1.4) + 2 * np.sin(2 * turn)


def visits(days: int, wave: str, rng: np.random.Generator) -> Dataset:
    """A count for each day."""
    day = np.arange(float(days))
    counts = rng.poisson(rate(day, days, wave)).astype(float)
    box = ((0.0, days - 1.0),)
    return simulated(day[:, None], counts, (0.0, 60.0), box, y_scale=15.0, y_kind="count")


def measured(mechanism: BayesCloaking, days: int, wave: str, repeats: int) -> tuple[float, float]:
    """Error, and share inside."""
    day = np.rint(np.linspace(0, days - 1, SHOWN))
    found = Curves(rate(day, days, wave))
    for repeat in range(repeats):
        rng = np.random.default_rng([days, repeat])
        data = visits(days, wave, rng)
        plan = mechanism.plan_for(data, day[:, None])
        found.add(mechanism.measure(plan, data, day[:, None], rng, mean=False))
    return found.error, found.inside


def main(argv: Sequence[str] | None = None) -> None:
    """Parse the options and print a row for each case."""
    parser = options_of(__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args(argv).repeats
    print(f"{repeats} repeats, delta {DELTA:g}: error [visits] (share inside)")
    print(" days  epsilon  wave    public days:    declared   private days:    declared")
    for days, epsilon, wave in CASES:
        cells = [
            measured(
                BayesCloaking(epsilon=epsilon, delta=DELTA, protects=protects, periods=periods), days, wave, repeats
            )
            for protects in PROTECTS
            for periods in (None, [PERIODS[wave]])
        ]
        shown = "   ".join(f"{error:5.2f} ({share:.2f})" for error, share in cells)
        print(f"{days:>5} {epsilon:>8g}  {wave}     {shown}", flush=True)

"""Simulated heights of girls who were measured 1 to 10 times each. No row is a real girl.

The number of visits of a girl is uniform on 1 to 10, and her ages at the visits are uniform on 2 to 18 years. Her
height at a visit is h(t) exp(0.045 z) plus a measurement error. h is the curve of ``growth_2d``, z is standard normal
and the same at all visits of a girl, and the error is normal with a standard deviation of 0.5 cm.

The rows of one girl are similar, so a release that protects single rows does not protect a girl. ``Dataset.person``
identifies the girl of each row, which only Bayes cloaking supports. No page shows this data set, because pages compare
mechanisms that protect single rows.
"""

from __future__ import annotations

import numpy as np

from datasets.growth_2d import AGES, HEIGHT_SD, Y_BOUNDS, Y_SCALE, median_height
from dpgp_core.table import Column, Dataset, Outcome

NAME = "growth_visits"
TITLE = "Girls' growth with several visits each (simulated)"
FAMILY = NAME
MOST_VISITS = 10
ERROR_SD = 0.5  # standard deviation of the error of one measurement, in cm
EXHIBITS = ()


def load(*, girls: int = 1000, seed: int = 20260718) -> Dataset:
    """Simulate ``girls`` girls, measured 1 to 10 times: y = height [cm] at X = age [years].

    Args:
        girls: number of girls, at least 1.
        seed: seed of the simulation; the same seed gives the same girls.

    Returns:
        X (n, 1) [years], y (n,) [cm], person (n,), the number of the girl.

    Raises:
        ValueError: ``girls`` is below 1 or ``seed`` is negative.
    """
    if girls < 1 or seed < 0:
        raise ValueError(f"girls must be at least 1 and seed at least 0, got girls={girls} and seed={seed}")
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(girls), rng.integers(1, MOST_VISITS + 1, girls))
    age = rng.uniform(*AGES, size=len(person))
    tall = np.exp(HEIGHT_SD * rng.standard_normal(girls))[person]
    return Dataset(
        name=NAME,
        X=age[:, None],
        y=median_height(age) * tall + ERROR_SD * rng.standard_normal(len(person)),
        columns=(Column(name="age", unit="years", box=AGES),),
        outcome=Outcome(name="height", unit="cm", bounds=Y_BOUNDS, scale=Y_SCALE),
        privacy_unit="all ages and heights of one (simulated) girl",
        source="simulated by this project (datasets/growth_visits.py)",
        licence="MIT, as the project",
        bounds_reason="declared with the generator: girls of 2 to 18 years measure about 75 to 180 cm",
        simulated=True,
        person=person,
    )

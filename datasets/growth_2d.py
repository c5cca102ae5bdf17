"""Simulated heights of girls by age and weight, as many as in the published experiment.

No row is a real girl. The published experiment (Honkela & Melkas, Gaussian Processes with Differential Privacy, 2021,
section 5.4) used 5189 girls from Pakistan, whose records are not part of this project. Only their number is used.

Age is uniform on 2 to 18 years. The height curve is the first model of Preece & Baines, with round constants for girls:

    h(t) = h1 - 2 (h1 - h_p) / (exp(s0 (t - p)) + exp(s1 (t - p))),
    h1 = 158 cm, h_p = 146 cm, s0 = 0.11, s1 = 1.2 per year, p = 11.8 years

The height of a girl is h(t) exp(0.045 z), and her weight is (15 + 0.035 (t - 5)^2) kg/m^2 times her height squared
times exp(0.13 u - 0.13^2 / 2), where z and u are independent standard normal variables.

Source of the curve: Preece & Baines 1978, "A new family of mathematical models describing the human growth curve".
"""

from __future__ import annotations

import numpy as np

from datasets.exhibits import Exhibit, SparseDefaults
from dpgp_core.arrays import FloatArray
from dpgp_core.table import Column, Dataset, Outcome

NAME = "growth_2d"
TITLE = "Girls' growth (simulated)"
FAMILY = NAME
N_PUBLISHED = 5189  # girls of the published experiment
AGES = (2.0, 18.0)  # years
WEIGHTS = (5.0, 90.0)  # kg; the few simulated weights outside are clipped
Y_BOUNDS = (70.0, 190.0)  # cm
Y_SCALE = 25.0  # cm
HEIGHT_SD, BMI_SD = 0.045, 0.13  # standard deviations of the logarithms


def load(*, n: int = N_PUBLISHED, seed: int = 20211111) -> Dataset:
    """Simulate ``n`` girls: y = height [cm] at X = (age [years], weight [kg]).

    Args:
        n: number of girls, at least 1.
        seed: seed of the simulation; the same seed gives the same girls.

    Returns:
        X (n, 2) [years, kg], y (n,) [cm].

    Raises:
        ValueError: ``n`` is below 1 or ``seed`` is negative.
    """
    if n < 1 or seed < 0:
        raise ValueError(f"n must be at least 1 and seed at least 0, got n={n} and seed={seed}")
    rng = np.random.default_rng(seed)
    age = rng.uniform(*AGES, size=n)
    height = median_height(age) * np.exp(HEIGHT_SD * rng.standard_normal(n))
    spread = np.exp(BMI_SD * rng.standard_normal(n) - BMI_SD**2 / 2)
    weight = (15 + 0.035 * (age - 5) ** 2) * (height / 100) ** 2 * spread
    return Dataset(
        name=NAME,
        X=np.column_stack([age, np.clip(weight, *WEIGHTS)]),
        y=height,
        columns=(Column(name="age", unit="years", box=AGES), Column(name="weight", unit="kg", box=WEIGHTS)),
        outcome=Outcome(name="height", unit="cm", bounds=Y_BOUNDS, scale=Y_SCALE),
        privacy_unit="one (simulated) girl's age, weight and height",
        source="simulated by this project (datasets/growth_2d.py); number of records as in Honkela & Melkas 2021",
        licence="MIT, as the project",
        bounds_reason="declared with the generator: girls of 2 to 18 years measure about 75 to 180 cm",
        simulated=True,
    )


def median_height(age: FloatArray) -> FloatArray:
    """Return the median height [cm] at ages [years] of any shape, by the curve above."""
    since = age - 11.8
    height: FloatArray = 158 - 2 * (158 - 146) / (np.exp(0.11 * since) + np.exp(1.2 * since))
    return height


EXHIBITS = (
    Exhibit(
        name=NAME,
        title=TITLE,
        load=load,
        unit="years",
        lengthscales=(1.0, 3.0, 5.0, 9.0, 15.0, 25.0),
        lengthscale=5.0,
        ratios=(1.0, 4.0),  # an age difference of 5 years corresponds to about 20 kg
        cross_validated=False,
        sparse=SparseDefaults(inducing=(3, 4, 5), start=4, noise=0.03),
        simulated=True,
    ),
)

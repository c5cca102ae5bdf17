"""Bayes cloaking with private inputs beside the sparse DP-GP: it protects the same. No streamlit here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.mechanisms import BayesCloaking
from dpgp_core.mechanisms.bayes_release import BayesRelease

DRAWS = 1  # about each part of the people: each plans its stages anew
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Shown:
    """One release. It may be published.

    Attributes:
        mean: of the curve (P,), in the output's unit.
        low, high: its interval at ``LEVEL``.
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray


def mechanism(epsilon: float, delta: float) -> BayesCloaking:
    """With automatic models, from box and bounds."""
    return BayesCloaking(epsilon=epsilon, delta=delta, protects="inputs and outputs")


def shown(bayes: BayesCloaking, data: Dataset, points: FloatArray, seed: int) -> Shown:
    """A numbered draw at points (P, D)."""
    found = bayes.release(data, points, np.random.default_rng([seed, 3]))
    low, high = found.interval(LEVEL, "function")
    return Shown(found.samples[0], low[0], high[0])


def share_inside(release: BayesRelease, test: Dataset, level: float) -> float:
    """Share of people left out whose outputs lie inside the central interval of a level."""
    low, high = release.interval(level)
    return float(((low <= test.clipped_y) & (test.clipped_y <= high)).mean())


def likelihood(found: BayesRelease, test: Dataset) -> float:
    """Mean log density of the outputs under the mixture of models, in their unit."""
    mixture = found.uncertainty.prediction
    variances = mixture.variances + mixture.noise_variances[:, None]
    squares = (test.standardised() - mixture.means) ** 2 / variances
    with np.errstate(divide="ignore"):  # a weight of 0 leaves its model out
        weighted = np.log(mixture.weights)[:, :, None] - 0.5 * (squares + np.log(2 * np.pi * variances))
    return float(logsumexp(weighted, axis=1).mean() - np.log(test.y_scale))

"""A growth chart: centiles of people along the first input, and whom a person is taller than. No streamlit here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from dpgp_core.arrays import FloatArray
from dpgp_core.bayes.mixture import MixtureUncertainty
from dpgp_core.data import Dataset
from dpgp_core.mechanisms import BayesCloaking
from dpgp_core.mechanisms.bayes_cloaking import BayesPlan
from dpgp_core.release import CENTILES
from pages._ui.cloaking import staged
from pages._ui.cloaking.results import LEVEL, Draws, Numbers, Result, Scene
from pages._ui.model import Model

LEVELS = (1, *CENTILES[:1], 5, 10, 15, *range(20, 85, 5), 85, 90, 95, *CENTILES[-1:], 99)
NOTHING_HIDDEN, _DELTA, _GAP = 1000.0, 1e-5, 0.3  # budget at which privacy noise is too small to see


@dataclass(frozen=True, eq=False)
class Growth:
    """Values that so many in 100 people stay below, along the first input.

    Attributes:
        x: first inputs (G,).
        values: of each of ``LEVELS`` (L, G), in the output's unit.
    """

    x: FloatArray
    values: FloatArray

    @property
    def lines(self) -> dict[int, FloatArray]:
        """Those of a growth chart."""
        return {centile: self.values[LEVELS.index(centile)] for centile in CENTILES}

    def below(self, x: float, y: float) -> float:
        """How many in 100 people at x lie below y; between 1 and 99."""
        there = [float(np.interp(x, self.x, row)) for row in self.values]
        return float(np.interp(y, there, LEVELS))


def released(dataset: Dataset, scene: Scene, plan: BayesPlan, numbers: Numbers, _draws: Draws, model: Model) -> Growth:
    """From the first draw of Bayes cloaking: spends nothing beyond it."""
    X = scene.X_test[scene.records :]
    return _of(X, staged.read(dataset, X, plan, numbers.first, model))


def without_privacy(dataset: Dataset, scene: Scene, _name: str) -> Growth:
    """The same mixture of models when nothing is hidden. Not private."""
    X = scene.X_test[scene.records :]
    mechanism = BayesCloaking(epsilon=NOTHING_HIDDEN, delta=_DELTA, gap=_GAP)
    plan = mechanism.plan_for(dataset, X)
    return _of(X, mechanism.measure(plan, dataset, X, np.random.default_rng(0), mean=False).uncertainty)


def by_one_noise(result: Result) -> Growth:
    """Of a method with one declared noise for everybody: normal centiles from its interval for one more person."""
    grid = slice(result.outcome.scene.records, None)
    low, high = result.intervals.output.of(0)[:, grid]
    sd = (high - low) / 2 / ndtri((1 + LEVEL) / 2)
    values = [(low + high) / 2 + ndtri(level / 100) * sd for level in LEVELS]
    return Growth(result.outcome.scene.X_test[grid, 0], np.array(values))


def _of(X: FloatArray, uncertainty: MixtureUncertainty) -> Growth:
    return Growth(X[:, 0], np.array([uncertainty.quantile(level / 100)[0] for level in LEVELS]))

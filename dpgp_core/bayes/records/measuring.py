"""All that one budget measures, of as many draws as asked for: the stages, then the distances to their curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...accounting.guarantee import Guarantee
from ...arrays import FloatArray
from ...data import Dataset
from ...measurement.statistics import Statistics
from ..intervals import Mixture, side_by_side
from ..plan import PlannedStage
from ..spread import Distances, PlannedDistances
from .filter import mixture_of
from .places import Places
from .readers import ExactMeasure, InFloats, teaching
from .released import beside, distances_of, observed_of, part_of, stacked
from .spread import about_curve
from .stages import Measure, Observed, posterior, run_stages

_LARGEST = 2 * 10**7  # numbers kept at a time, 160 MB


class Setting(NamedTuple):
    """What stages are run with; all of it is public.

    Attributes:
        planned: the stages.
        places: each model at the records and at the test inputs.
        prior_weights: of the models (M,), sum 1.
        half_range: half the public range of the outputs, in model units.
        distances: what is measured about the curve after them; None for nothing.
    """

    planned: tuple[PlannedStage, ...]
    places: tuple[Places, ...]
    prior_weights: FloatArray
    half_range: float
    distances: PlannedDistances | None = None


class Predicted(NamedTuple):
    """What was observed, what it predicts of the curve, and for real releases what may be kept in a file."""

    observed: tuple[Observed, ...]
    distances: Distances | None
    prediction: Mixture
    statistics: tuple[Statistics, ...] = ()


def measure_exactly(setting: Setting, dataset: Dataset, guarantee: Guarantee, draws: int) -> Predicted:
    """Real releases, one after another; the predictions are a function of their statistics alone.

    Args:
        setting: planned for these records.
        dataset: supplies outputs, bounds and unit.
        guarantee: of one release.
        draws: how many releases.
    """
    statistics = tuple(_measured(setting, dataset, guarantee) for _ in range(draws))
    observed = stacked([observed_of(each) for each in statistics])
    prediction = read_stages(observed, setting.places, setting.prior_weights)
    return Predicted(observed, beside([distances_of(each) for each in statistics]), prediction, statistics)


def measure_for_teaching(setting: Setting, dataset: Dataset, rng: np.random.Generator, draws: int) -> Predicted:
    """Numbered draws, as many side by side as fit into memory.

    Args:
        setting: planned for these records.
        dataset: supplies outputs, bounds and unit.
        rng: source of the noise.
        draws: how many.
    """
    at_once = _at_once(setting.places, sum(stage.strategy.rank for stage in setting.planned))
    parts = [_taught(setting, dataset, rng, min(at_once, draws - done)) for done in range(0, draws, at_once)]
    observed, distances, mixtures = zip(*parts, strict=True)
    return Predicted(stacked(observed), beside(distances), side_by_side(mixtures))


def measure_silently(setting: Setting, dataset: Dataset) -> Predicted:
    """The same stages without any noise. Not private."""
    return Predicted(*run(setting, InFloats(dataset.standardised(), _silence), 1))


def read_stages(observed: Sequence[Observed], places: Sequence[Places], prior_weights: FloatArray) -> Mixture:
    """What stages of D draws say under any models, at any test inputs; as many draws at a time as fit into memory.

    Args:
        observed: all stages, in the order measured.
        places: each model (M) at the same records and at any test inputs.
        prior_weights: of the models (M,), sum 1.
    """
    at_once, parts = _at_once(places, sum(len(stage.B) for stage in observed)), list[Mixture]()
    for first in range(0, len(observed[0].z), at_once):
        some = slice(first, first + at_once)
        few = [part_of(each, some) for each in observed]
        outcome = posterior(few, places, prior_weights)
        numbers = [len(stage.B) for stage in observed]
        parts.append(mixture_of(places, outcome.states, outcome.weights, numbers))
    return side_by_side(parts)


def _at_once(places: Sequence[Places], rows: int) -> int:
    """Draws whose covariances with all measurements are kept at a time."""
    return max(1, _LARGEST // (len(places) * rows * len(places[0].variance)))


def _silence(rows: int) -> FloatArray:
    return np.zeros((1, rows))


def _measured(setting: Setting, dataset: Dataset, guarantee: Guarantee) -> Statistics:
    exact = ExactMeasure(dataset)
    run(setting, exact, 1)
    return exact.statistics(guarantee)


def _taught(
    setting: Setting, dataset: Dataset, rng: np.random.Generator, draws: int
) -> tuple[tuple[Observed, ...], Distances | None, Mixture]:
    return run(setting, teaching(dataset, rng, draws), draws)


def run(setting: Setting, measure: Measure, draws: int) -> tuple[tuple[Observed, ...], Distances | None, Mixture]:
    """All stages, then the distances to the curve that they gave: what is seen of D draws, and what it predicts.

    Args:
        setting: what is measured.
        measure: the only part that reads outputs.
        draws: D.
    """
    outcome = run_stages(*setting[:4], measure, draws=draws)
    distances = None
    if setting.distances is not None:
        distances = measure.distances(setting.distances, *about_curve(setting.places, outcome, setting.half_range))
    numbers = [len(stage.B) for stage in outcome.observed]
    return outcome.observed, distances, mixture_of(setting.places, outcome.states, outcome.weights, numbers)

"""Measuring in stages: each measures closely about the curve that the stages before it determined. The one loop.

A stage measures z = B q + s w of clipped outcomes, with columns of B at most 1 long, so that one record, or one person,
moves it by at most 1 (see ``measurement``). Its strategy and intervals are functions of numbers released before, so all
stages together are (1 / s)-GDP as ``budget`` splits it. Only a ``Reader`` sees records; the ``Filter`` plans each query
and reads the answer, which is post-processing.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Protocol

import numpy as np

from ..arrays import FloatArray
from ..measurement.measurement import CellCounts
from .budget import BudgetSplit
from .counts import Counts, Positions
from .dispersion import clipping_threshold, usual_distance
from .filter import Filter, Posterior
from .mixture import Mixture
from .queries import NOTHING, Distances, Measured, Squares, StageMeasurement
from .residuals import expected, thresholds_of_squares


class Reader(Protocol):
    """The only part that reads records: it returns each query with its noisy numbers."""

    def counts(self, measurement: CellCounts) -> FloatArray:
        """Noisy numbers of records in cells (M,)."""
        ...

    def positions(self, query: Positions) -> Positions:
        """Noisy locations of records within cells."""
        ...

    def sums(self, query: StageMeasurement) -> StageMeasurement:
        """Noisy sums of clipped residuals."""
        ...

    def squares(self, query: Squares) -> Squares:
        """Noisy sum of squared residuals of the records of the stage before."""
        ...

    def distances(self, query: Distances, g: FloatArray) -> Distances:
        """Noisy sums of distances from g at the nodes (F,), and how many outcomes lie above it."""
        ...


def run(
    filtered: Filter,
    split: BudgetSplit,
    reader: Reader,
    counts: Counts | None,
    *,
    people: bool = False,
    like: Measured | None = None,
) -> tuple[Measured, Mixture]:
    """All measurements of one budget, and their prediction at the filter's test inputs.

    Args:
        filtered: the mixture on the columns.
        split: of the budget.
        reader: the only part that reads records.
        counts: of records in the columns, if inputs are public; None to measure them.
        people: whether every person counts once, for measured counts.
        like: another release whose strategies and widths are taken instead of planning anew.
    """
    known: CellCounts | Counts
    z, positions = NOTHING, None
    if counts is not None:
        known = counts
    else:
        s = split.multiplier(split.counts)
        known = CellCounts(B=np.eye(filtered.columns.size), noise_multiplier=s, people=people)
        z = reader.counts(known)
    if split.locations:
        positions = reader.positions(
            Positions(split.multiplier(split.locations) * len(filtered.columns.numeric_sides) ** 0.5)
        )
    filtered = filtered.with_counts(known, z, positions)
    stages, posterior = run_stages(filtered, split, reader, like)
    distances = None
    if split.dispersion:
        B = None if like is None or like.distances is None else like.distances.B
        distances = measure_distances(filtered, posterior, split, reader, B)
    posterior = filtered.with_local_noise(posterior, stages, distances)
    prediction = filtered.with_dispersion(filtered.predict(posterior), distances)
    prediction = replace(prediction, unseen=filtered.unseen_outliers(posterior, stages))
    return Measured(stages, distances, known, z, positions), prediction


def run_stages(
    filtered: Filter, split: BudgetSplit, reader: Reader, like: Measured | None = None
) -> tuple[tuple[StageMeasurement, ...], Posterior]:
    """Measure stage after stage. The first stage takes the whole range and measures no squared residuals."""
    posterior, stages = filtered.prior(), list[StageMeasurement]()
    for number, (sums, squares) in enumerate(zip(split.sums, split.squares, strict=True)):
        width, B = (None, None) if like is None else (like.stages[number].width, like.stages[number].B)
        query, linear = filtered.next_stage(posterior, split.multiplier(sums), width if number else math.inf, B)
        stage = reader.sums(query)
        posterior = filtered.after(posterior, stage, linear)
        if squares:
            s, square = split.multiplier(squares), filtered.mean_square(posterior, stage.g)
            far, h = number % 2 == 0, filtered.half_range
            high = thresholds_of_squares(posterior.log_densities, square, filtered.n, s, h, far=far)
            stage = stage._replace(squares=reader.squares(Squares(stage.g, high, s)))
        stages.append(stage)
        posterior = filtered.with_squares_of_last(posterior, stages)
    return tuple(stages), posterior


def measure_distances(
    filtered: Filter, posterior: Posterior, split: BudgetSplit, reader: Reader, B: FloatArray | None = None
) -> Distances:
    """Measure distances from the curve that the stages gave; see ``dispersion``.

    Args:
        posterior: after the stages.
        B: strategy (r, M); None for the best one.
    """
    g, people, s = filtered.curve(posterior), filtered.record_counts, split.multiplier(split.dispersion)
    mean_square = float(filtered.mean_square(posterior, g) @ people / people.sum())
    threshold = clipping_threshold(mean_square, filtered.half_range)
    sd = math.sqrt(expected(posterior.log_densities, filtered.half_range).variance)
    if B is None:
        B = filtered.plan_distances(float(usual_distance(sd / threshold)), s).B
    above = (split.multiplier(split.above), math.nan) if split.above else None
    return reader.distances(Distances(B, threshold, sd, s, NOTHING, above), g)

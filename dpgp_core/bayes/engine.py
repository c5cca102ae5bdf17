"""The loop over all measurements of a release: plan a query, measure it, update the posterior.

"Why it is private" in docs/bayes_cloaking.md explains why all measurements together are (1 / s)-GDP. Only the
``Curator`` sees records. The ``Filter`` computes the posterior from its answers, which is post-processing.
"""

from __future__ import annotations

import math

import numpy as np

from ..arrays import FloatArray
from ..measurement.measurement import CellCounts
from .budget import BudgetSplit
from .counts import Locations, RecordCounts
from .curator import Curator
from .dispersion import clipping_threshold, plan_distances, predict_release, usual_distance
from .filter import Filter, Posterior
from .mixture import Mixture
from .queries import NOTHING, Distances, Measured, StageMeasurement
from .strategy import next_squares, next_stage
from .tuning import TUNING


def run(
    filtered: Filter,
    split: BudgetSplit,
    curator: Curator,
    counts: RecordCounts | None,
    X_test: FloatArray,
    *,
    people: bool = False,
    like: Measured | None = None,
) -> tuple[Measured, Mixture]:
    """Make all measurements of a release, and predict the curve at the test inputs.

    Args:
        filtered: the filter, before counts and locations are known.
        split: how the budget is split.
        curator: answers the queries.
        counts: numbers of records in the bins, if inputs are public; None to measure them.
        X_test: test inputs (P, D).
        people: whether each person counts once in measured counts.
        like: another release whose strategies and widths are used, so that nothing has to be planned.
    """
    known: CellCounts | RecordCounts | None = counts
    z, locations = NOTHING, None
    if known is None:
        s = split.multiplier(split.counts)
        known = CellCounts(B=np.eye(filtered.bins.size), noise_multiplier=s, people=people)
        z = curator.counts(known)
    if split.locations:
        locations = curator.locations(
            Locations(split.multiplier(split.locations) * len(filtered.bins.numeric_sides) ** 0.5)
        )
    filtered = filtered.with_counts(known, z, locations)
    stages, posterior = run_stages(filtered, split, curator, like)
    distances = None
    if split.dispersion:
        B = None if like is None or like.distances is None else like.distances.B
        distances = measure_distances(filtered, posterior, split, curator, B)
    measured = Measured(stages, distances, known, z, locations)
    return measured, predict_release(filtered, posterior, measured, X_test)


def run_stages(
    filtered: Filter, split: BudgetSplit, curator: Curator, like: Measured | None = None
) -> tuple[tuple[StageMeasurement, ...], Posterior]:
    """Measure the stages in turn, and return them with the posterior.

    The first stage has no curve yet. It clips to the whole range of the outcomes and measures no squared residuals.
    Arguments are those of ``run``.
    """
    posterior, stages = filtered.prior(), list[StageMeasurement]()
    for number, (sums, squares) in enumerate(zip(split.sums, split.squares, strict=True)):
        width, B = (None, None) if like is None else (like.stages[number].width, like.stages[number].B)
        query, linear = next_stage(filtered, posterior, split.multiplier(sums), width if number else math.inf, B)
        stage = curator.sums(query)
        posterior = filtered.after(posterior, stage, linear)
        if squares:
            excess = number in TUNING.stages_of_excess
            planned = next_squares(filtered, posterior, stage.g, split.multiplier(squares), excess=excess)
            stage = stage._replace(squares=curator.squares(planned))
        stages.append(stage)
        posterior = filtered.with_squares_of_last(posterior, stages)
    return tuple(stages), posterior


def measure_distances(
    filtered: Filter, posterior: Posterior, split: BudgetSplit, curator: Curator, B: FloatArray | None = None
) -> Distances:
    """Measure absolute residuals about the curve that the stages determine, see ``dispersion``.

    The posterior is that given all stages. B (r, M) is the strategy, or None for the best one. For other arguments see
    ``run``.
    """
    g, people, s = filtered.curve(posterior), filtered.counts.nonnegative, split.multiplier(split.dispersion)
    mean_square = float(filtered.mean_square(posterior, g) @ people / people.sum())
    threshold = clipping_threshold(mean_square, filtered.half_range)
    sd = math.sqrt(filtered.residuals(posterior).variance)
    if B is None:
        B = plan_distances(filtered, float(usual_distance(sd / threshold)), s).B
    above = (split.multiplier(split.above), math.nan) if split.above else None
    return curator.distances(Distances(B, threshold, sd, s, NOTHING, above), g)

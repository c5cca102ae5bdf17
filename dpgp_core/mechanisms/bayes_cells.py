"""Bayes cloaking over public cells, for private inputs or very many records: what is planned and measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..accounting.guarantee import promise_of
from ..arrays import FloatArray
from ..bayes.bias import Public
from ..bayes.cells.counts import Counts, plan_counts, public_counts
from ..bayes.cells.grid import cells_of
from ..bayes.cells.known import CellSetting, cell_mixture
from ..bayes.cells.measuring import CellsExactly, CellsForTeaching, CellsSilently, cell_statistics
from ..bayes.cells.models import cell_models
from ..bayes.cells.reading import people_at
from ..bayes.cells.spread import distances_setting, measure_distances
from ..bayes.cells.stages import CellReleased, Reader, cell_multipliers, run_cells
from ..bayes.intervals import Mixture, side_by_side
from ..bayes.plan import stage_multipliers
from ..bayes.settings import BayesSettings, reading_for
from ..data import Dataset, Kind
from ..gp.exact import check_columns
from ..levels import check_codes, groups_of
from ..measurement.measurement import CellCounts
from ..measurement.statistics import CellStatistics
from .bayes_release import BayesPlan, BayesRelease, taught, uncertainty_of

LOOSER = 30  # gap of strategies over cells against the one asked for: they are planned anew for each draw


@dataclass(frozen=True, kw_only=True, eq=False)
class CellPlan:
    """What can be planned before any private value is read. Public.

    Attributes:
        setting: models on the cells, number of records, range.
        counts: strategy of the counts (r, M), or the counts themselves where inputs are public; later stages are
            planned from what is released.
        kind: of the outcome.
        of_distances: models of the distances to the curve.
        people: whether people may have several rows; the number of records is then theirs.
    """

    setting: CellSetting
    counts: FloatArray | Counts
    kind: Kind
    of_distances: CellSetting
    people: bool = False


AnyBayesPlan = BayesPlan | CellPlan
"""Of records with columns of their own, and of records that share those of public cells."""


def plan_cells(
    settings: BayesSettings,
    n: int,
    public: Public,
    *,
    people: bool = False,
    X: FloatArray | None = None,
    person: NDArray[np.generic] | None = None,
) -> CellPlan:
    """Public plan over cells: their models, and the strategy of the counts, or the counts themselves.

    Args:
        settings: of the mechanism.
        n: number of records, or of people.
        public: box of D from 1 to 3 sides, range and kind of outcome.
        people: whether people may have several rows.
        X: inputs (n, D), where they are public.
        person: whose row each is (n,), where inputs are public and people may have several.

    Raises:
        ValueError: n or the box is out of range, or X does not fit it.
    """
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    x_box, half_range, kind = public
    grid = cells_of(x_box, n, settings.noise_multiplier, settings.waves, public=X is not None)
    gap = LOOSER * settings.gap
    if X is None:
        s, _ = cell_multipliers(settings.shares(kind).curve, settings.stages_of(kind))
        counts: FloatArray | Counts = plan_counts(grid, n, s, gap)
    else:
        check_columns(np.empty((1, len(x_box))), X)
        counts = public_counts(grid, X, person)
    return CellPlan(
        setting=CellSetting(
            grid=grid,
            models=cell_models(settings.models(x_box, half_range, reading_for(kind), n), grid),
            n=n,
            half_range=half_range,
            clip=settings.clip,
            gap=gap,
            two_valued=kind == "yes/no",
        ),
        counts=counts,
        kind=kind,
        of_distances=distances_setting(grid, n),
        people=people,
    )


def measure_cells(
    settings: BayesSettings,
    plan: CellPlan,
    dataset: Dataset,
    X_test: FloatArray,
    rng: np.random.Generator | None,
    draws: int,
    mean: bool,
) -> BayesRelease:
    """Measure and predict; see ``BayesCloaking.measure``."""
    grid = plan.setting.grid
    check_columns(np.empty((1, len(grid.box))), X_test)
    check_codes(X_test, grid.box, dataset.x_names)
    people = dataset.person is not None
    if dataset.people != plan.setting.n or dataset.x_box != grid.box or groups_of(dataset.x_box) != groups_of(grid.box):
        raise ValueError("the plan is for another number of records or another box; call plan_for() with these")
    if plan.people != people:
        raise ValueError("the plan says otherwise whether people have several rows; call plan_for() with these")
    of_these = isinstance(plan.counts, Counts) and public_counts(grid, dataset.X, dataset.person).mean
    if isinstance(plan.counts, Counts) and (plan.counts.mean != of_these).any():
        raise ValueError("the plan is for other records; call plan_for() with these")
    card = settings.promise_for(dataset)
    together = card.repeated(draws)
    predictions, measured, kept = list[Mixture](), list[CellReleased](), list[CellStatistics]()
    for _ in range(draws):
        reader = CellsExactly(dataset, grid) if rng is None else CellsForTeaching(dataset, grid, rng)
        prediction, released = draw_cells(settings, plan, X_test, reader)
        predictions.append(prediction)
        measured.append(released)
        if isinstance(reader, CellsExactly):
            kept.append(cell_statistics(dataset, grid, released, reader.stages, promise_of(card)))
    uncertainty = uncertainty_of(dataset, side_by_side(predictions), cut=("outputs", "function"))
    release = BayesRelease(
        X_test=X_test,
        samples=uncertainty.values,
        guarantee=together,
        statistics=tuple(kept),
        uncertainty=uncertainty,
        observed=(),
        cells=tuple(measured),
        models=settings.models(dataset.x_box, plan.setting.half_range, reading_for(plan.kind), plan.setting.n),
    )
    if rng is None:
        return release
    if not mean:
        return taught(release)
    silent, _ = draw_cells(settings, plan, X_test, CellsSilently(dataset, grid), like=measured[0])
    return taught(release, silent)


def draw_cells(
    settings: BayesSettings,
    plan: CellPlan,
    X_test: FloatArray,
    reader: Reader,
    like: CellReleased | None = None,
) -> tuple[Mixture, CellReleased]:
    """One draw: what it predicts at X_test (P, D), and what was released.

    Args:
        settings: of the mechanism.
        plan: for the records.
        X_test: test inputs.
        reader: the only part that reads records.
        like: another draw, whose strategies are taken instead of planning anew.
    """
    shares, strategies, of_distances = settings.shares(plan.kind), None, None
    if like is not None:
        strategies = [(stage.B, stage.width) for stage in like.stages]
        of_distances = None if like.distances is None else like.distances.B
    counts: CellCounts | Counts
    if isinstance(plan.counts, Counts):
        counts, multipliers = plan.counts, stage_multipliers(shares.curve, settings.stages_of(plan.kind))
    else:
        s, multipliers = cell_multipliers(shares.curve, settings.stages_of(plan.kind))
        counts = CellCounts(B=plan.counts, noise_multiplier=s, people=plan.people)
    released, found = run_cells(plan.setting, counts, multipliers, reader, strategies)
    if shares.distances is not None:
        distances = measure_distances(plan.setting, plan.of_distances, found, shares, reader, of_distances)
        released = released._replace(distances=distances)
    prediction = cell_mixture(plan.setting.models, found, X_test)
    return people_at(plan.setting, found, released.distances, prediction, X_test), released

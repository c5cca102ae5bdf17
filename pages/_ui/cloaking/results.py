"""A release on the pages: its steps, from the core's functions to one result."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from datasets import exhibit, london_hexes
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.arrays import FloatArray
from dpgp_core.bayes.mixture import MixtureUncertainty
from dpgp_core.bayes.queries import Measured
from dpgp_core.gp.regression import EXACT_ALWAYS, InferenceChoice
from dpgp_core.gp.uncertainty import Predictive, predictive
from dpgp_core.levels import LevelSide
from dpgp_core.linalg import dense_of
from dpgp_core.measurement.noise import NumberedDraws
from dpgp_core.measurement.statistics import CellStatistics
from dpgp_core.mechanisms import Plan
from dpgp_core.mechanisms.cloaking import OptimisedNoise
from dpgp_core.mechanisms.gaussian import GaussianMechanism, SimulatedInterval
from dpgp_core.strategies.noise_design import NoiseDesign
from dpgp_core.table import Dataset
from pages._ui.model import Budget, Design, Draw, Model, mechanism_of
from pages._ui.work.engine import engine

LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Scene:
    """Points at which values are predicted. The outputs of the first ``records`` points are known.

    Attributes:
        X_test: test inputs (P, D).
        truth: clipped outputs (records,), in the output's unit. They are private.
        labels: public columns for display with P rows (cell, borough, sales), for maps.
    """

    X_test: FloatArray
    truth: FloatArray
    labels: pd.DataFrame | None = None

    @property
    def records(self) -> int:
        """Number of leading rows whose outputs are known."""
        return len(self.truth)

    @property
    def grid(self) -> slice:
        """Rows of the curve that is drawn: all others."""
        return slice(self.records, None)

    @property
    def x(self) -> FloatArray:
        """First inputs of the curve (G,)."""
        return self.X_test[self.grid, 0]

    @property
    def is_map(self) -> bool:
        """Whether the scene is drawn as a map."""
        return self.labels is not None

    @property
    def at_records(self) -> tuple[float, ...]:
        """Weight of every row (P) in the objective if accuracy matters at the records."""
        return tuple((np.arange(len(self.X_test)) < self.records).astype(float))


@dataclass(frozen=True, eq=False)
class Ends:
    """Ends of an interval about every released curve, (draws, P) each."""

    low: FloatArray
    high: FloatArray

    @property
    def half(self) -> FloatArray:
        """Half-width about the first curve (P,)."""
        low, high = self.of(0)
        return np.asarray((high - low) / 2)

    def of(self, draw: int) -> FloatArray:
        """Ends about one curve (2, P), the lower ones first."""
        return np.stack([self.low[draw], self.high[draw]])


@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of ``LEVEL`` about every released curve, in the output's unit. They are public.

    Attributes:
        output: intervals for one further record's output.
        curve: intervals for the latent curve.
        noise: half-width (P,) of the interval for the curve that the same outputs give without noise; None if it
            differs between releases.
        residual_sd: residual standard deviation about the first curve (P,); None if it is not measured.
    """

    output: Ends
    curve: Ends
    noise: FloatArray | None = None
    residual_sd: FloatArray | None = None

    @classmethod
    def about(cls, samples: FloatArray, output: FloatArray, curve: FloatArray, noise: FloatArray) -> Intervals:
        """Return intervals about released curves (draws, P) from half-widths (P,) of ``stage_halves``."""
        return cls(Ends(samples - output, samples + output), Ends(samples - curve, samples + curve), noise)

    @classmethod
    def together(cls, every: Sequence[Intervals]) -> Intervals:
        """Return the intervals of several releases of Bayes cloaking as those of one result."""
        output, curve = (
            Ends(np.concatenate([each.low for each in ends]), np.concatenate([each.high for each in ends]))
            for ends in zip(*((each.output, each.curve) for each in every), strict=True)
        )
        return cls(output, curve, residual_sd=every[0].residual_sd)

    @property
    def blur(self) -> FloatArray:
        """Half-width (P,) for the privacy noise if it is added once, otherwise for the curve."""
        return self.curve.half if self.noise is None else self.noise


@dataclass(frozen=True, eq=False)
class Numbers:
    """Everything that one simulated release of Bayes cloaking releases, and what its own models read from it.

    Attributes:
        measured: all measurements, in model units.
        statistics: these measurements as a release keeps them, to be read again.
        guarantee: guarantee of this release.
        curve: released curve (P,), in the output's unit.
        intervals: intervals about it.
        along: prediction along the curve that is drawn; None for a map.
    """

    measured: Measured
    statistics: CellStatistics
    guarantee: Guarantee
    curve: FloatArray
    intervals: Intervals
    along: MixtureUncertainty | None


@dataclass(frozen=True, eq=False)
class Result:
    """Everything that a page needs for one setting. ``dataset``, the truth of the scene and ``nonprivate`` are private.

    Attributes:
        model, design, draw: settings.
        dataset, scene: the records, and the points of prediction.
        nonprivate: the curve without privacy noise at every row of the scene (P,), in the output's unit.
        fit: the cloaking matrix.
        plan: plan of a mechanism that adds noise once; None for Bayes cloaking, which plans each stage after the one
            before.
        samples: released curves (draws, P), in the output's unit.
        guarantee: guarantee of all samples together.
        intervals: intervals about the samples.
        budget: budget of Bayes cloaking; None for a mechanism that adds noise once.
        numbers: released numbers of each release of Bayes cloaking; empty for a mechanism that adds noise once.
    """

    model: Model
    design: Design
    draw: Draw
    dataset: Dataset
    scene: Scene
    nonprivate: FloatArray
    fit: Predictive
    plan: Plan | None
    samples: FloatArray
    guarantee: Guarantee
    intervals: Intervals
    budget: Budget | None = None
    numbers: tuple[Numbers, ...] = ()

    @property
    def settings(self) -> tuple[Model, Design, Draw]:
        """All settings that determine it."""
        return self.model, self.design, self.draw

    @property
    def released(self) -> tuple[object, ...]:
        """Settings that determine the release. The model that reads measurements in stages is not among them, because
        it is free.
        """
        return (self.model.dataset, *self.settings[1:]) if self.design.in_stages else self.settings

    @property
    def linear_plan(self) -> Plan:
        """Plan of a mechanism that adds noise once to a linear map of the outputs."""
        assert self.plan is not None
        return self.plan

    @property
    def noise_design(self) -> NoiseDesign:
        """Noise design of cloaking."""
        assert self.linear_plan.design is not None
        return self.linear_plan.design

    def shift_of(self, record: int, distance: float) -> float:
        """Return how far all released values together move if one record's output changes by a distance, in the
        output's unit.

        It is in standard deviations of the noise along the direction in which the move is most visible (Mahalanobis).
        """
        column = dense_of(self.linear_plan.weights)[:, record]
        direction = np.linalg.lstsq(self.linear_plan.factor, column, rcond=1e-14)[0]
        mechanism: GaussianMechanism = mechanism_of(*self.settings)
        return float(np.linalg.norm(direction)) * distance / (self.dataset.output_range * mechanism.noise_multiplier)


@dataclass(frozen=True, eq=False)
class HeldOutErrors:
    """Errors on people left out, of a release, of the one next to it, and without privacy. They are not private.

    Attributes:
        ours, beside: error of each simulated release (D,), whose mean is shown; None while it is computed.
        design: noise design of the release next to it.
        without: error without privacy noise. All errors are in the output's unit.
    """

    ours: FloatArray | None
    beside: FloatArray | None
    design: Design
    without: float


GRID_POINTS = 200


def scene_of(dataset: Dataset, name: str) -> Scene:
    """Return the test points of a data set: its own inputs, then a grid along the first as declared, or the cells of a
    map.
    """
    shipped = exhibit(name)
    if shipped.scene == "map":
        medians, cells = london_hexes.load(), london_hexes.map_cells()
        empty = cells[cells["sales"] == 0]
        X_test = np.vstack([medians.X, empty[["easting_km", "northing_km"]].to_numpy(float)])
        labels = pd.concat([pd.DataFrame(dict(medians.labels)), empty[["cell", "sales"]]], ignore_index=True)
        return Scene(X_test, medians.clipped_y, labels.fillna({"borough": "no sale here"}))
    low, high = dataset.x_box[0]
    # 30 % beyond the domain, because a map of the noise should show that it is largest where nobody lives.
    along = np.linspace(*(shipped.drawn or (low, high + 0.3 * (high - low))), GRID_POINTS)
    return Scene(np.vstack([dataset.X, along_first(dataset, along)]), dataset.clipped_y)


def along_first(dataset: Dataset, x: FloatArray) -> FloatArray:
    """Return points (G, D) at first inputs x (G,), with the other inputs at the middle of their public box, and in
    their first category.
    """
    middle = [0.0 if isinstance(side, LevelSide) else float(np.mean(side)) for side in dataset.x_box]
    points: FloatArray = np.tile(middle, (len(x), 1))
    points[:, 0] = x
    return points


def stage_matrix(dataset: Dataset, scene: Scene, model: Model) -> Predictive:
    """Stage 1: return the cloaking matrix, which is public."""
    return predictive(InferenceChoice(), model.build(), dataset.X, scene.X_test, model.noise)


def stage_plan(dataset: Dataset, scene: Scene, fit: Predictive, model: Model, design: Design) -> Plan:
    """Stage 2: return the plan per unit budget and unit output change, which is public."""
    # The plan does not depend on the budget, so any budget will do.
    mechanism = mechanism_of(model, design, Draw(epsilon=1.0, delta=0.01))
    if isinstance(mechanism, OptimisedNoise) and design.objective == "trace" and design.focus == "records":
        mechanism = replace(mechanism, weights=scene.at_records)
    many = dataset.n > EXACT_ALWAYS  # so that passes over the records run on the cluster, if there is one
    with engine() if many else nullcontext() as executor:
        plan: Plan = mechanism.plan_of(fit, scene.X_test, executor)
    return plan


def stage_draws(
    dataset: Dataset, scene: Scene, plan: Plan, model: Model, design: Design, draw: Draw
) -> tuple[FloatArray, Guarantee]:
    """Stage 3: scale the noise and sample it (draws, P). This takes milliseconds, and changes neither C, lambda nor
    M.
    """
    mechanism = mechanism_of(model, design, draw)
    release = mechanism.measure(plan, dataset, scene.X_test, NumberedDraws(draw.seed, draw.draws), draw.draws)
    return release.samples, release.guarantee


def stage_halves(
    dataset: Dataset, scene: Scene, plan: Plan, model: Model, design: Design, draw: Draw
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return half-widths (P,) of intervals of ``LEVEL`` about any released curve, the same for every release.

    The intervals are for one further record's output, for the latent curve, and for the curve that the same outputs
    give without noise. All of them are public.
    """
    mechanism = mechanism_of(model, design, draw)
    uncertainty = mechanism.uncertainty(mechanism.mapped(plan, dataset), dataset, np.zeros((1, len(scene.X_test))))
    assert isinstance(uncertainty, SimulatedInterval)
    output, curve = uncertainty.half_width(LEVEL, "outputs"), uncertainty.half_width(LEVEL, "function")
    return output, curve, uncertainty.noise_half_width(LEVEL)

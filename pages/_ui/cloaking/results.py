"""A release on the pages: from the core's stages to one result."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from datasets import exhibit, london_hexes
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.arrays import FloatArray
from dpgp_core.bayes.queries import Measured
from dpgp_core.gp.regression import EXACT_ALWAYS, InferenceChoice
from dpgp_core.gp.uncertainty import Predictive, predictive
from dpgp_core.measurement.noise import NumberedDraws
from dpgp_core.measurement.statistics import CellStatistics
from dpgp_core.mechanisms import Plan
from dpgp_core.mechanisms.cloaking import OptimisedNoise
from dpgp_core.mechanisms.gaussian import SimulatedInterval
from dpgp_core.strategies.noise_design import NoiseDesign
from dpgp_core.table import Dataset
from pages._ui.model import Budget, Design, Draw, Model, mechanism_of
from pages._ui.work.engine import engine

LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Scene:
    """Where predictions are made: the first ``records`` rows of X_test carry a known truth (records,).

    Attributes:
        X_test: test inputs (P, D).
        truth: clipped outputs (records,), in the output's unit. Private.
        labels: P rows of public columns for display (cell, borough, sales), for maps.
    """

    X_test: FloatArray
    truth: FloatArray
    labels: pd.DataFrame | None = None

    @property
    def records(self) -> int:
        """Number of leading rows that carry a truth."""
        return len(self.truth)

    @property
    def grid(self) -> slice:
        """The rows of a curve that is drawn: all others."""
        return slice(self.records, None)

    @property
    def x(self) -> FloatArray:
        """Their first inputs (G,)."""
        return self.X_test[self.grid, 0]

    @property
    def is_map(self) -> bool:
        """Whether it is drawn as a map."""
        return self.labels is not None

    @property
    def at_records(self) -> tuple[float, ...]:
        """Importance of every row (P) where accuracy matters at the records."""
        return tuple((np.arange(len(self.X_test)) < self.records).astype(float))


@dataclass(frozen=True, eq=False)
class Ends:
    """Of an interval about every released curve (draws, P) each."""

    low: FloatArray
    high: FloatArray

    @property
    def half(self) -> FloatArray:
        """Half its width about the first curve (P,)."""
        low, high = self.of(0)
        return np.asarray((high - low) / 2)

    def of(self, draw: int) -> FloatArray:
        """Of one curve (2, P), the lower ends first."""
        return np.stack([self.low[draw], self.high[draw]])


@dataclass(frozen=True, eq=False)
class Intervals:
    """Of ``LEVEL`` about every released curve, in the output's unit. Public.

    Attributes:
        output: hold one further record's output.
        curve: hold the latent curve.
        noise: half of that which holds the curve that the same outputs give without noise (P,); None where it differs
            from draw to draw, and with what is hidden.
        scatter: standard deviation of people about the first curve (P,); None where it is not measured.
    """

    output: Ends
    curve: Ends
    noise: FloatArray | None = None
    scatter: FloatArray | None = None

    @classmethod
    def about(cls, samples: FloatArray, output: FloatArray, curve: FloatArray, noise: FloatArray) -> Intervals:
        """About released curves (draws, P), from halves (P,) as of ``stage_halves``."""
        return cls(Ends(samples - output, samples + output), Ends(samples - curve, samples + curve), noise)

    @property
    def blur(self) -> FloatArray:
        """Half of the range of the privacy noise (P,); where that is not added once, of the curve."""
        return self.curve.half if self.noise is None else self.noise


@dataclass(frozen=True, eq=False)
class Numbers:
    """Everything that one numbered draw of Bayes cloaking released.

    Attributes:
        measured: all measurements, in model units.
        statistics: the same as a release keeps them, to be read again.
        guarantee: the promise for this draw.
    """

    measured: Measured
    statistics: CellStatistics
    guarantee: Guarantee


@dataclass(frozen=True, eq=False)
class Result:
    """Everything a page needs for one setting. Of it ``dataset``, the scene's truth and ``nonprivate`` are private.

    Attributes:
        model, design, draw: settings.
        dataset, scene: which records, and where predictions are made.
        nonprivate: the curve when nothing is hidden, at every row of the scene (P,), in the output's unit.
        fit: the cloaking matrix.
        plan: of a mechanism that adds noise once; None for Bayes cloaking, which plans each stage on the way.
        samples: to publish (draws, P), in the output's unit.
        guarantee: of all samples together.
        intervals: about them.
        budget: of Bayes cloaking; None where noise is added once.
        numbers: what each draw of Bayes cloaking released; empty where noise is added once.
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
        """All that it depends on."""
        return self.model, self.design, self.draw

    @property
    def released(self) -> tuple[object, ...]:
        """Settings of the release: numbers that stages measured are read with any model, for nothing."""
        return (self.model.dataset, *self.settings[1:]) if self.design.in_stages else self.settings

    @property
    def linear_plan(self) -> Plan:
        """Of a mechanism that adds noise once, to a linear map of the outputs."""
        assert self.plan is not None
        return self.plan

    @property
    def noise_design(self) -> NoiseDesign:
        """Of cloaking: how its noise is shared out."""
        assert self.linear_plan.design is not None
        return self.linear_plan.design


@dataclass(frozen=True, eq=False)
class HeldOutErrors:
    """Errors on people left out, of a release, of another beside it, and without privacy. Not private.

    Attributes:
        ours, beside: of each simulated release (D,), whose mean pages quote; None while it is being computed.
        design: of the release beside it.
        without: when nothing is hidden, in the output's unit as all of them.
    """

    ours: FloatArray | None
    beside: FloatArray | None
    design: Design
    without: float


GRID_POINTS = 200


def scene_of(dataset: Dataset, name: str) -> Scene:
    """Test points of a dataset: its own inputs, then a grid along the first, as declared; the cells of a map."""
    shipped = exhibit(name)
    if shipped.scene == "map":
        medians, cells = london_hexes.load(), london_hexes.map_cells()
        empty = cells[cells["sales"] == 0]
        X_test = np.vstack([medians.X, empty[["easting_km", "northing_km"]].to_numpy(float)])
        labels = pd.concat([pd.DataFrame(dict(medians.labels)), empty[["cell", "sales"]]], ignore_index=True)
        return Scene(X_test, medians.clipped_y, labels.fillna({"borough": "no sale here"}))
    low, high = dataset.x_box[0]
    # 30 % beyond the domain: the noise peaks where nobody lives, and a map of it should show that.
    along = np.linspace(*(shipped.drawn or (low, high + 0.3 * (high - low))), GRID_POINTS)
    return Scene(np.vstack([dataset.X, along_first(dataset, along)]), dataset.clipped_y)


def along_first(dataset: Dataset, x: FloatArray) -> FloatArray:
    """Points (G, D) at first inputs x (G,), other inputs in the middle of their public box."""
    points = np.tile(np.mean(dataset.x_box, axis=1), (len(x), 1))
    points[:, 0] = x
    return points


def stage_matrix(dataset: Dataset, scene: Scene, model: Model) -> Predictive:
    """Stage 1: the cloaking matrix, public."""
    return predictive(InferenceChoice(), model.build(), dataset.X, scene.X_test, model.noise)


def stage_plan(dataset: Dataset, scene: Scene, fit: Predictive, model: Model, design: Design) -> Plan:
    """Stage 2: the plan per unit budget and change; public."""
    # The plan does not depend on the budget: any will do.
    mechanism = mechanism_of(model, design, Draw(epsilon=1.0, delta=0.01))
    if isinstance(mechanism, OptimisedNoise) and design.objective == "trace" and design.focus == "records":
        mechanism = replace(mechanism, weights=scene.at_records)
    many = dataset.n > EXACT_ALWAYS  # then the passes over the records run on the cluster, if there is one
    with engine() if many else nullcontext() as executor:
        plan: Plan = mechanism.plan_of(fit, scene.X_test, executor)
    return plan


def stage_draws(
    dataset: Dataset, scene: Scene, plan: Plan, model: Model, design: Design, draw: Draw
) -> tuple[FloatArray, Guarantee]:
    """Stage 3: scale the noise and draw it (draws, P). Milliseconds; touches neither C, lambda nor M."""
    mechanism = mechanism_of(model, design, draw)
    release = mechanism.measure(plan, dataset, scene.X_test, NumberedDraws(draw.seed, draw.draws), draw.draws)
    return release.samples, release.guarantee


def stage_halves(
    dataset: Dataset, scene: Scene, plan: Plan, model: Model, design: Design, draw: Draw
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Beside stage 3: halves of intervals of ``LEVEL`` about any released curve (P,), the same for every draw. Public.

    They hold one further record's output, the latent curve, and the curve that the same outputs give without noise.
    """
    mechanism = mechanism_of(model, design, draw)
    uncertainty = mechanism.uncertainty(mechanism.mapped(plan, dataset), dataset, np.zeros((1, len(scene.X_test))))
    assert isinstance(uncertainty, SimulatedInterval)
    output, curve = uncertainty.half_width(LEVEL, "outputs"), uncertainty.half_width(LEVEL, "function")
    return output, curve, uncertainty.noise_half_width(LEVEL)

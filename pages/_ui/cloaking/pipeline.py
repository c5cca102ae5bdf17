"""From a handful of settings to what a page shows: pure functions over the core, no streamlit.

Three stages, each a function of small frozen settings, so that each can be cached by itself:
C (data, model, test points) -> plan (objective, focus) -> outcome (budget, calibration, draw).
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from datasets import london_hexes
from datasets.exhibit import Scene as SceneKind
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.evaluation.errors import draw_errors, rmse
from dpgp_core.gp.inference import EXACT_ALWAYS, InferenceChoice
from dpgp_core.gp.predictive import Predictive, predictive
from dpgp_core.mechanisms import Plan, RefinedCloaking, Release, TeachingRelease
from dpgp_core.mechanisms.cloaking import OptimisedNoise
from dpgp_core.mechanisms.recorded import SimulatedInterval
from pages._ui.model import Design, Draw, Model, mechanism_of
from pages._ui.work.engine import engine

GRID_POINTS = 200
SIMULATED_DRAWS = 200
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


@dataclass(frozen=True, eq=False)
class Outcome:
    """One release and its errors at the rows with a known truth. Errors are not private.

    Attributes:
        release: at every row of the scene.
        scene: where.
        draw_rmse: RMSE of simulated draws (200,), in the output's unit.
        nonprivate: the GP's posterior mean at every row (P,), in the output's unit.
        nonprivate_rmse: error of ``nonprivate``.
    """

    release: Release
    scene: Scene
    nonprivate: FloatArray
    draw_rmse: FloatArray
    nonprivate_rmse: float

    @property
    def mean_rmse(self) -> float:
        """Error of a typical release: the mean over the simulated draws."""
        return float(self.draw_rmse.mean())


@dataclass(frozen=True, eq=False)
class Halves:
    """Halves of intervals of ``LEVEL`` about a released curve (P,), in the output's unit. Public.

    Attributes:
        output: hold one further record's output.
        curve: hold the latent curve.
        noise: hold the curve that the same outputs give without noise.
    """

    output: FloatArray
    curve: FloatArray
    noise: FloatArray


@dataclass(frozen=True, eq=False)
class Result:
    """Everything a page needs for one setting.

    Attributes:
        settings: what all of it depends on.
        dataset, fit, plan, outcome, halves: the stages' results.
        seconds: time taken by each stage in this run.
        computed: stages that were computed in this run; the others came from the cache.
    """

    settings: tuple[Model, Design, Draw]
    dataset: Dataset
    fit: Predictive
    plan: Plan
    outcome: Outcome
    halves: Halves
    seconds: dict[str, float]
    computed: frozenset[str]


def make_scene(dataset: Dataset, kind: SceneKind | None, drawn: tuple[float, float] | None = None) -> Scene:
    """Test points of a dataset: its own inputs, then a grid along the first, as declared; the cells of a map."""
    if kind == "map":
        medians, cells = london_hexes.load(), london_hexes.map_cells()
        empty = cells[cells["sales"] == 0]
        X_test = np.vstack([medians.X, empty[["easting_km", "northing_km"]].to_numpy(float)])
        labels = pd.concat([pd.DataFrame(dict(medians.labels)), empty[["cell", "sales"]]], ignore_index=True)
        return Scene(X_test, medians.clipped_y, labels.fillna({"borough": "no sale here"}))
    low, high = dataset.x_box[0]
    # 30 % beyond the domain: the noise peaks where nobody lives, and a map of it should show that.
    along = np.linspace(*(drawn or (low, high + 0.3 * (high - low))), GRID_POINTS)
    grid = np.tile(np.mean(dataset.x_box, axis=1), (GRID_POINTS, 1))  # other inputs in the middle of their box
    grid[:, 0] = along
    return Scene(np.vstack([dataset.X, grid]), dataset.clipped_y)


def stage_matrix(dataset: Dataset, scene: Scene, model: Model) -> Predictive:
    """Stage 1: the cloaking matrix, public."""
    return predictive(InferenceChoice(), model.build(), dataset.X, scene.X_test, model.noise)


def stage_plan(dataset: Dataset, scene: Scene, model: Model, fit: Predictive, design: Design) -> Plan:
    """Stage 2: what is released per unit budget and change; public."""
    # The plan does not depend on the budget: any will do.
    mechanism = mechanism_of(model, design, Draw(epsilon=1.0, delta=0.01))
    if isinstance(mechanism, OptimisedNoise) and design.objective == "trace" and design.focus == "records":
        weights = (np.arange(len(scene.X_test)) < scene.records).astype(float)
        mechanism = replace(mechanism, weights=tuple(weights))
    many = dataset.n > EXACT_ALWAYS  # then the passes over the records run on the cluster, if there is one
    with engine() if many else nullcontext() as executor:
        plan: Plan = mechanism.plan_of(fit, scene.X_test, executor)
    return plan


def stage_outcome(
    dataset: Dataset, scene: Scene, model: Model, fit: Predictive, plan: Plan, design: Design, draw: Draw
) -> Outcome:
    """Stage 3: scale the noise and draw it. Milliseconds; touches neither C, lambda nor M."""
    mechanism = mechanism_of(model, design, draw)
    release = mechanism.release_planned(plan, dataset, scene.X_test, np.random.default_rng(draw.seed), draw.draws)
    at = slice(scene.records)
    nonprivate = dataset.in_data_units(fit.C @ dataset.standardised())
    simulation = np.random.default_rng([draw.seed, 1])
    if isinstance(mechanism, RefinedCloaking):
        simulated = mechanism.release_planned(plan, dataset, scene.X_test, simulation, SIMULATED_DRAWS).samples
        errors = rmse(simulated[:, at], scene.truth)
    else:
        assert isinstance(release, TeachingRelease)
        assert release.noise_factor is not None
        errors = draw_errors(release.mean[at], release.noise_factor[at], scene.truth, simulation, SIMULATED_DRAWS)
    return Outcome(
        release=release,
        scene=scene,
        nonprivate=nonprivate,
        draw_rmse=errors,
        nonprivate_rmse=float(rmse(nonprivate[at], scene.truth)),
    )


def stage_halves(dataset: Dataset, scene: Scene, plan: Plan, model: Model, design: Design, draw: Draw) -> Halves:
    """Beside stage 3: how far the truth may lie from a released curve. The same for every draw, and public."""
    mechanism = mechanism_of(model, design, draw)
    found = mechanism.uncertainty(mechanism.mapped(plan, dataset), dataset, np.zeros((1, len(scene.X_test))))
    assert isinstance(found, SimulatedInterval)
    return Halves(
        output=found.half_width(LEVEL, "outputs"),
        curve=found.half_width(LEVEL, "function"),
        noise=found.noise_half_width(LEVEL),
    )

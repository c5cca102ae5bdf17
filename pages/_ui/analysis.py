"""From a handful of settings to what a page shows: pure functions over the core, no streamlit.

Three stages, each a function of small frozen settings, so that each can be cached by itself:
C (data, model, test points) -> plan (objective, focus) -> outcome (budget, calibration, draw).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

import datasets
from datasets import london_hexes
from dpgp_core import kernels
from dpgp_core.calibration import Method
from dpgp_core.columns import Matrix
from dpgp_core.data import Dataset, FloatArray
from dpgp_core.design_solver import column_norms
from dpgp_core.gp.exact import cloaking_matrix
from dpgp_core.gp.inference import EXACT_ALWAYS, Inference, InferenceChoice, describe
from dpgp_core.mechanisms import Cloaking, GPPrior, Plan, RefinedCloaking, Release
from dpgp_core.mechanisms.cloaking import cloaking_plan
from dpgp_core.mechanisms.refined_cloaking import RefinedPlan, unclipped_noise
from dpgp_core.noise_design import ObjectiveName, design_noise
from dpgp_core.utility import draw_errors, rmse
from pages._ui.engine import engine

KERNELS = {kernel.__name__: kernel for kernel in kernels.KERNELS}
GRID_POINTS = 200
SIMULATED_DRAWS = 200
# What refined cloaking clips residuals to, in model units, where 1.5 noise standard deviations is too wide a public
# guess: prices of one place stay within a factor of 1.45 of its smooth level.
RESIDUAL_BOUNDS = {"london_hexes": 0.375}
Focus = Literal["records", "everywhere"]
MechanismName = Literal["refined", "cloaking", "gp_prior"]


# Lengthscales of the inputs, relative to the first: 25 years of age go with 15 kg among adults, 5 with 20 among girls.
INPUT_RATIOS = {
    "kung_2d": (1.0, 0.6),
    "growth_2d": (1.0, 4.0),
    "london_hexes": (1.0, 1.0),
    "london_sales": (1.0, 1.0),
}


def load_dataset(name: str) -> Dataset:
    """A shipped dataset by the name used on pages; ``kung_2d`` is !Kung with two inputs."""
    return datasets.load("kung", dims=2) if name == "kung_2d" else datasets.load(name)


@dataclass(frozen=True)
class Model:
    """Stage 1 settings: everything that C depends on.

    Attributes:
        dataset: name in ``datasets.DATASETS``.
        kernel: class name in ``dpgp_core.kernels``.
        lengthscale: in the dataset's input unit.
        noise: noise variance over kernel variance (the kernel variance is 1 in model units).
    """

    dataset: str
    kernel: str
    lengthscale: float
    noise: float

    def build(self) -> kernels.Stationary:
        """The kernel, unit variance; several inputs share the lengthscale in public proportions."""
        ratios = INPUT_RATIOS.get(self.dataset)
        scales = self.lengthscale if ratios is None else tuple(self.lengthscale * ratio for ratio in ratios)
        return KERNELS[self.kernel](lengthscale=scales)


@dataclass(frozen=True)
class Design:
    """Stage 2 settings: what the noise is optimised for. Neither epsilon, delta nor a draw."""

    mechanism: MechanismName = "refined"
    objective: ObjectiveName = "trace"
    focus: Focus = "records"
    gap: float = 1e-3


@dataclass(frozen=True)
class Draw:
    """Stage 3 settings: budget, calibration and which draw of the noise."""

    epsilon: float
    delta: float
    calibration: Method = "analytic"
    shrinkage: bool = False
    draws: int = 1
    seed: int = 1


PAPER_DESIGN = Design(mechanism="cloaking", objective="logdet")


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
class Fit:
    """Stage 1 result: C (P, n), the posterior standard deviation of f (P,) in the output's unit, how C was computed."""

    C: Matrix
    posterior_sd: FloatArray
    inference: Inference


@dataclass(frozen=True, eq=False)
class Outcome:
    """One release and its errors at the rows with a known truth. Errors are not private.

    Attributes:
        release: at every row of the scene.
        scene: where.
        draw_rmse: RMSE of simulated draws (200,), in the output's unit.
        nonprivate: the GP's posterior mean at every row (P,), in the output's unit.
        noise_factor: (P, k), the factor of all the noise in the draws; for refined cloaking that of both stages,
            exact where nothing is clipped. Public.
        nonprivate_rmse: error of ``nonprivate``.
    """

    release: Release
    scene: Scene
    nonprivate: FloatArray
    noise_factor: FloatArray
    draw_rmse: FloatArray
    nonprivate_rmse: float

    @property
    def noise_sd(self) -> FloatArray:
        """Standard deviation of the privacy noise at every row (P,), in the output's unit. Public."""
        return np.sqrt(column_norms(self.noise_factor.T))

    @property
    def mean_rmse(self) -> float:
        """Error of a typical release: the mean over the simulated draws."""
        return float(self.draw_rmse.mean())


@dataclass(frozen=True, eq=False)
class Result:
    """Everything a page needs for one setting.

    Attributes:
        settings: what all of it depends on.
        dataset, fit, plan, outcome: the stages' results.
        seconds: time taken by each stage in this run.
        computed: stages that were computed in this run; the others came from the cache.
    """

    settings: tuple[Model, Design, Draw]
    dataset: Dataset
    fit: Fit
    plan: Plan
    outcome: Outcome
    seconds: dict[str, float]
    computed: frozenset[str]


def make_scene(dataset: Dataset) -> Scene:
    """Test points of a dataset: its own inputs, then a grid beyond them; for London the cells of the map."""
    if dataset.name.startswith("london"):
        medians, cells = london_hexes.load(), london_hexes.map_cells()
        empty = cells[cells["sales"] == 0]
        X_test = np.vstack([medians.X, empty[["easting_km", "northing_km"]].to_numpy(float)])
        labels = pd.concat([pd.DataFrame(dict(medians.labels)), empty[["cell", "sales"]]], ignore_index=True)
        return Scene(X_test, medians.clipped_y, labels.fillna({"borough": "no sale here"}))
    low, high = dataset.x_box[0]
    # 30 % beyond the domain: the noise peaks where nobody lives, and a map of it should show that.
    grid = np.linspace(low, high + 0.3 * (high - low), GRID_POINTS)[:, None]
    return Scene(np.vstack([dataset.X, grid]), dataset.clipped_y)


def stage_matrix(dataset: Dataset, scene: Scene, model: Model) -> Fit:
    """Stage 1: the cloaking matrix and the posterior standard deviation, both public."""
    kernel, X_test = model.build(), scene.X_test
    low = InferenceChoice().low_rank(kernel, dataset.X)
    if low is None:
        C: Matrix = cloaking_matrix(kernel, dataset.X, X_test, model.noise)
        # diag(K_** - C K_f*), without the off-diagonal
        variance = kernel.diagonal(X_test) - np.einsum("ij,ij->i", C, kernel(X_test, dataset.X))
    else:
        C, variance = low.matrix(X_test, model.noise), low.variance(X_test, model.noise)
    return Fit(C, dataset.y_scale * np.sqrt(np.maximum(variance, 0)), describe(low))


def stage_plan(dataset: Dataset, scene: Scene, model: Model, fit: Fit, design: Design) -> Plan:
    """Stage 2: what is released per unit budget and change; public."""
    # The plan does not depend on the budget: any will do.
    mechanism = mechanism_of(model, design, Draw(epsilon=1.0, delta=0.01))
    weights = None
    if design.mechanism != "gp_prior" and design.objective == "trace" and design.focus == "records":
        weights = (np.arange(len(scene.X_test)) < scene.records).astype(float)
    if isinstance(mechanism, Cloaking):
        return cloaking_plan(fit.C, design_noise(fit.C, design.objective, weights, design.gap), fit.inference)
    if isinstance(mechanism, RefinedCloaking):
        mechanism = replace(mechanism, weights=None if weights is None else tuple(weights))
    if dataset.n <= EXACT_ALWAYS:
        return mechanism.plan(dataset.X, scene.X_test)
    with engine() as executor:  # many records: the passes over them run on the cluster, if there is one
        return mechanism.plan(dataset.X, scene.X_test, executor)


def mechanism_of(model: Model, design: Design, draw: Draw) -> Cloaking | GPPrior | RefinedCloaking:
    """The core's mechanism for these settings; carries the guarantee.

    Raises:
        ValueError: the budget is out of range.
    """
    common: Any = {
        "kernel": model.build(),
        "noise_variance": model.noise,
        "epsilon": draw.epsilon,
        "delta": draw.delta,
        "calibration": draw.calibration,
        "unproven": True,  # Hall's formula above epsilon 1 is drawn, and marked
    }
    if design.mechanism == "gp_prior":
        return GPPrior(**common)
    if design.mechanism == "refined":
        clip = RESIDUAL_BOUNDS.get(model.dataset, 1.5 * math.sqrt(model.noise)) / math.sqrt(model.noise)
        return RefinedCloaking(**common | {"calibration": "analytic"}, objective=design.objective, clip=clip)
    return Cloaking(**common, objective=design.objective, shrinkage=draw.shrinkage)


def stage_outcome(
    dataset: Dataset, scene: Scene, model: Model, fit: Fit, plan: Plan, design: Design, draw: Draw
) -> Outcome:
    """Stage 3: scale the noise and draw it. Milliseconds; touches neither C, lambda nor M."""
    mechanism = mechanism_of(model, design, draw)
    release = mechanism.release_planned(plan, dataset, scene.X_test, np.random.default_rng(draw.seed), draw.draws)
    at = slice(scene.records)
    nonprivate = dataset.in_data_units(fit.C @ dataset.standardised())
    simulation = np.random.default_rng([draw.seed, 1])
    if isinstance(mechanism, RefinedCloaking) and isinstance(plan, RefinedPlan):
        simulated = mechanism.release_planned(plan, dataset, scene.X_test, simulation, SIMULATED_DRAWS).samples
        noise_factor, errors = unclipped_noise(mechanism, plan, dataset), rmse(simulated[:, at], scene.truth)
    else:
        noise_factor = release.noise_factor
        errors = draw_errors(release.mean[at], noise_factor[at], scene.truth, simulation, SIMULATED_DRAWS)
    return Outcome(
        release=release,
        scene=scene,
        nonprivate=nonprivate,
        noise_factor=noise_factor,
        draw_rmse=errors,
        nonprivate_rmse=float(rmse(nonprivate[at], scene.truth)),
    )

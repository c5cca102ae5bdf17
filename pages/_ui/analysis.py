"""From a handful of settings to what a page shows: pure functions over the core, no streamlit.

Three stages, each a function of small frozen settings, so that each can be cached by itself:
C (data, model, test points) -> plan (objective, focus) -> outcome (budget, calibration, draw).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from datasets import london_hexes
from dpgp_core import kernels
from dpgp_core.calibration import Method
from dpgp_core.data import Dataset, FloatArray
from dpgp_core.gp.exact import cloaking_matrix
from dpgp_core.mechanisms import Cloaking, GPPrior, Plan, Release
from dpgp_core.mechanisms.cloaking import cloaking_plan
from dpgp_core.mechanisms.gp_prior import exact_sensitivity, prior_plan
from dpgp_core.noise_design import ObjectiveName, design_noise
from dpgp_core.utility import draw_errors, rmse

KERNELS = {kernel.__name__: kernel for kernel in kernels.KERNELS}
GRID_POINTS = 200
SIMULATED_DRAWS = 200
Focus = Literal["records", "everywhere"]
MechanismName = Literal["cloaking", "gp_prior"]


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
        """The kernel, unit variance."""
        return KERNELS[self.kernel](lengthscale=self.lengthscale)


@dataclass(frozen=True)
class Design:
    """Stage 2 settings: what the noise is optimised for. Neither epsilon, delta nor a draw."""

    mechanism: MechanismName = "cloaking"
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


PAPER_DESIGN = Design(objective="logdet")


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
    """Stage 1 result: C (P, n) and the posterior standard deviation of f (P,), in the output's unit."""

    C: FloatArray
    posterior_sd: FloatArray


@dataclass(frozen=True, eq=False)
class Outcome:
    """One release and its errors at the rows with a known truth. Errors are not private.

    Attributes:
        release: at every row of the scene.
        scene: where.
        draw_rmse: RMSE of simulated draws (200,), in the output's unit.
        nonprivate_rmse: without noise and without what the rank tolerance drops.
    """

    release: Release
    scene: Scene
    draw_rmse: FloatArray
    nonprivate_rmse: float

    @property
    def mean_rmse(self) -> float:
        """Error of a typical release: the mean over the simulated draws."""
        return float(self.draw_rmse.mean())


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
    C = cloaking_matrix(kernel, dataset.X, X_test, model.noise)
    # diag(K_** - C K_f*), without the off-diagonal
    variance = kernel.diagonal(X_test) - np.einsum("ij,ij->i", C, kernel(X_test, dataset.X))
    return Fit(C, dataset.y_scale * np.sqrt(np.maximum(variance, 0)))


def stage_plan(dataset: Dataset, scene: Scene, model: Model, fit: Fit, design: Design) -> Plan:
    """Stage 2: what is released per unit budget and change; public."""
    C = fit.C
    if design.mechanism == "gp_prior":
        sensitivity = exact_sensitivity(model.build(), dataset.X, model.noise)
        return prior_plan(C, model.build()(scene.X_test, scene.X_test), sensitivity)
    weights = None
    if design.objective == "trace" and design.focus == "records":
        weights = (np.arange(len(C)) < scene.records).astype(float)
    return cloaking_plan(C, design_noise(C, design.objective, weights, design.gap))


def mechanism_of(model: Model, design: Design, draw: Draw) -> Cloaking | GPPrior:
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
    return Cloaking(**common, objective=design.objective, shrinkage=draw.shrinkage)


def stage_outcome(
    dataset: Dataset, scene: Scene, model: Model, fit: Fit, plan: Plan, design: Design, draw: Draw
) -> Outcome:
    """Stage 3: scale the noise and draw it. Milliseconds; touches neither C, lambda nor M."""
    mechanism = mechanism_of(model, design, draw)
    release = mechanism.release_planned(plan, dataset, scene.X_test, np.random.default_rng(draw.seed), draw.draws)
    at = slice(scene.records)
    nonprivate = dataset.in_data_units(fit.C[at] @ dataset.standardised())
    simulation = np.random.default_rng([draw.seed, 1])
    return Outcome(
        release=release,
        scene=scene,
        draw_rmse=draw_errors(release.mean[at], release.noise_factor[at], scene.truth, simulation, SIMULATED_DRAWS),
        nonprivate_rmse=float(rmse(nonprivate, scene.truth)),
    )

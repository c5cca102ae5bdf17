"""From a handful of settings to what a page shows: pure functions over the core, no streamlit.

Three stages, each a function of what the stages before gave and of small frozen settings, by which it is cached:
C (data, model, test points) -> plan (objective, focus) -> outcome (budget, calibration, draw).
Of mechanisms that add noise once; for Bayes cloaking see ``staged``.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pandas as pd

from datasets import exhibit, london_hexes
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.gp.inference import EXACT_ALWAYS, InferenceChoice
from dpgp_core.gp.uncertainty import Predictive, predictive
from dpgp_core.measurement.noise import NumberedDraws
from dpgp_core.mechanisms import Plan
from dpgp_core.mechanisms.cloaking import OptimisedNoise
from dpgp_core.mechanisms.recorded import SimulatedInterval
from pages._ui.cloaking.results import LEVEL, Halves, Outcome, Scene
from pages._ui.model import Design, Draw, Model, mechanism_of
from pages._ui.work.engine import engine

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
    grid = np.tile(np.mean(dataset.x_box, axis=1), (GRID_POINTS, 1))  # other inputs in the middle of their box
    grid[:, 0] = along
    return Scene(np.vstack([dataset.X, grid]), dataset.clipped_y)


def stage_matrix(dataset: Dataset, scene: Scene, model: Model) -> Predictive:
    """Stage 1: the cloaking matrix, public."""
    return predictive(InferenceChoice(), model.build(), dataset.X, scene.X_test, model.noise)


def stage_plan(dataset: Dataset, scene: Scene, fit: Predictive, model: Model, design: Design) -> Plan:
    """Stage 2: what is released per unit budget and change; public."""
    # The plan does not depend on the budget: any will do.
    mechanism = mechanism_of(model, design, Draw(epsilon=1.0, delta=0.01))
    if isinstance(mechanism, OptimisedNoise) and design.objective == "trace" and design.focus == "records":
        mechanism = replace(mechanism, weights=scene.at_records)
    many = dataset.n > EXACT_ALWAYS  # then the passes over the records run on the cluster, if there is one
    with engine() if many else nullcontext() as executor:
        plan: Plan = mechanism.plan_of(fit, scene.X_test, executor)
    return plan


def stage_outcome(
    dataset: Dataset, scene: Scene, plan: Plan, nonprivate: FloatArray, model: Model, design: Design, draw: Draw
) -> Outcome:
    """Stage 3: scale the noise and draw it. Milliseconds; touches neither C, lambda nor M."""
    mechanism = mechanism_of(model, design, draw)
    release = mechanism.measure(plan, dataset, scene.X_test, NumberedDraws(draw.seed, draw.draws), draw.draws)
    return Outcome(samples=release.samples, guarantee=release.guarantee, scene=scene, nonprivate=nonprivate)


def stage_halves(dataset: Dataset, scene: Scene, plan: Plan, model: Model, design: Design, draw: Draw) -> Halves:
    """Beside stage 3: how far the truth may lie from a released curve. The same for every draw, and public."""
    mechanism = mechanism_of(model, design, draw)
    uncertainty = mechanism.uncertainty(mechanism.mapped(plan, dataset), dataset, np.zeros((1, len(scene.X_test))))
    assert isinstance(uncertainty, SimulatedInterval)
    return Halves(
        output=uncertainty.half_width(LEVEL, "outputs"),
        curve=uncertainty.half_width(LEVEL, "function"),
        noise=uncertainty.noise_half_width(LEVEL),
    )

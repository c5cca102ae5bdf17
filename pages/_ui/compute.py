"""The only module that caches. Keys are small frozen settings, never arrays; nothing uploaded passes here."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from dpgp_core.data import Dataset
from dpgp_core.mechanisms import Plan
from pages._ui import analysis, attacking, choosing, comparing, exploring, sparse
from pages._ui.analysis import Design, Draw, Fit, Model, Result, Scene
from pages._ui.attacking import Attacked, OutputAttack, PathAttack
from pages._ui.choosing import Grid, Scored
from pages._ui.comparing import Contest, Curve
from pages._ui.exploring import Explored, View
from pages._ui.sparse import Choices, Curves, Fits, Setting

_THIS_RUN = threading.local()  # which stages really ran, for the "how it is computed" tab


@st.cache_data(show_spinner=False, max_entries=16)
def dataset(name: str) -> Dataset:
    """A shipped dataset, by name. Raises ValueError for a name that does not exist."""
    return analysis.load_dataset(name)


@st.cache_data(show_spinner=False, max_entries=16)
def scene(name: str) -> Scene:
    """Where the pages predict for a shipped dataset, by name."""
    return analysis.make_scene(dataset(name))


@st.cache_data(show_spinner="Computing the cloaking matrix C …", max_entries=64, max_size="400 MB")
def _fit(model: Model) -> Fit:
    _mark("C")
    return analysis.stage_matrix(dataset(model.dataset), scene(model.dataset), model)


@st.cache_data(show_spinner="Designing the noise: λ and M …", max_entries=128, max_size="800 MB")
def _plan(model: Model, design: Design) -> Plan:
    _mark("λ, M")
    return analysis.stage_plan(dataset(model.dataset), scene(model.dataset), model, _fit(model), design)


@st.cache_data(show_spinner=False, max_entries=256)
def curve(contest: Contest, name: str) -> Curve:
    """Error against epsilon of one contender."""
    return comparing.curve(dataset(contest.model.dataset), contest, name)


@st.cache_data(show_spinner=False, max_entries=512)
def needed(contest: Contest, name: str, target: float) -> float | None:
    """Epsilon that a contender needs for a target error, in the output's unit."""
    return comparing.needed(dataset(contest.model.dataset), contest, name, target)


@st.cache_data(show_spinner=False, max_entries=128)
def nonprivate(model: Model) -> float:
    """Held-out error without privacy, in the output's unit."""
    return comparing.nonprivate(dataset(model.dataset), model)


@st.cache_data(show_spinner="Cross-validating every lengthscale …", max_entries=32)
def scored(grid: Grid) -> Scored:
    """Cross-validated candidates of the lengthscale page."""
    return choosing.score(dataset(grid.model.dataset), grid)


@st.cache_data(show_spinner="Attacking with shadow data sets …", max_entries=64, max_size="100 MB")
def path_attack(attack: PathAttack) -> Attacked:
    """LiRA against posterior paths."""
    return attacking.attack_paths(attack)


@st.cache_data(show_spinner="Attacking simulated releases …", max_entries=64, max_size="100 MB")
def output_attack(attack: OutputAttack) -> Attacked:
    """The best attack on a Gaussian release."""
    return attacking.attack_outputs(dataset(attack.model.dataset), attack)


@st.cache_data(show_spinner="Choosing the cutoff on simulated data …", max_entries=64)
def _cutoff(view: View) -> float:
    return exploring.cutoff_of(view)


@st.cache_data(show_spinner="Drawing posterior paths …", max_entries=48, max_size="400 MB")
def explored(view: View) -> Explored:
    """Excursion sets of one view."""
    # The cutoff depends on neither threshold, paths, seed nor budget.
    plain = replace(view, L=1, eta=0.0, threshold=0.0 if view.kind != "london" else 13.0, delta=0.01, seed=1)
    return exploring.explore(view, _cutoff(plain))


@st.cache_data(show_spinner="Fitting the sparse model ...", max_entries=64)
def sparse_fits(setting: Setting) -> Fits:
    """Private and plain fits of the sparse page."""
    return sparse.fits(setting)


@st.cache_data(show_spinner=False, max_entries=64)
def sparse_curves(setting: Setting, _progress: Callable[[str], None]) -> Curves:
    """Errors against epsilon of the sparse page."""
    return sparse.curves(setting, _progress)


@st.cache_data(show_spinner=False, max_entries=64)
def sparse_choices(setting: Setting, _progress: Callable[[str], None]) -> Choices:
    """Private choices of hyperparameters on the sparse page."""
    return sparse.choices(setting, _progress)


def run(model: Model, design: Design, draw: Draw) -> Result:
    """All three stages. Only the third, which takes milliseconds, depends on epsilon, delta or the draw."""
    _THIS_RUN.stages = set()
    data, place = dataset(model.dataset), scene(model.dataset)
    seconds, start = {}, time.perf_counter()
    fit = _fit(model)
    seconds["C"] = -start + (start := time.perf_counter())
    plan = _plan(model, design)
    seconds["λ, M"] = -start + (start := time.perf_counter())
    outcome = analysis.stage_outcome(data, place, model, fit, plan, design, draw)
    seconds["scale, draw"] = time.perf_counter() - start
    return Result(data, fit, plan, outcome, seconds, frozenset({*_THIS_RUN.stages, "scale, draw"}))


def run_published(model: Model, draw: Draw) -> Result:
    """The published method at the same budget and draw: log-det objective, Hall's calibration."""
    hall = replace(draw, calibration="hall", shrinkage=False)
    return run(model, analysis.PAPER_DESIGN, hall)


def _mark(stage: str) -> None:
    if not hasattr(_THIS_RUN, "stages"):
        _THIS_RUN.stages = set()
    _THIS_RUN.stages.add(stage)

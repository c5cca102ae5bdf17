"""Controls that belong to one page each; see ``controls`` for what they are made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import streamlit as st

from dpgp_core.calibration import check_budget, check_delta
from dpgp_core.kernels import check_positive
from dpgp_core.privacy import Guarantee
from pages._ui.analysis import Design, Model, mechanism_of
from pages._ui.attacking import OutputAttack, PathAttack
from pages._ui.choosing import Budgets, Grid
from pages._ui.comparing import Contest
from pages._ui.comparing_tables import Scale
from pages._ui.controls import as_number, choice, dataset, model, noise_control, overlay, pick, privacy
from pages._ui.maps import LAYERS
from pages._ui.meaning import Family
from pages._ui.settings import (
    BINS,
    CHOICES,
    EPSILONS,
    INDUCING,
    LENGTHSCALES,
    NOISES,
    PATH_DELTAS,
    PATHS,
    RIDGES,
    SELECTION_EPSILONS,
    SHADOWS,
    SIGMAS,
    SPARSE_DEFAULTS,
    SPARSE_INDUCING,
)
from pages._ui.sparse import Setting


def map_view(show_overlay: bool) -> tuple[str, bool]:
    """Which layer of the map, and whether the published method stands beside it."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        kind = pick("The map shows", "map", [kind for kind, layer in LAYERS.items() if layer.private or show_overlay])
    beside = right.toggle("Published method beside it", key="beside", bind="query-params")
    return kind, beside


def choice_setting() -> tuple[Grid, Budgets, str, Guarantee]:
    """The sidebar of the lengthscale page: grid, budgets, unit of the lengthscale, the release's guarantee."""
    name = dataset("choice_dataset")
    draw = privacy(draws=False)
    selection = choice(
        "ε of the choice: more private ⟷ more accurate",
        "selection_epsilon",
        SELECTION_EPSILONS,
        1,
        lambda raw: check_budget(as_number(raw), 0.5),
        help="Budget of choosing the lengthscale. The slider above is the budget of the release that follows.",
    )
    st.sidebar.subheader("Model")
    noise = noise_control()
    with st.sidebar:
        kernel = pick("Kernel", "kernel")
    with st.sidebar.expander("Expert"):
        mechanism = pick("Choice by", "choice_by")
        objective = pick("Noise objective", "objective")
        calibration = pick("Calibration", "calibration")
    unit, lengthscales, default = LENGTHSCALES[name]
    grid = Grid(Model(name, kernel, float(default), noise), tuple(map(float, lengthscales)), objective)
    budgets = Budgets(float(selection), draw.epsilon, draw.delta, calibration, mechanism)
    release = mechanism_of(grid.model, Design("cloaking", objective), replace(draw, calibration=calibration))
    return grid, budgets, unit, release.guarantee


def carry_tile() -> None:
    """Callback: the clicked tile's lengthscale and epsilon become the state of the other pages."""
    points = st.session_state["tiles"]["selection"]["points"]
    if not points or "customdata" not in points[0]:
        return
    lengthscale, epsilon = points[0]["customdata"]
    name = next(
        name for name, title in CHOICES["choice_dataset"].items() if title == st.session_state["choice_dataset"]
    )
    taken = {f"lengthscale_{LENGTHSCALES[name][0]}": f"{lengthscale:g}"}
    if epsilon in EPSILONS:
        st.session_state["epsilon"] = next(option for option in EPSILONS if option == epsilon)
    st.session_state["carried"] = st.session_state.get("carried", {}) | taken
    st.session_state["tile"] = (lengthscale, epsilon)


def compare_setting() -> tuple[Contest, float]:
    """The sidebar of the comparison: settings shared by all mechanisms, and epsilon."""
    name = dataset("compare_dataset")
    draw = privacy(draws=False)
    chosen = model(name)
    bins = choice("Bins along each input", "bins", BINS, 10, help="For both binning mechanisms; public.")
    inducing = choice("Inducing inputs", "inducing", INDUCING, 6, help="For cloaking with inducing inputs; public.")
    return Contest(chosen, draw.delta, int(bins), int(inducing)), draw.epsilon


def target(nonprivate: float, scale: Scale) -> float:
    """The inverse question: the largest error that would do, in the output's unit."""
    st.sidebar.subheader("Target")
    shown = st.sidebar.number_input(
        f"I need an error of at most [{scale.unit}]",
        min_value=0.001,
        max_value=10_000.0,
        value=float(f"{1.25 * scale.show(nonprivate):.2g}"),
        key="target_percent" if scale.logarithmic else f"target_{scale.unit or 'units'}",
        bind="query-params",
        help="The table and the sentence then say which ε that needs.",
    )
    return scale.back(float(shown))


def attack_setting() -> tuple[str, Any]:
    """The sidebar of the attack page: what is attacked ("paths" or outputs), and the attack's settings."""
    with st.sidebar:
        st.subheader("Attack on")
        kind = pick("Attack on", "attack_on", label_visibility="collapsed")
    if kind != "paths":
        draw = privacy(draws=False)
        trials = choice("Simulated releases", "shadows", SHADOWS, 10000)
        return kind, OutputAttack(Model("kung", "EQ", 25.0, 0.3), kind, draw, int(trials))
    st.sidebar.subheader("Posterior paths")
    r, sigma, L = path_controls(0.5, 1)
    delta = choice("δ", "path_delta", PATH_DELTAS, 0.05, lambda raw: check_delta(as_number(raw)))
    trials = choice("Shadow data sets", "shadows", SHADOWS, 10000, help="Data sets like the real one, of each kind.")
    with st.sidebar:
        inputs = pick("Other records", "inputs", help="Where the other nine records lie.")
    return kind, PathAttack(float(r), float(sigma), int(L), float(delta), inputs, int(trials), 1)


def sparse_setting() -> tuple[Setting, str, bool]:
    """The sidebar of the sparse DP-GP page: settings, which view, and whether the overlay is on."""
    name = dataset("sparse_data")
    show = overlay()
    with st.sidebar:
        view = pick("Show", "sparse_view")
    draw = privacy(draws=False)
    seed = st.sidebar.number_input("Draw number", 1, 99999, 1, key="draw", bind="query-params")
    st.sidebar.subheader("Model")
    unit, grid, length = LENGTHSCALES[name]
    inducing, noise = SPARSE_DEFAULTS[name]
    lengthscale = choice(
        f"Lengthscale [{unit}]",
        f"lengthscale_{unit}",
        grid,
        length,
        lambda raw: check_positive("lengthscale", as_number(raw)),
    )
    noise = choice(
        "Noise variance (share of signal variance)",
        "noise",
        NOISES,
        noise,
        lambda raw: check_positive("noise", as_number(raw)),
    )
    count = choice(
        "Inducing inputs along each input", "sparse_inducing", SPARSE_INDUCING[name], inducing, help="Public."
    )
    setting = Setting(name, float(lengthscale), float(noise), int(count), draw.epsilon, draw.delta, int(seed))
    return setting, view, show


def path_controls(sigma: float, r: float) -> tuple[float, float, int]:
    """Ridge, scale and number of released posterior paths."""
    ridge = choice(
        "r: more accurate ⟷ more private",
        "r",
        RIDGES,
        r,
        lambda raw: check_positive("r", as_number(raw)),
        help="Square root of the ridge. Larger listens less to each record.",
    )
    scale = choice(
        "s: more accurate ⟷ more private",
        "sigma",
        SIGMAS,
        sigma,
        lambda raw: check_positive("s", as_number(raw)),
        help="Scale of the paths' own randomness.",
    )
    paths = choice("Paths released", "paths", PATHS, 1, help="Each path is a release; they add up.")
    return float(ridge), float(scale), int(paths)


def two_point_sliders() -> tuple[float, float, float, float, float, int]:
    """Inputs of two records, lengthscale, noise variance, d and which record moves, in the page's body."""

    def slider(label: str, key: str, low: float, high: float, value: float, step: float) -> float:
        return st.slider(label, low, high, value, step, key=key, bind="query-params")

    left, middle, right = st.columns(3)
    with left:
        x1 = slider("Record 1 at", "x1", 0.0, 10.0, 2.5, 0.5)
        x2 = slider("Record 2 at", "x2", 0.0, 10.0, 5.0, 0.5)
    with middle:
        lengthscale = slider("Lengthscale", "two_l", 0.5, 5.0, 1.5, 0.5)
        noise = slider("Noise variance", "two_noise", 0.05, 2.0, 0.1, 0.05)
    with right:
        d = slider("Largest change d", "two_d", 0.5, 3.0, 2.0, 0.5)
        moved = slider("Which record changes", "moved", 1, 2, 1, 1)
    return x1, x2, lengthscale, noise, d, int(moved)


def prior() -> float:
    """The attacker's prior probability, for the start page."""
    return float(
        choice(
            "Attacker's belief beforehand [%]",
            "prior",
            (1, 5, 10, 25, 50, 75, 90),
            50,
            help="How likely the attacker thought it before seeing anything released.",
        )
        / 100
    )


def family() -> Family:
    """Which kind of noise the start page's attacker faces."""
    with st.sidebar:
        return cast(Family, pick("Kind of noise", "family"))

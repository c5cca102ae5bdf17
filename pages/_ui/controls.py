"""Sidebar controls. Every one is bound to the address, so the address is the state of the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from datasets import DATASETS
from dpgp_core.calibration import check_budget, check_delta
from dpgp_core.kernels import check_positive
from pages._ui import text
from pages._ui.analysis import KERNELS, Design, Draw, Model
from pages._ui.maps import LAYERS

EPSILONS = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 50, 100)
DELTAS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05)
NOISES = (0.03, 0.1, 0.2, 0.3, 0.5, 1, 2)
LENGTHSCALES: dict[str, tuple[str, tuple[float, ...], float]] = {  # dataset -> (unit, grid, default)
    "kung": ("years", (1, 3, 5, 9, 15, 25, 40, 60, 81, 120), 25),
    "toy_1d": ("units", (0.25, 0.5, 1, 2, 4), 1),
    "london_hexes": ("km", (2, 3, 4, 6, 8, 10, 12, 15, 20, 30), 15),
    "london_sales": ("km", (6, 8, 10, 12, 15, 20, 30), 15),
}
ONLY_EQ = ("london_sales",)  # rough kernels keep full rank there: minutes, not seconds
_TITLES = {module.NAME: module.TITLE for module in DATASETS}
CHOICES: dict[str, dict[str, str]] = {  # drop-downs: key -> {value: title}
    "dataset": {name: _TITLES[name] for name in ("kung", "toy_1d")},
    "map_dataset": {name: _TITLES[name] for name in ("london_hexes", "london_sales")},
    "kernel": {name: name for name in KERNELS},
    "mechanism": {"cloaking": "Cloaking", "gp_prior": "GP-prior noise"},
    "objective": {"trace": "Trace: least squared noise (ours)", "logdet": "Log-det (Smith et al. 2018)"},
    "calibration": {"analytic": "Analytic Gaussian (exact)", "hall": "Hall et al. 2013 (ε ≤ 1)"},
    "focus": {"records": "Where the records are", "everywhere": "Everywhere on the picture"},
    "map": {kind: layer.title for kind, layer in LAYERS.items()},
}

Check = Callable[[str], None]


def choice(
    label: str, key: str, options: Sequence[Any], default: Any, check: Check | None = None, **kwargs: Any
) -> Any:
    """A discrete slider in the sidebar, bound to ``?key=``; a bad value in the address is explained."""
    explain_bad_link(key, options, default, check)
    return st.sidebar.select_slider(label, options, default, key=key, bind="query-params", **kwargs)


def pick(label: str, key: str, values: Sequence[str] | None = None, **kwargs: Any) -> str:
    """A drop-down of ``CHOICES[key]`` (or some of its values) in the current container; returns the value."""
    titles = {title: value for value, title in CHOICES[key].items() if values is None or value in values}
    explain_bad_link(key, list(titles), next(iter(titles)), None)
    return titles[st.selectbox(label, list(titles), key=key, bind="query-params", **kwargs)]


def spelled_out(address: dict[str, str]) -> dict[str, str]:
    """Parameters with short values (``map=truth``) replaced by the titles that streamlit writes to the address."""
    return {key: CHOICES.get(key, {}).get(value, value) for key, value in address.items()}


def explain_bad_link(key: str, options: Sequence[Any], default: Any, check: Check | None) -> None:
    """Say in a sentence why a value in the address cannot be used; the control falls back to its default."""
    raw = st.query_params.get(key)
    if raw is None or raw in {str(option) for option in options}:
        return
    reason = f"it is not offered here; the choices are {', '.join(str(option) for option in options)}."
    if check is not None:
        try:
            check(raw)
        except ValueError as error:
            reason = f"{error}."
    st.warning(text.bad_link_value(key, raw, reason, default))


def _as_number(raw: str) -> float:
    try:
        return float(raw)
    except ValueError:
        raise ValueError("it must be a number") from None


def dataset(key: str = "dataset") -> str:
    """Which dataset, among ``CHOICES[key]``."""
    with st.sidebar:
        st.subheader("Dataset")
        return pick("Dataset", key, label_visibility="collapsed")


def privacy(draws: bool = True) -> Draw:
    """Epsilon, delta and the draw number."""
    st.sidebar.subheader("Privacy")
    epsilon = choice(
        "ε: more private ⟷ more accurate",
        "epsilon",
        EPSILONS,
        1,
        lambda raw: check_budget(_as_number(raw), 0.5),
        help="One person can change the odds of any outcome by a factor of at most exp(ε). Smaller is more private.",
    )
    delta = choice(
        "δ: more private ⟷ more accurate",
        "delta",
        DELTAS,
        0.01,
        lambda raw: check_delta(_as_number(raw)),
        help="Probability mass exempted from the ε promise. Should be well below 1 / number of people.",
    )
    if not draws:
        return Draw(epsilon=float(epsilon), delta=float(delta))
    count = choice("Draws shown", "draws", (1, 2, 3, 5, 10), 1, help="Each draw is a release; they add up.")
    st.sidebar.button("Draw again", on_click=_next_draw, width="stretch", icon=":material/casino:")
    seed = st.sidebar.number_input(
        "Draw number", 1, 99999, 1, key="draw", bind="query-params", help="Seed of the noise, for teaching."
    )
    return Draw(epsilon=float(epsilon), delta=float(delta), draws=int(count), seed=int(seed))


def _next_draw() -> None:
    st.session_state["draw"] = min(int(st.session_state.get("draw", 1)) + 1, 99999)


def model(dataset_name: str) -> Model:
    """Kernel, lengthscale and noise variance for a dataset."""
    st.sidebar.subheader("Model")
    unit, grid, default = LENGTHSCALES[dataset_name]
    lengthscale = choice(
        f"Lengthscale [{unit}]: more detail ⟷ less noise",
        f"lengthscale_{unit}",
        grid,
        default,
        lambda raw: check_positive("lengthscale", _as_number(raw)),
        help="Distance over which the curve can change. Longer averages over more people, so it needs less noise.",
    )
    noise = choice(
        "Noise variance (share of signal variance)",
        "noise",
        NOISES,
        0.3,
        lambda raw: check_positive("noise", _as_number(raw)),
        help="How much of one person's value is taken to be chance. More makes each person matter less.",
    )
    with st.sidebar:
        kernel = pick("Kernel", "kernel", ("EQ",) if dataset_name in ONLY_EQ else None)
    return Model(dataset=dataset_name, kernel=kernel, lengthscale=float(lengthscale), noise=float(noise))


def expert(draw: Draw, mechanisms: Sequence[str] | None = None) -> tuple[Design, Draw]:
    """Mechanism (among ``mechanisms``), objective, calibration and post-processing, folded away."""
    with st.sidebar.expander("Expert"):
        mechanism = pick("Mechanism", "mechanism", mechanisms)
        cloaks = mechanism == "cloaking"
        objective = pick("Noise objective", "objective", disabled=not cloaks)
        calibration = pick("Calibration", "calibration")
        focus = pick("Accuracy matters", "focus", disabled=not cloaks or objective != "trace")
        shrinkage = st.toggle(
            "Shrink towards the prior",
            key="shrinkage",
            bind="query-params",
            disabled=not cloaks,
            help="Post-processing of the released values: costs no privacy, helps at small ε.",
        )
    design = Design(mechanism=mechanism, objective=objective, focus=focus)
    return design, Draw(draw.epsilon, draw.delta, calibration, shrinkage and cloaks, draw.draws, draw.seed)


def map_view(show_overlay: bool) -> tuple[str, bool]:
    """Which layer of the map, and whether the published method stands beside it."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        kind = pick("The map shows", "map", [kind for kind, layer in LAYERS.items() if layer.private or show_overlay])
    beside = right.toggle("Published method beside it", key="beside", bind="query-params")
    return kind, beside


def setting(dataset_key: str, mechanisms: Sequence[str] | None = None) -> tuple[Model, Design, Draw, bool]:
    """The whole sidebar of a page that releases: model (with its dataset), design, draw, overlay or not."""
    name = dataset(dataset_key)
    show = overlay()
    draw = privacy()
    chosen = model(name)
    design, draw = expert(draw, mechanisms)
    return chosen, design, draw, show


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


def overlay() -> bool:
    """Whether true data and non-private results are drawn."""
    return st.sidebar.toggle(
        "Educational overlay",
        value=True,
        key="overlay",
        bind="query-params",
        help="Shows the true data, the non-private fit and errors computed with them. None of that is private.",
    )

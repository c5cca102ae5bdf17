"""Sidebar controls. Every one is bound to the address, so the address is the state of the page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import streamlit as st

from datasets import exhibit
from dpgp_core.accounting.gaussian import check_budget, check_delta
from dpgp_core.checks import check_positive
from pages._ui import session
from pages._ui.look import address, offers, text
from pages._ui.look.offers import DropDown
from pages._ui.model import Design, Draw, Model, ReleaseSettings

T = TypeVar("T")
Value = TypeVar("Value", bound=str)
LAST_DRAW = 99999
Check = Callable[[str], None]


def choice(label: str, key: str, options: Sequence[T], default: T, check: Check | None = None, **kwargs: Any) -> T:
    """A discrete slider in the sidebar, bound to ``?key=``; a bad value in the address is explained."""
    explain_bad_link(key, options, default, check)
    return st.sidebar.select_slider(label, options, default, key=key, bind="query-params", **kwargs)


def pick(label: str, offered: DropDown[Value], values: Collection[Value] | None = None, **kwargs: Any) -> Value:
    """A drop-down (of some of its values) in the current container; returns the value."""
    titles = [title for value, title in offered.titles.items() if values is None or value in values]
    explain_bad_link(offered.key, titles, titles[0], None)
    return offered.value(st.selectbox(label, titles, key=offered.key, bind="query-params", **kwargs))


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
    address.note_explained(key)
    st.warning(text.bad_link_value(key, raw, reason, default))


def as_number(raw: str) -> float:
    """A value of the address as a number; ValueError says that it must be one."""
    try:
        return float(raw)
    except ValueError:
        raise ValueError("it must be a number") from None


def dataset(offered: DropDown[str] = offers.CURVE) -> str:
    """Which dataset."""
    with st.sidebar:
        st.subheader("Dataset")
        return pick("Dataset", offered, label_visibility="collapsed")


def privacy(draws: bool = True) -> Draw:
    """Epsilon, delta and the draw number."""
    st.sidebar.subheader("Privacy")
    epsilon = choice(
        "ε: more private ⟷ more accurate",
        "epsilon",
        offers.EPSILONS,
        1,
        lambda raw: check_budget(as_number(raw), 0.5),
        help=f"{text.GROWTH.capitalize()}. Smaller is more private.",
    )
    delta = choice(
        "δ: more private ⟷ more accurate",
        "delta",
        offers.DELTAS,
        0.01,
        lambda raw: check_delta(as_number(raw)),
        help=text.DELTA_HELP,
    )
    if not draws:
        return Draw(epsilon=float(epsilon), delta=float(delta))
    count = choice("Draws shown", "draws", (1, 2, 3, 5, 10), 1, help="Each draw is a release; they add up.")
    st.sidebar.button("Draw again", on_click=_next_draw, width="stretch", icon=":material/casino:")
    seed = draw_number(help="Seed of the noise, for teaching.")
    return Draw(epsilon=float(epsilon), delta=float(delta), draws=int(count), seed=seed)


def draw_number(**kwargs: Any) -> int:
    """Which draw of the noise."""
    return int(st.sidebar.number_input("Draw number", 1, LAST_DRAW, 1, key="draw", bind="query-params", **kwargs))


def _next_draw() -> None:
    session.move({"draw": min(int(session.control("draw") or 1) + 1, LAST_DRAW)})


def lengthscale(name: str, label: str = "Lengthscale [{}]: more detail ⟷ less noise", **kwargs: Any) -> float:
    """Lengthscale of a dataset's first input."""
    shown = exhibit(name)
    [default] = offers.whole([shown.lengthscale])
    return float(
        choice(
            label.format(shown.unit),
            offers.lengthscale_key(shown),
            offers.whole(shown.lengthscales),
            default,
            lambda raw: check_positive("lengthscale", as_number(raw)),
            **kwargs,
        )
    )


def model(dataset_name: str) -> Model:
    """Kernel, lengthscale and noise variance for a dataset."""
    st.sidebar.subheader("Model")
    length = lengthscale(
        dataset_name,
        help="Distance over which the curve can change. Longer averages over more people, so it needs less noise.",
    )
    noise = noise_control()
    with st.sidebar:
        kernel = pick("Kernel", offers.KERNEL, ("EQ",) if exhibit(dataset_name).smooth_only else None)
    return Model(dataset=dataset_name, kernel=kernel, lengthscale=length, noise=noise)


def expert(draw: Draw, mechanisms: tuple[str, ...] | None = None) -> tuple[Design, Draw]:
    """Mechanism (among ``mechanisms``), objective, calibration and post-processing, folded away."""
    with st.sidebar.expander("Expert"):
        mechanism = pick("Mechanism", offers.MECHANISM, mechanisms)
        cloaks = mechanism != "gp_prior"
        objective = pick("Noise objective", offers.OBJECTIVE, disabled=not cloaks)
        calibration = pick("Calibration", offers.CALIBRATION, disabled=mechanism == "refined")
        focus = pick("Accuracy matters", offers.FOCUS, disabled=not cloaks or objective != "trace")
        shrinkage = st.toggle(
            "Shrink towards the prior",
            key="shrinkage",
            bind="query-params",
            disabled=mechanism != "cloaking",
            help="Post-processing of the released values: costs no privacy, helps at small ε.",
        )
    design = Design(mechanism=mechanism, objective=objective, focus=focus)
    return design, replace(
        draw,
        calibration=calibration if mechanism != "refined" else "analytic",
        shrinkage=shrinkage and mechanism == "cloaking",
    )


def release_settings(offered: DropDown[str]) -> ReleaseSettings:
    """The whole sidebar of a page that releases: model (with its dataset), design, draw, overlay or not."""
    name = dataset(offered)
    show = overlay()
    draw = privacy()
    chosen = model(name)
    design, draw = expert(draw)
    return ReleaseSettings(chosen, design, draw, show)


NOISE_HELP = "How much of one person's value is taken to be chance. More makes each person matter less."


def noise_control(default: float = 0.3, help: str | None = NOISE_HELP) -> float:
    """Noise variance over signal variance."""
    return float(
        choice(
            "Noise variance (share of signal variance)",
            "noise",
            offers.NOISES,
            default,
            lambda raw: check_positive("noise", as_number(raw)),
            help=help,
        )
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


class PathSettings(NamedTuple):
    """Square root of the ridge, scale of the paths, and how many are released."""

    r: float
    sigma: float
    L: int


def path_controls(sigma: float, r: float) -> PathSettings:
    """Ridge, scale and number of released posterior paths."""
    ridge = choice(
        "r: more accurate ⟷ more private",
        "r",
        offers.RIDGES,
        r,
        lambda raw: check_positive("r", as_number(raw)),
        help="Square root of the ridge. Larger listens less to each record.",
    )
    scale = choice(
        "s: more accurate ⟷ more private",
        "sigma",
        offers.SIGMAS,
        sigma,
        lambda raw: check_positive("s", as_number(raw)),
        help="Scale of the paths' own randomness.",
    )
    paths = choice("Paths released", "paths", offers.PATHS, 1, help="Each path is a release; they add up.")
    return PathSettings(float(ridge), float(scale), int(paths))

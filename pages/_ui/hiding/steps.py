"""The steps in which How cloaking works is walked, and what is released in them."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dpgp_core.accounting.guarantee import Guarantee
from pages._ui import session
from pages._ui.look import sidebar
from pages._ui.look.controls import folded, segments
from pages._ui.look.offers import DropDown
from pages._ui.model import Design, Draw, Model, ReleaseSettings, mechanism_of
from pages._ui.work import cached

TITLE = "Why does so little noise hide a person?"
STEP = DropDown(
    "step",
    {
        "moves": "1 One person moves",
        "covered": "2 Noise covers it",
        "measured": "3 Measured instead",
        "spend": "4 Spend it yourself",
        "clip": "5 What the clip does",
    },
)


def chosen_step() -> str:
    """Which step."""
    return segments("Step", STEP)


def walk(step: str) -> None:
    """Buttons to the step before and the next one."""
    steps = list(STEP.titles)
    at = steps.index(step)
    with st.container(horizontal=True, key="walk"):
        if at > 0:
            _button("Back", steps[at - 1], ":material/arrow_back:")
        if at + 1 < len(steps):
            _button("Next step", steps[at + 1], ":material/arrow_forward:")


def _button(label: str, to: str, icon: str) -> None:
    moved = {STEP.key: STEP.titles[to]}
    st.button(label, key=f"walk_{label[:4]}", icon=icon, on_click=session.move, args=(moved,))


NOTE = "C, λ, M and B use public inputs only. True data stand under “The same with everybody” alone."

SHORT = {"step": "covered", "everybody": "true", "lengthscale_years": 3}
DATASET, LENGTHSCALE, NOISE = "kung", 25.0, 0.3  # years; of the prior variance
_PLAYED = ReleaseSettings(  # what is played with has one model
    Model(DATASET, "EQ", LENGTHSCALE, NOISE), Design("cloaking"), Draw(1.0, 1e-5), overlay=False
)


def chosen_settings(step: str) -> ReleaseSettings:
    """Budget and data set; model and mechanism where the noise is computed from them."""
    draw = sidebar.privacy()
    if step == "clip":
        return replace(_PLAYED, draw=draw)
    if step == "spend":
        sidebar.delta_fits(draw.delta, cached.dataset(_PLAYED.model.dataset).n)
        with folded("Example draw"):
            seed = sidebar.draw_number(help="Which simulated world, and which noise.")
        return replace(_PLAYED, draw=replace(draw, seed=seed))
    name = sidebar.dataset()
    sidebar.delta_fits(draw.delta, cached.dataset(name).n)
    show = sidebar.overlay()
    model = sidebar.model(name)
    design, draw = sidebar.expert(draw, "cloaking")
    return ReleaseSettings(model, design, draw, show)


def guarantee(chosen: ReleaseSettings) -> Guarantee:
    """Of one release with these settings."""
    promise: Guarantee = mechanism_of(chosen.model, chosen.design, chosen.draw).guarantee
    return promise.for_unit(cached.dataset(chosen.model.dataset).privacy_unit)

"""The steps of How cloaking works, and the release in them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import streamlit as st

from dpgp_core.accounting.gaussian import Method
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.strategies.noise_design import ObjectiveName
from pages._ui import session
from pages._ui.look import offers, settings, sidebar
from pages._ui.look.controls import HERE, menu
from pages._ui.look.settings import carried
from pages._ui.look.sidebar import Promise, ReleaseSettings
from pages._ui.model import Focus, mechanism_of
from pages._ui.work import cached

SURE = 1.96  # standard deviations on either side that hold 95 % of a normal value
TITLE = "Why does so little noise hide a person?"
STEP = menu(
    "Step",
    "step",
    {
        "moves": "1 One person moves",
        "covered": "2 Noise covers it",
        "measured": "3 Measured instead",
        "spend": "4 Spend it yourself",
        "clip": "5 What the clip does",
    },
    buttons=True,
    section=HERE,
)


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
DATASET, LENGTHSCALE, NOISE = "kung", 25.0, 0.3  # years; of the prior variance: the simulated world has one model


def _of_data(chosen: Any) -> bool:
    """Whether the noise of a data set is computed, which has a model and a mechanism."""
    return chosen.step not in ("spend", "clip")


@dataclass(frozen=True, kw_only=True)
class HidingSettings(Promise):
    """Step, budget and data set; model and mechanism where the noise is computed from them."""

    step: str = carried(STEP)
    dataset: str = carried(offers.CURVE, when=_of_data, below=sidebar.delta_fits)
    overlay: bool = carried(offers.OVERLAY, when=_of_data)
    kernel: str = carried(lambda chosen: replace(sidebar.kernels(chosen), section="Model"), when=_of_data)
    lengthscale: float = carried(
        lambda chosen: replace(offers.lengthscale(chosen.dataset), section="Model"), when=_of_data
    )
    noise: float = carried(offers.NOISE, when=_of_data)
    objective: ObjectiveName = carried(offers.OBJECTIVE, when=_of_data)
    calibration: Method = carried(offers.CALIBRATION, when=_of_data, below=sidebar.hall_fits)
    focus: Focus = carried(lambda chosen: replace(offers.FOCUS, disabled=chosen.objective != "trace"), when=_of_data)
    shrinkage: bool = carried(sidebar.SHRINKAGE, when=_of_data)
    number: int = carried(
        replace(offers.DRAW, help="Which simulated world, and which noise."),
        when=lambda chosen: chosen.step == "spend",
        below=sidebar.delta_fits,
    )

    @property
    def release(self) -> ReleaseSettings:
        """Settings of the release, by cloaking."""
        names = {each.name for each in fields(ReleaseSettings)}
        shared = {each.name: getattr(self, each.name) for each in fields(self) if each.name in names}
        return replace(settings.untouched(ReleaseSettings), mechanism="cloaking", **shared)


def guarantee(chosen: ReleaseSettings) -> Guarantee:
    """Of one release with these settings."""
    promise: Guarantee = mechanism_of(chosen.model, chosen.design, chosen.draw).guarantee
    return promise.for_unit(cached.dataset(chosen.model.dataset).privacy_unit)

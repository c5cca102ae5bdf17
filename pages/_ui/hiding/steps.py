"""The steps of the page "How cloaking works", and the release in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpgp_core.accounting.gaussian import Method
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.strategies.noise_design import ObjectiveName
from pages._ui import session
from pages._ui.look import offers, pictures, settings, sidebar
from pages._ui.look.about import About
from pages._ui.look.controls import HERE, Control, Switch, menu
from pages._ui.look.pictures import as_it_is
from pages._ui.look.settings import control
from pages._ui.look.sidebar import Promise, ReleaseSettings
from pages._ui.model import Focus, mechanism_of
from pages._ui.work import cached

SURE = 1.96  # standard deviations on either side that contain 95 % of a normal distribution
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
    """Draw buttons to the previous and the next step."""
    steps = list(STEP.titles)
    at = steps.index(step)
    ways = (("Back", at - 1, "arrow_back"), ("Next step", at + 1, "arrow_forward"))
    with st.container(horizontal=True, key="walk"):
        for label, to, icon in ways:
            if 0 <= to < len(steps):
                moved = {STEP.key: STEP.titles[steps[to]]}
                key = f"walk_{label[:4]}"
                st.button(label, key=key, icon=f":material/{icon}:", on_click=session.move, args=(moved,))


def chart(figure: go.Figure, key: str, about: About, numbers: pd.DataFrame | None = None, *, caption: str) -> None:
    """Draw a figure without true data, all of which may be published."""
    pictures.chart(figure, key, about.shows, as_it_is(figure, about), numbers, caption=caption)


def beside(*controls: Control[Any], widths: Sequence[int] | None = None) -> list[Any]:
    """Draw controls side by side; return their values."""
    values = []
    for column, each in zip(st.columns(widths or len(controls)), controls, strict=True):
        with column:
            values.append(settings.value_of(each))
    return values


NOTE = (
    "C, λ and M use public inputs only, and B also what was released before. True data are shown only under “The same "
    "with everybody”."
)


EVERYBODY = Switch("everybody", "The same with all people", section=HERE)


def _of_everybody(chosen: Any) -> bool:
    """Return whether the noise of cloaking is computed for a data set, which needs a model."""
    return chosen.step in ("moves", "covered") and settings.ahead(EVERYBODY)


@dataclass(frozen=True, kw_only=True)
class HidingSettings(Promise):
    """Step, budget and data set; model and mechanism if the noise is computed from them."""

    step: str = control(STEP)
    dataset: str = control(
        offers.CURVE, when=lambda chosen: chosen.step == "measured" or _of_everybody(chosen), below=sidebar.delta_fits
    )
    overlay: bool = control(offers.OVERLAY, when=lambda chosen: chosen.step == "moves" and _of_everybody(chosen))
    kernel: str = control(lambda chosen: replace(sidebar.kernels(chosen), section="Model"), when=_of_everybody)
    lengthscale: float = control(
        lambda chosen: replace(offers.lengthscale(chosen.dataset), section="Model"), when=_of_everybody
    )
    noise: float = control(offers.NOISE, when=_of_everybody)
    objective: ObjectiveName = control(offers.OBJECTIVE, when=_of_everybody)
    calibration: Method = control(offers.CALIBRATION, when=_of_everybody, below=sidebar.hall_fits)
    focus: Focus = control(
        lambda chosen: replace(offers.FOCUS, disabled=chosen.objective != "trace"), when=_of_everybody
    )
    shrinkage: bool = control(sidebar.SHRINKAGE, when=_of_everybody)
    number: int = control(
        replace(offers.DRAW, help="Which simulated data, and which noise."),
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
    """Return the guarantee of one release with these settings."""
    promise: Guarantee = mechanism_of(chosen.model, chosen.design, chosen.draw).guarantee
    return promise.for_unit(cached.dataset(chosen.model.dataset).privacy_unit)

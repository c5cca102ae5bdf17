"""Sidebar of How cloaking works, and the promise of what it shows."""

from __future__ import annotations

from dataclasses import replace

from dpgp_core.accounting.guarantee import Guarantee
from pages._ui.hiding import by_hand
from pages._ui.look import sidebar
from pages._ui.look.bound import folded
from pages._ui.model import Design, Draw, Model, ReleaseSettings, mechanism_of
from pages._ui.work import cached

NOTE = "C, λ, M and B use public inputs only. True data stand under “The same with everybody” alone."

SHORT = {"step": "covered", "everybody": "true", "lengthscale_years": 3}
_PLAYED = ReleaseSettings(  # what is played with has one model
    Model(by_hand.DATASET, "EQ", by_hand.LENGTHSCALE, by_hand.NOISE), Design("cloaking"), Draw(1.0, 1e-5), overlay=False
)


def chosen(step: str) -> ReleaseSettings:
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

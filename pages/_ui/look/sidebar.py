"""Settings in the sidebars of several pages, and the budget that they spend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from datasets import exhibit, family
from dpgp_core.accounting.gaussian import Method
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.strategies.noise_design import ObjectiveName
from pages._ui import session
from pages._ui.look import offers, text
from pages._ui.look.controls import SIDE, Menu, Slider, Switch
from pages._ui.look.offers import LAST_DRAW
from pages._ui.look.settings import Settings, control
from pages._ui.model import ANALYTIC, Design, Draw, Focus, Model
from pages._ui.work import cached


def spent(dataset_name: str, *made: tuple[object, Guarantee], free: str = "") -> None:
    """Draw the budget spent on screen, and by all releases about the same people that this session has looked at.

    Args:
        dataset_name: name of the data set; totals are kept for its family (``datasets.family``).
        made: settings and guarantee of every release on screen, the page's own first.
        free: sentence about controls that cost no privacy.
    """
    earlier = session.RELEASES.get({})
    here = {repr(settings): guarantee for settings, guarantee in made}
    releases = earlier.get(family(dataset_name), {}) | here
    session.RELEASES.put(earlier | {family(dataset_name): releases})
    guarantee = made[0][1]
    delta = guarantee.budget.delta
    on_screen = text.at_most(guarantee.proven_epsilon)
    with st.sidebar.expander(f"Budget spent on screen: ε = {on_screen}", icon=":material/verified_user:"):
        st.markdown(
            f"On screen: **ε = {on_screen}** at δ = {text.small(delta)} ({guarantee.releases} simulated "
            f"release{'s' if guarantee.releases > 1 else ''}). [What these words mean](./#{text.ANCHOR})"
        )
        if free:
            st.caption(free)
        if len(here) > 1:
            st.caption(f"Together with what is drawn next to it: ε = {_together(list(here.values()), delta)}.")
        if len(releases) > 1:
            st.caption(_session_sentence(list(releases.values()), delta))


def _together(guarantees: Sequence[Guarantee], delta: float) -> str:
    return text.at_most(Ledger(entries=[("", each) for each in guarantees]).epsilon(delta))


def _session_sentence(guarantees: Sequence[Guarantee], delta: float) -> str:
    """Return what separate real releases of all settings would cost; the figures themselves use simulated releases."""
    mixed = len({each.protects for each in guarantees}) > 1
    return (
        f"{len(guarantees)} separate real releases of the settings seen in this session, all about the same people, "
        f"would cost ε = {_together(guarantees, delta)} at δ = {text.small(delta)}. The simulated "
        "releases shown here share their noise, so two of them together hide nothing."
        + (" Some of these settings protect outputs only: with these, inputs are public." if mixed else "")
    )


@dataclass(frozen=True, kw_only=True)
class Promise(Settings):
    """Epsilon, the first control of every page that has it, and delta, which is folded away."""

    epsilon: float = control(offers.EPSILON)
    delta: float = control(offers.PROMISED)

    @property
    def draw(self) -> Draw:
        """First simulated release at this budget."""
        return Draw(epsilon=float(self.epsilon), delta=float(self.delta))


def delta_fits(chosen: Any, records: int | None = None) -> None:
    """Warn if delta exceeds 1 / n, because publishing one whole record may then satisfy the guarantee."""
    delta, records = float(chosen.delta), cached.dataset(chosen.dataset).n if records is None else records
    if delta * records > 1:
        st.warning(
            f"δ = {text.small(delta)} is more than 1 in {records:,}, the number of rows. Handing out one of them whole "
            f"would keep such a promise. Take at most δ = {text.small(1 / (10 * records))}."
        )


def draw_again(_: Any) -> None:
    """Draw a button for the next simulated release."""
    st.button("New noise", on_click=_next_draw, width="stretch", icon=":material/casino:")


def _next_draw() -> None:
    session.move({"draw": min(int(session.control("draw") or 1) + 1, LAST_DRAW)})


def hall_fits(chosen: Any) -> None:
    """Warn if Hall's formula is chosen above epsilon 1, where it guarantees nothing."""
    if chosen.calibration == "hall" and chosen.epsilon > 1:
        st.warning(
            f"Hall's formula is proven up to epsilon = 1 only. At epsilon = {chosen.epsilon:g} it is no promise: "
            "take the analytic Gaussian."
        )


def _is_cloaked(chosen: Any) -> bool:
    return chosen.mechanism in ("refined", "cloaking")


def _is_aimed(chosen: Any) -> bool:
    return _is_cloaked(chosen) and chosen.objective == "trace"


def _read_free(chosen: Any) -> None:
    if Design(chosen.mechanism).in_stages:
        st.caption("Changing these costs no privacy; they re-read the same release.")


def _no_promise(chosen: Any) -> None:
    if chosen.mechanism not in ANALYTIC:
        hall_fits(chosen)


def kernels(chosen: Any) -> Menu[str]:
    """Return the kernels for a data set; rough ones only if they are quick."""
    return offers.KERNEL.among(["EQ"]) if exhibit(chosen.dataset).smooth_only else offers.KERNEL


_DRAWS = Slider(
    "draws",
    "Releases shown",
    1,
    (1, 2, 3, 5, 10, 20),
    help="Each of them is a release, and their costs add up.",
    section="Simulated releases",
)
SHRINKAGE = Switch(
    "shrinkage",
    "Shrink towards the prior",
    help="Post-processing of the released values: costs no privacy, helps at small ε.",
    section="Expert",
)


@dataclass(frozen=True, kw_only=True)
class ReleaseSettings(Promise):
    """Sidebar of a page that shows a release as a curve or a map."""

    delta: float = control(replace(offers.PROMISED, section=SIDE))
    dataset: str = control(offers.CURVE, below=delta_fits)
    mechanism: str = control(lambda chosen: offers.MECHANISM.among(offers.mechanisms(chosen.dataset)))
    kernel: str = control(kernels)
    lengthscale: float = control(lambda chosen: offers.lengthscale(chosen.dataset), below=_read_free)
    overlay: bool = control(offers.OVERLAY)
    noise: float = control(offers.NOISE)
    draws: int = control(_DRAWS, below=draw_again)
    number: int = control(replace(offers.DRAW, section=_DRAWS.section, help="Seed of the noise, for teaching."))
    objective: ObjectiveName = control(lambda chosen: replace(offers.OBJECTIVE, disabled=not _is_cloaked(chosen)))
    calibration: Method = control(
        lambda chosen: replace(offers.CALIBRATION, disabled=chosen.mechanism in ANALYTIC), below=_no_promise
    )
    focus: Focus = control(lambda chosen: replace(offers.FOCUS, disabled=not _is_aimed(chosen)))
    shrinkage: bool = control(lambda chosen: replace(SHRINKAGE, disabled=chosen.mechanism != "cloaking"))

    @property
    def model(self) -> Model:
        """Settings of the cloaking matrix."""
        return Model(self.dataset, self.kernel, float(self.lengthscale), float(self.noise))

    @property
    def draw(self) -> Draw:
        """Settings of the released curve; those that the mechanism lacks have their only value."""
        return replace(
            super().draw,
            calibration="analytic" if self.mechanism in ANALYTIC else self.calibration,
            shrinkage=self.shrinkage and self.mechanism == "cloaking",
            draws=int(self.draws),
            seed=self.number,
        )

    @property
    def design(self) -> Design:
        """Settings of the noise design."""
        focus = self.focus if _is_aimed(self) else "records"
        return Design(mechanism=self.mechanism, objective=self.objective, focus=focus)


@dataclass(frozen=True, kw_only=True)
class MapSettings(ReleaseSettings):
    """Sidebar of a page with a map."""

    dataset: str = control(offers.MAP, below=delta_fits)

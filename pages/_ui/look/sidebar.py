"""What stands in the sidebars of several pages, and what their settings spend together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from datasets import exhibit, family
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.ledger import Ledger
from pages._ui import session
from pages._ui.look import offers, text
from pages._ui.look.controls import box, choice, folded, into, pick, side, switch, whole
from pages._ui.look.offers import LAST_DRAW, DropDown
from pages._ui.model import ANALYTIC, Design, Draw, Model, ReleaseSettings, chosen_design
from pages._ui.work import cached


def spent(dataset_name: str, *made: tuple[object, Guarantee], free: str = "") -> None:
    """Sidebar: what is spent on screen, and by everything this session has looked at that is about the same people.

    Args:
        dataset_name: as on pages; totals are kept for its family (``datasets.family``).
        made: (settings, guarantee) of every release on screen, the page's own first.
        free: what can be moved for nothing, as a sentence.
    """
    seen = session.SEEN.get({})
    here = {repr(settings): guarantee for settings, guarantee in made}
    releases = seen.get(family(dataset_name), {}) | here
    session.SEEN.put(seen | {family(dataset_name): releases})
    guarantee = made[0][1]
    delta = guarantee.budget.delta
    on_screen = text.at_most(guarantee.proven_epsilon)
    with st.sidebar.expander(f"Budget spent on screen: ε = {on_screen}", icon=":material/verified_user:"):
        st.markdown(
            f"On screen: **ε = {on_screen}** at δ = {text.small(delta)} ({guarantee.releases} example "
            f"draw{'s' if guarantee.releases > 1 else ''}). [What these words mean](./#{text.ANCHOR})"
        )
        if free:
            st.caption(free)
        if len(here) > 1:
            st.caption(f"With what is drawn beside it: ε = {_together(list(here.values()), delta)}.")
        if len(releases) > 1:
            st.caption(_seen_sentence(list(releases.values()), delta))


def _together(guarantees: Sequence[Guarantee], delta: float) -> str:
    return text.at_most(Ledger(entries=[("", each) for each in guarantees]).epsilon(delta))


def _seen_sentence(guarantees: Sequence[Guarantee], delta: float) -> str:
    """What separate releases of all settings seen would cost. The pictures themselves use numbered draws."""
    mixed = len({each.protects for each in guarantees}) > 1
    return (
        f"{len(guarantees)} separate real releases of the settings seen in this session, all about the same people, "
        f"would cost ε = {_together(guarantees, delta)} at δ = {text.small(delta)}. The numbered draws shown here "
        "share their privacy noise: they hide nothing from someone who sees two."
        + (" Some of these settings protect outputs only: beside them inputs are public." if mixed else "")
    )


def dataset(offered: DropDown[str] = offers.CURVE) -> str:
    """Which dataset."""
    with side():
        return pick("Dataset", offered)


FREE = "Kernel and lengthscale read the same released numbers again: free."


def privacy(in_sight: bool = False) -> Draw:
    """Epsilon, the first control of every page that has it, and delta, which is folded away unless ``in_sight``."""
    epsilon = choice(
        offers.EPSILON,
        "epsilon",
        offers.EPSILONS,
        1,
        help=f"{text.GROWTH.capitalize()}. Smaller is more private.",
    )
    with into(side()) if in_sight else folded("Promise"):
        delta = choice(
            offers.DELTA_TITLE,
            "delta",
            offers.DELTAS,
            offers.DELTA,
            help=text.DELTA_HELP,
        )
    return Draw(epsilon=float(epsilon), delta=float(delta))


def draws(draw: Draw) -> Draw:
    """How many draws of the noise are shown, and which."""
    with folded("Example draws"):
        count = choice("Draws shown", "draws", (1, 2, 3, 5, 10, 20), 1, help="Each draw is a release; they add up.")
        box().button("Draw again", on_click=_next_draw, width="stretch", icon=":material/casino:")
        seed = draw_number(help="Seed of the noise, for teaching.")
    return replace(draw, draws=int(count), seed=seed)


def delta_fits(delta: float, records: int) -> None:
    """Say where delta is above 1 / n: then it may be kept by giving one whole record away."""
    if delta * records > 1:
        side().warning(
            f"δ = {text.small(delta)} is more than 1 in {records:,}, the number of rows. Handing out one of them whole "
            f"would keep such a promise. Take at most δ = {text.small(1 / (10 * records))}."
        )


def draw_number(**kwargs: Any) -> int:
    """Which draw of the noise."""
    return whole("Draw number", "draw", 1, LAST_DRAW, 1, **kwargs)


def _next_draw() -> None:
    session.move({"draw": min(int(session.control("draw") or 1) + 1, LAST_DRAW)})


def lengthscale(name: str, label: str = "Lengthscale [{}]: more detail ⟷ less noise", **kwargs: Any) -> float:
    """Lengthscale of a dataset's first input."""
    shipped = exhibit(name)
    [default] = offers.whole([shipped.lengthscale])
    return float(
        choice(
            label.format(shipped.unit),
            offers.lengthscale_key(shipped),
            offers.whole(shipped.lengthscales),
            default,
            **kwargs,
        )
    )


def method(mechanisms: tuple[str, ...]) -> str:
    """Which mechanism releases."""
    with into(side()):
        return pick("Method", offers.MECHANISM, mechanisms)


def model(dataset_name: str, in_sight: bool = False) -> Model:
    """Kernel, lengthscale and noise variance for a dataset; the first two folded away unless ``in_sight``."""
    with into(side()) if in_sight else folded("Model"):
        kernel = pick("Kernel", offers.KERNEL, ("EQ",) if exhibit(dataset_name).smooth_only else None)
        length = lengthscale(
            dataset_name,
            help="Distance over which the curve can change. Longer averages over more people, so it needs less noise.",
        )
    with folded("Model"):
        noise = noise_control()
    return Model(dataset=dataset_name, kernel=kernel, lengthscale=length, noise=noise)


def expert(draw: Draw, mechanism: str) -> tuple[Design, Draw]:
    """Objective, calibration and post-processing of a mechanism, folded away."""
    with folded("Expert"):
        cloaks = mechanism in ("refined", "cloaking")
        objective = pick("Noise objective", offers.OBJECTIVE, disabled=not cloaks)
        calibration = pick("Calibration", offers.CALIBRATION, disabled=mechanism in ANALYTIC)
        if mechanism not in ANALYTIC:
            hall_fits(calibration, draw.epsilon)
        aimed = mechanism == "bayes" or (cloaks and objective == "trace")
        focus = pick("Accuracy matters", offers.FOCUS, disabled=not aimed)
        shrinkage = switch(
            "Shrink towards the prior",
            "shrinkage",
            disabled=mechanism != "cloaking",
            help="Post-processing of the released values: costs no privacy, helps at small ε.",
        )
    return chosen_design(
        draw, mechanism=mechanism, objective=objective, calibration=calibration, focus=focus, shrinkage=shrinkage
    )


def hall_fits(calibration: str, epsilon: float) -> None:
    """Say where it is chosen that Hall's formula promises nothing above epsilon 1."""
    if calibration == "hall" and epsilon > 1:
        box().warning(
            f"Hall's formula is proven up to epsilon = 1 only. At epsilon = {epsilon:g} it is no promise: take the "
            "analytic Gaussian."
        )


def release_settings(offered: DropDown[str]) -> ReleaseSettings:
    """The whole sidebar of a page that releases: model (with its dataset), design, draw, overlay or not."""
    draw = privacy(in_sight=True)
    name = dataset(offered)
    delta_fits(draw.delta, cached.dataset(name).n)
    mechanism = method(offers.mechanisms(name))
    chosen = model(name, in_sight=True)
    if Design(mechanism).in_stages:
        side().caption(FREE)
    show = overlay()
    draw = draws(draw)
    design, draw = expert(draw, mechanism)
    return ReleaseSettings(chosen, design, draw, show)


NOISE_HELP = "How much of one person's value is taken to be chance. More makes each person matter less."


def noise_control(default: float = 0.3, help: str | None = NOISE_HELP, key: str = "noise") -> float:
    """Noise variance over signal variance."""
    return float(
        choice(
            "Spread of people (share of signal variance)",
            key,
            offers.NOISES,
            default,
            help=help,
        )
    )


def overlay() -> bool:
    """Whether true data and non-private results are drawn."""
    with side():
        return switch(
            "True data shown",
            "overlay",
            True,
            help="Shows the true data, the curve without privacy, and errors. None of that is private.",
        )


def path_controls(sigma: float, r: float, prefix: str = "") -> tuple[float, float]:
    """Square root of the ridge, and scale of released paths; ``prefix`` sets pages that open otherwise apart."""
    ridge = choice(
        "r: more accurate ⟷ more private",
        f"{prefix}r",
        offers.RIDGES,
        r,
        help="Square root of the ridge. Larger listens less to each record.",
    )
    scale = choice(
        offers.SCALE,
        f"{prefix}sigma",
        offers.SIGMAS,
        sigma,
        help="Scale of the paths' own randomness.",
    )
    return float(ridge), float(scale)


def paths_released(prefix: str = "") -> int:
    """How many posterior paths are released."""
    help = "Each path is a release; they add up."
    return int(choice("Paths released", f"{prefix}paths", offers.PATHS, 1, help=help))

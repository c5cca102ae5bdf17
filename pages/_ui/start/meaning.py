"""What a budget means for one person: words and numbers of the start page."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpgp_core.accounting.gaussian import LEAST_DELTA, noise_multiplier
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.losses import ApproximateLoss
from dpgp_core.accounting.tradeoff import (
    attacker_success,
    budget_attacker_success,
    budget_tradeoff,
    gaussian_tradeoff,
    laplace_attacker_success,
    laplace_tradeoff,
)
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking, LaplaceBinning
from pages._ui.look.palette import GUARANTEE, RISK, TRUTH, faded
from pages._ui.look.plots import finish
from pages._ui.model import Draw

Family = Literal["gaussian", "laplace", "any"]

COMMON_EPSILONS = (0.1, 0.3, 0.5, 1, 2, 3, 5, 10, 20, 50)

WHO = """
A record's **output** (a height, a price) is protected from anyone who sees what was released, even if they know
every other record, the method and its settings. **Inputs** (an age, a place) are public on most pages: who took
part is not hidden, what they answered is. **Excursion sets** and **Sparse DP-GP** protect inputs too.
"""

WHAT = """
Whatever may be read off a release, one person's answer cannot make it more probable by more than a factor exp(**ε**),
plus **δ**. For Gaussian noise δ is not the chance that the factor fails: that chance is larger. All that Gaussian noise
promises is the red curve. Smaller is more private for both, and costs accuracy.
"""

TRADEOFF_ALT = (
    "Misses against false alarms of an attacker. No attack gets below the red curve; "
    "inside the green region the (ε, δ) promise would be broken; the dotted line is blind guessing."
)

FAMILY_NOTES = {
    "gaussian": "Gaussian noise: exact for cloaking; for the others of this kind no attack gets below it.",
    "laplace": "Laplace noise on bins: exact, with δ = 0. The curve touches its limit, so ε is used up in full.",
    "any": "Posterior paths and private choices: only (ε, δ) is proven, so the limit itself must be assumed.",
}

LESSONS = (
    ("ε = 0.1: the attacker learns almost nothing.", {"epsilon": 0.1}),
    ("ε = 10: what many deployments use.", {"epsilon": 10}),
    ("Laplace noise at the same ε gives away more, and promises more: δ = 0.", {"family": "laplace"}),
    ("A rare fact, believed at 1 % beforehand: how much does ε = 1 give away?", {"prior": 1}),
)


class Attack(NamedTuple):
    """The best attacker against one kind of noise.

    Attributes:
        before: chance of being right without a release.
        after: the same with it.
        noise: its standard deviation over what one record can move; None if no kind of noise is assumed.
        guarantee: the promise of that kind of release.
    """

    before: float
    after: float
    noise: float | None
    guarantee: Guarantee


def best_attack(draw: Draw, prior: float, family: Family = "gaussian") -> Attack:
    """For one release of this family at this budget and an attacker of this prior belief in (0, 1)."""
    before = max(prior, 1 - prior)
    if family == "laplace":
        bins = LaplaceBinning(epsilon=draw.epsilon, bins=10)
        # standard deviation sqrt(2) b of Laplace noise of scale b = reach / epsilon
        after = laplace_attacker_success(prior, draw.epsilon)
        return Attack(before, after, math.sqrt(2) / draw.epsilon, bins.guarantee)
    mechanism = Cloaking(kernel=EQ(), noise_variance=1.0, epsilon=draw.epsilon, delta=draw.delta)
    if family == "any":
        after = budget_attacker_success(prior, draw.epsilon, draw.delta)
        return Attack(before, after, None, _any_release(mechanism.guarantee))
    after = attacker_success(prior, 1 / mechanism.noise_multiplier)
    return Attack(before, after, mechanism.noise_multiplier, mechanism.guarantee)


def _any_release(like: Guarantee) -> Guarantee:
    """What (epsilon, delta) says by itself."""
    loss = ApproximateLoss(like.budget.epsilon, like.budget.delta)
    return replace(
        like,
        loss=loss,
        neighbours="tables that differ in one record, in whatever the mechanism protects of it",
        unit="one record",
        theorem="the definition of (ε, δ)-differential privacy (Dwork et al. 2006)",
    )


def tradeoff_figure(draw: Draw, family: Family) -> go.Figure:
    """Misses against false alarms: blind guessing, the best attack on this noise, the limit of the promise."""
    rate = np.unique(np.concatenate([[0.0], np.geomspace(1e-4, 1, 200), np.linspace(0, 1, 201)]))
    limit = budget_tradeoff(rate, draw.epsilon, LEAST_DELTA if family == "laplace" else draw.delta)
    figure = go.Figure()
    figure.add_scatter(x=rate, y=1 - rate, name="guessing blindly", line={"color": TRUTH, "dash": "dot"})
    if family == "gaussian":
        curve = gaussian_tradeoff(rate, 1 / noise_multiplier(draw.epsilon, draw.delta))
    else:
        curve = laplace_tradeoff(rate, draw.epsilon) if family == "laplace" else limit
    figure.add_scatter(x=rate, y=curve, name="best attack", line={"color": RISK, "width": 2.5})
    figure.add_scatter(
        x=rate, y=limit, name="limit that (ε, δ) alone promises", line={"color": GUARANTEE, "dash": "dash"},
        fill="tozeroy", fillcolor=faded(GUARANTEE, 0.10),
    )  # fmt: skip
    figure.update_xaxes(title="false alarms: accused though innocent", range=[0, 1])
    figure.update_yaxes(title="misses: not found though there", range=[0, 1])
    return finish(figure, 420)


def table(draw: Draw, prior: float, family: Family) -> pd.DataFrame:
    """The same at common values of epsilon, at this delta."""
    rows = []
    for epsilon in COMMON_EPSILONS:
        attack = best_attack(Draw(epsilon=epsilon, delta=draw.delta), prior, family)
        row = {
            "epsilon": epsilon,
            "delta": attack.guarantee.budget.delta,
            "attacker right before [%]": round(100 * attack.before, 2),
            "attacker right after [%]": round(100 * attack.after, 2),
        }
        if attack.noise is not None:
            row["noise sd / one person's reach"] = round(attack.noise, 4)
        rows.append(row)
    return pd.DataFrame(rows)

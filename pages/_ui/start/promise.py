"""The full guarantee of a budget: the best attacker for a kind of noise, and two releases from one budget."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpgp_core.accounting.gaussian import LEAST_DELTA, epsilon_of, noise_multiplier, rounded_up
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.losses import ApproximateLoss
from dpgp_core.accounting.tradeoff import (
    Tradeoff,
    budget_tradeoff,
    gaussian_tradeoff,
    laplace_tradeoff,
    pure_beliefs,
)
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking, LaplaceBinning
from pages._ui.look import text
from pages._ui.look.controls import HERE, Slider
from pages._ui.look.plots import GUARANTEE, RISK, TRUTH, draw_line, faded, finish
from pages._ui.model import Draw

Family = Literal["gaussian", "laplace", "any"]

COMMON_EPSILONS = (0.1, 0.3, 0.5, 1, 2, 3, 5, 10, 20, 50)

WHO = """
The **outcome** (a height, a price) is hidden from everybody who sees the release. It stays hidden from those who know
all other rows, the method and its settings. **Inputs** (an age, a place) are public on most pages: who took part is not
hidden, what they answered is. **Excursion sets** and **Sparse DP-GP** hide inputs too.

Whether a row or a person is protected depends on what was declared:

- **A row.** Everybody has one row, and ε and δ are about that row.
- **A person.** A column identifies people. All rows of one person are protected together, with the same ε and δ.
- **A group of k rows.** No column identifies people, and somebody has k rows. For this person ε is k times as large,
  and δ grows by more than that.
"""

MEANING = """
Consider anything that a release may show. One person's answer makes it more probable by a factor of at most
exp(**ε**), plus **δ**. Smaller is more private for both, and costs accuracy. With Gaussian noise the factor alone can
be exceeded more often than δ; the (ε, δ) promise still holds. The tab “All that is promised” draws the full
promise of such noise.
"""

TRADEOFF_ALT = (
    "No attack gets below the solid curve; one inside the green region would break the promise. Dotted: blind guessing."
)

FAMILY_NOTES = {
    "gaussian": "With Gaussian noise the solid curve is exact for cloaking, and a limit for methods of this kind.",
    "laplace": "With Laplace noise on bins the solid curve is exact, and delta is 0. The curve touches its limit.",
    "any": "For posterior paths and private choices only epsilon and delta are proven: the curve is the limit itself.",
}


def guarantee(draw: Draw, family: Family) -> Guarantee:
    """Return the guarantee of one release with this kind of noise at this budget."""
    if family == "laplace":
        return LaplaceBinning(epsilon=draw.epsilon, bins=10).guarantee
    gaussian = Cloaking(kernel=EQ(), noise_variance=1.0, epsilon=draw.epsilon, delta=draw.delta).guarantee
    if family == "gaussian":
        return gaussian
    return replace(
        gaussian,
        loss=ApproximateLoss(draw.epsilon, draw.delta),
        neighbours="tables that differ in one record, in whatever the mechanism protects of it",
        unit="one record",
        theorem="the definition of (ε, δ)-differential privacy (Dwork et al. 2006)",
    )


def tradeoff(draw: Draw, family: Family) -> Tradeoff:
    """Return the trade-off curve of the best attack: misses against false alarms."""
    if family == "gaussian":
        return partial(gaussian_tradeoff, mu=1 / noise_multiplier(draw.epsilon, draw.delta))
    if family == "laplace":
        return partial(laplace_tradeoff, epsilon=draw.epsilon)
    return partial(budget_tradeoff, epsilon=draw.epsilon, delta=draw.delta)


def tradeoff_figure(draw: Draw, family: Family) -> go.Figure:
    """Draw misses against false alarms: for guessing, for the best attack on this noise, and the limit of (epsilon,
    delta).
    """
    rate = np.unique(np.concatenate([[0.0], np.geomspace(1e-4, 1, 200), np.linspace(0, 1, 201)]))
    limit = budget_tradeoff(rate, draw.epsilon, LEAST_DELTA if family == "laplace" else draw.delta)
    figure = go.Figure()
    draw_line(figure, rate, 1 - rate, "guessing blindly", TRUTH, "dot")
    draw_line(figure, rate, tradeoff(draw, family)(rate), "best attack", RISK, width=2.5)
    draw_line(
        figure,
        rate,
        limit,
        "limit that epsilon and delta promise",
        GUARANTEE,
        "dash",
        fill="tozeroy",
        fillcolor=faded(GUARANTEE, 0.10),
    )
    figure.update_xaxes(title="share of innocent people accused", range=[0, 1])
    figure.update_yaxes(title="share of target people missed", range=[0, 1])
    return finish(figure, 420)


ACCUSED = 0.05  # share of the innocent whom an attacker accuses
MEANING_NOTE = "What the best attacker can achieve at common budgets."


def meaning_table(draw: Draw, prior: float, family: Family) -> pd.DataFrame:
    """Return what an attacker with this prior belief in (0, 1) can achieve at common values of epsilon, at this
    delta.
    """
    rows = []
    for epsilon in COMMON_EPSILONS:
        each = replace(draw, epsilon=epsilon)
        missed = float(tradeoff(each, family)(np.array([ACCUSED]))[0])
        row = {
            "epsilon": epsilon,
            "delta": 0.0 if family == "laplace" else draw.delta,
            "believed before [%]": round(100 * prior, 2),
            "believed after, at most [%]": float(rounded_up(100 * pure_beliefs(prior, epsilon).high, 4)),
            f"targets found if {100 * ACCUSED:g} % of the innocent are accused, at most [%]": float(
                rounded_up(100 * (1 - missed), 4)
            ),
        }
        if (noise := _noise(each, family)) is not None:
            row["privacy noise, sd, in moves of one person"] = round(noise, 4)
        rows.append(row)
    return pd.DataFrame(rows)


def _noise(draw: Draw, family: Family) -> float | None:
    """Return the standard deviation of the noise over the largest change by one record; None if no noise is assumed."""
    if family == "laplace":  # Laplace noise of scale b = sensitivity / epsilon has standard deviation sqrt(2) b
        return math.sqrt(2) / draw.epsilon
    return noise_multiplier(draw.epsilon, draw.delta) if family == "gaussian" else None


SHARES = (10, 20, 30, 40, 50, 60, 70, 80, 90)
SPLIT = Slider("split", "Two releases: share of the first [%]", 50, SHARES, section=HERE, width=320)


def halves(draw: Draw, share: float) -> tuple[float, float]:
    """Return epsilon of two releases at the same delta; the first has this share of mu^2, which adds up.

    Gaussian noise of multiplier s has mu = 1 / s, and two such releases together have mu^2 = mu_1^2 + mu_2^2.
    """
    mu = 1 / noise_multiplier(draw.epsilon, draw.delta)
    first, second = (epsilon_of(1 / (mu * math.sqrt(each)), draw.delta) for each in (share, 1 - share))
    return first, second


def split_sentence(draw: Draw, share: float) -> str:
    """Return a sentence about the budget of each release, and the loss from dividing epsilon instead."""
    first, second = (text.at_least(each) for each in halves(draw, share))
    plain = text.number(draw.epsilon * share), text.number(draw.epsilon * (1 - share))
    return (
        f"Two releases that together spend ε = {draw.epsilon:g} at δ = {text.small(draw.delta)}: the first may have "
        f"**ε = {first}**, the second **ε = {second}**, each at the same δ. Dividing ε would leave them {plain[0]} and "
        f"{plain[1]} only: Gaussian noise adds up in squares."
    )

"""One budget over two releases: what each may spend, where the noise of both is Gaussian."""

from __future__ import annotations

import math

import streamlit as st

from dpgp_core.accounting.gaussian import epsilon_of, noise_multiplier
from pages._ui.look import text
from pages._ui.look.bound import choice, into
from pages._ui.model import Draw

SHARES = (10, 20, 30, 40, 50, 60, 70, 80, 90)


def halves(draw: Draw, share: float) -> tuple[float, float]:
    """Epsilon of both releases at the same delta, the first with this share of mu^2, which adds up.

    Gaussian noise of multiplier s has mu = 1 / s, and two such releases together have mu^2 = mu_1^2 + mu_2^2.

    Args:
        draw: the budget of both together.
        share: of the first, in (0, 1).
    """
    mu = 1 / noise_multiplier(draw.epsilon, draw.delta)
    first, second = (epsilon_of(1 / (mu * math.sqrt(each)), draw.delta) for each in (share, 1 - share))
    return first, second


def sentence(draw: Draw, share: float) -> str:
    """What each may spend, and what dividing epsilon would give away."""
    first, second = (text.at_least(each) for each in halves(draw, share))
    plain = text.number(draw.epsilon * share), text.number(draw.epsilon * (1 - share))
    return (
        f"Two releases that together spend ε = {draw.epsilon:g} at δ = {text.small(draw.delta)}: the first may have "
        f"**ε = {first}**, the second **ε = {second}**, each at the same δ. Dividing ε would leave them {plain[0]} and "
        f"{plain[1]} only: Gaussian noise adds up in squares."
    )


def show(draw: Draw) -> None:
    """A slider for the share, and the two budgets."""
    box = st.container()
    with into(box):
        share = choice("Two releases: share of the first [%]", "split", SHARES, 50, width=320)
    box.markdown(sentence(draw, float(share) / 100))

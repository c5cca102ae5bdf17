"""Measurements placed by hand on !Kung's ages, held against the best plan and the proven limit. No streamlit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.evaluation.by_hand import Known, known_from, placed, world
from dpgp_core.evaluation.limits import Limits, limits, risk_model
from dpgp_core.kernels import EQ
from dpgp_core.strategies.bayes import bayes

DATASET = "kung"
LENGTHSCALE, NOISE = 25.0, 0.3  # years; of the prior variance
MOST = 20
_POINTS, _GAP = 121, 1e-2


@dataclass(frozen=True)
class Spending:
    """Where to measure [years], how wide each sum is [years], the budget, and which example world."""

    places: tuple[float, ...]
    width: float
    epsilon: float
    delta: float
    seed: int = 1


@dataclass(frozen=True, eq=False)
class Spent:
    """What is known, in the output's unit. Public: the world is simulated.

    Attributes:
        x: grid (P,).
        truth: the world's curve (P,).
        by_hand, best: predictions from the sums placed by hand, and from those of the best plan (P,).
        deviation: of the prediction by hand (P,).
        errors: expected of both, by hand first.
        rank: how many sums the best plan measures.
        limit: expected error that no mechanism can fall below.
        without: expected error without privacy.
    """

    x: FloatArray
    truth: FloatArray
    by_hand: FloatArray
    best: FloatArray
    deviation: FloatArray
    errors: tuple[float, float]
    rank: int
    limit: float
    without: float


def spend(data: Dataset, spending: Spending) -> Spent:
    """Measure one example world twice: by hand, and by the best plan."""
    kernel, scale = EQ(lengthscale=LENGTHSCALE), data.y_scale
    grid = np.linspace(*data.x_box[0], _POINTS)[:, None]
    span, mu = data.output_range / scale, 1 / noise_multiplier(spending.epsilon, spending.delta)
    t = (span / mu) ** 2
    hand = placed(data.X, np.array(spending.places).reshape(-1, 1), spending.width)
    plan = bayes([risk_model(kernel, NOISE, data.X, grid)], t, gap=_GAP)
    y, f = world(kernel, NOISE, data.X, grid, np.random.default_rng(spending.seed))
    y = np.clip(y, -span / 2, span / 2)
    known = [known_from(kernel, NOISE, data.X, grid, B, t) for B in (hand, plan.B)]
    means = []
    for at, (each, B) in enumerate(zip(known, (hand, plan.B), strict=True)):
        z = B @ y + t**0.5 * np.random.default_rng([spending.seed, at]).standard_normal(len(B))
        means.append(_in_units(data, each, z))
    bound: Limits = limits(kernel, NOISE, data.X, grid, mu=mu, output_range=span, gap=_GAP)
    return Spent(
        x=grid[:, 0],
        truth=data.midpoint + scale * f,
        by_hand=means[0],
        best=means[1],
        deviation=scale * known[0].deviation,
        errors=(scale * known[0].error, scale * known[1].error),
        rank=plan.rank,
        limit=scale * bound.any,
        without=scale * bound.without_privacy,
    )


def _in_units(data: Dataset, known: Known, z: FloatArray) -> FloatArray:
    mean: FloatArray = data.midpoint + data.y_scale * (known.reading @ z)
    return mean


def read_places(written: str, low: float, high: float) -> tuple[tuple[float, ...], str]:
    """Places out of what somebody wrote, and what is wrong with the rest of it, as a sentence ("" for nothing)."""
    kept: list[float] = []
    for word in written.replace(",", " ").split():
        try:
            x = float(word)
        except ValueError:
            x = np.nan
        if not low <= x <= high:
            return tuple(kept), f"write ages from {low:g} to {high:g}, with commas between them, as in 10, 30, 60"
        kept.append(x)
    if len(kept) > MOST:
        return tuple(kept[:MOST]), f"at most {MOST} places are used; take some away"
    return tuple(kept), ""


def toggled(places: tuple[float, ...], at: float) -> str:
    """What to write after a click on a place: there if it was not, and gone if it was."""
    left = [x for x in places if x != at] if at in places else [*places, at]
    return ", ".join(f"{x:g}" for x in sorted(left)[:MOST])

"""What error other budgets would bring, before any is spent: from inputs and declarations, never from outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import FloatArray
from ..data import Dataset, Kind
from ..levels import level_columns, number_sides
from .plan import ReleasePlan, half_widths, released, solvable, without_outputs
from .specification import ReleaseSpec

_WAVES = 200  # of a made-up curve
_SEED = 0
_TOTAL = 1000.0  # epsilon: no ledger is asked


def foreseen(plan: ReleasePlan, n: int, epsilons: Sequence[float]) -> FloatArray:
    """Half of the 95 % interval for the curve that each epsilon would bring, median over the grid (E,), as measured.

    Where intervals depend on what is measured they are those about outputs that the declared model makes up: smooth
    curves of the declared lengthscale and scale with noise, cut to the bounds. What is measured is as planned: a plan
    for the other budget may do a little better.

    Args:
        plan: of the release.
        n: number of records, or of people where they may have several.
        epsilons: each above 0.

    Raises:
        ValueError: an epsilon is out of range, or the model cannot be computed.
    """
    if plan.spec.bounds_unit is not None:
        raise ValueError(
            "no error can be foreseen in the output's unit before bounds are bought; declare bounds for it"
        )
    widths = []
    for epsilon in epsilons:
        spec = replace(plan.spec, epsilon=float(epsilon), total_epsilon=_TOTAL)
        rng = np.random.default_rng(_SEED)
        with solvable():
            practice = released(spec.built, plan.plan, _made_up(spec, plan, n, rng), plan.X_test, rng)
            widths.append(float(np.median(half_widths(practice, "function"))))
    return np.array(widths)


def _made_up(spec: ReleaseSpec, plan: ReleasePlan, n: int, rng: np.random.Generator) -> Dataset:
    """N records of a curve drawn from the declared model, at the inputs where these are public; else one a person.

    f(x) = sqrt(2 / R) sum_r cos(w_r^T x + b_r), w_r ~ N(0, l^-2), has nearly an EQ covariance (Rahimi & Recht 2007).
    """
    levels, (left, right) = list(level_columns(spec.x_box)), np.array(spec.x_box).T
    X, person = plan.X, plan.person
    if X is None:
        person = None if spec.person is None else np.arange(n)
        X = rng.uniform(left, right, (n, len(left)))
        X[:, levels] = np.floor(X[:, levels] + 0.5)
    low, high = np.array(number_sides(spec.x_box)).T
    half, automatic = spec.output_range / 2, spec.choice.automatic
    length = (high - low) / 4 if automatic else np.array(spec.lengths)
    size = half / math.sqrt(3) if automatic else spec.scale
    noise = 0.2 * half if automatic else math.sqrt(spec.noise_variance) * spec.scale
    numbers = np.delete(X, levels, axis=1)  # all groups alike
    waves = numbers @ (rng.standard_normal((len(low), _WAVES)) / length[:, None]) + rng.uniform(0, 2 * math.pi, _WAVES)
    f = math.sqrt(2 / _WAVES) * np.cos(waves).sum(axis=1)
    bounds = spec.output_scale.measured_bounds
    y = sum(bounds) / 2 + size * f + noise * rng.standard_normal(len(X))
    return replace(without_outputs(spec, X, person), y=_of_kind(spec.measured_kind, np.clip(y, *bounds), bounds, rng))


def _of_kind(kind: Kind, y: FloatArray, bounds: tuple[float, float], rng: np.random.Generator) -> FloatArray:
    """Made-up outputs (n,) as the declared kind has them: yes with the probability y, or the nearest whole number."""
    if kind == "yes/no":
        return (rng.uniform(size=len(y)) < y).astype(float)
    return np.clip(np.rint(y), math.ceil(bounds[0]), None) if kind == "count" else y

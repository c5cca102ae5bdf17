"""What Bayes cloaking reaches on average over the worlds of a declared prior, to be held against ``limits``.

A world is f ~ GP(0, kernel), y = f(X) + N(0, noise variance). In each, outputs are clipped to the bounds, measured in
stages with numbered noise, and f is predicted. The mechanism is told the prior, as the limits are, and mixes it with
others all the same, as it always does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..bayes.engine import run_stages
from ..bayes.filter_records import record_filter
from ..bayes.readers import RecordsInFloats
from ..bayes.widths import Public
from ..gp.clipping import seen
from ..gp.pivoted import factorise
from ..kernels import Stationary
from ..mechanisms import BayesCloaking

_TOLERANCE = 1e-12  # of the prior variance, left out of the worlds


class Reached(NamedTuple):
    """Error of f at the test inputs over W simulated worlds, in model units.

    Attributes:
        rmse: root of the mean square over worlds and test inputs.
        standard_error: of it, by the delta method: sd(m_w) / (2 rmse sqrt W), m_w the mean square in world w.
    """

    rmse: float
    standard_error: float


def reached(
    kernel: Stationary,
    noise_variance: float,
    X: FloatArray,
    X_test: FloatArray,
    *,
    epsilon: float,
    delta: float,
    x_box: Sequence[tuple[float, float]],
    half_range: float,
    worlds: int,
    seed: int,
    gap: float = 1e-2,
) -> Reached:
    """Simulate Bayes cloaking in worlds of its own prior: errors of the mean of clipped outputs. No data set enters.

    Args:
        worlds: W >= 2, side by side.
        seed: of worlds and noise; the same worlds at every budget.
        gap: of the strategies.

    Raises:
        ValueError: a value above is out of range, or shapes disagree.
    """
    if worlds < 2:
        raise ValueError(f"worlds must be at least 2 for a standard error, got {worlds}")
    mechanism = BayesCloaking(epsilon=epsilon, delta=delta, kernels=[kernel], noise_variances=[noise_variance], gap=gap)
    plan = mechanism.plan(X, X_test, x_box=x_box, half_range=half_range)
    drawn, noises = np.random.default_rng(seed).spawn(2)
    f = _functions(kernel, np.vstack([X, X_test]), worlds, drawn)
    y = f[:, : len(X)] + math.sqrt(noise_variance) * drawn.standard_normal((worlds, len(X)))
    reader = RecordsInFloats(np.clip(y, -half_range, half_range), lambda rows: noises.standard_normal((worlds, rows)))
    filtered = record_filter(plan.models, X, X_test, public=Public(x_box, half_range))
    _, posterior = run_stages(filtered, plan.stages, reader, draws=worlds)
    predicted = np.clip(filtered.predict(posterior).mean, -half_range, half_range)
    truth = seen(f[:, len(X) :], noise_variance, half_range)[0]
    squares = ((predicted - truth) ** 2).mean(axis=1)
    rmse = math.sqrt(squares.mean())
    return Reached(rmse, float(squares.std(ddof=1)) / (2 * rmse * math.sqrt(worlds)))


def _functions(kernel: Stationary, places: FloatArray, worlds: int, rng: np.random.Generator) -> FloatArray:
    """Independent paths of GP(0, kernel) at ``places`` (m, D), (worlds, m)."""
    phi = factorise(kernel, places, _TOLERANCE).features.values()
    paths: FloatArray = rng.standard_normal((worlds, phi.shape[1])) @ phi.T
    return paths

"""Private choice among R candidates: exponential mechanism, permute-and-flip, and the error of its result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from ..accounting.gaussian import Method, noise_multiplier
from ..accounting.guarantee import ONE_OUTPUT, Budget, Guarantee
from ..accounting.losses import PureLoss
from ..arrays import FloatArray
from ..checks import check_positive
from ..measurement.discrete import exponential_mechanism, permute_and_flip
from .scores import GridScores

MechanismName = Literal["exponential", "permute_and_flip"]

_THEOREMS = {
    "exponential": "exponential mechanism (McSherry & Talwar 2007; zCDP: Cesar & Rogers 2021)",
    "permute_and_flip": "permute-and-flip (McKenna & Sheldon 2020)",
}

_STEPS = 2**20
_SLACK = 2  # steps: 1 for rounding to nearest, 1 for floating-point errors of the scores of up to half a step


def selection_probabilities(scores: FloatArray, sensitivity: float, epsilon: float) -> FloatArray:
    """Exponential mechanism: probabilities (R,) proportional to exp(epsilon u_r / (2 Delta)).

    Args:
        scores: utilities u_r (R,), larger is better.
        sensitivity: Delta > 0, in the unit of the scores.

    Raises:
        ValueError: scores are not a finite vector, or sensitivity or epsilon is not positive.

    Source: McSherry & Talwar 2007.
    """
    odds = np.exp(_tilts(scores, sensitivity, epsilon))
    return np.asarray(odds / odds.sum())


def permute_and_flip_probabilities(scores: FloatArray, sensitivity: float, epsilon: float) -> FloatArray:
    """Permute-and-flip: exact probabilities (R,), P_r = p_r int_0^1 prod_{s != r} (1 - t p_s) dt.

    Here p_r = exp(epsilon (u_r - u_max) / (2 Delta)). Candidate r, tossed at a uniform time t, wins if its coin of
    bias p_r shows heads and each other candidate has not been tossed by then or shows tails. Gauss-Legendre
    quadrature is exact for this polynomial of degree R - 1 in t.

    Arguments and errors as for ``selection_probabilities``.

    Source: McKenna & Sheldon 2020, algorithm 1.
    """
    p = np.exp(_tilts(scores, sensitivity, epsilon))
    nodes, weights = np.polynomial.legendre.leggauss(len(p) // 2 + 1)
    survive = 1 - p[:, None] * (nodes + 1) / 2
    others = [np.delete(survive, r, axis=0).prod(axis=0) @ weights / 2 for r in range(len(p))]
    return np.asarray(p * np.array(others))


def choose(
    scores: FloatArray,
    sensitivity: float,
    epsilon: float,
    mechanism: MechanismName = "exponential",
    rng: np.random.Generator | None = None,
) -> int:
    """One private choice, the index of a candidate.

    A real choice (``rng`` None) is exact: scores are rounded to whole steps of Delta 2^-20, a public grid, and drawn by
    rational arithmetic with the operating system's randomness. Rounding four scores moves u_r - u_q between
    neighbours by at most two steps, and errors of half a step in each score by two more: Delta^ = 2^20 + 2 covers both.

    Args:
        scores: utilities u_r (R,), larger is better.
        sensitivity: Delta > 0, in the unit of the scores.
        mechanism: "exponential" or "permute_and_flip".

    Raises:
        ValueError: as for ``selection_probabilities``, or the mechanism is unknown.
    """
    _check_mechanism(mechanism)
    tilts = _tilts(scores, sensitivity, epsilon)
    if rng is not None:
        # the argmax of tilts + noise: Gumbel gives the exponential mechanism, exponential noise permute-and-flip
        noise = rng.gumbel if mechanism == "exponential" else rng.exponential
        return int(np.argmax(tilts + noise(size=len(tilts))))
    # a score 2^80 steps below the best is chosen with a probability below exp(-2^50): no matter how far below it is
    steps = [round(max(float(u), -(2.0**80))) for u in (scores - scores.max()) / sensitivity * _STEPS]
    draw = exponential_mechanism if mechanism == "exponential" else permute_and_flip
    return draw(steps, Fraction(epsilon) / (2 * (_STEPS + _SLACK)))


def selection_guarantee(
    epsilon: float, unit: str = "one record's output", mechanism: MechanismName = "exponential"
) -> Guarantee:
    """Promise of one private choice, pure epsilon-DP; the exponential mechanism is also (epsilon^2 / 8)-zCDP.

    Args:
        unit: whom one record is about.
        mechanism: "exponential" or "permute_and_flip".

    Raises:
        ValueError: epsilon is out of range, or the mechanism is unknown.
    """
    _check_mechanism(mechanism)
    return Guarantee(
        budget=Budget(epsilon=epsilon, delta=0.0),
        loss=PureLoss(epsilon, rho=epsilon**2 / 8 if mechanism == "exponential" else None),
        protects="outputs",
        neighbours=ONE_OUTPUT,
        unit=unit,
        theorem=f"{_THEOREMS[mechanism]}; sensitivity of errors on people left out, proven in selection/scores.py",
        assumptions=(
            "the grid of candidates, the folds and any clipping bound are public, fixed without the private outputs",
            "inputs and their number are public",
            "outputs are clipped to bounds declared without looking at them",
        ),
        not_covered=(
            "the release that uses the choice, which spends its own budget",
            "the scores and probabilities themselves: only the chosen candidate may be published",
        ),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class SelectionTable:
    """Effect of a private choice, for R candidates and E regression epsilons. Not private: for teaching.

    Attributes:
        epsilons: regression epsilons (E,); inf for a release without noise.
        probabilities: chance that each candidate is chosen (R, E), when accuracy at that epsilon is the utility.
        rmse: held-out RMSE without noise (R,), in the output's unit.
        private_rmse: sqrt(expected SSE / N) of the private release (R, E), in the output's unit.
        selected_rmse: the same after the private choice (E,): its expected SSE averaged over the choice.
    """

    epsilons: tuple[float, ...]
    probabilities: FloatArray
    rmse: FloatArray
    private_rmse: FloatArray
    selected_rmse: FloatArray


def selection_table(
    scores: GridScores,
    epsilon: float,
    regression_epsilons: Sequence[float],
    delta: float,
    calibration: Method = "analytic",
    *,
    unproven: bool = False,
    mechanism: MechanismName = "exponential",
) -> SelectionTable:
    """Tabulate choice and error for each regression epsilon; milliseconds, no draws, no refits.

    Args:
        scores: the grid's cross-validation.
        regression_epsilons: > 0, of the release that follows; inf for none.
        delta: of that release.
        calibration: of that release, see ``noise_multiplier``.
        unproven: as there.
        mechanism: "exponential" or "permute_and_flip".

    Raises:
        ValueError: an epsilon or delta is out of range, Hall's formula is unproven there, or the mechanism unknown.
    """
    _check_mechanism(mechanism)
    probabilities_of = selection_probabilities if mechanism == "exponential" else permute_and_flip_probabilities
    columns, errors = [], []
    for regression in regression_epsilons:
        s = 0.0 if regression == math.inf else noise_multiplier(regression, delta, calibration, unproven=unproven)
        noise = scores.expected_noise(s)
        columns.append(probabilities_of(-(scores.compared + noise), scores.sensitivity, epsilon))
        errors.append(scores.sse + noise)
    probabilities, expected = np.stack(columns, axis=1), np.stack(errors, axis=1)
    return SelectionTable(
        epsilons=tuple(regression_epsilons),
        probabilities=probabilities,
        rmse=scores.rmse(scores.sse),
        private_rmse=scores.rmse(expected),
        # E SSE = sum_r P(r) E[SSE_r]
        selected_rmse=scores.rmse((probabilities * expected).sum(axis=0)),
    )


def _check_mechanism(mechanism: str) -> None:
    if mechanism not in _THEOREMS:
        raise ValueError(f"mechanism must be {' or '.join(map(repr, _THEOREMS))}, got {mechanism!r}")


def _tilts(scores: FloatArray, sensitivity: float, epsilon: float) -> FloatArray:
    """Exponents epsilon (u_r - u_max) / (2 Delta) <= 0, shape (R,)."""
    check_positive("sensitivity", sensitivity)
    check_positive("epsilon", epsilon)
    if scores.ndim != 1 or len(scores) == 0 or not np.isfinite(scores).all():
        raise ValueError(f"scores must be a non-empty finite vector, got shape {scores.shape}")
    return np.asarray(epsilon * (scores - scores.max()) / (2 * sensitivity))

"""Private selection among R candidates by the exponential mechanism or permute-and-flip, and its expected error."""

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
_SLACK = 2  # in steps: 1 for rounding to nearest, and 1 for floating-point errors of scores of up to half a step


def selection_probabilities(scores: FloatArray, sensitivity: float, epsilon: float) -> FloatArray:
    """Return the probabilities (R,) of the exponential mechanism, proportional to exp(epsilon u_r / (2 Delta)).

    Args:
        scores: utilities u_r (R,), larger is better.
        sensitivity: Delta > 0, in the unit of the scores.
        epsilon: budget of the selection, > 0.

    Raises:
        ValueError: scores are not a finite vector, or sensitivity or epsilon is not positive.

    Source: McSherry & Talwar 2007.
    """
    odds = np.exp(_tilts(scores, sensitivity, epsilon))
    return np.asarray(odds / odds.sum())


def permute_and_flip_probabilities(scores: FloatArray, sensitivity: float, epsilon: float) -> FloatArray:
    """Return the exact probabilities (R,) of permute-and-flip, P_r = p_r int_0^1 prod_{s != r} (1 - t p_s) dt.

    Here p_r = exp(epsilon (u_r - u_max) / (2 Delta)). Suppose that the coin of every candidate is tossed at a uniformly
    random time. Candidate r, tossed at time t, is selected if its coin with probability p_r shows heads, and every
    other candidate is tossed later or shows tails. Gauss-Legendre quadrature is exact for this polynomial of degree R -
    1 in t.

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
    """Select a candidate privately and return its index.

    A real selection (``rng`` None) is exact: scores are rounded to a public grid with steps of Delta 2^-20, and the
    selection uses rational arithmetic and randomness of the operating system. The difference of two scores, compared
    between neighbours, involves four scores. Rounding them changes it by at most two steps, and floating-point errors
    of half a step in each score by two more. The sensitivity 2^20 + 2 of the rounded scores covers both.

    Args:
        scores: utilities u_r (R,), larger is better.
        sensitivity: Delta > 0, in the unit of the scores.
        epsilon: budget of the selection, > 0.
        mechanism: "exponential" or "permute_and_flip".
        rng: None for a real selection; a generator for a simulated one, which is not private.
    """
    _check_mechanism(mechanism)
    tilts = _tilts(scores, sensitivity, epsilon)
    if rng is not None:
        # The argmax of tilts + noise is the exponential mechanism for Gumbel noise, and permute-and-flip for
        # exponential noise.
        noise = rng.gumbel if mechanism == "exponential" else rng.exponential
        return int(np.argmax(tilts + noise(size=len(tilts))))
    # A score more than 2^80 steps below the best has a probability below exp(-2^50), so it can be clipped there.
    steps = [round(max(float(u), -(2.0**80))) for u in (scores - scores.max()) / sensitivity * _STEPS]
    draw = exponential_mechanism if mechanism == "exponential" else permute_and_flip
    return draw(steps, Fraction(epsilon) / (2 * (_STEPS + _SLACK)))


def selection_guarantee(
    epsilon: float, unit: str = "one record's output", mechanism: MechanismName = "exponential"
) -> Guarantee:
    """Return the guarantee of one selection, epsilon-DP. The exponential mechanism is also (epsilon^2 / 8)-zCDP.

    Args:
        epsilon: budget of the selection.
        unit: privacy unit, in words.
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
    """Effect of a private selection among R candidates for E values of the regression's epsilon. It is not private.

    Attributes:
        epsilons: epsilon of the regression (E,); inf for a release without noise.
        probabilities: probability that each candidate is selected (R, E), if accuracy at that epsilon is the utility.
        rmse: held-out RMSE without noise (R,), in the unit of the output.
        private_rmse: sqrt(expected SSE / N) of the private release (R, E), in the unit of the output.
        selected_rmse: the same after the selection (E,), with the expected SSE averaged over the selected candidate.
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
    """Tabulate selection probabilities and errors for each epsilon of the regression, in closed form.

    Args:
        scores: cross-validation of the candidates.
        epsilon: budget of the selection, > 0.
        regression_epsilons: epsilon > 0 of the release that follows; inf for one without noise.
        delta: delta of that release.
        calibration: calibration of that release, see ``noise_multiplier``.
        unproven: see ``noise_multiplier``.
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
        columns.append(probabilities_of(-(scores.sse + noise), scores.sensitivity, epsilon))
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
    """Return the exponents epsilon (u_r - u_max) / (2 Delta) <= 0, shape (R,)."""
    check_positive("sensitivity", sensitivity)
    check_positive("epsilon", epsilon)
    if scores.ndim != 1 or len(scores) == 0 or not np.isfinite(scores).all():
        raise ValueError(f"scores must be a non-empty finite vector, got shape {scores.shape}")
    return np.asarray(epsilon * (scores - scores.max()) / (2 * sensitivity))

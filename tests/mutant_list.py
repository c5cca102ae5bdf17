"""The edits of ``tests.mutants``: each breaks a promise of privacy, and each once went, or could go, unnoticed."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """One edit: ``before`` stands once in ``file`` and becomes ``after``; ``tests`` should fail then."""

    file: str
    breaks: str
    before: str
    after: str
    tests: tuple[str, ...]


def _in(folder: str, name: str) -> tuple[str, ...]:
    return (f"tests/core/{folder}/test_{name}.py",)


GAUSSIAN = "dpgp_core/accounting/gaussian.py"
LEDGER = "dpgp_core/accounting/ledger.py"
INTEGERS = "dpgp_core/measurement/integers.py"
NOISE = "dpgp_core/measurement/noise.py"
DISCRETE = "dpgp_core/measurement/discrete.py"
CELLS = "dpgp_core/measurement/cells.py"
RECORDS = "dpgp_core/measurement/records.py"
EXPONENTIAL = "dpgp_core/selection/exponential.py"
SCORES = "dpgp_core/selection/scores.py"
AUDIT = "dpgp_core/attack/audit.py"
BEST = "dpgp_core/accounting/best_of_many.py"
LOSSES = "dpgp_core/accounting/losses.py"
COMPOSE = "dpgp_core/accounting/compose.py"

MUTANTS: tuple[Mutant, ...] = (
    # calibration
    Mutant(
        GAUSSIAN,
        "noise for half the shift",
        "half, drift = 0.5 /",
        "half, drift = 0.25 /",
        _in("accounting", "gaussian"),
    ),
    Mutant(
        GAUSSIAN, "noise rounded down", "_ROUND_UP = 1 + 1e-11", "_ROUND_UP = 1 - 1e-11", _in("accounting", "gaussian")
    ),
    Mutant(
        GAUSSIAN,
        "Hall's formula above epsilon 1",
        "if epsilon > 1 and not unproven:",
        "if epsilon > 9 and not unproven:",
        _in("accounting", "gaussian"),
    ),
    Mutant(
        GAUSSIAN,
        "delta doubled",
        "max(log_delta_of(math.exp(log_s), epsilon), -1e9) - math.log(delta)",
        "max(log_delta_of(math.exp(log_s), epsilon), -1e9) - math.log(2 * delta)",
        _in("accounting", "gaussian"),
    ),
    # composition and ledger
    Mutant(
        COMPOSE,
        "only the largest Gaussian loss counts",
        "math.hypot(*gaussian)",
        "max(gaussian)",
        _in("accounting", "compose"),
    ),
    Mutant(
        COMPOSE,
        "approximate deltas are forgotten",
        "left = delta - sum(loss.times * loss.approximate_delta for loss in approximate)",
        "left = delta",
        _in("accounting", "compose"),
    ),
    Mutant(
        LOSSES,
        "repetition is free",
        "GaussianLoss(self.mu * math.sqrt(times))",
        "GaussianLoss(self.mu)",
        _in("accounting", "losses"),
    ),
    Mutant(
        LEDGER,
        "a ledger tolerates 10 %",
        "self.limit.epsilon * (1 + 1e-9)",
        "self.limit.epsilon * 1.1",
        _in("accounting", "ledger"),
    ),
    Mutant(
        LEDGER,
        "a ledger forgets earlier entries",
        "entries=[*self.entries, *guarantees]",
        "entries=[*guarantees]",
        _in("accounting", "ledger"),
    ),
    Mutant(
        LEDGER,
        "inputs lose their protection unsaid",
        "if len(protected) > 1 and not self.inputs_public:",
        "if len(protected) > 2:",
        _in("accounting", "ledger"),
    ),
    Mutant(
        LEDGER,
        "what is left counts nothing spent",
        "compose([*spent, GaussianLoss(math.exp(log_mu))], budget.delta)",
        "compose([GaussianLoss(math.exp(log_mu))], budget.delta)",
        _in("accounting", "ledger"),
    ),
    Mutant(
        "dpgp_core/release/ledger_json.py",
        "a file may claim less than it spent",
        "_TOLERANCE = 1 + 1e-6",
        "_TOLERANCE = 1.1",
        _in("release", "ledger_json"),
    ),
    # integers
    Mutant(
        INTEGERS,
        "a column longer than 1 is measured",
        "_HAIR = 1 + 1e-6",
        "_HAIR = 1.5",
        _in("measurement", "integers"),
    ),
    Mutant(
        INTEGERS,
        "long columns are not shrunk",
        "(GRID * (1 - 1e-9) / lengths[long])",
        "(GRID * (1 + 1e-9))",
        _in("measurement", "integers"),
    ),
    Mutant(
        INTEGERS,
        "lengths are checked with slack",
        "dtype=np.int64) > GRID**2)",
        "dtype=np.int64) > 1.01 * GRID**2)",
        _in("measurement", "integers"),
    ),
    Mutant(
        INTEGERS,
        "absolute lengths are checked with slack",
        "dtype=np.int64) > GRID)",
        "dtype=np.int64) > 1.01 * GRID)",
        _in("measurement", "integers"),
    ),
    Mutant(
        INTEGERS,
        "outputs are not clipped",
        "share = (np.clip(y, low, high) - low) / (high - low)",
        "share = (y - low) / (high - low)",
        (*_in("measurement", "integers"), *_in("measurement", "measurement")),
    ),
    Mutant(
        INTEGERS,
        "places are not clipped",
        "return np.clip(places, -GRID // 2, GRID // 2)",
        "return places",
        _in("measurement", "integers"),
    ),
    Mutant(
        INTEGERS,
        "intervals may leave the bounds",
        "inside = (low >= bounds[0]) & (high <= bounds[1])",
        "inside = (low >= bounds[0] - 1) & (high <= bounds[1] + 1)",
        (*_in("measurement", "integers"), *_in("measurement", "measurement")),
    ),
    # noise
    Mutant(
        NOISE,
        "no margin for the root-finder's error",
        "* self.sensitivity * (1 + MARGIN))",
        "* self.sensitivity * (1 - MARGIN))",
        _in("measurement", "noise"),
    ),
    Mutant(
        NOISE,
        "no variance for the rounding",
        "return sigma_1**2 + ROUNDING_SD**2",
        "return sigma_1**2",
        _in("measurement", "noise"),
    ),
    Mutant(
        NOISE,
        "the variance is the standard deviation",
        "return discrete_gaussian(self.variance, size, bits)",
        "return discrete_gaussian(math.isqrt(self.variance), size, bits)",
        _in("measurement", "noise"),
    ),
    Mutant(
        NOISE,
        "Laplace scale rounded down",
        "return math.ceil(self.sensitivity / Fraction(self.epsilon))",
        "return math.floor(self.sensitivity / Fraction(self.epsilon) * 0.99)",
        _in("measurement", "noise"),
    ),
    Mutant(
        DISCRETE,
        "zero twice as likely",
        "        if z:  # zero has one sign only\n            return -z",
        "        return -z",
        _in("measurement", "discrete"),
    ),
    Mutant(
        DISCRETE,
        "tails cut off",
        "while _bernoulli_exp_fraction(1, 1, bits):\n            v += 1",
        "while v < 3 and _bernoulli_exp_fraction(1, 1, bits):\n            v += 1",
        _in("measurement", "discrete"),
    ),
    Mutant(
        DISCRETE,
        "a Laplace passes for a Gaussian",
        "if _bernoulli_exp((abs(z) * t * b - a) ** 2, 2 * a * b * t * t, bits):",
        "if True:",
        _in("measurement", "discrete"),
    ),
    Mutant(
        DISCRETE,
        "a coin of bias gamma for exp(-gamma)",
        "return k % 2 == 1",
        "return k > 1",
        _in("measurement", "discrete"),
    ),
    Mutant(
        CELLS,
        "a record that moves is counted once",
        "squares[i : i + _ROWS, None] + squares - 2 *",
        "squares[i : i + _ROWS, None] -",
        _in("measurement", "cells"),
    ),
    Mutant(
        RECORDS,
        "a replaced record moves the sum by one radius",
        "steps = 2 * _FINE",
        "steps = _FINE",
        _in("measurement", "records"),
    ),
    # private choice
    Mutant(
        EXPONENTIAL,
        "half the sensitivity",
        "Fraction(epsilon) / (2 * (_STEPS + _SLACK))",
        "Fraction(epsilon) / (_STEPS + _SLACK)",
        _in("selection", "exponential"),
    ),
    Mutant(
        EXPONENTIAL,
        "rounding left out of the sensitivity",
        "_SLACK = 2",
        "_SLACK = -2000",
        _in("selection", "exponential"),
    ),
    Mutant(
        EXPONENTIAL,
        "probabilities at half the sensitivity",
        "epsilon * (scores - scores.max()) / (2 * sensitivity)",
        "epsilon * (scores - scores.max()) / sensitivity",
        _in("selection", "exponential"),
    ),
    Mutant(
        SCORES,
        "half the sensitivity of held-out errors",
        "return max(largest / 2, _LEAST * d**2) * _ROUND_UP",
        "return max(largest / 4, _LEAST * d**2) * _ROUND_UP",
        _in("selection", "scores"),
    ),
    Mutant(
        SCORES,
        "records are taken to move alone",
        "s = h * (np.abs(H).sum(axis=1) - g)",
        "s = 0 * (np.abs(H).sum(axis=1) - g)",
        _in("selection", "scores"),
    ),
    Mutant(
        SCORES,
        "clipped errors are not clipped",
        "return float((np.clip(residuals, -B, B) ** 2).sum())",
        "return float((residuals**2).sum())",
        _in("selection", "scores"),
    ),
    Mutant(
        "dpgp_core/selection/coinpress.py",
        "CoinPress spends rho twice",
        "early = (1 - self.last_share) / (self.steps - 1)",
        "early = 2 * (1 - self.last_share) / (self.steps - 1)",
        _in("selection", "coinpress"),
    ),
    Mutant(
        "dpgp_core/selection/coinpress.py",
        "CoinPress does not clip",
        "clipped = np.clip(values, centre - half, centre + half)",
        "clipped = values",
        _in("selection", "coinpress"),
    ),
    Mutant(
        "dpgp_core/selection/coinpress.py",
        "one number moves a mean by half its range",
        "noise_sd = 2 * half / n",
        "noise_sd = half / n",
        _in("selection", "coinpress"),
    ),
    Mutant(
        BEST,
        "the expected number of runs is forgotten",
        "+ math.log(expected_runs(self.eta, self.gamma)) / (orders - 1)",
        "",
        _in("accounting", "best_of_many"),
    ),
    Mutant(
        BEST,
        "the better part counts, not the worse",
        "return max(loss.epsilon(delta) for loss in self.losses)",
        "return min(loss.epsilon(delta) for loss in self.losses)",
        _in("accounting", "best_of_many"),
    ),
    # posterior sampling
    Mutant(
        "dpgp_core/accounting/posterior_curves.py",
        "published constants pass for proven",
        "(signed_covariance if self.signed else published_covariance)",
        "(published_covariance if self.signed else signed_covariance)",
        (*_in("accounting", "posterior_curves"), *_in("accounting", "posterior_adversary")),
    ),
    # the audit itself
    Mutant(
        AUDIT,
        "the threshold is tested where it was chosen",
        "tested = _bounds(last_in, last_out,",
        "tested = _bounds(first_in, first_out,",
        _in("attack", "audit"),
    ),
    Mutant(
        AUDIT,
        "delta is forgotten",
        "_bounds(last_in, last_out, thresholds[[best]], delta, tail)",
        "_bounds(last_in, last_out, thresholds[[best]], 0.0, tail)",
        _in("attack", "audit"),
    ),
    Mutant(
        AUDIT,
        "the confidence of one side is spent twice",
        "tail = (1 - confidence) / 2",
        "tail = 1 - confidence",
        _in("attack", "audit"),
    ),
)

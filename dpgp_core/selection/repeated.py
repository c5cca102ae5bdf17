"""Choice by repeated private runs: draw a candidate, fit it, score it privately, keep the best (Liu & Talwar).

Scores are means by CoinPress: of bounded numbers whose bounds are far too wide, tightened step by step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..accounting.guarantee import Budget
from ..accounting.losses import ApproximateLoss, PrivacyLoss, liu_talwar_constants, zcdp_of
from ..arrays import FloatArray
from ..checks import check_positive
from ..measurement.measurement import Measurement
from ..mechanisms.sparse_variational import SparseVariational
from ..sparse.statistics import noise_scales, noisy
from ..table import Dataset
from .hyperparameters import (
    Candidate,
    HyperparameterChoice,
    check_candidates,
    halves,
    log_densities,
    with_candidate,
)

_STEPS = 12
_LAST_SHARE = 0.75  # of rho, for the last step; the others share the rest equally
_SD = 1.0  # that the numbers are taken to have at most
_FAILURE = 0.01  # chance of it in each step that the interval's width is chosen for


def private_mean(
    values: FloatArray, centre: float, radius: float, rho: float, rng: np.random.Generator | None = None
) -> float:
    """CoinPress: the private mean of ``values`` (n,), n public, from the public interval centre +- radius.

    Each step t clips to the interval widened by sd sqrt(2 log(2n / beta)), whose half-width is w_t, and releases
        m_t = mean + N(0, (2 w_t / n)^2 / (2 rho_t));
    the next interval is m_t +- sqrt(2 log(2 / beta) (sd^2 / n + (2 w_t / n)^2 / (2 rho_t))). The last m_t counts.
    One number moves a clipped mean by at most 2 w_t / n: step t is rho_t-zCDP whatever the numbers are, and all
    together, being Gaussian, have mu^2 / 2 = rho. That they are spread like a Gaussian of this sd is needed for
    accuracy only. Each step is a ``Measurement`` of one number, the sum of the scaled values.

    Args:
        values: finite numbers (n,), n >= 1. Private.
        centre: of the public interval, in the unit of the values.
        radius: of the public interval, > 0, in the same unit.
        rho: zCDP budget > 0 of all steps.

    Raises:
        ValueError: there are no values, or radius or rho is not positive.

    Source: Biswas, Dong, Kamath & Ullman 2020, algorithm 1 (one dimension); shares as in Honkela & Melkas 2021.
    """
    check_positive("rho", rho)
    check_positive("radius", radius)
    n = len(values)
    if n < 1:
        raise ValueError("there are no values to take the mean of; give at least one")
    tail = _SD * math.sqrt(2 * math.log(2 * n / _FAILURE))
    for share in _shares(rho):
        low, high = centre - radius - tail, centre + radius + tail
        ends = np.full(n, low), np.full(n, high)
        multiplier = 1 / math.sqrt(2 * share)  # s = 1 / mu, mu^2 / 2 = rho
        total = Measurement(
            B=np.ones((1, n)), low=ends[0], high=ends[1], bounds=(low, high), noise_multiplier=multiplier
        )
        z = total.measure(values) if rng is None else total.teaching(values, rng)[0]
        noise_sd = (high - low) / n * total.noise_sd
        centre = low + (high - low) * (float(z[0]) / n + 0.5)
        radius = math.sqrt(2 * math.log(2 / _FAILURE) * (_SD**2 / n + noise_sd**2))
    return centre


def _shares(rho: float) -> tuple[float, ...]:
    """Budget of each step, adding up to rho."""
    early = (1 - _LAST_SHARE) / (_STEPS - 1)
    return (early * rho,) * (_STEPS - 1) + (_LAST_SHARE * rho,)


def choose_liu_talwar(
    mechanism: SparseVariational,
    candidates: Sequence[Candidate],
    dataset: Dataset,
    rng: np.random.Generator | None = None,
    gamma: float = 0.01,
) -> HyperparameterChoice:
    """The paper's choice: after each run stop with chance gamma, or after T runs; publish the best run so far.

    Each run is (e, d)-DP, the whole (epsilon, delta)-DP, see ``liu_talwar_constants``. Scores outside the public
    interval are refused; if all are, nothing is chosen.

    Args:
        mechanism: gives the whole budget, variant and inducing inputs; its kernel and noise variance are not used.
        dataset: even rows are fitted, odd rows are scored.
        rng: None for a real choice, with exact noise from the operating system, whose randomness also seeds the draws
            of candidates and of the number of runs; a generator for a numbered one, for teaching only.
        gamma: chance in (0, 1) of stopping after each run.

    Raises:
        ValueError: no candidates, fewer than two records, or the budget is too small for this gamma.

    Source: Honkela & Melkas 2021, algorithm 2; Liu & Talwar 2019, theorem 3.4.
    """
    constants = liu_talwar_constants(mechanism.epsilon, mechanism.delta, gamma)
    return best_of_random_runs(
        mechanism,
        candidates,
        dataset,
        rng,
        number=lambda public: min(int(public.geometric(gamma)), constants.draws),
        multiplier=replace(mechanism, epsilon=constants.epsilon, delta=constants.delta).noise_multiplier,
        rho=zcdp_of(constants.epsilon, constants.delta),
        loss=ApproximateLoss(mechanism.epsilon, mechanism.delta),
        theorem="Liu & Talwar 2019, theorem 3.4, with Honkela & Melkas 2021, theorem 4",
    )


def best_of_random_runs(
    mechanism: SparseVariational,
    candidates: Sequence[Candidate],
    dataset: Dataset,
    rng: np.random.Generator | None,
    *,
    number: Callable[[np.random.Generator], int],
    multiplier: float,
    rho: float,
    loss: PrivacyLoss,
    theorem: str,
) -> HyperparameterChoice:
    """The best of a random number of runs: a random candidate, its fit on one half, its mean density on the other.

    Args:
        mechanism: gives the whole budget, variant and inducing inputs; its kernel and noise variance are not used.
        dataset: even rows are fitted, odd rows are scored.
        rng: as for ``choose_liu_talwar``.
        number: draws the number of runs, whose law is public.
        multiplier: of the noise of one run's fit.
        rho: zCDP budget of one run's score.
        loss: of the whole choice.
        theorem: by which it spends that.

    Raises:
        ValueError: no candidates, or fewer than two records.
    """
    check_candidates(candidates)
    train, validate = halves(dataset)
    models = [with_candidate(mechanism, each) for each in candidates]
    of_kernel = {model.kernel: model for model in models}
    R_y = dataset.half_range
    sums = {kernel: model.integer_sums(train) for kernel, model in of_kernel.items()}
    noise = {k: noise_scales(multiplier, R_y, model.feature_bound(train)) for k, model in of_kernel.items()}
    public = _public(rng)
    highest, best = -math.inf, None
    for _ in range(number(public)):
        index = int(public.integers(len(models)))
        model, sigma = models[index], math.sqrt(candidates[index].noise_variance)
        fit = model.fit_statistics(noisy(sums[model.kernel], noise[model.kernel], rng), train)
        # highest density of the noise alone, and the density 2 R_y away from a perfect prediction
        radius = (R_y / sigma) ** 2
        centre = -math.log(2 * math.pi) / 2 - math.log(sigma) - radius
        values = np.clip(log_densities(fit, candidates[index], validate), centre - radius, centre + radius)
        score = private_mean(values, centre, radius, rho, rng)
        if highest < score <= centre + radius:  # beyond, it is impossible
            highest, best = score, (index, fit)
    one = mechanism.guarantee
    guarantee = replace(
        one,
        budget=Budget(epsilon=mechanism.epsilon, delta=mechanism.delta),
        loss=loss,
        unit=dataset.privacy_unit,
        theorem=f"{theorem}; each run: {one.theorem}",
        assumptions=(*one.assumptions, "candidates, split and the law of the number of runs are public"),
    )
    if best is None:
        # not how many runs there were: their number is no part of the output that the theorems cover
        message = "nothing was chosen: the score of every run was refused as impossible; raise epsilon"
        return HyperparameterChoice(index=None, fit=None, scores=None, guarantee=guarantee, message=message)
    index, fit = best
    message = "the best of a random number of private runs"
    return HyperparameterChoice(
        index=index, fit=replace(fit, guarantee=guarantee), scores=None, guarantee=guarantee, message=message
    )


def _public(rng: np.random.Generator | None) -> np.random.Generator:
    """Source of randomness that depends on no record: candidates and the number of runs."""
    return np.random.default_rng() if rng is None else rng

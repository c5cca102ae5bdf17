"""Private choice of kernel and noise variance for the sparse DP-GP: by evidence at no cost, or on held-out records.

On held-out records all candidates are fitted and scored at once; or by repeated private runs: draw a candidate, fit it,
score it privately, keep the best (Liu & Talwar). Those scores are means by CoinPress: of bounded numbers whose bounds
are far too wide, tightened step by step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..accounting.guarantee import Guarantee
from ..accounting.losses import (
    ApproximateLoss,
    ParallelLoss,
    PrivacyLoss,
    PureLoss,
    liu_talwar_constants,
    zcdp_of,
)
from ..arrays import FloatArray
from ..checks import check_positive
from ..gp.inducing import inducing_root
from ..kernels import Stationary
from ..measurement.measurement import Measurement
from ..mechanisms.sparse_variational import SparseVariational
from ..sparse.posterior import SparseFit, errors_in_variables
from ..sparse.statistics import NoiseScales, noise_scales, noisy
from ..table import Dataset
from .exponential import choose


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One setting to choose from: kernel and noise variance > 0, in model units. Public."""

    kernel: Stationary
    noise_variance: float

    def __post_init__(self) -> None:
        check_positive("noise_variance", self.noise_variance)


@dataclass(frozen=True, kw_only=True, eq=False)
class HyperparameterChoice:
    """The outcome of a private choice; all of it may be published.

    Attributes:
        index: of the chosen candidate; None if none could be chosen.
        fit: the chosen model, covered by ``guarantee``; None if none could be chosen.
        scores: of every candidate (R,) where they may be published (evidence), else None.
        guarantee: the promise for choice and fit together.
        message: the outcome in words, for the reader.
    """

    index: int | None = None
    fit: SparseFit | None = None
    scores: FloatArray | None = None
    guarantee: Guarantee
    message: str


def choose_by_evidence(
    mechanism: SparseVariational,
    candidates: Sequence[Candidate],
    dataset: Dataset,
    rng: np.random.Generator | None = None,
) -> HyperparameterChoice:
    """Release the statistics once and choose the candidate of highest evidence: post-processing, no further cost.

    A and B do not depend on the noise variance. They are whitened with the mechanism's kernel, the reference: under
    candidate theta the weights have prior P = L^-1 K_theta L^-T. The reference should have the shortest
    lengthscale of the candidates, and inducing inputs at most about 1.6 of it apart all over the box: a
    function beyond its features is beyond all candidates. Its noise variance is not used. Noise variances are
    distinguished only weakly: m sums say little about the n residuals.

    score_theta = log N(A; 0, B P B + R), see ``errors_in_variables``

    Args:
        mechanism: variant "whitened".
        dataset: all of it is used for the fit.

    Raises:
        ValueError: no candidates, or the mechanism is the paper's variant.
    """
    check_candidates(candidates)
    if mechanism.variant != "whitened":
        raise ValueError("a choice by evidence needs whitened statistics; use variant='whitened'")
    reference = mechanism.fit(dataset, rng)
    Z = mechanism.inducing_inputs(dataset)
    root = inducing_root(mechanism.kernel, Z)
    posteriors = [
        errors_in_variables(reference.statistics, each.kernel, Z, root, each.noise_variance) for each in candidates
    ]
    scores = np.array([posterior.log_evidence for posterior in posteriors])
    best = int(scores.argmax())
    return HyperparameterChoice(
        index=best,
        fit=replace(reference, posterior=posteriors[best]),
        scores=scores,
        guarantee=reference.guarantee,
        message="chosen by the evidence of the released statistics: no budget beyond that of the release",
    )


LOG_DENSITY_RANGE = 10.0  # of one record's score, in nats


def choose_jointly(
    mechanism: SparseVariational,
    candidates: Sequence[Candidate],
    dataset: Dataset,
    rng: np.random.Generator | None = None,
) -> HyperparameterChoice:
    """Release the statistics of every distinct kernel on one half, then choose on the other half's log-likelihood.

    With K distinct kernels each release has noise multiplier sqrt(K) s' (Gaussian composition: exact where the worst
    neighbour flips an output, as it moves all kernels' statistics at once). The exponential mechanism scores
    sum_i clip(log N(y_i; mu_i, var_i + noise variance), U - range, U), U the highest density of any candidate.
    One record is in one half only, so both steps together cost the larger of the two, not their sum.

    Args:
        mechanism: gives budget, variant and inducing inputs; its kernel and noise variance are not used.
        dataset: even rows are fitted, odd rows are scored.

    Raises:
        ValueError: no candidates, or fewer than two records.
    """
    check_candidates(candidates)
    train, validate = halves(dataset)
    kernels = list(dict.fromkeys(each.kernel for each in candidates))
    released = {}
    for kernel in kernels:
        one = replace(mechanism, kernel=kernel)
        scales = one.noise(train)
        wider = NoiseScales(sa=math.sqrt(len(kernels)) * scales.sa, sb=math.sqrt(len(kernels)) * scales.sb)
        released[kernel] = noisy(one.integer_sums(train), wider, rng)
    fits = [with_candidate(mechanism, each).fit_statistics(released[each.kernel], train) for each in candidates]
    top = max(-0.5 * math.log(2 * math.pi * each.noise_variance) for each in candidates)
    scores = np.array(
        [
            np.clip(log_densities(fit, each, validate), top - LOG_DENSITY_RANGE, top).sum()
            for fit, each in zip(fits, candidates, strict=True)
        ]
    )
    chosen = choose(scores, LOG_DENSITY_RANGE, mechanism.epsilon, rng=rng)
    epsilon, promise = mechanism.epsilon, mechanism.promise_for(dataset)
    guarantee = replace(
        promise,
        loss=ParallelLoss((promise.loss, PureLoss(epsilon, rho=epsilon**2 / 8))),
        theorem=f"{promise.theorem}; exponential mechanism (McSherry & Talwar 2007) on the other half of the records",
        assumptions=(*promise.assumptions, "candidates, split and range of scores are public"),
    )
    return HyperparameterChoice(
        index=chosen,
        fit=replace(fits[chosen], guarantee=guarantee),
        guarantee=guarantee,
        message=f"{len(kernels)} kernels released together on one half; exponential mechanism on the other",
    )


def with_candidate(mechanism: SparseVariational, candidate: Candidate) -> SparseVariational:
    """The same mechanism with a candidate's kernel and noise variance."""
    return replace(mechanism, kernel=candidate.kernel, noise_variance=candidate.noise_variance)


def halves(dataset: Dataset) -> tuple[Dataset, Dataset]:
    """Even and odd rows: a public split, so a replaced record stays in its half.

    Raises:
        ValueError: there are fewer than two records.
    """
    if dataset.n < 2:
        raise ValueError(f"a choice on held-out records needs at least 2 records, got {dataset.n}")
    rows = np.arange(dataset.n)
    return dataset.subset(rows[::2]), dataset.subset(rows[1::2])


def log_densities(fit: SparseFit, candidate: Candidate, dataset: Dataset) -> FloatArray:
    """Log N(y_i; mu_i, var_i + noise_variance) of each record (n,), x clipped to the box, in model units. Private."""
    mean, variance = fit.posterior.predict(np.clip(dataset.X, *np.array(dataset.x_box).T))
    total = variance + candidate.noise_variance
    return -0.5 * (np.log(2 * math.pi * total) + (dataset.standardised() - mean) ** 2 / total)


def check_candidates(candidates: Sequence[Candidate]) -> None:
    """Raise ValueError unless there are any."""
    if len(candidates) < 1:
        raise ValueError("there are no candidates to choose from; give at least one")


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
        total = Measurement(
            B=np.ones((1, n)),
            low=np.full(n, low),
            high=np.full(n, high),
            bounds=(low, high),
            noise_multiplier=1 / math.sqrt(2 * share),  # s = 1 / mu, mu^2 / 2 = rho
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
    sums = {
        kernel: (model.integer_sums(train), noise_scales(multiplier, R_y, model.feature_bound(train)))
        for kernel, model in of_kernel.items()
    }
    public = _public(rng)
    highest, best = -math.inf, None
    for _ in range(number(public)):
        index = int(public.integers(len(models)))
        model, sigma = models[index], math.sqrt(candidates[index].noise_variance)
        fit = model.fit_statistics(noisy(*sums[model.kernel], rng), train)
        # highest density of the noise alone, and the density 2 R_y away from a perfect prediction
        radius = (R_y / sigma) ** 2
        centre = -math.log(2 * math.pi) / 2 - math.log(sigma) - radius
        values = np.clip(log_densities(fit, candidates[index], validate), centre - radius, centre + radius)
        score = private_mean(values, centre, radius, rho, rng)
        if highest < score <= centre + radius:  # beyond, it is impossible
            highest, best = score, (index, fit)
    promise = mechanism.promise_for(dataset)
    guarantee = replace(
        promise,
        loss=loss,
        theorem=f"{theorem}; each run: {promise.theorem}",
        assumptions=(*promise.assumptions, "candidates, split and the law of the number of runs are public"),
    )
    if best is None:
        # not how many runs there were: their number is no part of the output that the theorems cover
        message = "nothing was chosen: the score of every run was refused as impossible; raise epsilon"
        return HyperparameterChoice(guarantee=guarantee, message=message)
    index, fit = best
    message = "the best of a random number of private runs"
    fit = replace(fit, guarantee=guarantee)
    return HyperparameterChoice(index=index, fit=fit, guarantee=guarantee, message=message)


def _public(rng: np.random.Generator | None) -> np.random.Generator:
    """Source of randomness that depends on no record: candidates and the number of runs."""
    return np.random.default_rng() if rng is None else rng

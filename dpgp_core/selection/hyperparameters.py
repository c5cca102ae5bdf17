"""Private selection of kernel and noise variance for the sparse DP-GP.

There are two methods. ``choose_by_evidence`` uses the evidence of the released statistics and needs no further budget.
``choose_liu_talwar`` repeats private runs: each run takes a random candidate, fits it on one half of the records and
scores it privately on the other, and the best one is published. Scores of these runs are means by CoinPress, which
tightens wide bounds of the values step by step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..accounting.guarantee import Guarantee
from ..accounting.losses import ApproximateLoss, liu_talwar_constants, zcdp_of
from ..arrays import FloatArray
from ..checks import check_positive
from ..gp.inducing import inducing_root
from ..kernels import Stationary
from ..measurement.measurement import Measurement
from ..mechanisms.sparse_variational import SparseVariational
from ..sparse.posterior import SparseFit, errors_in_variables
from ..sparse.statistics import noise_scales, noisy
from ..table import Dataset


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A setting that may be selected: kernel and noise variance > 0, in model units. It is public."""

    kernel: Stationary
    noise_variance: float

    def __post_init__(self) -> None:
        check_positive("noise_variance", self.noise_variance)


@dataclass(frozen=True, kw_only=True, eq=False)
class HyperparameterChoice:
    """Result of a private selection. All of it may be published.

    Attributes:
        index: index of the selected candidate; None if none could be selected.
        fit: fit of the selected candidate, covered by ``guarantee``; None if none could be selected.
        scores: score of every candidate (R,), in nats, if these may be published (evidence), else None.
        guarantee: guarantee of selection and fit together.
        message: the result in words.
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
    """Release the statistics once and select the candidate with the highest evidence, which is post-processing.

    A and B do not depend on the noise variance. They are whitened with the kernel of the mechanism, the reference
    kernel. Under candidate theta the weights have the prior covariance P = L^-1 K_theta L^-T. The reference kernel
    should have the shortest lengthscale of all candidates, and inducing inputs at a distance of at most about 1.6
    lengthscales everywhere in the box, because functions that its features cannot represent are not represented under
    any candidate. Its noise variance is not used. Noise variances are identified only weakly, because m sums contain
    little information about the n residuals.

    score_theta = log N(A; 0, B P B + R), see ``errors_in_variables``

    Args:
        mechanism: mechanism with the variant "whitened".
        dataset: data set, of which all records are used for the fit.

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


def with_candidate(mechanism: SparseVariational, candidate: Candidate) -> SparseVariational:
    """Return the mechanism with the kernel and noise variance of a candidate."""
    return replace(mechanism, kernel=candidate.kernel, noise_variance=candidate.noise_variance)


def halves(dataset: Dataset) -> tuple[Dataset, Dataset]:
    """Return the even and the odd rows. The split is public, so a replaced record stays in its half.

    Raises:
        ValueError: there are fewer than two records.
    """
    if dataset.n < 2:
        raise ValueError(f"a choice on held-out records needs at least 2 records, got {dataset.n}")
    rows = np.arange(dataset.n)
    return dataset.subset(rows[::2]), dataset.subset(rows[1::2])


def log_densities(fit: SparseFit, candidate: Candidate, dataset: Dataset) -> FloatArray:
    """Return log N(y_i; mu_i, var_i + noise_variance) of each record (n,), in model units. It is not private.

    Inputs are clipped to the box.
    """
    mean, variance = fit.posterior.predict(np.clip(dataset.X, *np.array(dataset.x_box).T))
    total = variance + candidate.noise_variance
    return -0.5 * (np.log(2 * math.pi * total) + (dataset.standardised() - mean) ** 2 / total)


def check_candidates(candidates: Sequence[Candidate]) -> None:
    """Raise ValueError unless there is at least one candidate."""
    if len(candidates) < 1:
        raise ValueError("there are no candidates to choose from; give at least one")


_STEPS = 12
_LAST_SHARE = 0.75  # share of rho of the last step; the other steps share the rest equally
_SD = 1.0  # assumed upper bound on the standard deviation of the values
_FAILURE = 0.01  # probability, in each step, that the next interval does not contain the mean


def private_mean(
    values: FloatArray, centre: float, radius: float, rho: float, rng: np.random.Generator | None = None
) -> float:
    """Return a private mean of ``values`` (n,) by CoinPress, given a public interval centre +- radius.

    Step t clips the values to the interval widened by sd sqrt(2 log(2n / beta)), which has half-width w_t, and releases
        m_t = mean + N(0, (2 w_t / n)^2 / (2 rho_t)).
    The next interval is m_t +- sqrt(2 log(2 / beta) (sd^2 / n + (2 w_t / n)^2 / (2 rho_t))). The result is the last
    m_t.

    One value moves a clipped mean by at most 2 w_t / n. Step t is therefore rho_t-zCDP for all values, and because all
    steps are Gaussian, they have mu^2 / 2 = rho together. Only the accuracy depends on the assumption that the values
    have a normal distribution with this sd. Each step is a ``Measurement`` of one number, the sum of the scaled values.

    Args:
        values: finite numbers (n,), n >= 1. Private, but n is public.
        centre: centre of the public interval, in the unit of the values.
        radius: half-width > 0 of the public interval, in the same unit.
        rho: zCDP budget > 0 of all steps together.

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
    """Return the budget of each step. They add up to rho."""
    early = (1 - _LAST_SHARE) / (_STEPS - 1)
    return (early * rho,) * (_STEPS - 1) + (_LAST_SHARE * rho,)


def choose_liu_talwar(
    mechanism: SparseVariational,
    candidates: Sequence[Candidate],
    dataset: Dataset,
    rng: np.random.Generator | None = None,
    gamma: float = 0.01,
) -> HyperparameterChoice:
    """Select by the method of the paper: repeat private runs, and publish the best one.

    After each run the selection stops with probability gamma, and after T runs in any case. Each run is (e, d)-DP and
    the whole selection (epsilon, delta)-DP, see ``liu_talwar_constants``. Scores outside the public interval are
    refused. If all scores are refused, nothing is selected.

    Args:
        mechanism: defines the whole budget, variant and inducing inputs. Its kernel and noise variance are not used.
        dataset: data set, of which even rows are fitted and odd rows are scored.
        rng: None for a real selection with exact noise; candidates and the number of runs are then also random by the
            operating system. A generator for a simulated one.
        gamma: probability in (0, 1) of stopping after each run.

    Raises:
        ValueError: no candidates, fewer than two records, or the budget is too small for this gamma.

    Source: Honkela & Melkas 2021, algorithm 2; Liu & Talwar 2019, theorem 3.4.
    """
    constants = liu_talwar_constants(mechanism.epsilon, mechanism.delta, gamma)
    multiplier = replace(mechanism, epsilon=constants.epsilon, delta=constants.delta).noise_multiplier
    rho = zcdp_of(constants.epsilon, constants.delta)
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
    for _ in range(_number_of_runs(public, gamma, constants.most_runs)):
        index = int(public.integers(len(models)))
        model, sigma = models[index], math.sqrt(candidates[index].noise_variance)
        fit = model.fit_statistics(noisy(*sums[model.kernel], rng), train)
        # The interval reaches from the log density at a distance of 2 R_y from the prediction to the highest one.
        radius = (R_y / sigma) ** 2
        centre = -math.log(2 * math.pi) / 2 - math.log(sigma) - radius
        values = np.clip(log_densities(fit, candidates[index], validate), centre - radius, centre + radius)
        score = private_mean(values, centre, radius, rho, rng)
        if highest < score <= centre + radius:  # no true score exceeds the upper end
            highest, best = score, (index, fit)
    promise = mechanism.guarantee_for(dataset)
    guarantee = replace(
        promise,
        loss=ApproximateLoss(mechanism.epsilon, mechanism.delta),
        theorem="Liu & Talwar 2019, theorem 3.4, with Honkela & Melkas 2021, theorem 4; each run: " + promise.theorem,
        assumptions=(*promise.assumptions, "candidates, split and the law of the number of runs are public"),
    )
    if best is None:
        # The number of runs is not stated, because the theorems do not cover its publication.
        message = "nothing was chosen: the score of every run was refused as impossible; raise epsilon"
        return HyperparameterChoice(guarantee=guarantee, message=message)
    index, fit = best
    message = "the best of a random number of private runs"
    fit = replace(fit, guarantee=guarantee)
    return HyperparameterChoice(index=index, fit=fit, guarantee=guarantee, message=message)


def _number_of_runs(public: np.random.Generator, gamma: float, most: int) -> int:
    """Sample the number of runs: after each run the selection stops with probability gamma, and after ``most``."""
    return min(int(public.geometric(gamma)), most)


def _public(rng: np.random.Generator | None) -> np.random.Generator:
    """Return the source of randomness for candidates and for the number of runs, which depend on no record."""
    return np.random.default_rng() if rng is None else rng

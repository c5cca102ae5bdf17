"""Private choice of kernel and noise variance for the sparse DP-GP: by evidence at no cost, or on held-out records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..accounting.guarantee import Budget, Guarantee
from ..accounting.losses import GaussianLoss, ParallelLoss, PureLoss
from ..arrays import FloatArray
from ..checks import check_positive
from ..gp.inducing import inducing_root
from ..kernels import Stationary
from ..mechanisms.sparse_variational import SparseVariational
from ..sparse.posterior import SparseFit, errors_in_variables
from ..sparse.statistics import NoiseScales, noisy
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

    index: int | None
    fit: SparseFit | None
    scores: FloatArray | None
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
    guarantee = _joint_guarantee(mechanism, dataset.privacy_unit)
    return HyperparameterChoice(
        index=chosen,
        fit=replace(fits[chosen], guarantee=guarantee),
        scores=None,
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
    return np.asarray(-0.5 * (np.log(2 * math.pi * total) + (dataset.standardised() - mean) ** 2 / total))


def _joint_guarantee(mechanism: SparseVariational, unit: str) -> Guarantee:
    epsilon, one = mechanism.epsilon, mechanism.guarantee
    loss = ParallelLoss((GaussianLoss(1 / mechanism.noise_multiplier), PureLoss(epsilon, rho=epsilon**2 / 8)))
    return replace(
        one,
        budget=Budget(epsilon=epsilon, delta=mechanism.delta),
        loss=loss,
        unit=unit,
        theorem=f"{one.theorem}; exponential mechanism (McSherry & Talwar 2007) on the other half of the records",
        assumptions=(*one.assumptions, "candidates, split and range of scores are public"),
    )


def check_candidates(candidates: Sequence[Candidate]) -> None:
    """Raise ValueError unless there are any."""
    if len(candidates) < 1:
        raise ValueError("there are no candidates to choose from; give at least one")

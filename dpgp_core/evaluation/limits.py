"""Least errors of any mechanism, if the declared prior is true: f ~ GP(0, kernel), y = f(X) + N(0, noise variance).

A matrix van Trees inequality: if z says at most the information I about a Gaussian vector of prior covariance K, no
estimate from z has a smaller error covariance than (K^-1 + I)^-1 on average (Gill & Levit 1995). Privacy bounds the
diagonal of I; the least risk over all such I is the convex problem of ``strategies.bayes``, whose certified lower
bound is taken. The proofs are in docs/guarantees.md.

``reached`` simulates the average error of Bayes cloaking over data from that prior: outputs are clipped to the bounds,
measured in stages with numbered noise, and f is predicted. The mechanism has the prior, as the limits have, and mixes
it with others all the same, as it always does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.integrate import quad

from ..arrays import FloatArray
from ..bayes.model import Model
from ..checks import check_positive
from ..gp.clipping import clipped_moments
from ..gp.pivoted import factorise
from ..kernels import Kernel, Stationary
from ..linalg import check_columns
from ..mechanisms import BayesCloaking
from ..strategies.bayes import bayes, risk_without_privacy
from ..strategies.risk_model import RiskModel
from ..table import Dataset, Outcome, declared_columns

_TOLERANCE = 1e-12  # of the prior variance, left out of features and worlds
_NOT_NOISE = 1e-6  # of the prior variance, where the information is about f itself
_TAIL = 12.0  # standard deviations beyond which a normal density is not integrated


class Limits(NamedTuple):
    """Root mean square errors of f at the test inputs, averaged over data sets from the prior, in model units.

    Attributes:
        without_privacy: of the posterior mean of y itself.
        fixed: no fixed linear map of y plus Gaussian noise is better, nor any mechanism for which a change x of one
            output is (mu x / range)-GDP.
        any: no mu-GDP mechanism at all is better.
    """

    without_privacy: float
    fixed: float
    any: float


def information_share(mu: float) -> float:
    """Most of the information about f_j in y_j = f_j + noise that a mu-GDP mechanism lets through, in [0, 1].

    kappa(mu) = int (p - q)^2 / (2 (p + q)),    p, q the densities of N(+-mu / 2, 1);    about mu^2 / 4 for small mu.

    Raises:
        ValueError: mu is not a positive number.
    """
    check_positive("mu", mu)
    # with p + q = 2 cosh(mu x / 2) phi(x) exp(-mu^2 / 8): (p - q) / (p + q) = tanh(mu x / 2)

    def density(x: float) -> float:
        mixture = math.exp(-((x - mu / 2) ** 2) / 2) + math.exp(-((x + mu / 2) ** 2) / 2)
        return math.tanh(mu * x / 2) ** 2 * mixture / (2 * math.sqrt(2 * math.pi))

    return 2 * float(quad(density, 0.0, mu / 2 + _TAIL, limit=200)[0])


def limits(
    kernel: Kernel,
    noise_variance: float,
    X: FloatArray,
    X_test: FloatArray,
    *,
    mu: float,
    output_range: float,
    gap: float = 1e-3,
) -> Limits:
    """Limits for one prior, records and budget; nothing here reads an output.

    Args:
        output_range: public range of the outputs, in model units.
        gap: of the convex problem: how far below the true limit the stated one may lie, as a share of the excess.

    Raises:
        ValueError: a value above is out of range, or shapes disagree.
    """
    check_columns(X, X_test)
    check_positive("noise_variance", noise_variance)
    check_positive("mu", mu)
    check_positive("output_range", output_range)
    model = risk_model(kernel, noise_variance, X, X_test)
    least = risk_without_privacy([model])
    fixed = bayes([model], (output_range / mu) ** 2, gap=gap).bound
    latent = risk_model(kernel, _NOT_NOISE * float(kernel.diagonal(X).max()), X, X_test)
    some = bayes([latent], noise_variance / information_share(mu), gap=gap).bound
    return Limits(*(math.sqrt(risk) for risk in (least, max(fixed, least), max(some, least))))


def least_error(models: Sequence[Model], X: FloatArray, X_test: FloatArray) -> float:
    """Root mean square error of f at the test inputs given y itself: the limit of any budget, in model units.

    sqrt(sum_m pi_m mean_p Var(f_*p | y, m)): an average over data sets from a mixture, each read by its own model.

    Args:
        models: the mixture, f and noise in model units.

    Raises:
        ValueError: shapes disagree.
    """
    check_columns(X, X_test)
    risks = [replace(risk_model(m.kernel, m.noise_variance, X, X_test), weight=m.weight) for m in models]
    return math.sqrt(risk_without_privacy(risks) / sum(model.weight for model in models))


def risk_model(kernel: Kernel, noise: float, X: FloatArray, X_test: FloatArray) -> RiskModel:
    """One prior as ``strategies.bayes`` sees it: outputs at X, and f at test inputs of equal weight.

    Args:
        noise: variance of an output about f, > 0.
    """
    low_rank = factorise(kernel, X, _TOLERANCE)
    root, at_test = low_rank.features.values(), low_rank.features.at(X_test).values()
    return RiskModel(
        noise=np.full(len(X), noise),
        root=root,
        targets=root @ at_test.T / math.sqrt(len(X_test)),
        prior_risk=float(kernel.diagonal(X_test).mean()),
    )


class Reached(NamedTuple):
    """Error of f at the test inputs over W simulated data sets, in model units.

    Attributes:
        rmse: root of the mean square over data sets and test inputs.
        standard_error: of it, by the delta method: sd(m_w) / (2 rmse sqrt W), m_w the mean square in data set w.
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
    """Simulate Bayes cloaking on data from its own prior: errors of the mean of clipped outputs. No real data enter.

    Args:
        worlds: number of simulated data sets W, at least 2.
        seed: seed of data sets and noise; the data sets are the same for every budget.
        gap: of the strategies.

    Raises:
        ValueError: a value above is out of range, or shapes disagree.
    """
    if worlds < 2:
        raise ValueError(f"worlds must be at least 2 for a standard error, got {worlds}")
    mechanism = BayesCloaking(epsilon=epsilon, delta=delta, kernels=[kernel], noise_variances=[noise_variance], gap=gap)
    drawn, noises = np.random.default_rng(seed).spawn(2)
    y, f = made_up(kernel, noise_variance, X, X_test, worlds, drawn)
    data = Dataset(
        name="simulated",
        X=X,
        y=y[0],
        columns=declared_columns([f"x{d}" for d in range(len(x_box))], x_box),
        outcome=Outcome(name="y", bounds=(-half_range, half_range), scale=1.0),
        privacy_unit="one record",
        source="simulated from the prior",
        licence="none",
        bounds_reason="declared",
    )
    plan = mechanism.plan_for(data, X_test)
    releases = (mechanism.measure(plan, replace(data, y=each), X_test, noises, mean=False) for each in y)
    predicted = np.vstack([release.samples for release in releases])
    truth = clipped_moments(f, noise_variance, half_range)[0]
    squares = ((predicted - truth) ** 2).mean(axis=1)
    rmse = math.sqrt(squares.mean())
    return Reached(rmse, float(squares.std(ddof=1)) / (2 * rmse * math.sqrt(worlds)))


def made_up(
    kernel: Kernel, noise_variance: float, X: FloatArray, X_test: FloatArray, worlds: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw data sets from the prior: outputs at X (worlds, n) and f at the test inputs (worlds, P), in model units.

    Args:
        noise_variance: of an output about f, >= 0.
    """
    check_columns(X, X_test)
    phi = factorise(kernel, np.vstack([X, X_test]), _TOLERANCE).features.values()
    f = rng.standard_normal((worlds, phi.shape[1])) @ phi.T
    y = f[:, : len(X)] + math.sqrt(noise_variance) * rng.standard_normal((worlds, len(X)))
    return y, f[:, len(X) :]

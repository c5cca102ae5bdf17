"""Lower bounds on the error of every mechanism under a declared prior, f ~ GP(0, kernel) and y = f(X) + noise.

The bounds use a matrix van Trees inequality. Suppose that z has Fisher information at most I about a Gaussian vector
with prior covariance K. Then no estimate from z has a smaller average error covariance than (K^-1 + I)^-1 (Gill & Levit
1995). Privacy bounds the diagonal of I. The smallest risk over all such I is the convex problem of
``strategies.bayes``, of which the certified lower bound is taken. The proofs are in docs/guarantees.md.

``simulated_error`` estimates the average error of Bayes cloaking over data sets that are simulated from the same prior.
The prior is one of the models over which the mechanism averages.
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
from ..strategies.bayes import optimal_strategy, risk_without_privacy
from ..strategies.risk_model import RiskModel
from ..table import Dataset, Outcome, declared_columns

_TOLERANCE = 1e-12  # share of the prior variance that features and simulated data sets leave out
_NOT_NOISE = 1e-6  # noise variance relative to the prior variance, if the information is about f itself
_TAIL = 12.0  # number of standard deviations up to which a normal density is integrated


class Limits(NamedTuple):
    """Expected root mean square errors of f at the test inputs if f is drawn from the prior, in model units.

    Attributes:
        without_privacy: error of the posterior mean given y.
        fixed: lower bound for mechanisms that add Gaussian noise to a fixed linear map of y, and for all mechanisms
            for which a change x of one output is (mu x / range)-GDP.
        any: lower bound for all mu-GDP mechanisms.
    """

    without_privacy: float
    fixed: float
    any: float


def information_share(mu: float) -> float:
    """Return the largest share of the information about f_j in y_j = f_j + noise that a mu-GDP mechanism preserves.

    kappa(mu) = int (p - q)^2 / (2 (p + q)), with the densities p, q of N(+-mu / 2, 1). It is in [0, 1], and about
    mu^2 / 4 for small mu.

    Raises:
        ValueError: mu is not a positive number.
    """
    check_positive("mu", mu)
    # p + q = 2 cosh(mu x / 2) phi(x) exp(-mu^2 / 8), so (p - q) / (p + q) = tanh(mu x / 2)

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
    """Return lower bounds on the error for a prior, inputs and a budget. No output is used.

    Args:
        mu: privacy budget, as mu-GDP.
        output_range: width of the public bounds, in model units.
        gap: relative gap of the convex problem: the returned bound may be smaller than the best one by this share of
            the excess over the error without privacy.

    Raises:
        ValueError: a value above is out of range, or shapes disagree.
    """
    check_columns(X, X_test)
    check_positive("noise_variance", noise_variance)
    check_positive("mu", mu)
    check_positive("output_range", output_range)
    model = risk_model(kernel, noise_variance, X, X_test)
    least = risk_without_privacy([model])
    fixed = optimal_strategy([model], (output_range / mu) ** 2, gap=gap).bound
    latent = risk_model(kernel, _NOT_NOISE * float(kernel.diagonal(X).max()), X, X_test)
    some = optimal_strategy([latent], noise_variance / information_share(mu), gap=gap).bound
    return Limits(*(math.sqrt(risk) for risk in (least, max(fixed, least), max(some, least))))


def least_error(models: Sequence[Model], X: FloatArray, X_test: FloatArray) -> float:
    """Return the root mean square error of f at the test inputs given y itself, a lower bound for every budget.

    It is sqrt(sum_m pi_m mean_p Var(f_*p | y, m)), in model units: data sets are drawn from the mixture, and each is
    predicted by the model from which it was drawn.

    Raises:
        ValueError: shapes disagree.
    """
    check_columns(X, X_test)
    risks = [replace(risk_model(m.kernel, m.noise_variance, X, X_test), weight=m.weight) for m in models]
    return math.sqrt(risk_without_privacy(risks) / sum(model.weight for model in models))


def risk_model(kernel: Kernel, noise: float, X: FloatArray, X_test: FloatArray) -> RiskModel:
    """Return a prior in the form of ``strategies.bayes``, with outputs at X, and f at test inputs of equal weight.

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


class SimulatedError(NamedTuple):
    """Error of f at the test inputs over W simulated data sets, in model units.

    Attributes:
        rmse: root mean square error over data sets and test inputs.
        standard_error: its standard error by the delta method, sd(m_w) / (2 rmse sqrt W), with the mean squared error
            m_w of data set w.
    """

    rmse: float
    standard_error: float


def simulated_error(
    kernel: Stationary,
    noise_variance: float,
    X: FloatArray,
    X_test: FloatArray,
    *,
    epsilon: float,
    delta: float,
    x_box: Sequence[tuple[float, float]],
    half_range: float,
    data_sets: int,
    seed: int,
    gap: float = 1e-2,
) -> SimulatedError:
    """Simulate the error of Bayes cloaking for the mean of clipped outputs, on data sets from the declared prior.

    Args:
        half_range: half the width of the bounds, in model units.
        data_sets: number W >= 2 of simulated data sets.
        seed: seed of data sets and noise. The data sets are the same for every budget.
        gap: relative gap of the strategies.

    Raises:
        ValueError: a value above is out of range, or shapes disagree.
    """
    if data_sets < 2:
        raise ValueError(f"data_sets must be at least 2 for a standard error, got {data_sets}")
    mechanism = BayesCloaking(epsilon=epsilon, delta=delta, kernels=[kernel], noise_variances=[noise_variance], gap=gap)
    drawn, noises = np.random.default_rng(seed).spawn(2)
    y, f = simulate_prior(kernel, noise_variance, X, X_test, data_sets, drawn)
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
    return SimulatedError(rmse, float(squares.std(ddof=1)) / (2 * rmse * math.sqrt(data_sets)))


def simulate_prior(
    kernel: Kernel, noise_variance: float, X: FloatArray, X_test: FloatArray, data_sets: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Simulate independent data sets from the prior: outputs at X (data_sets, n) and f at X_test (data_sets, P).

    Args:
        noise_variance: variance of an output about f, >= 0.
        data_sets: number of data sets.
    """
    check_columns(X, X_test)
    phi = factorise(kernel, np.vstack([X, X_test]), _TOLERANCE).features.values()
    f = rng.standard_normal((data_sets, phi.shape[1])) @ phi.T
    y = f[:, : len(X)] + math.sqrt(noise_variance) * rng.standard_normal((data_sets, len(X)))
    return y, f[:, len(X) :]

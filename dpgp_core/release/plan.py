"""The public part of a release: noise, its size, and the step that values are rounded to; computed once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from ..arrays import FloatArray
from ..data import Dataset
from ..gp.exact import output_covariance
from ..gp.inference import InferenceChoice
from ..kernels import Kernel
from ..linalg.blocks import FactoredMatrix, Matrix, values_of
from ..linalg.dense import column_norms
from ..mechanisms import RefinedCloaking
from ..mechanisms.base import Mechanism, Plan, Planned
from ..mechanisms.refined_cloaking import RefinedPlan
from .choices import kernel
from .specification import ReleaseSpec

_ROUNDING = 0.01  # of the smallest noise: the error it adds is nothing beside the noise
_FINEST = 1e-6  # of the bounds' width: a test point out of every record's reach has next to no noise
_UNKNOWN_NOISE = 1e-4  # of the bounds' width, where the noise's size is known after the release only
_PRIOR_OUTPUTS, _DRAWS = 50, 40  # tell a standard deviation to about 2 %
_SOLVE_FAILED = (
    "the model cannot be computed on these inputs; try a lengthscale nearer to the spacing of the grid, "
    "a larger noise_variance or fewer cells"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasePlan:
    """The public part of a release, computed once: it depends on the specification and on inputs that are public.

    Attributes:
        spec: what is to be released.
        X: the inputs it was made for (n, D); None where inputs are private.
        X_test: prediction points (P, D).
        weights: the mechanism's plan, where it has one.
        noise_sd: standard deviation of the privacy noise (P,), in ``y_unit``; None if known after the release only.
        model_sd: standard deviation of the curve about the fit without noise (P,), in ``y_unit``, under the model;
            None where it cannot be told from public values.
        step: released values are multiples of it, a power of ten in ``y_unit``.
    """

    spec: ReleaseSpec
    X: FloatArray | None
    X_test: FloatArray
    weights: Plan | None
    noise_sd: FloatArray | None
    model_sd: FloatArray | None
    step: float


def plan_release(spec: ReleaseSpec, X: FloatArray) -> ReleasePlan:
    """Compute all that does not depend on the outputs, nor on the inputs where they are private.

    Args:
        spec: what is to be released.
        X: inputs of the table (n, D).

    Raises:
        ValueError: the model cannot be computed on these inputs.
    """
    X_test, mechanism = spec.points(), spec.built
    weights = noise_sd = model_sd = None
    with solvable():
        if isinstance(mechanism, Planned):
            weights = mechanism.plan(X, X_test)
            model_sd = spec.scale * _model_sd(kernel(spec), X, X_test, weights.weights, spec.noise_variance)
        if not spec.protects_inputs:
            noise_sd = _noise_sd(mechanism, weights, without_outputs(spec, X), X_test)
    step = _step(spec, noise_sd)
    public_X = None if spec.protects_inputs else X
    return ReleasePlan(
        spec=spec, X=public_X, X_test=X_test, weights=weights, noise_sd=noise_sd, model_sd=model_sd, step=step
    )


@contextmanager
def solvable() -> Iterator[None]:
    """Refuse what linear algebra cannot solve: an infinite or undefined number must never pass for noise.

    Raises:
        ValueError: a factorisation failed, or a number overflowed, was divided by zero or came out undefined.
    """
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            yield
    except (LinAlgError, FloatingPointError):
        raise ValueError(_SOLVE_FAILED) from None


def without_outputs(spec: ReleaseSpec, X: FloatArray) -> Dataset:
    """The public part of a table, with every output at the middle of the bounds."""
    return Dataset(
        name="public part",
        X=X,
        y=np.full(len(X), sum(spec.y_bounds) / 2),
        x_names=spec.x,
        x_units=spec.x_units,
        y_name=spec.y,
        y_unit=spec.y_unit,
        y_bounds=spec.y_bounds,
        x_box=spec.x_box,
        unit=spec.unit,
        source="",
        licence="",
        bounds_reason="",
        y_scale=spec.scale,
    )


def decimals(step: float) -> int:
    """Decimals of multiples of a power of ten; negative above 1."""
    return -round(math.log10(step))


def _noise_sd(mechanism: Mechanism, weights: Plan | None, public: Dataset, X_test: FloatArray) -> FloatArray:
    if isinstance(mechanism, RefinedCloaking) and isinstance(weights, RefinedPlan):
        return _simulated_noise_sd(mechanism, weights, public)
    silent = np.random.default_rng(0)  # the size of the noise does not depend on it
    if weights is not None and isinstance(mechanism, Planned):
        return mechanism.release_planned(weights, public, X_test, silent).noise_sd
    return mechanism.release(public, X_test, silent).noise_sd


def _simulated_noise_sd(mechanism: RefinedCloaking, plan: RefinedPlan, public: Dataset) -> FloatArray:
    """Spread of the values about their mean given the outputs, averaged over outputs drawn from the prior (P,).

    Where later stages clip residuals they correct less of the earlier noise, so no factor of the noise says it.
    """
    rng = np.random.default_rng(0)  # of outputs and noise that are made up: it need not be secret
    outputs = _prior_outputs(mechanism, plan.weights, public, rng)
    squares = np.zeros(len(plan.weights))
    for _ in range(_PRIOR_OUTPUTS):
        y = public.in_data_units(next(outputs))
        *_, last = mechanism.run(plan, replace(public, y=y), rng, _DRAWS)
        squares += (last.curve[:, public.n :] + last.values).var(axis=0, ddof=1)
    noise_sd: FloatArray = public.y_scale * np.sqrt(squares / _PRIOR_OUTPUTS)
    return noise_sd


def _prior_outputs(
    mechanism: RefinedCloaking, A: Matrix, public: Dataset, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Outputs (n,) drawn from the prior, in model units; from its low-rank form where inference is low-rank."""
    noise_variance = mechanism.noise_variance
    if isinstance(A, FactoredMatrix):
        V = values_of(A.rows)  # K_ff ~ V V^T
        while True:
            f = V @ rng.standard_normal(V.shape[1])
            yield f + math.sqrt(noise_variance) * rng.standard_normal(public.n)
    root = cholesky(output_covariance(mechanism.kernel, public.X, noise_variance), lower=True)
    while True:
        yield root @ rng.standard_normal(public.n)


def _model_sd(kernel: Kernel, X: FloatArray, X_test: FloatArray, A: Matrix, noise_variance: float) -> FloatArray:
    """Prior standard deviation of f(X_test) - A y (P,), in model units: the GP's own where A = K_*f K^-1."""
    # Var = k_** - 2 [A K_f*]_ii + [A K A^T]_ii
    if isinstance(A, FactoredMatrix):
        return _low_rank_model_sd(kernel, X, X_test, A, noise_variance)
    K, K_sf = output_covariance(kernel, X, noise_variance), kernel(X_test, X)
    variance: FloatArray = kernel.diagonal(X_test) + np.einsum("ij,ij->i", A @ K - 2 * K_sf, A)
    model_sd: FloatArray = np.sqrt(np.maximum(variance, 0))
    return model_sd


def _low_rank_model_sd(
    kernel: Kernel, X: FloatArray, X_test: FloatArray, A: FactoredMatrix, noise_variance: float
) -> FloatArray:
    """The same with A = L V^T, K_ff ~ V V^T and K_*f ~ V_* V^T: V^T V = R^T R is all that is needed of V."""
    low = InferenceChoice(inference="lowrank").low_rank(kernel, X)
    assert low is not None
    R, V_test = low.triangle, low.features.at(X_test).values()
    RL = R @ A.left.T
    AV = RL.T @ R
    explained = np.einsum("ij,ij->i", AV - 2 * V_test, AV) + noise_variance * column_norms(RL)
    model_sd: FloatArray = np.sqrt(np.maximum(kernel.diagonal(X_test) + explained, 0))
    return model_sd


def _step(spec: ReleaseSpec, noise_sd: FloatArray | None) -> float:
    if noise_sd is None:
        wanted = _UNKNOWN_NOISE * spec.d
    else:
        smallest = float(np.min(noise_sd[noise_sd > 0], initial=spec.d))
        wanted = max(_ROUNDING * smallest, _FINEST * spec.d)
    return float(10.0 ** math.floor(math.log10(wanted)))

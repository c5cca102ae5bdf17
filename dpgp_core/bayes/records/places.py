"""A model at the records and test inputs: what a filter needs of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag

from ...arrays import FloatArray
from ...gp.pivoted import factorise
from ...kernels import Kernel
from ..bias import Public, bias_features
from ..models import Model

_EXACT, _LOOSE = 1e-12, 1e-6  # of the prior variance at the inputs, left out of the features of few and of many inputs
_MANY = 1000


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """One model at n records and P test inputs: the covariance of (y, f_*, b) is phi phi^T + a diagonal.

    b (q,) ~ N(0, I) is what the field of clipping's bias is made of, h = psi b; see ``bias``.

    Attributes:
        phi: features (n + P + q, k), records first.
        noise: variance of y that the features leave, (n,): noise_variance and the kernel's residual.
        variance: prior variance of y at the records, of f at the test inputs and of b (n + P + q,).
        noise_variance: of one output given f.
        kernel: of f.
        weight: prior weight of the model.
        bias: psi, of the field h of clipping's bias (n, q); q = 0 where clipping is taken to have none.
        half_range: half the public range of the outputs, in model units; 0 if it is not needed.
        two_valued: whether every output stands at one end of the range, as yes and no do.
    """

    phi: FloatArray
    noise: FloatArray
    variance: FloatArray
    noise_variance: float
    kernel: Kernel
    weight: float
    bias: FloatArray
    half_range: float
    two_valued: bool

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.noise)

    @property
    def tests(self) -> slice:
        """Where f at the test inputs stands."""
        return slice(self.n, len(self.variance) - self.bias.shape[1])


def places_of(
    models: Sequence[Model],
    X: FloatArray,
    X_test: FloatArray,
    *,
    public: Public | None = None,
    tolerance: float | None = None,
) -> tuple[Places, ...]:
    """Every model at records X (n, D) and test inputs X_test (P, D); models of one kernel share their features.

    Pivots are chosen among the records only: given f there, the rest of f at a test input is independent of y.

    Args:
        models: the mixture.
        X: records (n, D).
        X_test: test inputs (P, D).
        public: of the table. None: stages are read as if outcomes were normal, and clipping them no more than that.
        tolerance: share of the prior variance at the records that features may leave out; what they leave counts as
            noise. None: next to nothing.
    """
    tolerance = (_EXACT if len(X) <= _MANY else _LOOSE) if tolerance is None else tolerance
    features: dict[Kernel, tuple[FloatArray, FloatArray]] = {}
    for model in models:
        if model.kernel not in features:
            features[model.kernel] = _features(model.kernel, X, X_test, tolerance)
    bias = np.zeros((len(X), 0)) if public is None else bias_features(public.x_box, X)
    half_range = 0.0 if public is None else public.half_range
    two_valued = public is not None and public.kind == "yes/no"
    return tuple(
        replace(_places(model, bias, half_range, *features[model.kernel]), two_valued=two_valued) for model in models
    )


def _features(kernel: Kernel, X: FloatArray, X_test: FloatArray, tolerance: float) -> tuple[FloatArray, FloatArray]:
    low_rank = factorise(kernel, X, tolerance)
    phi = np.vstack([low_rank.features.values(), low_rank.features.at(X_test).values()])
    return phi, np.concatenate([kernel.diagonal(X), kernel.diagonal(X_test)])


def _places(model: Model, bias: FloatArray, half_range: float, phi: FloatArray, prior: FloatArray) -> Places:
    n, q = bias.shape
    residual = np.maximum(prior - np.einsum("ij,ij->i", phi, phi), 0.0)
    variance = np.concatenate([prior, np.ones(q)])
    variance[:n] += model.noise_variance
    return Places(
        phi=block_diag(phi, np.eye(q)) if q else phi,
        noise=model.noise_variance + residual[:n],
        variance=variance,
        noise_variance=model.noise_variance,
        kernel=model.kernel,
        weight=model.weight,
        bias=bias,
        half_range=half_range,
        two_valued=False,
    )

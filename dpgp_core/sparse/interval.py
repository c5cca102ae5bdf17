"""Intervals about what sparse sums predict; what clipping at the bounds does to them is simulated from the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..arrays import FloatArray
from ..gp.clipping import seen
from ..gp.inducing import whitened_features
from ..gp.uncertainty import Of, mixture_half_width, mixture_level, of_curves
from .posterior import SparsePosterior
from .statistics import NoisyStatistics

_SIMULATED = 400  # made-up curves f; each counts twice, with its mirror image
_POINTS = 256  # of the box, or four to a feature
_RIDGE = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class SparseInterval:
    """About psi* w, w = B G^-1 A of ``errors_in_variables``; inputs are private, and not needed.

    Clipped outputs are h(f) and noise of variance v <= v(f)'s mean. With h(f) ~ phi gamma, by least squares over the
    box, A = B gamma + e and B G^-1 B = E is ``explained``:
    f* - psi w = (f* - psi E gamma) - psi B G^-1 e,   Cov(B G^-1 e) = E - E^2 - (noise_variance - v) E B^+ E.
    Without clipping gamma ~ N(0, I) are the weights of f, and the variance is the posterior's.

    Attributes:
        released, posteriors: of each draw.
        noise_variance: of one record about f, in squared model units.
        half_range: R, half the width of the bounds, in model units.
        x_box: D public (low, high) pairs that inputs were clipped to.
        X_test: (P, D).
        centre: predictions (draws, P), in the output's unit.
        y_scale: model unit, in the output's unit.
    """

    released: Sequence[NoisyStatistics]
    posteriors: Sequence[SparsePosterior]
    noise_variance: float
    half_range: float
    x_box: Sequence[tuple[float, float]]
    X_test: FloatArray
    centre: FloatArray
    y_scale: float

    def interval(self, level: float, of: Of) -> tuple[FloatArray, FloatArray]:
        """See ``Uncertainty``."""
        more = self.noise_variance if of == "outputs" else 0.0
        half = self.y_scale * np.stack(
            [
                mixture_half_width(*self._errors(released, posterior, more), level)
                for released, posterior in zip(self.released, self.posteriors, strict=True)
            ]
        )
        return self.centre - half, self.centre + half

    def level_of(self, values: FloatArray, of: Of) -> FloatArray:
        """Level of the interval that just reaches values (P,) in the output's unit, (draws, P)."""
        more = self.noise_variance if of == "outputs" else 0.0
        return np.stack(
            [
                mixture_level(*self._errors(released, posterior, more), np.abs(values - centre) / self.y_scale)
                for released, posterior, centre in zip(self.released, self.posteriors, self.centre, strict=True)
            ]
        )

    def _errors(
        self, released: NoisyStatistics, posterior: SparsePosterior, more: float
    ) -> tuple[FloatArray, FloatArray]:
        """Shifts (S, P) and variances (1, P) of a draw's error, ``more`` added."""
        made, E = self._made_up, posterior.explained
        inverse = np.linalg.pinv(released.B, rcond=1e-10, hermitian=True)
        covariance = E - E @ E - made.less * E @ inverse @ E
        noise = np.einsum("ij,jk,ik->i", made.psi, covariance, made.psi, optimize=True)
        return made.f - made.gamma @ (made.psi @ E).T, (made.unknown + np.maximum(noise, 0) + more)[None]

    @cached_property
    def _made_up(self) -> _MadeUp:
        first = self.posteriors[0]  # all have its kernel and inducing inputs
        rng, (low, high) = np.random.default_rng(0), np.array(self.x_box).T
        points = rng.uniform(low, high, (max(_POINTS, 4 * len(first.Z)), len(low)))
        model = of_curves(first.kernel, points, self.X_test)
        f = model.outputs(rng, _SIMULATED)
        h, v = seen(f, self.noise_variance, self.half_range)
        phi, psi = (whitened_features(first.kernel, first.Z, first.root, x) for x in (points, self.X_test))
        return _MadeUp((model.C @ f.T).T, model.variance, _weights(phi, h), self.noise_variance - float(v.mean()), psi)


class _MadeUp(NamedTuple):
    """Curves made up by the model: E[f* | f at points of the box] (S, P), what that leaves unknown (P,), gamma (S, m).

    And by how much less clipped outputs vary about h(f), and the features of the test points (P, m).
    """

    f: FloatArray
    unknown: FloatArray
    gamma: FloatArray
    less: float
    psi: FloatArray


def _weights(phi: FloatArray, h: FloatArray) -> FloatArray:
    """Gamma (S, m) of least |h - phi gamma|^2, h (S, k), with a ridge where features hardly reach."""
    gram = phi.T @ phi + _RIDGE * len(phi) * np.eye(phi.shape[1])
    return np.asarray(cho_solve(cho_factor(gram, lower=True), phi.T @ h.T).T)

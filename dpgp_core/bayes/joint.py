"""The posterior of the curve at several test inputs together: covariances and sample paths of the mixture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from ..measurement.fit import Fit
from .models import Model


@dataclass(frozen=True, kw_only=True, eq=False)
class Joint:
    """f at P test inputs ~ sum_m w_m N(mean_m, covariance_m), given one release, in model units.

    Attributes:
        models: the mixture (M).
        X_test: test inputs (P, D).
        means: of f (M, P).
        shared: Q (R, P) of each model: covariance_m = K_** - Q^T Q, Q = Cov(whitened measurements, f).
        weights: of the models given what was measured (M,), sum 1.
        fit: of the release; curves are farther from their mean by what it widens.
    """

    models: tuple[Model, ...]
    X_test: FloatArray
    means: FloatArray
    shared: tuple[FloatArray, ...]
    weights: FloatArray
    fit: tuple[Fit, ...] = ()

    @property
    def widened(self) -> float:
        """By how much curves are farther from their mean."""
        return self.fit[0].widened if self.fit else 1.0

    def covariance(self) -> FloatArray:
        """Of f under the mixture (P, P): sum_m w_m (covariance_m + (mean_m - mean) (mean_m - mean)^T)."""
        apart = self.means - self.weights @ self.means
        total: FloatArray = (apart.T * self.weights) @ apart
        for m, weight in enumerate(self.weights):
            total += weight * self._covariance(m)
        return self.widened**2 * total

    def sample(self, rng: np.random.Generator, paths: int) -> FloatArray:
        """Independent curves (paths, P): a model by its weight, then f = mean_m + V diag(sd) normals.

        V diag(sd^2) V^T = covariance_m, eigenvalues that rounding made negative being 0.

        Args:
            rng: makes up the curves; no privacy hangs on it.
            paths: how many.
        """
        chosen = rng.choice(len(self.weights), size=paths, p=self.weights)
        normals = rng.standard_normal((paths, len(self.X_test)))
        curves = np.empty_like(normals)
        for m in np.unique(chosen):
            values, vectors = np.linalg.eigh(self._covariance(int(m)))
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            curves[chosen == m] = self.means[m] + normals[chosen == m] @ root.T
        mean = self.weights @ self.means
        return mean + self.widened * (curves - mean)

    def _covariance(self, m: int) -> FloatArray:
        prior = self.models[m].kernel(self.X_test, self.X_test)
        covariance: FloatArray = prior - self.shared[m].T @ self.shared[m]
        return covariance

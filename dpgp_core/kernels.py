"""Covariance functions: stationary kernels of the scaled distance r = |(x - x') / lengthscale|, and their combinations.

The combinations add an unknown mean level, or describe how the curves of several groups are correlated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.spatial.distance import cdist

from .arrays import FloatArray
from .checks import check_positive


class Kernel(Protocol):
    """A positive-definite covariance function with public hyperparameters."""

    @property
    def variance(self) -> float:
        """k(x, x), in squared model units."""
        ...

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Covariance matrix (n, m) between inputs X (n, D) and Z (m, D)."""
        ...

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Prior variances k(x_i, x_i), shape (n,)."""
        ...


@dataclass(frozen=True, kw_only=True)
class Stationary:
    """Base class of stationary kernels: k(x, x') = variance * profile(r).

    Args:
        variance: k(x, x) > 0, in squared model units.
        lengthscale: > 0, in input units; one number, or one per input dimension.

    Raises:
        ValueError: a hyperparameter is not positive and finite, or the number of lengthscales
            does not match the number of input columns (raised when the kernel is called).
    """

    variance: float = 1.0
    lengthscale: float | Sequence[float] = 1.0

    def __post_init__(self) -> None:
        check_positive("variance", self.variance)
        if isinstance(self.lengthscale, Sequence | np.ndarray):
            object.__setattr__(self, "lengthscale", tuple(float(scale) for scale in self.lengthscale))
        for scale in np.atleast_1d(self.lengthscale):
            check_positive("lengthscale", scale)

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Covariance matrix (n, m) between inputs X (n, D) and Z (m, D)."""
        scales = np.asarray(self.lengthscale, dtype=float)
        if scales.ndim and len(scales) != X.shape[1]:
            raise ValueError(f"{len(scales)} lengthscales for {X.shape[1]} input columns; give one, or one per column")
        return self.variance * self.profile(cdist(X / scales, Z / scales))

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Prior variances k(x_i, x_i), shape (n,)."""
        return np.full(len(X), float(self.variance))

    def profile(self, r: FloatArray) -> FloatArray:
        """Correlation at scaled distance r >= 0, any shape; 1 at r = 0."""
        raise TypeError(f"{type(self).__name__} is not a kernel by itself; use one of its subclasses")


@dataclass(frozen=True, kw_only=True)
class EQ(Stationary):
    """Exponentiated quadratic kernel, exp(-r^2 / 2): infinitely differentiable (Rasmussen & Williams 2006, eq. 4.9)."""

    def profile(self, r: FloatArray) -> FloatArray:
        """Return exp(-r^2 / 2)."""
        return np.exp(-0.5 * r * r)


@dataclass(frozen=True, kw_only=True)
class Matern12(Stationary):
    """Exponential kernel, exp(-r): continuous, but nowhere differentiable (R&W eq. 4.18)."""

    def profile(self, r: FloatArray) -> FloatArray:
        """Return exp(-r)."""
        return np.exp(-r)


@dataclass(frozen=True, kw_only=True)
class Matern32(Stationary):
    """Matern-3/2 kernel, (1 + a) exp(-a) with a = sqrt(3) r: once differentiable (R&W eq. 4.17)."""

    def profile(self, r: FloatArray) -> FloatArray:
        """Return (1 + a) exp(-a), a = sqrt(3) r."""
        a = math.sqrt(3) * r
        return (1 + a) * np.exp(-a)


@dataclass(frozen=True, kw_only=True)
class Matern52(Stationary):
    """Matern-5/2 kernel, (1 + a + a^2/3) exp(-a) with a = sqrt(5) r: twice differentiable (R&W eq. 4.17)."""

    def profile(self, r: FloatArray) -> FloatArray:
        """Return (1 + a + a^2/3) exp(-a), a = sqrt(5) r."""
        a = math.sqrt(5) * r
        return (1 + a + a * a / 3) * np.exp(-a)


@dataclass(frozen=True, kw_only=True)
class RationalQuadratic(Stationary):
    """Rational quadratic kernel, (1 + r^2 / (2 alpha))^-alpha: EQ kernels mixed over lengthscales (R&W eq. 4.19).

    Args:
        alpha: shape of the mixture, > 0. For large alpha the kernel approaches the EQ kernel.
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("alpha", self.alpha)

    def profile(self, r: FloatArray) -> FloatArray:
        """Return (1 + r^2 / (2 alpha))^-alpha."""
        return (1 + r * r / (2 * self.alpha)) ** -self.alpha


@dataclass(frozen=True, kw_only=True)
class LevelAndCurve:
    """The kernel level + k(x, x'): a curve with covariance k about an unknown constant mean level.

    Args:
        level: prior variance of the mean level, > 0, in squared model units.
        curve: the kernel k of the curve about it.

    Raises:
        ValueError: level is not a positive number.
    """

    level: float
    curve: Kernel

    def __post_init__(self) -> None:
        check_positive("level", self.level)

    @property
    def variance(self) -> float:
        """Prior variance of mean level plus curve, in squared model units."""
        return self.level + self.curve.variance

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Covariance matrix (n, m) between inputs X (n, D) and Z (m, D)."""
        return self.level + self.curve(X, Z)

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Prior variances, shape (n,)."""
        return self.level + self.curve.diagonal(X)


@dataclass(frozen=True, kw_only=True)
class SumOfKernels:
    """The kernel k_1(x, x') + k_2(x, x') + ...: a curve that is the sum of independent curves.

    Args:
        parts: the kernels k_i, each a function of all inputs; at least one.
    """

    parts: tuple[Kernel, ...]

    @property
    def variance(self) -> float:
        """Prior variance of the sum, in squared model units."""
        return sum(part.variance for part in self.parts)

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Covariance matrix (n, m) between inputs X (n, D) and Z (m, D)."""
        return np.asarray(np.sum([part(X, Z) for part in self.parts], axis=0))

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Prior variances, shape (n,)."""
        return np.asarray(np.sum([part.diagonal(X) for part in self.parts], axis=0))


@dataclass(frozen=True, kw_only=True)
class AcrossGroups:
    """Covariance of the curves of several groups: k(x, x') prod_d (rho + (1 - rho) [g_d = g'_d]).

    Here x are the numerical inputs and g_d the categorical ones. Two curves have correlation rho for each categorical
    input in which their groups differ; rho = 0 makes the curves of all groups independent. The kernel is positive
    definite: each factor is the matrix rho 11^T + (1 - rho) I over the categories of one input, and elementwise
    products of positive definite matrices are positive definite (Schur).

    Args:
        inner: kernel k of the numerical inputs.
        columns: indices of the categorical inputs.
        shared: rho, in [0, 1].

    Raises:
        ValueError: rho is out of range.
    """

    inner: Kernel
    columns: tuple[int, ...]
    shared: float

    def __post_init__(self) -> None:
        if not 0 <= self.shared <= 1:
            raise ValueError(f"shared must lie in 0 ... 1, got {self.shared}")

    @property
    def variance(self) -> float:
        """k(x, x), in squared model units."""
        return self.inner.variance

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Covariance matrix (n, m) between inputs X (n, D) and Z (m, D)."""
        K = self.inner(self.numbers(X), self.numbers(Z))
        for d in self.columns:
            K *= np.where(X[:, d : d + 1] == Z[:, d], 1.0, self.shared)
        return K

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Prior variances k(x_i, x_i), shape (n,)."""
        return self.inner.diagonal(X)

    def numbers(self, X: FloatArray) -> FloatArray:
        """Return the numerical inputs, a part of the columns of X (n, D)."""
        return X[:, [d for d in range(X.shape[1]) if d not in self.columns]]


@dataclass(frozen=True)
class RougherGroup:
    """The kernel k(x, x') + [g_d = g'_d = G] r(x, x'): the curve of one group is rougher than those of the others.

    Args:
        alike: kernel k of all groups.
        own: kernel r of the numerical inputs, which is added for the one group.
        column: index d of the categorical input that defines the groups.
        level: G, the index of that group's category.
    """

    alike: AcrossGroups
    own: Kernel
    column: int
    level: int

    @property
    def variance(self) -> float:
        """Largest prior variance, which is that of the rougher group, in squared model units."""
        return self.alike.variance + self.own.variance

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Covariance matrix (n, m) between inputs X (n, D) and Z (m, D)."""
        both = np.outer(X[:, self.column] == self.level, Z[:, self.column] == self.level)
        return self.alike(X, Z) + both * self.own(self.alike.numbers(X), self.alike.numbers(Z))

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Prior variances k(x_i, x_i), shape (n,)."""
        own = np.where(X[:, self.column] == self.level, self.own.diagonal(self.alike.numbers(X)), 0.0)
        return np.asarray(self.alike.diagonal(X) + own)


RBF = EQ  # another common name of the same kernel

KERNELS: tuple[type[Stationary], ...] = (EQ, Matern12, Matern32, Matern52, RationalQuadratic)

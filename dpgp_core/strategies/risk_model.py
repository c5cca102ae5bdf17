"""One Gaussian model of the outputs, as the strategy of least Bayes risk sees it: noise plus low rank, and targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from ..arrays import FloatArray
from ..checks import check_positive
from .grouping import Labels, sums


@dataclass(frozen=True, kw_only=True, eq=False)
class RiskModel:
    """One model of a mixture; K = diag(noise) + root diag(signs) root^T must be positive definite.

    Args:
        noise: (n,) > 0, in squared model units.
        root: (n, k).
        targets: F (n, m) = K_f* W^(1/2), or any matrix with the same F F^T.
        prior_risk: tr W K_**, the risk when nothing is measured.
        weight: pi_m > 0 of this model in the mixture.
        signs: (k,) of +-1; None: all +1. A covariance that is left after earlier measurements has negative parts.
        basis: (n, p), one array for all models of a mixture; then root (p, k) and targets (p, m) stand for basis root
            and basis targets, and a product with all roots costs what p columns cost.

    Raises:
        ValueError: a value above is out of range or of the wrong shape.
    """

    noise: FloatArray
    root: FloatArray
    targets: FloatArray
    prior_risk: float
    weight: float = 1.0
    signs: FloatArray | None = None
    basis: FloatArray | None = None

    def __post_init__(self) -> None:
        n = len(self.noise)
        if self.noise.shape != (n,) or n == 0 or not (np.isfinite(self.noise).all() and (self.noise > 0).all()):
            raise ValueError("noise must be n >= 1 finite variances above 0; add a small one where there is none")
        rows = n
        if self.basis is not None:
            _check("basis", self.basis, n)
            rows = self.basis.shape[1]
        _check("root", self.root, rows)
        _check("targets", self.targets, rows)
        if self.targets.shape[1] == 0:
            raise ValueError("targets must have at least one column")
        if self.signs is not None and (self.signs.shape != self.root.shape[1:] or not (np.abs(self.signs) == 1).all()):
            raise ValueError(f"signs must be {self.root.shape[1]} numbers +1 or -1, one per column of root")
        check_positive("weight", self.weight)
        check_positive("prior_risk", self.prior_risk)


def _check(name: str, matrix: FloatArray, rows: int) -> None:
    if matrix.ndim != 2 or len(matrix) != rows or not np.isfinite(matrix).all():
        raise ValueError(f"{name} must be a finite matrix with {rows} rows, got shape {matrix.shape}")


def with_noise_of_one_shape(models: Sequence[RiskModel]) -> list[RiskModel]:
    """The models with noises proportional to each other: each its own mean, by record the mixture's mean shape.

    Then one Gram matrix B diag(noise) B^T serves them all. For planning only: noises of a stage differ between models
    by some per cent, where intervals cut one model's outputs more often than another's.
    """
    total = sum(model.weight for model in models)
    shape = sum((model.weight / total / model.noise.mean() * model.noise for model in models), np.zeros(1))
    return [replace(model, noise=model.noise.mean() * shape) for model in models]


def in_common_basis(models: Sequence[RiskModel], least: float) -> list[RiskModel]:
    """The models with roots and targets projected on columns that span all roots, to ``least`` of their noise.

    With A the roots (n, k) over the square roots of their mean noises and the pivoted Cholesky factorisation
    A^T A = R^T R, stopped where no column has more than ``least`` left, the basis is A' R'^-1 of the pivots, in which
    A is R (Higham 1990).

    Args:
        models: each with a root and targets of its own (n, .).
        least: squared norm of what may be left of a column.
    """
    levels = [np.sqrt(model.noise.mean()) for model in models]
    stacked = np.hstack([model.root / level for model, level in zip(models, levels, strict=True)])
    factor, pivots, rank, _ = dpstrf(stacked.T @ stacked, tol=least)
    rank, pivots = max(int(rank), 1), pivots - 1
    R = np.zeros((rank, len(pivots)))
    R[:, pivots] = np.triu(factor)[:rank]
    basis: FloatArray = solve_triangular(factor[:rank, :rank], stacked[:, pivots[:rank]].T, trans="T").T
    ends = np.cumsum([model.root.shape[1] for model in models])[:-1]
    return [
        replace(model, basis=basis, root=level * root, targets=basis.T @ model.targets)
        for model, level, root in zip(models, levels, np.hsplit(R, ends), strict=True)
    ]


def features(models: Sequence[RiskModel]) -> FloatArray:
    """Roots in units of the noise, side by side (n, .); records with near rows want near columns of a strategy."""
    distinct = {id(model.root): model for model in models}
    rows = [np.sqrt(model.weight / model.noise.mean()) * model.root for model in distinct.values()]
    basis = models[0].basis
    return np.hstack(rows) if basis is None else np.asarray(basis @ np.hstack(rows))


def of_sums(models: Sequence[RiskModel], groups: Labels) -> list[RiskModel]:
    """Models of the groups' sums; arrays that are one stay one."""
    known: dict[int, FloatArray] = {}

    def summed(values: FloatArray) -> FloatArray:
        if id(values) not in known:
            known[id(values)] = sums(values, groups)
        return known[id(values)]

    return [
        replace(model, noise=summed(model.noise), root=summed(model.root), targets=summed(model.targets))
        if model.basis is None
        else replace(model, noise=summed(model.noise), basis=summed(model.basis))
        for model in models
    ]

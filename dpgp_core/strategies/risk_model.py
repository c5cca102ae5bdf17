"""Gaussian models of the outputs for the Bayes risk: covariance as noise plus low rank, and the targets of prediction.

A *family* is a set of models of a mixture that share root and targets and differ in their noise only. It has one basis.

In this package a *group* is a set of records whose columns of B are restricted to be equal (it has nothing to do with
categories). If b_j = b_g for every record j of group g, then B y = sum_g b_g (sum of y_j over group g). With this
restriction the problem is therefore the same problem for the sums over groups, which are fewer outputs. Records with
equal inputs and noise have equal columns in some optimal B anyway, because the risk is convex in B^T B and does not
change when they are exchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray
from ..checks import check_positive

Labels = NDArray[np.intp]
_DIRECTIONS = 32


def sums(values: FloatArray, groups: Labels) -> FloatArray:
    """Sum values (n,) or (n, k) over groups; the result is (number of groups,) or (number of groups, k)."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    sums: FloatArray = np.add.reduceat(values[order], starts, axis=0)
    return sums


def nearest_of_spread(features: FloatArray, count: int) -> Labels:
    """Cluster rows of features (n, k): return the label (n,) of the nearest of ``count`` centres.

    Centres are rows, each chosen as the one farthest from the centres before. Distances are between 32 random
    combinations of the features, with a fixed seed. All labels occur.

    Source: Gonzalez 1985. The radius of the clusters is within a factor 2 of the smallest possible one.
    """
    n, k = features.shape
    rows = features
    if k > _DIRECTIONS:
        rows = features @ np.random.default_rng(0).standard_normal((k, _DIRECTIONS))
    nearest, labels, centre = np.full(n, np.inf), np.zeros(n, dtype=np.intp), int(np.argmax((rows**2).sum(axis=1)))
    for label in range(min(count, n)):
        distance = ((rows - rows[centre]) ** 2).sum(axis=1)
        closer = distance < nearest
        nearest[closer], labels[closer] = distance[closer], label
        centre = int(np.argmax(nearest))
        if nearest[centre] == 0:
            break
    return labels


@dataclass(frozen=True, kw_only=True, eq=False)
class RiskModel:
    """A model of the mixture, with K = diag(noise) + root diag(signs) root^T, which must be positive definite.

    Args:
        noise: noise variances (n,) > 0, in squared model units.
        root: low-rank part of the covariance (n, k).
        targets: F (n, m) = K_f* W^(1/2), or any matrix with the same F F^T.
        prior_risk: tr W K_**, the risk if nothing is measured.
        weight: weight pi_m > 0 of the model.
        signs: +1 or -1 for each column of ``root`` (k,); None if all are +1. Negative signs occur in covariances given
            earlier measurements.

    Raises:
        ValueError: a value above is out of range or of the wrong shape.
    """

    noise: FloatArray
    root: FloatArray
    targets: FloatArray
    prior_risk: float
    weight: float = 1.0
    signs: FloatArray | None = None

    def __post_init__(self) -> None:
        n = len(self.noise)
        if self.noise.shape != (n,) or n == 0 or not (np.isfinite(self.noise).all() and (self.noise > 0).all()):
            raise ValueError("noise must be n >= 1 finite variances above 0; add a small one where there is none")
        _check("root", self.root, n)
        _check("targets", self.targets, n)
        if self.targets.shape[1] == 0:
            raise ValueError("targets must have at least one column")
        if self.signs is not None and (self.signs.shape != self.root.shape[1:] or not (np.abs(self.signs) == 1).all()):
            raise ValueError(f"signs must be {self.root.shape[1]} numbers +1 or -1, one per column of root")
        check_positive("weight", self.weight)
        check_positive("prior_risk", self.prior_risk)


def _check(name: str, matrix: FloatArray, rows: int) -> None:
    if matrix.ndim != 2 or len(matrix) != rows or not np.isfinite(matrix).all():
        raise ValueError(f"{name} must be a finite matrix with {rows} rows, got shape {matrix.shape}")


def features(models: Sequence[RiskModel]) -> FloatArray:
    """Return all roots, relative to the noise, side by side. Records with similar rows need similar columns of B."""
    distinct = {id(model.root): model for model in models}
    rows = [np.sqrt(model.weight / model.noise.mean()) * model.root for model in distinct.values()]
    return np.hstack(rows)


def of_sums(models: Sequence[RiskModel], groups: Labels) -> list[RiskModel]:
    """Return the models of the sums over groups. Arrays that several models share are summed once and stay shared."""
    cache: dict[int, FloatArray] = {}

    def summed(values: FloatArray) -> FloatArray:
        if id(values) not in cache:
            cache[id(values)] = sums(values, groups)
        return cache[id(values)]

    return [
        replace(model, noise=summed(model.noise), root=summed(model.root), targets=summed(model.targets))
        for model in models
    ]


_IN_SPAN = 1e-12  # relative part of the targets outside the span of the root that counts as a rounding error
_NO_TARGET = 1e-14  # squared singular values of the targets below this share of the largest count as rounding errors


@dataclass(frozen=True, eq=False)
class Family:
    """Models that differ in their noise only: root = Q T, targets = Q E, where Q is ``columns`` of the basis."""

    columns: slice
    T: FloatArray  # (p, k)
    E: FloatArray  # (p, m)
    signs: FloatArray  # (k,)
    members: list[Member]


@dataclass(frozen=True, eq=False)
class Member:
    """A model of a family, with noise = level * shapes[shape]."""

    shape: int
    level: float
    weight: float
    prior_risk: float


def families_of(models: Sequence[RiskModel]) -> tuple[FloatArray, list[FloatArray], list[Family]]:
    """Return the basis (n, p) of a mixture, its noise shapes (vectors (n,) of mean 1), and its families.

    The basis consists of the orthonormal bases of the families side by side, in the order in which their models first
    occur.
    """
    shapes, kinds = list[FloatArray](), list[list[RiskModel]]()
    for model in models:
        same = next((kind for kind in kinds if _same(kind[0], model)), None)
        if same is None:
            kinds.append([model])
        else:
            same.append(model)
    bases = list[FloatArray]()
    families = [_orthogonalised(kind, shapes, bases) for kind in kinds]
    return np.hstack(bases), shapes, families


def _orthogonalised(models: list[RiskModel], shapes: list[FloatArray], bases: list[FloatArray]) -> Family:
    """Make a family of models with the same root and targets, and append its basis to ``bases``."""
    root, targets = models[0].root, models[0].targets
    Q = _orthonormal(root)
    if np.linalg.norm(targets - Q @ (Q.T @ targets)) > _IN_SPAN * np.linalg.norm(targets):
        Q = _orthonormal(np.hstack([root, targets]))
    start = sum(basis.shape[1] for basis in bases)
    bases.append(Q)
    E = _spanning(Q.T @ targets)  # has fewer columns and gives the same F F^T
    return Family(slice(start, start + Q.shape[1]), Q.T @ root, E, _signs(models[0]), _members(models, shapes))


def _signs(model: RiskModel) -> FloatArray:
    return np.ones(model.root.shape[1]) if model.signs is None else model.signs


def _members(models: Sequence[RiskModel], shapes: list[FloatArray]) -> list[Member]:
    return [Member(*_shape(model.noise, shapes), model.weight, model.prior_risk) for model in models]


def _shape(noise: FloatArray, shapes: list[FloatArray]) -> tuple[int, float]:
    """Return the index of the shape of ``noise``, and its level. A new shape is appended to ``shapes``."""
    level = float(noise.mean())
    for i, shape in enumerate(shapes):
        if np.allclose(noise / level, shape, rtol=_IN_SPAN, atol=0):
            return i, level
    shapes.append(noise / level)
    return len(shapes) - 1, level


def narrow(H: FloatArray) -> FloatArray:
    """Return a matrix with the same H H^T and at most as many columns as rows."""
    if H.shape[1] <= H.shape[0]:
        return H
    R: FloatArray = np.asarray(np.linalg.qr(H.T, mode="r"))
    return R.T


def _spanning(E: FloatArray) -> FloatArray:
    """Return a matrix with the same E E^T up to rounding errors, and as few columns as possible."""
    values, vectors = np.linalg.eigh(E.T @ E)
    spanning: FloatArray = E @ vectors[:, values >= _NO_TARGET * values[-1]]
    return spanning


def _same(a: RiskModel, b: RiskModel) -> bool:
    pairs = ((a.root, b.root), (a.targets, b.targets), (a.signs, b.signs))
    return all(x is y or (x is not None and y is not None and np.array_equal(x, y)) for x, y in pairs)


def _orthonormal(rows: FloatArray) -> FloatArray:
    Q: FloatArray = np.linalg.qr(rows)[0]
    return Q

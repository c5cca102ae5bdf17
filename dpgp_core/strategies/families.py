"""Models of a mixture in one basis: those with the same root and targets are a family and share all but their noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray
from .risk_model import RiskModel

_IN_SPAN = 1e-12  # relative part of the targets outside the root's span that counts as rounding
_NO_TARGET = 1e-14  # of the largest squared singular value of the targets: below, rounding


@dataclass(frozen=True, eq=False)
class Family:
    """Models that differ in noise only: root = Q T, targets = Q E, with Q the columns ``columns`` of the basis."""

    columns: slice
    T: FloatArray  # (p, k)
    E: FloatArray  # (p, m)
    signs: FloatArray  # (k,)
    members: list[Member]


@dataclass(frozen=True, eq=False)
class Member:
    """One model: noise = level * shapes[shape]."""

    shape: int
    level: float
    weight: float
    prior_risk: float


class Families(NamedTuple):
    """A mixture's basis (n, p), its shapes of noise, each (n,) of mean 1, and its families."""

    basis: FloatArray
    shapes: list[FloatArray]
    families: list[Family]


def families_of(models: Sequence[RiskModel]) -> Families:
    """Families in the order in which models first occur, in the basis given or in orthonormal ones side by side."""
    shapes, kinds = list[FloatArray](), list[list[RiskModel]]()
    for model in models:
        same = next((kind for kind in kinds if _same(kind[0], model)), None)
        if same is None:
            kinds.append([model])
        else:
            same.append(model)
    if models[0].basis is not None:
        return Families(models[0].basis, shapes, [_given(kind, shapes) for kind in kinds])
    bases = list[FloatArray]()
    families = [_orthogonalised(kind, shapes, bases) for kind in kinds]
    return Families(np.hstack(bases), shapes, families)


def _given(models: list[RiskModel], shapes: list[FloatArray]) -> Family:
    """In the basis that the models share."""
    root = models[0].root
    return Family(slice(0, len(root)), root, _spanning(models[0].targets), _signs(models[0]), _members(models, shapes))


def _orthogonalised(models: list[RiskModel], shapes: list[FloatArray], bases: list[FloatArray]) -> Family:
    """In a basis of its own, which is added to ``bases``."""
    root, targets = models[0].root, models[0].targets
    Q = _orthonormal(root)
    if np.linalg.norm(targets - Q @ (Q.T @ targets)) > _IN_SPAN * np.linalg.norm(targets):
        Q = _orthonormal(np.hstack([root, targets]))
    start = sum(basis.shape[1] for basis in bases)
    bases.append(Q)
    E = _spanning(Q.T @ targets)  # fewer columns, the same F F^T
    return Family(slice(start, start + Q.shape[1]), Q.T @ root, E, _signs(models[0]), _members(models, shapes))


def _signs(model: RiskModel) -> FloatArray:
    return np.ones(model.root.shape[1]) if model.signs is None else model.signs


def _members(models: Sequence[RiskModel], shapes: list[FloatArray]) -> list[Member]:
    return [Member(*_shape(model.noise, shapes), model.weight, model.prior_risk) for model in models]


def _shape(noise: FloatArray, shapes: list[FloatArray]) -> tuple[int, float]:
    """Number of this noise's shape and its level; noises in proportion share a shape, a new one is added."""
    level = float(noise.mean())
    for i, shape in enumerate(shapes):
        if np.allclose(noise / level, shape, rtol=_IN_SPAN, atol=0):
            return i, level
    shapes.append(noise / level)
    return len(shapes) - 1, level


def narrow(H: FloatArray) -> FloatArray:
    """A matrix with the same H H^T and at most as many columns as rows."""
    if H.shape[1] <= H.shape[0]:
        return H
    R: FloatArray = np.asarray(np.linalg.qr(H.T, mode="r"))
    return R.T


def _spanning(E: FloatArray) -> FloatArray:
    """A matrix with the same E E^T, as far as rounding tells, and as few columns as that takes."""
    values, vectors = np.linalg.eigh(E.T @ E)
    spanning: FloatArray = E @ vectors[:, values >= _NO_TARGET * values[-1]]
    return spanning


def _same(a: RiskModel, b: RiskModel) -> bool:
    pairs = ((a.root, b.root), (a.targets, b.targets), (a.signs, b.signs))
    return all(x is y or (x is not None and y is not None and np.array_equal(x, y)) for x, y in pairs)


def _orthonormal(rows: FloatArray) -> FloatArray:
    Q: FloatArray = np.linalg.qr(rows)[0]
    return Q

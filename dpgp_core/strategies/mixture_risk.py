"""The Bayes risk of noisy linear measurements under a mixture of Gaussian models, and its gradient.

With S = B K B^T + t I, J = S^-1 B F and R = F - K B^T J, the gradient is d risk / dB = -2 J R^T. For X = B^T B,
-d risk / dX = G = R R^T / t. No matrix of size n x n is formed: models with the same root and targets share an
orthonormal basis Q (n, p) in which root = Q T and targets = Q E, so that B enters only by B Q and B diag(shape) B^T.

The module also has functions for the rows of a strategy: the start of the minimisation, and the scaling of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, svd
from scipy.linalg.lapack import dposv

from ..arrays import FloatArray
from .risk_model import Family, Member, RiskModel, families_of, narrow

_OVER_NOISE = 0.3  # directions whose standard deviation is a smaller multiple of that of the noise count as noise


class Point(NamedTuple):
    """Evaluation of the risk at B (r, n), with the matrix J (r, m) of each model."""

    risk: float
    B: FloatArray
    BQ: FloatArray  # B times the basis (r, p)
    J: list[FloatArray]


class MixtureRisk:
    """Risk of a mixture as a function of B (r, n) for noise variance t, computed in O(n r p) operations.

    Attributes:
        n: number of outputs.
        t: noise variance of each measurement.
        basis: Q of all families side by side (n, p).
        shapes: vectors (n,) of mean 1. The noise of each model is a multiple of one of them.
    """

    def __init__(self, models: Sequence[RiskModel], t: float) -> None:
        self.n, self.t = len(models[0].noise), t
        self.basis, self.shapes, self._families = families_of(models)
        self._grams: dict[int, FloatArray] = {}  # Q^T N^-1 Q of each member

    @cached_property
    def targets(self) -> FloatArray:
        """Targets of all models side by side, times sqrt(pi_m): a matrix F (n, m) with F F^T = sum_m pi_m F_m F_m^T."""
        parts = []
        for family in self._families:
            weight = sum(member.weight for member in family.members)
            parts.append(np.sqrt(weight) * self.basis[:, family.columns] @ family.E)
        return np.hstack(parts)

    @cached_property
    def members(self) -> list[tuple[Family, Member]]:
        """All models with their families, in the order of ``Point.J``."""
        return [(family, member) for family in self._families for member in family.members]

    @cached_property
    def least(self) -> float:
        """Risk if the outputs themselves were known, sum_m pi_m (tr W K_** - tr F^T K^-1 F)."""
        total = 0.0
        for family, member in self.members:
            gram, T = self._gram(family, member), family.T
            onto = gram @ family.E  # Q^T N^-1 F
            inner = np.linalg.solve(np.diag(family.signs) + T.T @ gram @ T, T.T @ onto)
            explained = np.vdot(family.E, onto) - np.vdot(onto, T @ inner)
            total += member.weight * (member.prior_risk - float(explained))
        return total

    def inverse_products(self, family: Family, member: Member, A: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return A^T K^-1 A and A^T K^-1 F of one model, for A (n, a).

        K^-1 = N^-1 - N^-1 U (diag(signs) + U^T N^-1 U)^-1 U^T N^-1, with the root U and the noise N.
        """
        Q, T, noise = self.basis[:, family.columns], family.T, member.level * self.shapes[member.shape]
        gram, scaled = self._gram(family, member), A / noise[:, None]
        onto = scaled.T @ Q  # A^T N^-1 Q
        inner = T @ np.linalg.solve(np.diag(family.signs) + T.T @ gram @ T, (onto @ T).T)
        own: FloatArray = A.T @ scaled - onto @ inner
        with_targets: FloatArray = (onto - inner.T @ gram) @ family.E
        return own, with_targets

    def _gram(self, family: Family, member: Member) -> FloatArray:
        """Return Q^T N^-1 Q of one model."""
        if id(member) not in self._grams:
            Q = self.basis[:, family.columns] / np.sqrt(self.shapes[member.shape])[:, None]
            self._grams[id(member)] = (Q.T @ Q) / member.level
        return self._grams[id(member)]

    def at(self, B: FloatArray) -> Point:
        """Evaluate the risk at B (r, n)."""
        BQ, risk, J = B @ self.basis, 0.0, []
        grams = [scaled @ scaled.T for scaled in (B * np.sqrt(shape) for shape in self.shapes)]
        for family in self._families:
            BU, BF = BQ[:, family.columns] @ family.T, BQ[:, family.columns] @ family.E
            signal = (BU * family.signs) @ BU.T
            for member in family.members:
                S = member.level * grams[member.shape] + signal
                S.flat[:: len(S) + 1] += self.t
                J.append(positive_solve(S, BF))
                risk += member.weight * (member.prior_risk - float(np.vdot(BF, J[-1])))
        return Point(risk, B, BQ, J)

    def gradient(self, point: Point) -> FloatArray:
        """Return the gradient d risk / dB = -2 sum_m pi_m J_m R_m^T (r, n)."""
        r = len(point.B)
        signal, grams, Js = np.zeros((r, self.basis.shape[1])), np.zeros((len(self.shapes), r, r)), iter(point.J)
        for family in self._families:
            JE, JJ = np.zeros((r, family.E.shape[1])), np.zeros((r, r))
            for member in family.members:
                J = next(Js)
                gram = member.weight * (J @ J.T)
                JE, JJ = JE + member.weight * J, JJ + gram
                grams[member.shape] += member.level * gram
            BU = point.BQ[:, family.columns] @ family.T
            signal[:, family.columns] += JE @ family.E.T - ((JJ @ BU) * family.signs) @ family.T.T
        total = signal @ self.basis.T
        for gram, shape in zip(grams, self.shapes, strict=True):
            total -= gram @ (point.B * shape)
        return -2 * total

    def residuals(self, point: Point) -> FloatArray:
        """Return a matrix H (n, m) with H H^T = sum_m pi_m R_m R_m^T."""
        r, p = point.BQ.shape
        blocks, Js = [], iter(point.J)
        for family in self._families:
            BU = point.BQ[:, family.columns] @ family.T
            for member in family.members:
                J, block = next(Js), np.zeros((p + len(self.shapes) * r, family.E.shape[1]))
                block[family.columns] = family.E - family.T @ (family.signs[:, None] * (BU.T @ J))
                block[p + member.shape * r : p + (member.shape + 1) * r] = -member.level * J
                blocks.append(np.sqrt(member.weight) * block)
        C = narrow(np.hstack(blocks))
        H: FloatArray = self.basis @ C[:p]
        for i, shape in enumerate(self.shapes):
            H += (shape[:, None] * point.B.T) @ C[p + i * r : p + (i + 1) * r]
        return narrow(H)

    def measured(self, point: Point) -> float:
        """Return tr B G B^T = t sum_m pi_m |J_m|^2, which follows from B R = t J."""
        squares = (member.weight * float(np.vdot(J, J)) for (_, member), J in zip(self.members, point.J, strict=True))
        return self.t * sum(squares)

    @cached_property
    def above_noise(self) -> FloatArray:
        """Orthonormal columns (n, a) that span the directions in which the roots of the models exceed the noise."""
        roots: dict[int, list[FloatArray]] = {}
        for family in self._families:
            noise = min(member.level for member in family.members)
            roots.setdefault(family.columns.start, []).append(family.T[:, family.signs > 0] / np.sqrt(noise))
        parts = [narrow(np.hstack(each)) for each in roots.values()]
        # Singular vectors are computed from the Gram matrix, whose rounding errors are far below the values kept.
        stacked = np.hstack([self.basis[:, start : start + len(C)] @ C for start, C in zip(roots, parts, strict=True)])
        values, vectors = np.linalg.eigh(stacked.T @ stacked)
        above = values > _OVER_NOISE**2
        return np.asarray(stacked @ (vectors[:, above] / np.sqrt(values[above])))


_TINY = 1e-12
_FIRST_ROWS = 64
_WOBBLE, _SMALL_WOBBLE = 0.03, 1e-3  # size of random perturbations of the start, without and with a given B


def first_rows(risk: MixtureRisk, most_rows: int, start: FloatArray | None) -> FloatArray:
    """Return the B with which the minimisation starts.

    It is ``start``, or else the singular vectors of the targets times the square roots of their singular values, plus a
    small random perturbation.
    """
    if start is not None:
        return _padded(start[:most_rows], min(most_rows, len(start) + 2), _SMALL_WOBBLE)
    left, s, _ = thin_svd(risk.targets)
    rows = (left * np.sqrt(s / max(s[0], _TINY))).T
    return _padded(rows[: min(_FIRST_ROWS, most_rows)], min(_FIRST_ROWS, most_rows), _WOBBLE)


def _padded(rows: FloatArray, r: int, wobble: float) -> FloatArray:
    """Extend ``rows`` to r rows, add a random perturbation, and normalise the columns.

    The perturbation is needed because the gradient at a row of zeros is 0.
    """
    V = wobble * np.random.default_rng(0).standard_normal((r, rows.shape[1]))
    V *= max(float(np.sqrt((rows**2).mean())), _TINY)
    V[: len(rows)] += canonical(rows)
    return unit(V)


def canonical(rows: FloatArray) -> FloatArray:
    """Rotate ``rows`` (r, n) to be as close as possible to r fixed pseudo-random rows (orthogonal Procrustes problem).

    The risk depends on B^T B alone, and singular vectors are unique only up to their signs, or up to a rotation if
    singular values coincide. Without this rotation, rounding errors would decide which of these equally good strategies
    is found, and releases with the same seed would differ from one processor to another.
    """
    fixed = np.random.default_rng(0).standard_normal((rows.shape[1], len(rows)))
    left, _, right = thin_svd(rows @ fixed)
    rotated: FloatArray = (left @ right).T @ rows
    return rotated


def positive_solve(S: FloatArray, F: FloatArray) -> FloatArray:
    """Return S^-1 F for a positive definite S (r, r) and F (r, m).

    It is called for every evaluation of a risk, and is therefore the LAPACK routine without any check.

    Raises:
        LinAlgError: S is not positive definite.
    """
    _, solution, failed = dposv(S, F, lower=1)
    if failed:
        raise LinAlgError("a covariance is not positive definite")
    return np.asarray(solution)


def unit(V: FloatArray) -> FloatArray:
    """Divide each column of V (r, n) by its norm."""
    shrunk: FloatArray = V / np.maximum(np.sqrt(np.einsum("ij,ij->j", V, V)), 1e-300)
    return shrunk


def safe(B: FloatArray) -> FloatArray:
    """Shrink columns of B (r, n) so that their norms are <= 1 also after rounding."""
    norms = np.sqrt(np.einsum("ij,ij->j", B, B)) * (1 + 4 * np.finfo(float).eps)
    shrunk: FloatArray = B / np.maximum(norms, 1.0)
    return shrunk


def thin_svd(A: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the thin singular value decomposition. The faster algorithm may fail if A has very small entries."""
    try:
        left, s, right = svd(A, full_matrices=False, check_finite=False)
    except LinAlgError:
        left, s, right = svd(A, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    return left, s, right

"""Bounds on how far one record moves a GP posterior mean: variance and sensitivity for posterior sampling.

Notation of the proofs: the core is the n - 1 records that neighbouring data sets share. k_0 and m are the posterior
covariance and mean given the core, and H_0 is the RKHS of k_0. The records that differ are (z, y) and (z', y');
u = k_0(., z) in H_0, v = |u|^2 = k_0(z, z) <= V, and u', v' likewise. Adding the record (z, y) to the core moves the
mean by (y - m(z)) u / (v + q), so

    Delta = sup | (y - m(z)) u / (v + q) - (y' - m(z')) u' / (v' + q) |    in H_0.

All bounds assume k(x, x) <= 1, |outputs| <= M and ridge q = r^2. Arguments broadcast. M and Delta are in model units;
all other arguments have no unit. Source of the setting: Maciazek 2026, sections 2-3.
"""

from __future__ import annotations

import math

import numpy as np

from ..arrays import FloatArray

_ROUND_UP = 1 + 1e-12  # exceeds the rounding errors of a dozen floating-point operations


def core_variance(n: FloatArray, r: FloatArray, kappa: FloatArray) -> FloatArray:
    """Return the largest posterior variance V given any core of n - 1 records, divided by s^2.

    V = 1 - kappa^2 (n - 1) / (n - 1 + q)

    Proof: with k_z >= kappa entrywise and 1^T (K + qI) 1 <= (n-1)(n-1+q), Cauchy-Schwarz gives
    k_z^T (K + qI)^-1 k_z >= (1^T k_z)^2 / (1^T (K + qI) 1) >= kappa^2 (n-1) / (n-1+q).

    Args:
        r: square root of the effective ridge, > 0.
        kappa: smallest kernel value over the public domain, in [0, 1].

    Source: Maciazek 2026, proposition 3 (exact for kernels with k(x, x) = 1).
    """
    q = r * r
    # The same value, written without a difference of nearly equal numbers.
    return (q + (1 - kappa * kappa) * (n - 1)) / (n - 1 + q)


def peak(V: FloatArray, r: FloatArray) -> FloatArray:
    """Return Phi = sup over v <= V of v / (v + q)^2, which is 1/(4q) if V >= q and V / (V + q)^2 otherwise."""
    q = r * r
    v = np.minimum(V, q)
    return v / (v + q) ** 2


def centred_sensitivity(V: FloatArray, r: FloatArray, n: FloatArray, M: FloatArray) -> FloatArray:
    """Sensitivity for any bounded kernel: Delta <= 2 M X, X = max of (sqrt(v) + c v t) sqrt(1 - t^2) / (v + q).

    The maximum is over v <= V and v + t^2 <= 1.

    Proof: let c = sqrt(n - 1) / r, e = m / (M c), and t = -<e, u> / |u|. Two inequalities hold:

    - |e| <= 1, because m = (1/q) sum y_i k_0(., x_i) and |m|^2 = y^T K_0 y / q^2 <= |y|^2 / q <= (n-1) M^2 / q, as
      K_0 = q K (K + qI)^-1 <= qI.
    - v + t^2 <= 1. Let phi be the features of z, and S the sum of phi phi^T over the core. With a = q / (S + q), in
      (0, 1), |m(z)|^2 <= |y|^2 phi^T S (S + q)^-2 phi = |y|^2 E[a (1 - a)] / q and v = phi^T q (S + q)^-1 phi = E[a],
      so |m(z)| <= M c sqrt(v (1 - v)) by Jensen's inequality.

    From both it follows that the shifts by all records lie in one ball of radius M X about -k e, with k = x t at the
    maximum; docs/guarantees.md has the details. No smaller bound follows from the two inequalities.

    The maximum is found by bisection of t. Evaluating each factor at the less favourable end of the final interval
    makes the result at least 2 M X, and larger by a relative error below 1e-8.
    """
    q, pull = r * r, np.sqrt(n - 1) / r
    low, high = _centred_bracket(V, q, pull)
    # w rises with the upper end of t, and both cosines are largest at the lower one
    cosine = np.sqrt(1 - low * low)
    w = np.minimum(_best_root(q, pull, high), np.minimum(np.sqrt(V), cosine))
    return 2 * M * w * (1 + pull * w * high) * cosine / (w * w + q) * _ROUND_UP


def exponential_1d_sensitivity(V: FloatArray, r: FloatArray, M: FloatArray) -> FloatArray:
    """Sensitivity for the exponential kernel in one dimension: Delta <= 2 sqrt(2) M sqrt(Phi).

    Proof: K^-1 has no positive off-diagonal entry, hence k_0 >= 0 and |m| <= M, for this core and any larger one
    (Maciazek 2026, lemma B.6). Let p = |y - m(z)|, p' = |y' - m(z')|, both <= 2M, and R = corr_0(z, z') >= 0. As
    sqrt(v)/(v+q) <= sqrt(Phi), residuals of equal sign give Delta^2 <= Phi (p^2 + p'^2) <= 8 M^2 Phi. If the signs are
    opposite, assume that y - m(z) > 0. Adding infinitely many records (z, M) keeps the mean at z' below M, so that
    p R sqrt(v'/v) + p' <= 2M, and likewise p' R sqrt(v/v') + p <= 2M. One of the two ratios is at least 1; if it is the
    first, Delta^2 <= Phi (p^2 + p'^2 + 2 p p' R) = Phi [(p' + R p)^2 + (1 - R^2) p^2] <= Phi (4 M^2 + 4 M^2).
    In two dimensions the bound is wrong. In one dimension, the smaller bound 2 M sqrt(Phi) would be wrong.
    """
    return math.sqrt(8) * M * np.sqrt(peak(V, r))


def published_generic_sensitivity(V: FloatArray, r: FloatArray, n: FloatArray, M: FloatArray) -> FloatArray:
    """Return the published sqrt(2) M (1 + sqrt(n - 1) / r) sqrt(Phi). It is wrong and serves for comparison only.

    Counterexample: equal inputs with opposite outputs give 2 M sqrt(Phi), which is larger if r > 2.414 sqrt(n - 1).
    """
    return math.sqrt(2) * M * (1 + np.sqrt(n - 1) / r) * np.sqrt(peak(V, r))


def _best_root(q: FloatArray, pull: FloatArray, t: FloatArray) -> FloatArray:
    # (w + pull t w^2) / (w^2 + q) rises up to w = pull t q + sqrt((pull t q)^2 + q), then falls, for t >= 0
    half = pull * t * q
    return half + np.sqrt(half * half + q)


def _centred_bracket(V: FloatArray, q: FloatArray, pull: FloatArray) -> tuple[FloatArray, FloatArray]:
    # X(t) = G(t) sqrt(1 - t^2), G the supremum over w = sqrt(v), rises and then falls on [0, 1], and is largest at
    # t^2 <= 1/2: docs/guarantees.md. With E = 1 + pull w t its slope has the sign of
    #     pull w - t (2 E - 1) - [w = sqrt(1 - t^2)] t (2 q E / (w^2 + q) - 1).
    top = np.sqrt(V)
    low, high = 0 * (top + q + pull), math.sqrt(0.5) + 0 * (top + q + pull)
    for _ in range(30):
        t = (low + high) / 2
        cosine = np.sqrt(1 - t * t)
        w = np.minimum(_best_root(q, pull, t), np.minimum(top, cosine))
        E = 1 + pull * w * t
        slope = pull * w - t * (2 * E - 1)
        slope = slope - np.where(w == cosine, t * (2 * q * E / (w * w + q) - 1), 0.0)
        low, high = np.where(slope > 0, t, low), np.where(slope > 0, high, t)
    return low, high

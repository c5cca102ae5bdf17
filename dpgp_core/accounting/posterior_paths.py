"""Privacy loss of posterior sampling, which releases paths f ~ GP(mu_D, s^2 k_D); a neighbour replaces one record.

The core of two neighbouring data sets is the n - 1 records that they share. In coordinates in which the posterior given
the core is standard normal, the posteriors given neighbouring data sets are N(a, s^2 (I - u u^T / (v + q))) and
N(a', s^2 (I - u' u'^T / (v' + q))), with |a - a'| <= Delta and |u|^2, |u'|^2 <= V, for any test points.

With tau = V / q, the Renyi bounds are finite for 1 < alpha < 1 + 1 / tau. Curves are functions of x = alpha - 1, which
loses no digits for alpha close to 1. Source: Maciazek 2026, theorem 3.1 and proposition 2, with the tighter terms
proven below.

``posterior_sampling_epsilon`` computes epsilon for L paths from the curves, and ``PosteriorLoss`` is the loss that a
ledger composes with others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, overload

import numpy as np
from scipy.special import expit

from ..arrays import BoolArray, FloatArray
from . import posterior_sensitivity as sensitivities
from .losses import Numbers, conversion_penalty

Sensitivity = Literal["generic", "exponential_1d", "exponential_1d_min"]
SENSITIVITIES: tuple[Sensitivity, ...] = ("generic", "exponential_1d", "exponential_1d_min")
Bound = Literal["proven", "published"]
_CHUNK = 2048  # number of settings whose epsilon is minimised together
_LOGITS = np.arange(-20.0, 9.0)[:, None]  # grid of logit(beta); for delta >= 1e-30 the best 1 - beta is above 0.007


def signed_covariance(x: FloatArray, tau: FloatArray) -> FloatArray:
    """Return the covariance term -ln[1 - alpha (alpha - 1) tau^2 / (1 + tau)] / (2 (alpha - 1)), which is the supremum.

    Proof: Sigma = I - u u^T/(v+q) has determinant 1/(1+t), t = v/q, and Sigma' likewise. The determinant of
    alpha Sigma' + (1 - alpha) Sigma is smallest for orthogonal u, u': (1 - alpha t'/(1+t')) (1 + (alpha-1) t/(1+t)).
    Then det / (det Sigma^(1-alpha) det Sigma'^alpha) has the log
    [ln(1 - (alpha-1) t') + (alpha-1) ln(1+t')] + [ln(1 + alpha t) - alpha ln(1+t)]. The first part decreases in t' and
    the second in t, and both t' and t are at most tau.

    Args:
        x: alpha - 1, in (0, 1/tau).
        tau: V / q > 0.
    """
    beta = x * tau
    return -np.log1p(-beta * (tau + beta) / (1 + tau)) / (2 * x)


def published_covariance(x: FloatArray, tau: FloatArray) -> FloatArray:
    """Return the covariance term 2 psi of Maciazek 2026, theorem 3.1. It is valid, but not the smallest bound.

    It assumes the less favourable sign for each of the two records.

    psi = max{ ln(1+tau)/2 - ln[(1+alpha tau)/(1+tau)] / (2(alpha-1)),
               -ln(1+tau)/2 - ln(1-(alpha-1)tau) / (2(alpha-1)) }
    """
    half = np.log1p(tau) / 2
    narrower = half - np.log1p(x * tau / (1 + tau)) / (2 * x)
    wider = -half - np.log1p(-x * tau) / (2 * x)
    return 2 * np.maximum(narrower, wider)


@dataclass(frozen=True, kw_only=True, eq=False)
class RenyiCurve:
    """Bound on the Renyi divergence of one path: covariance term + (alpha / 2) [direct + alpha pulled / (1 - beta)].

    Here beta = (alpha - 1) tau < 1. The bracket bounds d^T Sigma_alpha^-1 d / s^2 for the shift d of the mean, because
    Sigma_alpha >= I - alpha u' u'^T/(v'+q), whose inverse gives |d|^2 + alpha (d.u')^2 / (q - (alpha-1) v').

    Args:
        tau: V / q, or tau~ if noise from the prior is added. The bound is finite for alpha < 1 + 1/tau.
        direct: bound on |d|^2 / s^2.
        pulled: bound on (d.u')^2 / (q s^2).
        signed: whether the covariance term is ``signed_covariance`` or ``published_covariance``.
    """

    tau: FloatArray
    direct: FloatArray
    pulled: FloatArray
    signed: bool

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the bound at orders alpha = 1 + x, for 0 < x < 1/tau."""
        covariance = (signed_covariance if self.signed else published_covariance)(x, self.tau)
        return covariance + (1 + x) / 2 * (self.direct + (1 + x) * self.pulled / (1 - x * self.tau))


def require(name: str, values: FloatArray, valid: BoolArray, meaning: str) -> None:
    """Raise ValueError if a value is not ``valid``; the message shows the first such value and what it must be."""
    if not np.all(valid):
        raise ValueError(f"{name} must be {meaning}; got {np.asarray(values)[~np.asarray(valid)].flat[0]:g}")


def path_curves(
    n: FloatArray,
    r: FloatArray,
    sigma: FloatArray,
    kappa: FloatArray,
    M: FloatArray,
    eta: FloatArray,
    *,
    sensitivity: Sensitivity,
    bound: Bound = "proven",
) -> list[RenyiCurve]:
    """Return curves that are all valid bounds for one path; the smallest one may be used at each order.

    Without additional noise the generic mean term is (alpha/2) (V+q)/(q - (alpha-1)V) Delta^2/s^2, which is
    pulled = tau direct. In one dimension d.u' is the difference of two posterior means at z' and at most 2M.

    For additional noise eta G with G ~ GP(0, k) (Maciazek 2026, proposition 2), k >= k_0 holds. In the coordinates of
    s^2 k_0 + eta^2 k, both |d|^2 and u u^T therefore shrink by s^2/(s^2 + eta^2). With A = s^2 q + eta^2 (V + q) this
    gives tau~ = s^2 V / A and the mean term (alpha/2) (V+q) / (A (1 - beta)) Delta^2. Adding noise is post-processing,
    so the curve for eta = 0 is valid as well.

    Args:
        n, r, sigma, kappa, M, eta: arrays of one shape, with an element for each setting; see
            ``posterior_sampling_epsilon``.

    Raises:
        ValueError: a number is out of range, or an unknown sensitivity or bound.
    """
    require("n", n, n >= 1, "a number of records, at least 1")
    require("r", r, (r > 0) & np.isfinite(r), "a finite number above 0; larger is more private")
    require("sigma", sigma, sigma > 0, "above 0; inf leaves only what the covariance leaks")
    require("kappa", kappa, (kappa >= 0) & (kappa <= 1), "in [0, 1]: the least kernel value")
    require("M", M, (M > 0) & np.isfinite(M), "a finite number above 0: the bound on outputs")
    require("eta", eta, (eta >= 0) & np.isfinite(eta), "a finite number, at least 0")
    if sensitivity not in SENSITIVITIES:
        raise ValueError(f"sensitivity must be one of {', '.join(SENSITIVITIES)}, got {sensitivity!r}")
    if bound not in ("proven", "published"):
        raise ValueError(f"bound must be 'proven' or 'published', got {bound!r}")
    proven = bound == "proven"
    V = sensitivities.core_variance(n, r, kappa)
    tau, Delta = V / (r * r), posterior_sensitivity(V, r, n, M, sensitivity, bound)
    # (s^2 + eta^2)/s^2; then A = s^2 (q + (eta/s)^2 (V + q)), and 1 + tau~ = (s^2 + eta^2)(V + q)/A
    extra = (eta / sigma) ** 2
    tau_noisy, direct_noisy = tau / (1 + extra * (1 + tau)), (Delta / sigma) ** 2 / (1 + extra)
    noisy = RenyiCurve(tau=tau_noisy, direct=direct_noisy, pulled=tau_noisy * direct_noisy, signed=proven)
    if not proven:
        return [noisy]
    direct = (Delta / sigma) ** 2
    pulled = tau * direct
    if sensitivity != "generic":  # one input
        pulled = np.minimum(pulled, (2 * M / (sigma * r)) ** 2)
    plain = RenyiCurve(tau=tau, direct=direct, pulled=pulled, signed=True)
    return [noisy, plain] if np.any(eta > 0) else [plain]


def posterior_sensitivity(
    V: FloatArray, r: FloatArray, n: FloatArray, M: FloatArray, sensitivity: Sensitivity, bound: Bound
) -> FloatArray:
    """Return the sensitivity Delta by the rule ``sensitivity``.

    "exponential_1d_min" is the smallest bound that is valid for the exponential kernel in one dimension. With bound
    "published" it is the sensitivity of the published code, which is wrong for the generic rule.
    """
    if sensitivity == "generic" and bound == "published":
        return sensitivities.published_generic_sensitivity(V, r, n, M)
    if sensitivity == "generic":
        return sensitivities.centred_sensitivity(V, r, n, M)
    special = sensitivities.exponential_1d_sensitivity(V, r, M)
    if sensitivity == "exponential_1d" or bound == "published":
        return special
    return np.minimum(special, sensitivities.centred_sensitivity(V, r, n, M))


@overload
def posterior_sampling_epsilon(
    n: float,
    r: float,
    sigma: float,
    kappa: float,
    delta: float,
    M: float = ...,
    L: float = ...,
    eta: float = ...,
    sensitivity: Sensitivity = ...,
    bound: Bound = ...,
) -> float: ...
@overload
def posterior_sampling_epsilon(
    n: Numbers,
    r: Numbers,
    sigma: Numbers,
    kappa: Numbers,
    delta: Numbers,
    M: Numbers = ...,
    L: Numbers = ...,
    eta: Numbers = ...,
    sensitivity: Sensitivity = ...,
    bound: Bound = ...,
) -> float | FloatArray: ...
def posterior_sampling_epsilon(
    n: Numbers,
    r: Numbers,
    sigma: Numbers,
    kappa: Numbers,
    delta: Numbers,
    M: Numbers = 1.0,
    L: Numbers = 1,
    eta: Numbers = 0.0,
    sensitivity: Sensitivity = "generic",
    bound: Bound = "proven",
) -> float | FloatArray:
    """Return the epsilon >= 0 of releasing L posterior paths at this delta. Neighbours replace one input and output.

    epsilon = min over alpha = 1 + beta/tau, beta in (0, 1), of L rho(alpha) + conversion penalty

    Epsilon decreases in r, and in sigma if eta = 0. Arguments may be numbers or arrays that broadcast. The result is an
    array if any of them is.

    Args:
        n: number of records.
        r: square root of the effective ridge (noise variance over squared kernel scale), > 0.
        sigma: kernel scale s > 0 in units of the outputs; inf leaves only the privacy loss by the covariance.
        kappa: smallest value of the normalised kernel (k(x, x) <= 1) over the public domain; in [0, 1].
        delta: in [1e-30, 1).
        M: bound on the absolute values of the outputs, > 0.
        L: number of independent paths, >= 1.
        eta: scale >= 0 of additional noise from the GP prior, in units of the outputs.
        sensitivity: "generic" is valid for every kernel, "exponential_1d" only for the exponential kernel with one
            input. "exponential_1d_min" uses the smaller of both.
        bound: "proven", or "published" for comparison: covariance term 2 psi, the classic conversion, and a generic
            sensitivity that is wrong.

    Raises:
        ValueError: a number is out of range, or an unknown sensitivity or bound.

    Source: ``path_curves`` and ``posterior_sensitivity.py``, after Maciazek 2026, theorem 3.1.
    """
    arrays = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (n, r, sigma, kappa, M, eta, delta, L)))
    *model, deltas, paths = (a.ravel() for a in arrays)
    require("delta", deltas, (deltas >= 1e-30) & (deltas < 1), "in [1e-30, 1): 1 would guarantee nothing")
    require("L", paths, (paths >= 1) & np.isfinite(paths), "a number of paths, at least 1")
    epsilon = np.empty(deltas.size)
    for start in range(0, deltas.size, _CHUNK):
        chunk = slice(start, start + _CHUNK)
        curves = path_curves(*(values[chunk] for values in model), sensitivity=sensitivity, bound=bound)
        least = [_least_epsilon(curve, paths[chunk], deltas[chunk]) for curve in curves]
        epsilon[chunk] = np.maximum(0.0, np.min(least, axis=0))
    return epsilon.reshape(arrays[0].shape) if arrays[0].ndim else float(epsilon[0])


def _least_epsilon(curve: RenyiCurve, paths: FloatArray, delta: FloatArray) -> FloatArray:
    """Minimise over beta for each of m settings: on a grid of logits, on two finer grids, then by a parabola."""

    def objective(logits: FloatArray) -> FloatArray:
        x = expit(logits) / curve.tau
        # The classic conversion, log(1/delta) / (alpha - 1), is larger at every order (Mironov 2017, proposition 3).
        return paths * curve(x) + (conversion_penalty(x, delta) if curve.signed else -np.log(delta) / x)

    best, centre = np.full(curve.tau.shape, np.inf), np.zeros_like(curve.tau)
    for offsets in (_LOGITS, _LOGITS[17:24] / 4, _LOGITS[17:24] / 16):
        values = objective(centre + offsets)
        best = np.minimum(best, values.min(axis=0))
        centre = centre + offsets[values.argmin(axis=0), 0]
    h = 1 / 16
    left, middle, right = objective(centre + h * np.array([[-1.0], [0.0], [1.0]]))
    bend = left - 2 * middle + right
    vertex = centre + h / 2 * np.divide(left - right, bend, out=np.zeros_like(bend), where=bend > 0)
    return np.asarray(np.minimum(best, objective(np.clip(vertex, centre - h, centre + h)[None])[0]))


@dataclass(frozen=True, kw_only=True)
class PosteriorLoss:
    """Privacy loss of releasing L paths of a GP posterior. It composes with other losses by Renyi curves.

    Args:
        n, r, sigma, kappa, L, eta, sensitivity: see ``posterior_sampling_epsilon``; outputs lie in [-1, 1].

    Raises:
        ValueError: a number is out of range, or an unknown sensitivity.

    Source: ``path_curves``, after Maciazek 2026, theorem 3.1.
    """

    n: int
    r: float
    sigma: float
    kappa: float
    L: int = 1
    eta: float = 0.0
    sensitivity: Sensitivity = "generic"

    def __post_init__(self) -> None:
        require("L", np.asarray(self.L), np.asarray(self.L >= 1), "a number of paths, at least 1")
        self._curves()

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon that the proven curves give at this delta in (0, 1)."""
        return posterior_sampling_epsilon(
            self.n, self.r, self.sigma, self.kappa, delta, 1.0, self.L, self.eta, self.sensitivity
        )

    def rdp(self, orders: FloatArray) -> FloatArray:
        """Return the proven Renyi bound of all L paths at orders alpha > 1 (k,); inf where it is not finite."""
        x, bounds = orders - 1, []
        for curve in self._curves():
            finite = x * curve.tau < 1 - 1e-12
            bounds.append(np.where(finite, curve(np.where(finite, x, 0.5 / curve.tau)), np.inf))
        return np.asarray(self.L * np.min(bounds, axis=0))

    def repeated(self, times: int) -> PosteriorLoss:
        """Return the loss of ``times`` as many independent paths, of this posterior or of others with its settings."""
        return replace(self, L=self.L * times)

    def _curves(self) -> list[RenyiCurve]:
        numbers = (self.n, self.r, self.sigma, self.kappa, 1.0, self.eta)
        return path_curves(*(np.asarray(number, dtype=float) for number in numbers), sensitivity=self.sensitivity)

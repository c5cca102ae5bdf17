"""What noisy sums of clipped outputs say about a Gaussian process: mean, variance and evidence, stage after stage.

Under a model, y = f(X) + e. A stage released z = B ((clip(y, low, high) - o) / u) + s w, with public B (r, n), o and u
the middle and the width of each record's public interval, w standard normal. With ``clipping.clipped``,
z ~ B ((k + alpha (y - m) + rest - o) / u) + s w: a linear observation of y, A = B diag(alpha / u), of noise covariance
B diag(extra / u^2) B^T + s^2 I, whose moments k, alpha, extra come from the posterior m, v that earlier stages leave.
No matrix of n x n is formed: K = Phi Phi^T + diag(noise). Everything here is post-processing of z.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from ...arrays import FloatArray
from ...gp.clipping import clipped
from ...linalg import sturdy_cholesky
from ...measurement.fit import fits_of
from ..bias import SAME, bias_sd, ends_of
from ..intervals import Mixture
from ..scatter import model_weights
from .places import Places

_LOG_TWO_PI = math.log(2 * math.pi)


class State(NamedTuple):
    """Posterior of y at the n records, f at the P test inputs and b of the bias, for D draws, in model units.

    Attributes:
        mean: (D, n + P + q).
        variance: (D, n + P + q).
        shared: Q (D, R, n + P + q), covariance of y, f and b with the R whitened measurements so far:
            posterior covariance = prior - Q^T Q.
        log_evidence: log p(z of all stages | model), (D,).
        misfit: |w|^2 of each stage (D, S), see ``measurement.fit``.
    """

    mean: FloatArray
    variance: FloatArray
    shared: FloatArray
    log_evidence: FloatArray
    misfit: FloatArray


def prior(places: Places, draws: int) -> State:
    """The state before anything is measured, the same for every draw."""
    size = len(places.variance)
    variance = np.broadcast_to(places.variance, (draws, size))
    return State(np.zeros((draws, size)), variance, np.zeros((draws, 0, size)), np.zeros(draws), np.zeros((draws, 0)))


def update(
    places: Places,
    state: State,
    B: FloatArray,
    low: FloatArray,
    high: FloatArray,
    s: float,
    z: FloatArray,
    noise: FloatArray | None = None,
) -> State:
    """Posterior after one more stage.

    S = A K_post A^T + B diag(extra / u^2) B^T + s^2 I = L L^T,    z - E z = z - B ((k - o) / u),
    Q' = L^-1 A K_post,    mean += Q'^T L^-1 (z - E z),    variance -= column norms of Q'.

    Args:
        places: the model at records and test inputs.
        state: after the stages before.
        B: strategy (r, n).
        low: lower ends of the intervals that outputs were clipped to (D, n), in model units.
        high: upper ends (D, n).
        s: noise multiplier of the stage.
        z: what was released (D, r).
        noise: expected noise variance of each draw (D,), from the squares; for models that have a bias.
    """
    n, width, middle = places.n, high - low, (high + low) / 2
    beta = np.zeros(1)
    if noise is not None:
        low, high, half_width = ends_of(low, high, middle, places.half_range)
        beta = bias_sd(half_width, noise[:, None], places.half_range)
    k, gain, extra = clipped(state.mean[:, :n], state.variance[:, :n], low, high)
    A, shown = B * (gain / width)[:, None], (B * (beta / width)[:, None]) @ places.bias
    b, same = slice(len(places.variance) - places.bias.shape[1], None), SAME**0.5 * shown
    # Cov(A y + shown b, everything | stages before), everything being y at the records, f at the test inputs and b
    cross = (A @ places.phi[:n] + same @ places.phi[b]) @ places.phi.T
    cross[..., :n] += A * places.noise
    cross -= (A @ state.shared[..., :n].swapaxes(1, 2) + same @ state.shared[..., b].swapaxes(1, 2)) @ state.shared
    scaled = B * (np.sqrt(extra) / width)[:, None]
    S = cross[..., :n] @ A.swapaxes(1, 2) + cross[..., b] @ same.swapaxes(1, 2) + s**2 * np.eye(len(B))
    S += scaled @ scaled.swapaxes(1, 2) + (1 - SAME) * shown @ shown.swapaxes(1, 2)
    L = _roots(S, s**2)
    surprise = z - ((k - middle) / width) @ B.T - (same @ state.mean[:, b, None])[..., 0]
    # S >= s^2 I: the inverse of L is as accurate as solving with it, and a product is faster
    whitened = np.linalg.inv(L) @ np.concatenate([surprise[..., None], cross], axis=-1)
    w, Q = whitened[..., 0], whitened[..., 1:]
    half_log_det = np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
    square = (w * w).sum(axis=1)
    log_density = -0.5 * square - half_log_det - 0.5 * len(B) * _LOG_TWO_PI
    return State(
        state.mean + (w[:, None] @ Q)[:, 0],
        state.variance - np.einsum("dri,dri->di", Q, Q),
        np.concatenate([state.shared, Q], axis=1),
        state.log_evidence + log_density,
        np.column_stack([state.misfit, square]),
    )


def _roots(S: FloatArray, least: float) -> FloatArray:
    """Cholesky factors of each draw's S (D, r, r), which rounding may have made indefinite."""
    try:
        return np.asarray(np.linalg.cholesky(S), dtype=float)
    except np.linalg.LinAlgError:
        return np.stack([sturdy_cholesky(each, least) for each in S])


def mixture_weights(
    states: Sequence[State],
    prior_weights: FloatArray,
    places: Sequence[Places] = (),
    scatter: FloatArray | None = None,
) -> FloatArray:
    """Posterior probabilities of the models (D, M).

    Args:
        states: of each model.
        prior_weights: (M,).
        places: of each model; not needed without ``scatter``.
        scatter: log density of the noise variance (D, S); None: prior weights times evidence.
    """
    if scatter is not None:
        evidence = np.stack([state.log_evidence for state in states], axis=1)
        return model_weights(places, [place.kernel for place in places], scatter, evidence, places[0].half_range)
    logs = np.log(prior_weights) + np.stack([state.log_evidence for state in states], axis=1)
    weights: FloatArray = softmax(logs, axis=1)
    return weights


def mixture_of(
    places: Sequence[Places], states: Sequence[State], weights: FloatArray, numbers: Sequence[int] = ()
) -> Mixture:
    """The models' predictions at the test inputs.

    Args:
        places: each model (M).
        states: posterior under each (M).
        weights: (D, M).
        numbers: r of each stage (S,), for the fit; () to leave it out.
    """
    tests = places[0].tests
    return Mixture(
        means=np.stack([state.mean[:, tests] for state in states], axis=1),
        variances=np.stack(
            [np.maximum(state.variance[:, tests], _floor(p)) for p, state in zip(places, states, strict=True)], axis=1
        ),
        noise_variances=np.array([place.noise_variance for place in places]),
        weights=weights,
        fit=fits_of(weights, np.stack([state.misfit for state in states], axis=1), numbers) if numbers else (),
    )


def _floor(place: Places) -> float:
    """A variance is a difference of prior and what was learnt, rounded."""
    return 1e-14 * float(place.variance.max())

"""Exact adversary against posterior sampling, written apart from the core: neighbours searched for, not bounded.

By the two-dimensional reduction two neighbours differ, over all test sets together, as two Gaussians in the plane
spanned by u = k_0(., z) and u' = k_0(., z'): everything follows from v, v', k_0(z, z') and the two residuals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

ANGLES = np.linspace(0, np.pi, 12, endpoint=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs:
    """B pairs of neighbours: inputs (B, n + 1, D), the last two rows z and z'; ridge and kappa (B,)."""

    X: np.ndarray
    q: np.ndarray
    kappa: float

    @property
    def n(self):
        return self.X.shape[1] - 1


def covariances(kernel, X):
    return np.stack([kernel.profile(cdist(x, x)) for x in X])


def random_pairs(kernel, dim, side, n, count, rng):
    """Inputs in [0, side]^D: anywhere, at the centre, at the corners, next to z or z'; ridges also near V."""
    places = rng.uniform(0, side, (count, n + 1, dim))
    ends = np.stack([np.zeros(dim), np.full(dim, side)])
    at_ends = rng.random(count) < 0.5
    places[at_ends, -2:] = ends
    alike = (rng.random(count) < 0.2) & ~at_ends
    places[alike, -1] = places[alike, -2]
    kind = rng.integers(0, 5, (count, n - 1)) if n > 1 else np.zeros((count, 0), dtype=int)
    same = rng.random(count) < 0.5  # the whole core of one kind
    if n > 1:
        kind[same] = kind[same, :1]
    core = places[:, :-2]
    core[kind == 1] = side / 2
    for choice, which in ((2, -2), (3, -1)):
        core[kind == choice] = np.broadcast_to(places[:, which, None], core.shape)[kind == choice]
    spread = side * 10.0 ** rng.uniform(-5, -0.5, (count, 1, 1)) * (rng.random((count, 1, 1)) < 0.7)
    core += spread * rng.normal(size=core.shape)
    kappa = float(kernel.profile(np.array([side * np.sqrt(dim)]))[0])
    near = ((2 - n) + np.sqrt((n - 2) ** 2 + 4 * (1 - kappa**2) * (n - 1))) / 2 if n > 1 else 1.0  # q = V
    q = np.where(rng.random(count) < 0.4, near * 10 ** rng.uniform(-0.5, 0.5, count), 10 ** rng.uniform(-2, 3, count))
    return Pairs(X=np.clip(places, 0, side), q=np.maximum(q, 1e-3), kappa=kappa)


def perturbed(pairs, side, rng):
    step = side * 10.0 ** rng.uniform(-4, -0.5, (len(pairs.q), 1, 1))
    X = np.clip(pairs.X + step * rng.normal(size=pairs.X.shape), 0, side)
    return Pairs(X=X, q=pairs.q * 10 ** rng.normal(0, 0.1, len(pairs.q)), kappa=pairs.kappa)


def reduction(kernel, pairs):
    """``reduced`` of the pairs' covariances."""
    return reduced(covariances(kernel, pairs.X), pairs.q)


def reduced(K, q):
    """Gram matrix G (B, 2, 2) of u, u', and B (B, 2, n + 1) mapping all outputs to the shift's coefficients.

    K (B, n + 1, n + 1): covariances of the core's records, then z and z'; q (B,).
    """
    core = K.shape[1] - 2
    A = K[:, :core, :core] + q[:, None, None] * np.eye(core)
    W = np.linalg.solve(A, K[:, :core, core:])
    G = K[:, core:, core:] - np.swapaxes(K[:, :core, core:], 1, 2) @ W
    residuals = np.concatenate([-np.swapaxes(W, 1, 2), np.broadcast_to(np.eye(2), G.shape)], axis=2)
    weight = 1 / (G[:, [0, 1], [0, 1]] + q[:, None]) * np.array([1.0, -1.0])
    return G, weight[:, :, None] * residuals


def worst_outputs(form):
    """Largest Y^T form^T form Y over |Y_i| <= 1, form (B, 2, n + 1): best of 12 directions, then sign iteration."""
    best = np.zeros(len(form))
    for angle in ANGLES:
        Y = np.sign(np.einsum("bij,i->bj", form, [np.cos(angle), np.sin(angle)]))
        for _ in range(2):
            shift = np.einsum("bij,bj->bi", form, Y)
            best = np.maximum(best, (shift**2).sum(axis=1))
            Y = np.sign(np.einsum("bij,bi->bj", form, shift))
    return best


def square_root(G):
    """R with R^T R = G: the coordinates of u and u' as columns."""
    values, vectors = np.linalg.eigh(G)
    return np.sqrt(np.maximum(values, 0))[:, :, None] * np.swapaxes(vectors, 1, 2)


def worst_shift(kernel, pairs):
    """Largest |difference of the neighbours' means| in the RKHS of the core's posterior, over all outputs, M = 1."""
    return worst_shift_of(covariances(kernel, pairs.X), pairs.q)


def worst_shift_of(K, q):
    """The same of covariances K (B, n + 1, n + 1), z and z' last, and ridges q (B,)."""
    G, B = reduced(K, q)
    return np.sqrt(worst_outputs(square_root(G) @ B))


def seven_directions(share=0.28, records=57):
    """Covariances (400 + 1, 400 + 1) and outputs of the worst neighbours known for n = 400, r = 8, any kernel.

    The core has 57 records in each of 7 orthogonal directions, all labelled 1. z leans towards all seven, z' away
    from them, and both share the rest; z is labelled -1 and z' 1.
    """
    lean = np.full(7, np.sqrt(share / 7))
    rest = np.sqrt(1 - share)
    features = np.vstack([np.eye(8)[np.repeat(np.arange(7), records)], [*lean, rest], [*-lean, rest]])
    return features @ features.T, np.array([*np.ones(7 * records), -1.0, 1.0])


def covariance_divergence(theta, theta_, sine2, alpha):
    """D_alpha of N(0, I - P) from N(0, I - P'), rank-one P, P' of norms theta, theta_."""
    det = -alpha * theta_ + (alpha - 1) * theta - alpha * (alpha - 1) * theta * theta_ * sine2
    return -(np.log1p(det) + (alpha - 1) * np.log1p(-theta) - alpha * np.log1p(-theta_)) / (2 * (alpha - 1))


def exact_divergences(kernel, pairs, alpha):
    """Covariance term, and mean term times s^2 at the worst outputs, of D_alpha (B,), larger of the two directions.

    The outputs do not enter the covariance term, so the worst outputs are those of the mean term.
    """
    G, B = reduction(kernel, pairs)
    R = square_root(G)
    terms = []
    for first, second in ((0, 1), (1, 0)):
        u, u_ = R[:, :, first], R[:, :, second]
        v, v_ = (u**2).sum(axis=1), (u_**2).sum(axis=1)
        P = u[:, :, None] * u[:, None, :] / (v + pairs.q)[:, None, None]
        P_ = u_[:, :, None] * u_[:, None, :] / (v_ + pairs.q)[:, None, None]
        a = alpha[:, None, None]
        S = np.eye(2) - a * P_ + (a - 1) * P
        values, vectors = np.linalg.eigh(S)
        assert (values > 0).all()
        form = (np.swapaxes(vectors, 1, 2) / np.sqrt(values)[:, :, None]) @ R @ B
        sine2 = np.clip(1 - (u * u_).sum(axis=1) ** 2 / (v * v_), 0, 1)
        covariance = covariance_divergence(v / (v + pairs.q), v_ / (v_ + pairs.q), sine2, alpha)
        terms.append((covariance, alpha / 2 * worst_outputs(form)))
    return terms


def dense_divergence(mean, S, mean_, S_, alpha):
    """D_alpha of N(mean, S) from N(mean_, S_), by matrices of full rank."""
    mixed = alpha * S_ + (1 - alpha) * S
    shift = mean - mean_
    logs = [np.linalg.slogdet(C)[1] for C in (mixed, S, S_)]
    quadratic = alpha / 2 * shift @ np.linalg.solve(mixed, shift)
    return quadratic - (logs[0] - (1 - alpha) * logs[1] - alpha * logs[2]) / (2 * (alpha - 1))


def tails(thresholds, mean, S, mean_, S_, of_first=True, rays=2000):
    """Chance (k,) that log dP/dQ exceeds each threshold, P = N(mean, S), Q = N(mean_, S_) in the plane; under P or Q.

    In polar coordinates about the mean, the log-ratio is a quadratic polynomial of the radius on every ray.
    """
    about, spread = (mean, S) if of_first else (mean_, S_)
    angle = (np.arange(rays) + 0.5) * 2 * np.pi / rays
    ray = np.linalg.cholesky(spread) @ np.array([np.cos(angle), np.sin(angle)])
    forms = [(np.linalg.inv(S_), about - mean_, 0.5), (np.linalg.inv(S), about - mean, -0.5)]
    square = sum(sign * np.einsum("ir,ij,jr->r", ray, J, ray) for J, _, sign in forms)
    linear = sum(2 * sign * (J @ at) @ ray for J, at, sign in forms)
    fixed = sum(sign * at @ J @ at for J, at, sign in forms)
    fixed += (np.linalg.slogdet(S_)[1] - np.linalg.slogdet(S)[1]) / 2
    square = np.where(np.abs(square) < 1e-13, 1e-13, square)
    rest = fixed - np.asarray(thresholds, dtype=float)[:, None]
    root = np.sqrt(np.maximum(linear**2 - 4 * square * rest, 0))
    half = -(linear + np.copysign(root, linear)) / 2
    half = np.where(half == 0, 1e-300, half)
    ends = np.sort(np.maximum([half / square, rest / half], 0), axis=0)
    between = np.exp(-(ends[0] ** 2) / 2) - np.exp(-(ends[1] ** 2) / 2)
    real = linear**2 > 4 * square * rest
    return np.where(real, np.where(square > 0, 1 - between, between), square > 0).mean(axis=1)


def exact_delta(epsilon, *pair):
    """Least delta with which epsilon holds for two normals in the plane (mean, S, mean_, S_), in this direction."""
    return (tails([epsilon], *pair) - np.exp(epsilon) * tails([epsilon], *pair, of_first=False))[0]


def plane_pair(G, coefficients, q, s):
    """Two neighbours' paths in the plane of u, u': Gram matrix G (2, 2), coefficients of u, u' in the shift (2,)."""
    R = square_root(G[None])[0]
    S, S_ = (s**2 * (np.eye(2) - np.outer(u, u) / (u @ u + q)) for u in R.T)
    return R @ coefficients, S, np.zeros(2), S_

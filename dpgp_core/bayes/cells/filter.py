"""What noisy sums of residuals over public cells say about a Gaussian process, stage after stage.

Under a model, y_j = f(x_j) + e_j with f = phi(x)^T a, a ~ N(0, I). A stage released z = B x + s w with x_c the sum over
the N_c records of cell c of (clip(r_j, low_c, high_c) - o_c) / u_c, r_j = y_j - g(x_j), g public. The filter's state
is a and eta_c, the sum of the cell's own noises, which all stages share: eta ~ N(0, diag(n^ (1 + kappa) noise
variance)). With Phi the means of phi over the cells and ``clipping.clipped`` of one residual,

    x = n^ (k - o) / u + T ((a, eta) - E) + rest,    T = diag(alpha / u) [diag(n^) Phi, I],

and the rest holds what clipping adds (of each record, and of f, common to a cell's records), how inputs vary within a
cell, and how N differs from n^. Everything here is post-processing of what was released.

What clipping adds of a record is nearly the same number in every stage that looks closely, since the same e_j is
clipped to nearly the same interval: taken for noise of its own in each stage it would be averaged away, and intervals
would hold too little where noise of records outweighs the noise of privacy. So its usual share, kappa alpha^2 noise
variance with kappa = extra / (alpha^2 v) of a residual N(0, v) clipped to +-``CLIP`` sqrt v, counts as part of eta, and
the rest has only what is left of it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ...arrays import FloatArray
from ...gp.clipping import Clipped, clipped
from ...linalg import sturdy_cholesky
from ..bias import SAME, bias_sd, ends_of
from ..widths import CLIP
from .counts import Counts
from .grid import CellGrid
from .models import CellModel

_HERMITE = np.polynomial.hermite_e.hermegauss(15)
_TINY = 1e-14
_UNHEARD_OF = 1e4  # taken off the log evidence of a model that cannot be computed
ONE_PLACE = True  # whether all of a cell may share one place in it; False: everybody has a place of their own
_USUAL = clipped(np.zeros(()), np.ones(()), np.asarray(-CLIP), np.asarray(CLIP))
KAPPA = float(_USUAL.extra / _USUAL.gain**2)
"""What clipping adds to a record's noise over what it keeps of it, for the usual interval; 0.17."""


class CellState(NamedTuple):
    """Posterior of (a, eta, b), given all stages so far.

    Attributes:
        mean: (k + M + q,).
        covariance: of the same.
        log_evidence: log p(z of all stages | model).
        misfit: |w|^2 and the number of numbers of each stage, w = L^-1 (z - E z), see ``measurement.fit``.
    """

    mean: FloatArray
    covariance: FloatArray
    log_evidence: float
    misfit: tuple[tuple[float, int], ...] = ()


class Squares(NamedTuple):
    """The sum of min(r^2, high) / high - 1/2 over all records. Public.

    Attributes:
        high: of each cell (M,), in squared model units.
        s: standard deviation of the noise on z.
        z: released.
    """

    high: FloatArray
    s: float
    z: float


class CellObserved(NamedTuple):
    """One stage of one release, in model units. Public.

    Attributes:
        B: strategy (r, M).
        low, high: interval of each cell's residuals (M,).
        g: public function that residuals are taken about, at the grid's nodes (F,).
        s: standard deviation of the noise on each entry of z.
        z: released (r,).
        squares: about g, if they were measured.
        width: half-width that was chosen, over the predictive standard deviation; not needed to read the stage.
    """

    B: FloatArray
    low: FloatArray
    high: FloatArray
    g: FloatArray
    s: float
    z: FloatArray
    squares: Squares | None = None
    width: float = math.nan


class Outlook(NamedTuple):
    """What a state says of f - g, whatever interval is taken about g.

    Attributes:
        shift: mean over the cells (M,).
        V: covariance of f over the cells (M, M).
        v: its diagonal, above 0 (M,).
        within: variance over a cell, were the inputs spread evenly in it (M,).
    """

    shift: FloatArray
    V: FloatArray
    v: FloatArray
    within: FloatArray


class Linear(NamedTuple):
    """x = mean + T ((a, eta) - E) + rest: the means (M,), T (M, k + M), covariance of the rest (M, M).

    Of that covariance, ``own`` (M,) is the records' own part, which is independent from cell to cell.
    """

    mean: FloatArray
    T: FloatArray
    rest: FloatArray
    own: FloatArray


def cell_prior(model: CellModel, counts: Counts) -> CellState:
    """The state before any residual is measured."""
    eta = (1 + KAPPA) * counts.numbers * model.noise_variance
    variance = np.concatenate([np.ones(model.cells.shape[1]), eta, np.ones(model.bias.shape[1])])
    return CellState(np.zeros(len(variance)), np.diag(variance), 0.0)


def outlook(model: CellModel, grid: CellGrid, state: CellState, g: FloatArray) -> Outlook:
    """What a state says of f - g, for g at the nodes (F,)."""
    k = model.cells.shape[1]
    mean, C = state.mean[:k], state.covariance[:k, :k]
    shift = model.cells @ mean - grid.averages(g)
    V = model.cells @ C @ model.cells.T
    v = np.maximum(V.diagonal(), _TINY * model.noise_variance)
    return Outlook(shift, V, v, _within(model, grid, mean, C, g, shift, v))


def linearise(
    model: CellModel,
    grid: CellGrid,
    counts: Counts,
    state: CellState,
    seen: tuple[FloatArray, FloatArray, FloatArray],
    half_range: float,
    noise: float,
    known: Outlook | None = None,
) -> Linear:
    """The sums x over residuals about g, clipped to [low, high], as a linear observation of the state.

    Args:
        model: on the grid.
        grid: public cells.
        counts: n^ and its covariance.
        state: after the stages before.
        seen: low (M,), high (M,), g (F,).
        half_range: half the public range of outputs, in model units.
        noise: expected noise variance, from the squares: what clipping's bias depends on.
        known: the outlook about g, if it was needed before.
    """
    low, high, g = seen
    k, M = model.cells.shape[1], grid.size
    u, centre, beta = high - low, (low + high) / 2, np.zeros(M)
    if model.bias.shape[1]:
        about = grid.averages(g)
        low, high, half_width = ends_of(low + about, high + about, about, half_range)
        low, high, beta = low - about, high - about, bias_sd(half_width, noise, half_range)
    shift, V, v, within = known or outlook(model, grid, state, g)
    one = clipped(shift, v + within + model.noise_variance, low, high)
    common = _common(one, shift, v, within + model.noise_variance, low, high)
    own = np.maximum(one.extra - common - KAPPA * one.gain**2 * model.noise_variance, 0.0)
    # each record adds its own rest, f's curvature adds one that cells share as their f do, and N - n^ what is left
    sd = np.sqrt(v)
    alike = (V / np.outer(sd, sd)) ** 2
    h = model.bias @ state.mean[k + M :]
    off, n = one.mean + SAME**0.5 * beta * h - centre, counts.mean
    # where in a cell people are is not known: one place that they share moves all of them
    people = counts.numbers
    own = people * own + (people**2 if ONE_PLACE and model.bias.shape[1] else people) * one.gain**2 * within
    rest = np.diag(own)
    rest += (np.outer(n, n) + counts.covariance) * alike * np.outer(np.sqrt(common), np.sqrt(common))
    rest += counts.covariance * (np.outer(off, off) + np.outer(one.gain, one.gain) * V)
    biased = (n * beta)[:, None] * model.bias
    rest += (1 - SAME) * biased @ biased.T
    T = np.hstack([(one.gain * n)[:, None] * model.cells, np.diag(one.gain), SAME**0.5 * biased]) / u[:, None]
    return Linear((n * off + one.gain * state.mean[k : k + M]) / u, T, rest / np.outer(u, u), own / u**2)


def cell_update(state: CellState, linear: Linear, B: FloatArray, s: float, z: FloatArray) -> CellState:
    """Posterior after z = B x + s w.

    S = B (T C T^T + rest) B^T + s^2 I = L L^T,    mean += C T^T B^T S^-1 (z - B E x),    C -= Q^T Q, Q = L^-1 B T C.
    """
    cross = B @ linear.T @ state.covariance
    L = sturdy_cholesky(cross @ linear.T.T @ B.T + B @ linear.rest @ B.T + s**2 * np.eye(len(B)), s**2)
    surprise = z - B @ linear.mean
    Q = solve_triangular(L, cross, lower=True, check_finite=False)
    white = solve_triangular(L, surprise, lower=True, check_finite=False)
    square = float(white @ white)
    log_density = -0.5 * square - np.log(L.diagonal()).sum() - 0.5 * len(B) * math.log(2 * math.pi)
    mean, covariance = state.mean + white @ Q, state.covariance - Q.T @ Q
    if not (np.isfinite(mean).all() and np.isfinite(covariance).all() and np.isfinite(log_density)):
        # a model that cannot be computed has no say; nothing may fail after it was measured
        return state._replace(log_evidence=state.log_evidence - _UNHEARD_OF, misfit=(*state.misfit, (0.0, len(B))))
    return CellState(mean, covariance, state.log_evidence + float(log_density), (*state.misfit, (square, len(B))))


def _within(
    model: CellModel, grid: CellGrid, mean: FloatArray, C: FloatArray, g: FloatArray, shift: FloatArray, v: FloatArray
) -> FloatArray:
    """Variance over a cell of f - g, were the inputs spread evenly in it (M,)."""
    square = np.einsum("ij,ij->i", model.nodes @ C, model.nodes) + (model.nodes @ mean - g) ** 2
    return np.maximum(grid.averages(square) - v - shift**2, 0.0)


def _common(
    one: Clipped, shift: FloatArray, v: FloatArray, spread: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Variance of E(clip(r) | f) about its linear part, by Gauss-Hermite quadrature over f (M,)."""
    points, weights = _HERMITE
    clipped_mean = clipped(shift + np.sqrt(v) * points[:, None], spread, low, high).mean - one.mean
    square = (weights / weights.sum()) @ (clipped_mean * clipped_mean)
    common: FloatArray = np.clip(square - one.gain**2 * v, 0.0, one.extra)
    return common

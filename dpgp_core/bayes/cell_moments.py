"""The posterior of one Gaussian process model given noisy sums of residuals over public cells, stage after stage.

Under a model, y_j = f(x_j) + e_j with f = phi(x)^T a, a ~ N(0, I). A stage released z = B x + s w with x_c the sum over
the N_c records of cell c of (clip(r_j, low_c, high_c) - o_c) / u_c, r_j = y_j - g(x_j), g public. The filter's state
is a and eta_c, the sum of the cell's own noises, which all stages share: eta ~ N(0, diag(n^ (1 + kappa) noise
variance)). With Phi the means of phi over the cells and ``clipping.clipped`` of one residual,

    x = n^ (k - o) / u + T ((a, eta) - E) + rest,    T = diag(alpha / u) [diag(n^) Phi, I],

and the rest holds the noise of clipping (of each record, and of f, common to a cell's records), the variation of inputs
within a cell, and N - n^. Everything here is post-processing of released numbers.

The noise of clipping of a record is nearly the same number in every stage with narrow intervals, since the same e_j is
clipped to nearly the same interval: taken for noise of its own in each stage it would be averaged away, and intervals
would hold too little where noise of records outweighs the noise of privacy. So its usual share, kappa alpha^2 noise
variance with kappa = extra / (alpha^2 v) of a residual N(0, v) clipped to +-``CLIP`` sqrt v, counts as part of eta, and
the rest has only its excess. The places of people in a cell are the same in every stage too.

Whether people of a cell share one place is not known. The state supposes that they do, so that intervals hold. Evidence
must not: n^2 alpha^2 within is large for a short lengthscale, and sums over people who are spread do not scatter by it.
Short lengthscales would be ruled out, by hundreds of nats for 300,000 people in towns, and smooth curves be sure of it.
So evidence is the mean of the densities under four shares of that variance, each share the same in all stages i,

    p(z) = 1/4 sum_share prod_i N(z_i; B_i E x_i, S_i - (1 - share) B_i diag(place_i) B_i^T).

Along one input f may break besides; the state is what it were without breaks, and ``breaks`` says what they add.

Where inputs are public, all places are known: means over a cell are those over its people (``cells.OccupiedGrid``), and
in place of the variation within a cell only that stands which a curve may do between the points where it is known.
Where inputs are private and positions in cells were measured, it is the part of the variation that noise leaves open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ..arrays import FloatArray
from ..gp.clipping import Clipped, clipped
from ..gp.pivoted import Features, factorise
from ..kernels import Kernel
from ..linalg import column_norms, sturdy_cholesky
from ..seasons import lifted
from .breaks import Breaks, BreakState, no_breaks
from .cells import CellGrid, OccupiedGrid
from .counts import Counts
from .engine import Observation
from .models import Model, family_of, looked_for
from .scatter import Scatter
from .stages import CLIP, SAME, bias_features, bias_of, ends_of

_TOLERANCE = 1e-10  # of the prior variance at the cells' centres, left out of the features
_HERMITE = np.polynomial.hermite_e.hermegauss(15)
_TINY = 1e-14
_ROUNDING = 1e-9  # of the prior variance
_FAILED = 1e4  # taken off the log evidence of a model that cannot be computed
ONE_PLACE = True  # whether all of a cell may share one place in it; False: everybody has a place of their own
PLACE_SHARES = (0.0, 0.05, 0.25, 1.0)  # of the variance from one place in a cell, equally probable; all of it last
_LOOKS = 4  # stages with narrow intervals; the place is the same in each
_USUAL = clipped(np.zeros(()), np.ones(()), np.asarray(-CLIP), np.asarray(CLIP))
KAPPA = float(_USUAL.extra / _USUAL.gain**2)
"""Variance that clipping adds to a record over the variance of it that it keeps, for the usual interval; 0.17."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CellModel:
    """One model on the grid of public cells.

    Attributes:
        features: phi, of pivots among the cells' centres.
        nodes: phi at the grid's nodes (F, k).
        cells: its means over the cells (M, k).
        prior_over_cells: covariance of f's means over the cells before anything is measured (M, M).
        bias: psi, of the field h of clipping's bias (M, q); q = 0 where a release is read as if there were none.
        family: the same for models that differ in noise or amplitude alone.
        looked_for: whether plans look for the curve whatever its probability.
        label: the same for models of one kernel.
        breaks: those that f may have beside what the kernel expects.
        left_out: variance (M,) of f about phi a over a cell, where people's places are known; None where they are not.
        even: means of phi over cells filled evenly (M, k), and which part of the variance within them is not known of
            people (M,), where their positions were measured; None where they were not.
    """

    grid: CellGrid
    features: Features
    nodes: FloatArray
    cells: FloatArray
    prior_over_cells: FloatArray
    bias: FloatArray
    noise_variance: float
    weight: float
    family: object
    looked_for: bool
    label: int
    breaks: Breaks
    left_out: FloatArray | None = None
    even: tuple[FloatArray, FloatArray] | None = None

    def not_known(self, within: FloatArray) -> FloatArray:
        """What of the variance of f - g within a cell (M,) people's places leave open."""
        if self.left_out is not None:
            return self.left_out
        return within if self.even is None else self.even[1] * within

    def at(self, X: FloatArray) -> FloatArray:
        """Phi at X (n, D): (n, k)."""
        return self.features.at(lifted(X, self.grid.periods)).values()

    def mean(self, state: CellState, phi: FloatArray, shapes: FloatArray) -> FloatArray:
        """Of f, where its features (n, k) and its breaks (n, J) are these (n,)."""
        k, b = phi.shape[1], state.breaks.mean
        return phi @ (state.mean[:k] - state.breaks.moved[:k] @ b) + shapes @ b

    def effects(self, state: CellState, phi: FloatArray, shapes: FloatArray) -> FloatArray:
        """What a unit of each break adds to f there, given all stages (n, J)."""
        return shapes - phi @ state.breaks.moved[: phi.shape[1]]

    def mean_over_cells(self, state: CellState) -> FloatArray:
        """Of the mean of f over each cell (M,)."""
        return self.mean(state, self.cells, self.breaks.cells)

    def effects_over_cells(self, state: CellState) -> FloatArray:
        """On the means of f over the cells (M, J)."""
        return self.effects(state, self.cells, self.breaks.cells)

    def variance_over_cells(self, state: CellState) -> FloatArray:
        """Of the mean of f over each cell (M,)."""
        smooth = self.prior_over_cells.diagonal() - column_norms(state.rows_over_cells)
        return smooth + state.breaks.variance(self.effects_over_cells(state))


class CellState(NamedTuple):
    """Posterior of (a, eta, b), were there no break, given all stages so far: covariance diag(prior) - rows^T rows.

    A stage that releases r numbers takes r rows off. While fewer numbers than cells were released, which is as long as
    cells are many, the rows are less to store and to multiply by than the covariance is.

    Attributes:
        mean: (k + M + q,).
        prior: variances before any stage (k + M + q,).
        rows: (R, k + M + q), of R numbers released so far.
        rows_over_cells: the same of f's means over the cells (R, M).
        rows_over_even: of its means over cells filled evenly (R, M), where these differ; else (R, 0).
        node_variance: of f at the grid's nodes (F,).
        log_evidences: log p(z of all stages | model, share), one for each of ``PLACE_SHARES``.
        squares: |w|^2 of each stage, w = L^-1 (z - E z) without breaks; of counts first, if they were noisy.
        breaks: what was found of them.
        ruled_out: whether squares have ruled out the model's noise, so that later stages need not be read by it.
    """

    mean: FloatArray
    prior: FloatArray
    rows: FloatArray
    rows_over_cells: FloatArray
    rows_over_even: FloatArray
    node_variance: FloatArray
    log_evidences: FloatArray
    squares: tuple[float, ...]
    breaks: BreakState
    ruled_out: bool = False

    @property
    def log_evidence(self) -> float:
        """Log p(z of all stages | model)."""
        smooth = float(np.logaddexp.reduce(self.log_evidences)) - math.log(len(PLACE_SHARES))
        return smooth + self.breaks.log_evidence

    @property
    def misfit(self) -> FloatArray:
        """Expected |w|^2 of each stage given the breaks, see ``measurement.fit``; of counts first."""
        explained = self.breaks.explained
        return np.array(self.squares) - np.pad(explained, (len(self.squares) - len(explained), 0))

    def covariance_with(self, H: FloatArray) -> FloatArray:
        """Covariance of H (a, eta, b) with (a, eta, b): H (r, k + M + q) times the covariance."""
        return H * self.prior - (H @ self.rows.T) @ self.rows


class CurveMoments(NamedTuple):
    """Posterior moments of f - g over the cells, for any interval about g.

    Attributes:
        shift: mean over the cells (M,).
        V: covariance of f over the cells (M, M).
        v: its diagonal, above 0 (M,).
        within: variance over a cell (M,), of its people where their places are known, else were it filled evenly.
    """

    shift: FloatArray
    V: FloatArray
    v: FloatArray
    within: FloatArray


class Linear(NamedTuple):
    """x = mean + T ((a, eta) - E) + rest: the means (M,), T (M, k + M), covariance of the rest (M, M).

    A unit of f over a cell adds ``unit`` (M,) to x. Of the rest's covariance, ``own`` (M,) is the records' own part,
    independent from cell to cell; of this, ``place`` (M,) is from one place that all of a cell share, 0 where everybody
    is taken to have a place of their own.
    """

    mean: FloatArray
    T: FloatArray
    rest: FloatArray
    own: FloatArray
    place: FloatArray
    unit: FloatArray


def cell_models(
    models: Sequence[Model], grid: CellGrid, *, biased: bool = True, breaks: Breaks | None = None
) -> tuple[CellModel, ...]:
    """Every model on the grid; models of one kernel share their features.

    Args:
        biased: whether clipping may be; False for releases that were made, and are read, as if it were not.
        breaks: those that curves may have on this grid; None for none.
    """
    breaks = no_breaks(grid) if breaks is None else breaks
    bias = bias_features(grid.box, grid.centres) if biased else np.zeros((grid.size, 0))
    of_kernel = dict[Kernel, CellModel]()
    for model in models:
        kernel = model.kernel
        if kernel in of_kernel:
            continue
        features = factorise(kernel, grid.centres, _TOLERANCE).features
        nodes = features.at(grid.nodes).values()
        cells = grid.averages(nodes)
        of_kernel[kernel] = CellModel(
            grid=grid,
            features=features.at(grid.centres),
            nodes=nodes,
            cells=cells,
            prior_over_cells=cells @ cells.T,
            bias=bias,
            noise_variance=model.noise_variance,
            weight=model.weight,
            family=family_of(kernel),
            looked_for=looked_for(kernel),
            label=len(of_kernel),
            breaks=breaks,
            left_out=_left_out(kernel, grid, nodes) if isinstance(grid, OccupiedGrid) else None,
        )
    by_noise = {noise: breaks.of(noise) for noise in {model.noise_variance for model in models}}
    return tuple(
        replace(
            of_kernel[model.kernel],
            noise_variance=model.noise_variance,
            weight=model.weight,
            breaks=by_noise[model.noise_variance],
        )
        for model in models
    )


def placed_models(models: Sequence[CellModel], grid: OccupiedGrid, unknown: FloatArray) -> tuple[CellModel, ...]:
    """The models, of people whose mean positions in cells are known but for a part of the variance within (M,)."""
    of_label, on_cells = dict[int, tuple[FloatArray, FloatArray]](), list[CellModel]()
    breaks = models[0].breaks.on(grid)
    for model in models:
        if model.label not in of_label:
            means = grid.averages(model.nodes)
            of_label[model.label] = means, means @ means.T
        cells, prior = of_label[model.label]
        even = model.cells, unknown
        placed = replace(breaks, variances=model.breaks.variances)
        on_cells.append(replace(model, grid=grid, cells=cells, prior_over_cells=prior, even=even, breaks=placed))
    return tuple(on_cells)


def _left_out(kernel: Kernel, grid: CellGrid, nodes: FloatArray) -> FloatArray:
    """k(x, x) - |phi(x)|^2, the mean over the nodes of each cell (M,); 0 where that is rounding."""
    rest = kernel.diagonal(grid.nodes) - column_norms(nodes.T)
    mean = CellGrid.averages(grid, rest)
    return np.where(mean > _ROUNDING * kernel.variance, mean, 0.0)


def cell_prior(model: CellModel, counts: Counts) -> CellState:
    """The state before any residual is measured."""
    eta = (1 + KAPPA) * counts.numbers * model.noise_variance
    variance = np.concatenate([np.ones(model.cells.shape[1]), eta, np.ones(model.bias.shape[1])])
    return CellState(
        mean=np.zeros(len(variance)),
        prior=variance,
        rows=np.zeros((0, len(variance))),
        rows_over_cells=np.zeros((0, len(model.cells))),
        rows_over_even=np.zeros((0, 0 if model.even is None else len(model.cells))),
        node_variance=column_norms(model.nodes.T),
        log_evidences=np.zeros(len(PLACE_SHARES)),
        squares=() if counts.misfit is None else (counts.misfit[0],),
        breaks=model.breaks.before(len(variance)),
    )


def curve_moments(model: CellModel, state: CellState, g: FloatArray) -> CurveMoments:
    """Posterior moments of f - g, for g at the nodes (F,)."""
    grid, breaks, effects = model.grid, model.breaks, model.effects_over_cells(state)
    shift = model.mean_over_cells(state) - grid.averages(g)
    smooth = model.prior_over_cells - state.rows_over_cells.T @ state.rows_over_cells
    V = smooth + state.breaks.covariance(effects, effects)
    v = np.maximum(V.diagonal(), _TINY * model.noise_variance)
    square = state.node_variance + (model.mean(state, model.nodes, breaks.nodes) - g) ** 2
    if model.even is None:
        return CurveMoments(shift, V, v, np.maximum(grid.averages(square) - smooth.diagonal() - shift**2, 0.0))
    (even, _), averages = model.even, partial(CellGrid.averages, grid)
    of_mean = column_norms(even.T) - column_norms(state.rows_over_even)
    of_mean += (model.mean(state, even, breaks.even) - averages(g)) ** 2
    return CurveMoments(shift, V, v, np.maximum(averages(square) - of_mean, 0.0))


def linearise(
    model: CellModel,
    counts: Counts,
    state: CellState,
    query: Observation,
    half_range: float,
    scatter: Scatter | None,
    moments: CurveMoments | None = None,
    noise_variance: float | None = None,
) -> Linear:
    """The sums x over residuals about g, clipped to [low, high], as a linear observation of the state without breaks.

    Args:
        model: on the grid.
        counts: n^ and its covariance.
        state: after the stages before.
        query: low (1, M), high (1, M), g (1, F).
        scatter: of people, from the squares, for clipping's bias; None where there is none.
        moments: of f - g, if they were computed before.
        noise_variance: of an output about f, for clipping's moments, where by the squares people scatter less than in
            any model; None for the model's.
    """
    assert query.g is not None
    low, high, g = query.low[0], query.high[0], query.g[0]
    k, M = model.cells.shape[1], model.grid.size
    u, centre, beta = high - low, (low + high) / 2, np.zeros(M)
    if scatter is not None:
        middle = model.grid.averages(g)
        low, high, half_width = ends_of(low + middle, high + middle, middle, half_range, cut=query.cut)
        low, high, beta = low - middle, high - middle, bias_of(half_width[None], scatter, half_range)[0]
    shift, V, v, within = moments or curve_moments(model, state, g)
    noise = model.noise_variance if noise_variance is None else noise_variance
    one = clipped(shift, v + within + noise, low, high)
    common = _common(one, shift, v, within + noise, low, high)
    own = np.maximum(one.extra - common - KAPPA * one.gain**2 * noise, 0.0)
    # each record adds its own rest, f's curvature one with the correlations of f between cells, and N - n^ another
    sd = np.sqrt(v)
    alike = (V / np.outer(sd, sd)) ** 2
    h = model.bias @ state.mean[k + M :]
    off, n = one.mean + SAME**0.5 * beta * h - centre, counts.mean
    # people's places in a cell are unknown: one place that they share moves all of them, and it is the same in every
    # stage, so that of L stages with narrow intervals each must have L times its variance for all to have it once
    people, within = counts.numbers, model.not_known(within) + model.breaks.within(state.breaks)
    within = one.gain**2 * within
    shared = ONE_PLACE and model.bias.shape[1] > 0
    place = _LOOKS * people**2 * within if shared else np.zeros(M)
    own = people * own + (place if shared else people * within)
    rest = np.diag(own)
    rest += (np.outer(n, n) + counts.covariance) * alike * np.outer(np.sqrt(common), np.sqrt(common))
    rest += counts.covariance * (np.outer(off, off) + np.outer(one.gain, one.gain) * V)
    biased = (n * beta)[:, None] * model.bias
    rest += (1 - SAME) * biased @ biased.T
    T = np.hstack([(one.gain * n)[:, None] * model.cells, np.diag(one.gain), SAME**0.5 * biased]) / u[:, None]
    unit, of_breaks = one.gain * n / u, model.mean_over_cells(state) - model.cells @ state.mean[:k]
    without = (n * off + one.gain * state.mean[k : k + M]) / u - unit * of_breaks
    return Linear(without, T, rest / np.outer(u, u), own / u**2, place / u**2, unit)


def cell_update(
    model: CellModel, state: CellState, linear: Linear, B: FloatArray, s: float, z: FloatArray
) -> CellState:
    """Posterior after z = B x + s w, C the covariance before.

    S = B (T C T^T + rest) B^T + s^2 I = L L^T,    mean += C T^T B^T S^-1 (z - B E x),    C -= Q^T Q, Q = L^-1 B T C.
    """
    H = B @ linear.T
    cross = state.covariance_with(H)
    S = cross @ H.T + B @ linear.rest @ B.T + s**2 * np.eye(len(B))
    surprise = z - B @ linear.mean
    L, white, log_density = _whitened(S, surprise, s)
    Q = solve_triangular(L, cross, lower=True, check_finite=False)
    log_densities = np.full(len(PLACE_SHARES), log_density)
    if linear.place.any():
        P = (B * linear.place) @ B.T
        log_densities[:-1] = [_whitened(S - (1 - share) * P, surprise, s)[2] for share in PLACE_SHARES[:-1]]
    of_breaks = (B * linear.unit) @ model.breaks.cells - H @ state.breaks.moved
    G = solve_triangular(L, of_breaks, lower=True, check_finite=False)
    mean, of_f, even = state.mean + white @ Q, Q[:, : model.cells.shape[1]], model.even
    if not all(np.isfinite(each).all() for each in (mean, Q, G, log_densities)):
        # a model that cannot be computed has no say; nothing may fail after it was measured
        return not_read(state)._replace(ruled_out=state.ruled_out, log_evidences=state.log_evidences - _FAILED)
    return state._replace(
        mean=mean,
        rows=np.vstack([state.rows, Q]),
        rows_over_cells=np.vstack([state.rows_over_cells, of_f @ model.cells.T]),
        rows_over_even=np.vstack([state.rows_over_even, of_f @ (model.cells[:0] if even is None else even[0]).T]),
        node_variance=state.node_variance - column_norms(of_f @ model.nodes.T),
        log_evidences=state.log_evidences + log_densities,
        squares=(*state.squares, float(white @ white)),
        breaks=model.breaks.after(state.breaks, G, Q, white),
    )


def _whitened(S: FloatArray, surprise: FloatArray, s: float) -> tuple[FloatArray, FloatArray, float]:
    """L and w = L^-1 surprise of S = L L^T, and log N(surprise; 0, S)."""
    L = sturdy_cholesky(S, s**2)
    white = solve_triangular(L, surprise, lower=True, check_finite=False)
    log_density = -0.5 * (white @ white) - np.log(L.diagonal()).sum() - 0.5 * len(S) * math.log(2 * math.pi)
    return L, white, float(log_density)


def not_read(state: CellState) -> CellState:
    """The state of a model ruled out, after a stage."""
    return state._replace(ruled_out=True, squares=(*state.squares, 0.0), breaks=state.breaks.not_read())


def downdate(model: CellModel, state: CellState, X_test: FloatArray) -> FloatArray:
    """Q (R, P) of f at X_test (P, D), of covariance K_** - Q^T Q."""
    return np.asarray(state.rows[:, : model.cells.shape[1]] @ model.at(X_test).T)


def _common(
    one: Clipped, shift: FloatArray, v: FloatArray, spread: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Variance of E(clip(r) | f) about its linear part, by Gauss-Hermite quadrature over f (M,)."""
    points, weights = _HERMITE
    clipped_mean = clipped(shift + np.sqrt(v) * points[:, None], spread, low, high).mean - one.mean
    square = (weights / weights.sum()) @ (clipped_mean * clipped_mean)
    common: FloatArray = np.clip(square - one.gain**2 * v, 0.0, one.extra)
    return common

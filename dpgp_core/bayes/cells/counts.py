"""How many records lie in each public cell, roughly: enough to know how much a cell's sum says about the curve."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import softmax

from ...arrays import FloatArray
from ...gp.pivoted import factorise
from ...kernels import EQ, AcrossLevels, Kernel
from ...levels import level_columns, number_sides
from ...linalg import sturdy_cholesky
from ...measurement.integers import GRID, person_weights, strategy_integers
from ...strategies.bayes import bayes
from ...strategies.risk_model import RiskModel
from .grid import CellGrid, sides

_LENGTHSCALE = 0.15  # of the box's sides: how fast the density of records may vary
_VARIANCE = 2.0  # of that density over its mean squared
_SHARED = 0.5  # of it, what groups have in common: where records lie, but not how many there are
ROUGHNESS = (0.0, 0.03, 0.3, 1.0, 3.0, 10.0, 30.0)  # tau: variance of a cell's own people, over its mean squared
PLANNED = 0.5  # the tau that counts are planned for: a cell can be seen by itself where noise permits
_SENSITIVITY = 1.6  # expected of a strategy; what it is, is found in integers when it is measured
_EQUAL = 1e-3  # difference of two columns that say nothing
_STEPS = 200  # of the strategy's solver


class Counts(NamedTuple):
    """Gaussian posterior of the numbers N of records in M cells, all public.

    Attributes:
        mean: n^, of sum n (M,); below 0 by chance where a cell is empty. Were it cut at 0 and scaled to n again, empty
            cells would take a few per cent of the records from full ones, which no covariance tells of.
        covariance: (M, M).
        misfit: |w|^2 of the noisy counts and how many they are, see ``measurement.fit``; None where counts are public.
    """

    mean: FloatArray
    covariance: FloatArray
    misfit: tuple[float, int] | None = None

    @property
    def numbers(self) -> FloatArray:
        """N^ where it is above 0, else 0 (M,): what variances and shares of the records are made of."""
        return np.maximum(self.mean, 0.0)


def plan_counts(grid: CellGrid, n: int, noise_multiplier: float, gap: float) -> FloatArray:
    """Strategy B (r, M) for counts, columns of norm <= 1, that leaves the least expected squared error of the counts.

    Not of the smooth part of the density alone: where inputs lie on a curve, as ages and weights do, counts are far
    from smooth, and with little noise every cell's own pays.

    Where all columns come out equal, as with few records and much noise, they become the place along the first input.

    Prior: mean n / M, covariance (n / M)^2 2 EQ(.15 of the box) + (n / M) I, the last for counts of chance.

    Args:
        grid: M public cells.
        n: number of records, public.
        noise_multiplier: s of the counts.
        gap: relative gap to stop at.
    """
    root, mean = _root(grid, n), n / grid.size
    own = mean + PLANNED * mean**2
    K = root @ root.T + own * np.eye(grid.size)
    model = RiskModel(
        noise=np.full(grid.size, own),
        root=root,
        targets=K / np.sqrt(grid.size),
        prior_risk=float(np.trace(K)) / grid.size,
    )
    B = bayes([model], (_SENSITIVITY * noise_multiplier) ** 2, gap=gap, max_iterations=_STEPS).B
    if float(np.ptp(B, axis=1).max()) < _EQUAL:  # the total, which is public: with so much noise no more pays
        B = (grid.centres[:, :1].T - grid.centres[0, 0]) / (grid.box[0][1] - grid.box[0][0]) - 0.5
    return np.asarray(strategy_integers(B) / GRID)


def counts_given(
    grid: CellGrid, n: int, B: FloatArray, noise_sd: float, z: FloatArray, *, rough: bool = True
) -> Counts:
    """What noisy counts z = B N + noise say, given that all N add up to n.

    Args:
        grid: M public cells.
        n: number of records, public.
        B: strategy (r, M).
        noise_sd: standard deviation of the noise on each entry of z.
        z: released (r,).
        rough: whether counts may be; False for releases that were made, and are read, as if they were not.
    """
    root, mean = _root(grid, n), n / grid.size
    H = np.vstack([B, np.full(grid.size, 1 / np.sqrt(grid.size))])
    # the last row is the public total: of no noise to speak of, and S stays well conditioned
    noise = np.array([*np.full(len(B), noise_sd**2), 1e-8 * mean])
    surprise = np.concatenate([z, [n / np.sqrt(grid.size)]]) - H @ np.full(grid.size, mean)
    HU, HH = H @ root, H @ H.T
    smooth, each, logs, squares = root @ root.T, list[tuple[FloatArray, FloatArray]](), list[float](), list[float]()
    for tau in ROUGHNESS if rough else ROUGHNESS[:1]:
        own = mean + tau * mean**2
        L = sturdy_cholesky(HU @ HU.T + own * HH + np.diag(noise), noise.min())
        w, Q = solve_triangular(L, surprise, lower=True), solve_triangular(L, HU @ root.T + own * H, lower=True)
        squares.append(float(w @ w))
        logs.append(-0.5 * squares[-1] - float(np.log(L.diagonal()).sum()))
        each.append((mean + w @ Q, smooth + own * np.eye(grid.size) - Q.T @ Q))
    weights = softmax(logs)
    expected = weights @ np.stack([m for m, _ in each])
    covariance = np.zeros_like(smooth)
    for weight, (m, C) in zip(weights, each, strict=True):
        covariance += weight * (C + np.outer(m - expected, m - expected))
    return Counts(expected + (n - expected.sum()) / grid.size, covariance, (float(weights @ squares), len(z)))


def public_counts(grid: CellGrid, X: FloatArray, person: NDArray[np.generic] | None = None) -> Counts:
    """The numbers of records in the cells where inputs X (n, D) are public: exact, and free; of people, by weights."""
    weights = None if person is None else person_weights(person) / GRID
    return known_counts(np.bincount(grid.place(X), weights, minlength=grid.size).astype(float))


def known_counts(numbers: FloatArray) -> Counts:
    """Numbers of records (M,) that are public."""
    return Counts(numbers, np.zeros((len(numbers), len(numbers))))


def _root(grid: CellGrid, n: int) -> FloatArray:
    along = EQ(variance=_VARIANCE * (n / grid.size) ** 2, lengthscale=sides(number_sides(grid.sides), _LENGTHSCALE))
    columns = level_columns(grid.sides)
    kernel: Kernel = AcrossLevels(inner=along, columns=columns, shared=_SHARED) if columns else along
    return factorise(kernel, grid.centres, 1e-6).features.values()

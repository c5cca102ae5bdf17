"""Two other private methods for comparison: polynomial regression by AdaSSP, and binned means.

Both exist as simulations only.

Each adds all of its noise to one vector of sums, which a replaced record (input and output) moves by at most 1. With
normal noise of standard deviation s on every entry it is (1 / s)-GDP. Polynomial degree and number of bins are oracle
choices: they are the best for the data, which no release could know. This favours these two methods in comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from ..arrays import FloatArray
from ..checks import check_positive
from ..gp.grid import Grid, IndexArray
from ..table import Dataset
from .comparison import left_out
from .cross_validation import Folds
from .errors import held_out_rmse

_FAILING = 0.05  # probability that the ridge is too small, as in Wang (2018)
_LEAST = 1e-6  # smallest eigenvalue, relative to the largest eigenvalue that one record can contribute
DEGREES, BINS = range(10), (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30)


@dataclass(frozen=True)
class Polynomial:
    """Ridge regression on products of Chebyshev polynomials, from noisy sufficient statistics and with a private ridge.

    |phi|^2 <= d for d features. A replaced record therefore moves sum phi phi^T by at most sqrt(2) d (Frobenius norm),
    its smallest eigenvalue by at most d (Weyl), and sum phi r by at most 2 sqrt(d) h, with h half the width of the
    bounds. Each of the three gets a third of 1/s^2.

    Args:
        degree: total degree, >= 0.

    Source: AdaSSP, Wang 2018, algorithm 2; for replaced records, noise by the exact Gaussian mechanism.
    """

    degree: int

    @property
    def title(self) -> str:
        """Name and setting."""
        return f"polynomial of degree {self.degree} (AdaSSP)"

    def sums(self, dataset: Dataset) -> FloatArray:
        """Return the scaled sums (r,): upper triangle of the Gram matrix, its smallest eigenvalue, cross products."""
        phi, half = self._features(dataset, dataset.X), dataset.output_range / 2
        gram, cross = phi.T @ phi, phi.T @ (dataset.clipped_y - dataset.midpoint)
        least = np.linalg.eigvalsh(gram)[0]
        return np.concatenate([gram[np.triu_indices(len(gram))], [least], cross]) * _weights(len(gram), half)

    def predict(self, z: FloatArray, s: float, dataset: Dataset, X_test: FloatArray) -> FloatArray:
        """Return curves (draws, P) from noisy sums z (draws, r) with noise s, in the unit of the output.

        No output is read.
        """
        phi, half = self._features(dataset, X_test), dataset.output_range / 2
        d = phi.shape[1]
        weights = _weights(d, half)
        upper, least, cross = np.split(z / weights, [-d - 1, -d], axis=1)
        gram = np.zeros((len(z), d, d))
        gram[:, *np.triu_indices(d)] = upper
        gram = gram + np.swapaxes(np.triu(gram, 1), 1, 2)
        # lambda = sqrt(d log(2 d^2 / rho)) s / a, minus a lower bound on the smallest eigenvalue of the data
        own = least[:, 0] - math.sqrt(2 * math.log(1 / _FAILING)) * s / weights[-d - 1]
        ridge = math.sqrt(d * math.log(2 * d * d / _FAILING)) * s / weights[0]
        values, vectors = np.linalg.eigh(gram)
        values = np.maximum(values + np.maximum(ridge - np.maximum(own, 0.0), 0.0)[:, None], _LEAST * d)
        along = np.einsum("dij,di->dj", vectors, cross) / values
        curves = np.einsum("dij,dj->di", vectors, along) @ phi.T
        return np.asarray(dataset.midpoint + np.clip(curves, -half, half))

    def _features(self, dataset: Dataset, X: FloatArray) -> FloatArray:
        """Return the products of Chebyshev polynomials on the box with total degree <= ``degree`` (n, d), each <= 1."""
        low, high = np.array(dataset.x_box).T
        each = [chebvander(2 * part - 1, self.degree) for part in ((np.clip(X, low, high) - low) / (high - low)).T]
        powers = [p for p in product(range(self.degree + 1), repeat=len(each)) if sum(p) <= self.degree]
        columns = [np.prod([one[:, k] for one, k in zip(each, p, strict=True)], axis=0) for p in powers]
        return np.stack(columns, axis=1)


def _weights(d: int, half: float) -> FloatArray:
    """Return the factor of each sum (r,), by which each of the three parts gets a third of 1/s^2."""
    third, (rows, columns) = math.sqrt(1 / 3), np.triu_indices(d)
    root_two = np.where(rows == columns, 1.0, math.sqrt(2))  # makes |sums| the Frobenius norm
    of_cross = np.full(d, third / (2 * math.sqrt(d) * half))
    return np.concatenate([third / (math.sqrt(2) * d) * root_two, [third / d], of_cross])


@dataclass(frozen=True)
class BinnedMeans:
    """Means of public bins, each a noisy sum divided by a noisy count.

    Let h be half the width of the bounds. A replaced record that stays in its bin moves the sums by at most 2 h. One
    that changes its bin moves the sums by at most sqrt(2) h and the counts by sqrt(2). In both cases (sums / 2 h,
    counts / 2) moves by at most 1.

    Args:
        per_side: number of bins along each input, >= 1.
    """

    per_side: int

    @property
    def title(self) -> str:
        """Name and setting."""
        return f"means of {self.per_side} bins along each input"

    def sums(self, dataset: Dataset) -> FloatArray:
        """Return the scaled sums of y - midpoint of all bins, followed by their scaled counts (r,)."""
        where, bins = self._bins(dataset, dataset.X), self.per_side**dataset.dim
        residuals = dataset.clipped_y - dataset.midpoint
        sums = np.bincount(where, residuals, minlength=bins) / dataset.output_range
        return np.concatenate([sums, np.bincount(where, minlength=bins) / 2])

    def predict(self, z: FloatArray, s: float, dataset: Dataset, X_test: FloatArray) -> FloatArray:
        """Return curves (draws, P) from noisy sums z (draws, r) with noise s; see ``Polynomial.predict``.

        Counts below s are replaced by s, which moves the means of nearly empty bins towards the midpoint.
        """
        sums, counts = np.split(z, 2, axis=1)
        means = dataset.output_range * sums / np.maximum(2 * counts, 2 * s)
        half = dataset.output_range / 2
        return dataset.midpoint + np.clip(means, -half, half)[:, self._bins(dataset, X_test)]

    def _bins(self, dataset: Dataset, X: FloatArray) -> IndexArray:
        low, high = np.array(dataset.x_box).T
        return Grid(box=dataset.x_box, bins=self.per_side).index(np.clip(X, low, high))


Peer = Polynomial | BinnedMeans


def held_out(peer: Peer, dataset: Dataset, folds: Folds, s: float, draws: int, seed: int) -> FloatArray:
    """Return the held-out RMSE of each simulated release (draws,), in the unit of the output. It is not private.

    Args:
        peer: method with its setting.
        s: noise multiplier.
        seed: seed of the simulation.

    Raises:
        ValueError: draws < 1.
    """
    check_positive("draws", draws)
    residuals = []
    for index, fold in enumerate(left_out(dataset, folds)):
        sums = peer.sums(fold.train)
        z = sums + s * np.random.default_rng([seed, index]).standard_normal((draws, len(sums)))
        residuals.append(peer.predict(z, s, fold.train, fold.X_test) - fold.truth)
    return held_out_rmse(residuals)


def best_by_oracle(
    peers: Iterable[Peer], dataset: Dataset, folds: Folds, s: float, draws: int, seed: int
) -> tuple[Peer, FloatArray]:
    """Return the method with the smallest mean held-out error (an oracle choice), and its errors; see ``held_out``."""
    tried = [(peer, held_out(peer, dataset, folds, s, draws, seed)) for peer in peers]
    return min(tried, key=lambda each: float(each[1].mean()))


def settings(inputs: int) -> tuple[Sequence[Peer], Sequence[Peer]]:
    """Return the settings that are tried for D inputs: polynomials, and binned means with at most 1000 bins."""
    return [Polynomial(k) for k in DEGREES], [BinnedMeans(k) for k in BINS if k**inputs <= 1000]

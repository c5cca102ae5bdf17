"""Other methods at their best: a polynomial by AdaSSP, and binned means. Simulated only.

Each adds all of its noise to one vector of sums that a replaced record, inputs and output, moves by at most 1: with
normal noise of standard deviation s on every entry it is (1 / s)-GDP. The degree, or the number of bins, is that of an
oracle, which knows the held-out errors. Only these two methods have this advantage.
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

_FAILING = 0.05  # probability of too small a ridge, as Wang (2018) has it
_LEAST = 1e-6  # of the largest eigenvalue that one record can have: below, a noisy one says nothing
DEGREES, BINS = range(10), (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30)


@dataclass(frozen=True)
class Polynomial:
    """Ridge regression on Chebyshev products from noisy sufficient statistics, its ridge chosen privately.

    |phi|^2 <= d for d features, so a replaced record moves sum phi phi^T by at most sqrt(2) d (Frobenius), its least
    eigenvalue by at most d (Weyl) and sum phi r by at most 2 sqrt(d) h; each of the three takes a third of 1/s^2.

    Args:
        degree: total, >= 0.

    Source: AdaSSP, Wang 2018, algorithm 2; for replaced records, noise by the exact Gaussian mechanism.
    """

    degree: int

    @property
    def title(self) -> str:
        """Its name and setting."""
        return f"polynomial of degree {self.degree} (AdaSSP)"

    def sums(self, dataset: Dataset) -> FloatArray:
        """Upper triangle of the Gram matrix, its least eigenvalue, and the cross products, (r,)."""
        phi, half = self._features(dataset, dataset.X), dataset.output_range / 2
        gram, cross = phi.T @ phi, phi.T @ (dataset.clipped_y - dataset.midpoint)
        least = np.linalg.eigvalsh(gram)[0]
        return np.concatenate([gram[np.triu_indices(len(gram))], [least], cross]) * _weights(len(gram), half)

    def predict(self, z: FloatArray, s: float, dataset: Dataset, X_test: FloatArray) -> FloatArray:
        """Curves (D, P) from noisy sums z (D, r), noise s, in the output's unit; no output is read."""
        phi, half = self._features(dataset, X_test), dataset.output_range / 2
        d = phi.shape[1]
        weights = _weights(d, half)
        upper, least, cross = np.split(z / weights, [-d - 1, -d], axis=1)
        gram = np.zeros((len(z), d, d))
        gram[:, *np.triu_indices(d)] = upper
        gram = gram + np.swapaxes(np.triu(gram, 1), 1, 2)
        # lambda = sqrt(d log(2 d^2 / rho)) s / a, less a lower bound of the data's own eigenvalue
        own = least[:, 0] - math.sqrt(2 * math.log(1 / _FAILING)) * s / weights[-d - 1]
        ridge = math.sqrt(d * math.log(2 * d * d / _FAILING)) * s / weights[0]
        values, vectors = np.linalg.eigh(gram)
        values = np.maximum(values + np.maximum(ridge - np.maximum(own, 0.0), 0.0)[:, None], _LEAST * d)
        along = np.einsum("dij,di->dj", vectors, cross) / values
        curves = np.einsum("dij,dj->di", vectors, along) @ phi.T
        return np.asarray(dataset.midpoint + np.clip(curves, -half, half))

    def _features(self, dataset: Dataset, X: FloatArray) -> FloatArray:
        """Products of Chebyshev polynomials of total degree <= ``degree`` over the public box (n, d), each <= 1."""
        low, high = np.array(dataset.x_box).T
        each = [chebvander(2 * part - 1, self.degree) for part in ((np.clip(X, low, high) - low) / (high - low)).T]
        powers = [p for p in product(range(self.degree + 1), repeat=len(each)) if sum(p) <= self.degree]
        columns = [np.prod([one[:, k] for one, k in zip(each, p, strict=True)], axis=0) for p in powers]
        return np.stack(columns, axis=1)


def _weights(d: int, half: float) -> FloatArray:
    """What each sum of a polynomial is multiplied by (r,): a third of 1/s^2 for each of its three parts."""
    third, (rows, columns) = math.sqrt(1 / 3), np.triu_indices(d)
    root_two = np.where(rows == columns, 1.0, math.sqrt(2))  # |sums|^2 is the Frobenius norm
    of_cross = np.full(d, third / (2 * math.sqrt(d) * half))
    return np.concatenate([third / (math.sqrt(2) * d) * root_two, [third / d], of_cross])


@dataclass(frozen=True)
class BinnedMeans:
    """Noisy sum over noisy number of the records of each public bin.

    A record that stays in its bin moves the sums by at most 2 h; one that leaves it moves sums by at most sqrt(2) h and
    counts by sqrt(2): (sums / 2 h, counts / 2) moves by at most 1 either way.

    Args:
        per_side: bins along each input, >= 1.
    """

    per_side: int

    @property
    def title(self) -> str:
        """Its name and setting."""
        return f"means of {self.per_side} bins along each input"

    def sums(self, dataset: Dataset) -> FloatArray:
        """Sums of y - midpoint, then counts, (r,)."""
        where, bins = self._bins(dataset, dataset.X), self.per_side**dataset.dim
        residuals = dataset.clipped_y - dataset.midpoint
        sums = np.bincount(where, residuals, minlength=bins) / dataset.output_range
        return np.concatenate([sums, np.bincount(where, minlength=bins) / 2])

    def predict(self, z: FloatArray, s: float, dataset: Dataset, X_test: FloatArray) -> FloatArray:
        """Curves (D, P), as of polynomials; the midpoint in a bin that hardly rises above the noise."""
        sums, counts = np.split(z, 2, axis=1)
        means = dataset.output_range * sums / np.maximum(2 * counts, 2 * s)
        half = dataset.output_range / 2
        return dataset.midpoint + np.clip(means, -half, half)[:, self._bins(dataset, X_test)]

    def _bins(self, dataset: Dataset, X: FloatArray) -> IndexArray:
        low, high = np.array(dataset.x_box).T
        return Grid(box=dataset.x_box, bins=self.per_side).index(np.clip(X, low, high))


Peer = Polynomial | BinnedMeans


def held_out(peer: Peer, dataset: Dataset, folds: Folds, s: float, draws: int, seed: int) -> FloatArray:
    """Held-out RMSE of simulated draws (draws,), in the output's unit. Not private.

    Args:
        peer: with its setting.
        s: noise multiplier.

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


def in_hindsight(
    peers: Iterable[Peer], dataset: Dataset, folds: Folds, s: float, draws: int, seed: int
) -> tuple[Peer, FloatArray]:
    """The peer of least mean held-out error, and its errors; arguments and errors as of ``held_out``."""
    tried = [(peer, held_out(peer, dataset, folds, s, draws, seed)) for peer in peers]
    return min(tried, key=lambda each: float(each[1].mean()))


def settings(inputs: int) -> tuple[Sequence[Peer], Sequence[Peer]]:
    """Settings tried of each for D inputs: polynomials, and binned means with at most a thousand bins."""
    return [Polynomial(k) for k in DEGREES], [BinnedMeans(k) for k in BINS if k**inputs <= 1000]

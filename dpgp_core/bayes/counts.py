"""Numbers of records in bins: their posterior given noisy counts, or the numbers themselves if inputs are public.

The module also computes the posterior of the locations of records within cells. The uncertainty of counts and locations
is part of the moments of the sums, see ``update``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import log_ndtr, softmax

from ..arrays import FloatArray
from ..gp.pivoted import factorise
from ..kernels import EQ, AcrossGroups, Kernel
from ..levels import level_columns, number_sides
from ..linalg import sturdy_cholesky
from ..measurement.integers import GRID, person_weights
from .cells import CellGrid, LocatedGrid, grid_from_moments
from .clusters import Bins
from .tuning import TUNING

_TINY = 1e-6  # smallest posterior variance, divided by the prior variance
_FAR = 1e4  # larger values, in standard deviations, are replaced by this one
_OF_NODES = 2 / 27  # variance of the nodes of a cell along a side
_ROUNDING = 1e-15  # probability below which a prior of the density adds nothing
_ROUNDS = 40  # iterations of expectation and maximisation
_LOG_ROOT = 0.5 * math.log(2 * math.pi)


class RecordCounts(NamedTuple):
    """Gaussian posterior of the numbers N of records in M bins. It follows from public or released numbers.

    Attributes:
        mean: expected numbers n^ (M,), which add up to n.
        covariance: covariance of the numbers (M, M); 0 if they are public.
        misfit: |w|^2 of the noisy counts and their number, see ``measurement.fit``; None if counts are public.
    """

    mean: FloatArray
    covariance: FloatArray
    misfit: tuple[float, int] | None = None

    @property
    def nonnegative(self) -> FloatArray:
        """Expected numbers n^, or 0 if they are negative (M,), for use in variances and in shares of the records."""
        return np.maximum(self.mean, 0.0)


class Locations(NamedTuple):
    """Query for the locations t of records within cells: sums of t - 1/2, t from 0 to 1 along each numerical side.

    Attributes:
        s: noise multiplier of each side.
        z: noisy sums (number of numerical sides, M), once they are measured.
    """

    s: float
    z: FloatArray = np.zeros(0)


def counts_given(grid: CellGrid, n: int, B: FloatArray, noise_sd: float, z: FloatArray) -> RecordCounts:
    """Return the posterior of N given noisy counts z = B N + noise, and that all N add up to n.

    The prior has the mean n / M and, for each tau of ``TUNING.roughness``, the covariance
    2 (n / M)^2 k + (n / M + tau (n / M)^2) I, where k is an EQ kernel of variance 1, whose lengthscale is 0.15 of each
    side of the box. The posteriors for all tau are averaged with the evidence of z as weights.

    Args:
        n: number of records, which is public.
        B: strategy (r, M). Releases use B = I. A strategy planned for a smooth density would have errors that are a
            tenth smaller for even inputs, but two to three times as large for inputs in towns or along a curve.
        noise_sd: standard deviation of the noise on each entry of z.
        z: released numbers (r,).
    """
    root, mean = density_features(grid, n), n / grid.size
    H = np.vstack([B, np.full(grid.size, 1 / np.sqrt(grid.size))])
    # The last row is the public total. A little noise on it keeps S well conditioned.
    noise = np.array([*np.full(len(B), noise_sd**2), 1e-8 * mean])
    surprise = np.concatenate([z, [n / np.sqrt(grid.size)]]) - H @ np.full(grid.size, mean)
    HU, HH = H @ root, H @ H.T
    S_smooth, cross_smooth = HU @ HU.T, HU @ root.T
    smooth, factors = root @ root.T, []
    near = (smooth / smooth[0, 0]) ** TUNING.near_power
    for tau in TUNING.roughness:
        own = mean + tau * mean**2
        L = sturdy_cholesky(S_smooth + own * HH + np.diag(noise), noise.min())
        factors.append((tau, own, L, solve_triangular(L, surprise, lower=True)))
    squares = np.array([w @ w for *_, w in factors])
    weights = softmax([-0.5 * w @ w - np.log(L.diagonal()).sum() for *_, L, w in factors])
    each = list[tuple[float, FloatArray, FloatArray]]()
    for weight, (tau, own, L, w) in zip(weights, factors, strict=True):
        if weight < _ROUNDING:
            continue
        Q = solve_triangular(L, cross_smooth + own * H, lower=True)
        K, V = smooth + own * np.eye(grid.size) - Q.T @ Q, smooth.diagonal() + own
        may_be_empty = tau >= TUNING.roughness_of_empty
        each.append((weight, *_not_negative(mean + w @ Q, K, V, near, n, may_be_empty=may_be_empty)))
    expected = np.sum([weight * m for weight, m, _ in each], axis=0)
    covariance = np.zeros_like(smooth)
    for weight, m, C in each:
        covariance += weight * (C + np.outer(m - expected, m - expected))
    return RecordCounts(expected + (n - expected.sum()) / grid.size, covariance, (float(weights @ squares), len(z)))


def _not_negative(
    mean: FloatArray, K: FloatArray, V: FloatArray, near: FloatArray, n: int, *, may_be_empty: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the mean (M,) and covariance (M, M) of nonnegative counts, from those of a Gaussian posterior.

    In a cell with few records the noisy count may be negative. Without a correction, the sum over a single record could
    be treated as a sum over -2 records. The normal marginal of each cell, with mean m and variance v, is therefore
    truncated at 0, or it is replaced by that of ``_by_size`` if many cells may be empty. With t = m / sqrt v and
    hazard = phi(t) / Phi(t), the truncated count N of a cell has

        E N = m + sqrt v hazard,    var N = v (1 - hazard (hazard + t)).

    Where the noise exceeds the counts, both make most counts too large: truncation increases each of them, and the
    prior of ``_by_size`` is the same for all cells. The counts there would therefore add up to far too many records.
    If most cells near a cell have large relative errors, its marginal is therefore that of ``_by_size`` with a prior
    that follows from the cells nearby, unless this prior leaves larger variances.

    Args:
        mean, K: mean (M,) and covariance (M, M) of the Gaussian posterior.
        V: prior variances (M,) with which it was computed.
        near: weights (M, M) of the cells near each cell, 1 for the cell itself.
        n: sum of the counts.
        may_be_empty: whether many cells may be empty.
    """
    variance = np.maximum(K.diagonal(), _TINY**2 * (V if may_be_empty else n / len(mean)))
    expected, variances = _by_size(mean, variance, V, n) if may_be_empty else _above_zero(mean, variance)
    sparse = near @ (variances > (TUNING.sparse * expected) ** 2) > near.sum(axis=1) / 2
    if sparse.any():
        nearby, variances_nearby = _by_size(mean, variance, V, n, near)
        # a smooth density infers the counts of a cell from those nearby as well
        ratio = 1.0 if may_be_empty else TUNING.nearby_variance
        sparse &= near @ variances_nearby < ratio * (near @ variances)
        expected, variances = np.where(sparse, nearby, expected), np.where(sparse, variances_nearby, variances)
    return _of_marginals(expected, variances, K, variance, n)


def _above_zero(m: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of normal variables with means m and variances v that are truncated at 0 (arrays)."""
    sd = np.sqrt(v)
    t = np.maximum(m / sd, -_FAR)
    hazard = np.exp(-0.5 * t * t - _LOG_ROOT - log_ndtr(t))
    return m + sd * hazard, v * np.clip(1 - hazard * (hazard + t), _TINY, 1.0)


def _of_marginals(
    expected: FloatArray, variances: FloatArray, K: FloatArray, variance: FloatArray, n: int
) -> tuple[FloatArray, FloatArray]:
    """Return the mean (M,) and covariance (M, M) of counts with given marginals, the correlations of K, and the sum n.

    The expected counts are corrected so that they add up to n. Each cell is corrected in proportion to its variance:
    it is the projection I - t 1^T, where t (M,) are the shares of the cells in the sum of all variances.
    """
    shrunk, t = np.sqrt(variances / variance), variances / variances.sum()
    covariance = K * np.outer(shrunk, shrunk)
    of_sum = covariance.sum(axis=0)
    covariance += of_sum.sum() * np.outer(t, t) - np.outer(t, of_sum) - np.outer(of_sum, t)
    return expected + (n - expected.sum()) * t, covariance


def _by_size(
    mean: FloatArray, variance: FloatArray, V: FloatArray, n: int, near: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return means and variances (M,) of counts of which many may be 0.

    If inputs have few values, most cells are empty. A Gaussian prior that is wide enough for the full cells hardly
    changes the noisy count of an empty cell, which would then seem to contain about as many records as the noise adds.
    The Gaussian prior of each cell is therefore replaced. The likelihood of its count N is proportional to N(m; N, v)
    with 1 / v = 1 / K_cc - 1 / V_c and m = n / M + v / K_cc (mean - n / M). The new prior is: empty with probability
    pi_0, or exponential with mean 1 / r_k with probability pi_k, where the means are powers of two times n / M. The
    densities of m are

        p(m | empty) = phi(m / sqrt v) / sqrt v,
        p(m | k) = r_k exp(r_k (r_k v / 2 - m)) Phi((m - r_k v) / sqrt v),

    and given k, N is normal with mean m - r_k v and variance v, truncated at 0.

    The probabilities pi are the posterior mode under a Dirichlet prior, found by expectation and maximisation
    (Dempster, Laird & Rubin 1977). Several means are needed: with a single one, 21 cells of 40 records next to one of
    2,100 were judged empty. If ``near`` is given, each cell has probabilities of its own: the weighted average of what
    maximisation takes from the cells nearby, where the probabilities of all cells count as much as the cell itself.
    There are also smaller means 1 / r_k then.

    Args:
        mean, variance: mean and variance of each count under the Gaussian posterior (M,).
        V: prior variances (M,) with which they were computed.
        n: sum of the counts.
        near: weights (M, M) of the cells near each cell, 1 for the cell itself; None for the same probabilities in all
            cells.
    """
    M, v = len(mean), 1 / np.maximum(1 / variance - 1 / V, _TINY / V)
    m, sd = n / M + v / variance * (mean - n / M), np.sqrt(v)
    noise, smallest = float(np.median(sd)), TUNING.smallest_full_cell
    if near is not None:
        smallest = min(smallest, math.floor(math.log2(TUNING.smallest_by_noise * noise * M / n)))
    r = M / n * 2.0 ** -np.arange(smallest, math.ceil(math.log2(M)) + 1)[:, None]
    logs = np.vstack(
        [
            -0.5 * np.clip(m / sd, -_FAR, _FAR) ** 2 - _LOG_ROOT - np.log(sd),
            np.log(r) + r * (r * v / 2 - m) + log_ndtr(np.maximum((m - r * v) / sd, -_FAR)),
        ]
    )
    likelihood, shares = np.exp(logs - logs.max(axis=0)), np.full((len(logs), 1), 1 / len(logs))
    more = max(TUNING.full_cells, TUNING.full_cells_by_noise * noise * M / n)
    for _ in range(_ROUNDS):
        of_cells = likelihood * shares
        of_cells /= of_cells.sum(axis=0)
        shares = (of_cells.sum(axis=1, keepdims=True) + more) / (M + more * len(logs))
        if near is not None:
            shares = (of_cells @ near + shares) / (near.sum(axis=0) + 1)
    above, left = _above_zero(m - r * v, v)
    expected = (of_cells[1:] * above).sum(axis=0)
    square = (of_cells[1:] * (left + above**2)).sum(axis=0)
    return expected, np.maximum(square - expected**2, _TINY**2 * V)


def locations_given(grid: CellGrid, counts: RecordCounts, locations: Locations) -> tuple[LocatedGrid, FloatArray]:
    """Return the grid with the expected locations of records, and the share of the variance that stays unknown (M,).

    The number total = sum_j (t_j - 1/2) of a cell is normal a priori, with mean 0 and variance N^2 / 12, which is the
    variance for N records at one location. This prior matters little once the noise is small. For z = total + noise of
    standard deviation s, and share = N^2/12 / (N^2/12 + s^2),

        E total = share z,    m = E total / N,    var m = (1 - share) / 12 + m^2 var N / N^2.

    Squares of t are not measured: the mean of (t - m)^2 is assumed to be halfway between that of records at one point
    and that of records spread over the cell.
    """
    N = np.maximum(counts.mean, 1.0)
    prior = N**2 / 12
    share = prior / (prior + locations.s**2)
    m = np.clip(share * locations.z / N, -0.5, 0.5)
    variance = (1 - share) / 12 + m**2 * counts.covariance.diagonal() / N**2
    unknown = np.minimum(12 * variance.mean(axis=0) + TUNING.open_within, 1.0)
    # A variable in [-1/2, 1/2] with mean m has at most the variance 1/4 - m^2, which is 1/4 times 1 - 4 m^2.
    about = (1 - 4 * m**2) * (unknown * _OF_NODES + (1 - unknown) / 24)
    return grid_from_moments(grid, m, m**2 + about), unknown


def public_counts(bins: Bins, X: FloatArray, person: NDArray[np.generic] | None = None) -> RecordCounts:
    """Return the exact numbers of records with public inputs X (n, D) in the bins, which cost no budget.

    Args:
        bins: cells or clusters.
        X: public inputs (n, D).
        person: identifier of the person of each row (n,), if each person counts once; None if each row does.
    """
    weights = None if person is None else person_weights(person) / GRID
    return known_counts(np.bincount(bins.index(X), weights, minlength=bins.size).astype(float))


def known_counts(numbers: FloatArray) -> RecordCounts:
    """Return public numbers of records (M,) as a posterior without uncertainty."""
    return RecordCounts(numbers, np.zeros((len(numbers), len(numbers))))


def density_features(grid: CellGrid, n: int) -> FloatArray:
    """Return features (M, k) whose product is the prior covariance of the smooth part of the density of records."""
    share = TUNING.density_lengthscale
    lengths = [math.ldexp(share * (high / 2 - low / 2), 1) for low, high in number_sides(grid.sides)]
    along = EQ(variance=TUNING.density_variance * (n / grid.size) ** 2, lengthscale=lengths)
    columns = level_columns(grid.sides)
    kernel: Kernel = AcrossGroups(inner=along, columns=columns, shared=TUNING.density_shared) if columns else along
    return factorise(kernel, grid.centres, 1e-6).features.values()

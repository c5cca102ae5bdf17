"""How far people scatter about the curve, from noisy sums of squares; and the models' probabilities given that.

Evidence of clipped sums gives the noise variance only as far as outcomes are normal, and is wrong, and sure, where they
are not. So each stage after the first also measures one number, sum_j min(r_j^2, A_j^2) / A_j^2 - 1/2, with A three
predicted standard deviations, and only these numbers give the noise variance sigma^2: p(sigma^2 | squares), on a
fine grid. Given sigma^2, evidence says how likely each kernel is (a cut posterior, Plummer 2015). Each kernel's models
have noise variances v_1 < v_2 < ...; for sigma^2 between two of them both count, linearly in sigma^2, so that the
mixture's variances are right on average, however coarse the v are.

A few people may be far out: most pay nothing, and one in twenty a great deal. Squares cut at A see a share p of them
as p A^2, whatever A is; taken for normal outcomes they look like less scatter the smaller A is, the next A is smaller
still, and at last a mean of 31 comes out as 17, and surely so. So each sigma^2 is a case of its own where all are near,
and for each share p of ``FAR`` who make all of the variance, sqrt(p) sigma of the mean and sigma / sqrt(p) away:

    E min(r^2, A^2) = min(t^2, p A^2),    t^2 = sigma^2 + E (f - g)^2.

A share that nobody can see, p n below the noise, might be anywhere within the bounds: no release would say anything.
So such cases count only where squares are explained by one of them better than by all near, by ``_GAIN`` of log
likelihood. To tell both apart A must change: once sigma is known, squares are cut further out (``most_of_squares``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, softmax

from ..arrays import FloatArray

REACH = 3.0  # A over the predictive standard deviation
_WIDE = 9.0  # the same once sigma is known, if people are so many that squares can be seen at all
_KNOWN = 0.25  # variance of log sigma^2 from which it is known
ROUNDS = 4  # curve, scatter, models, where each follows from the others
SHARE = 0.1  # of a stage's 1/s^2 that goes to squares
# standard deviations that are distinguished, over half the range, each 1.16 times the last; none can be larger than it
_POINTS, _LEAST, _MOST = 47, 10 ** (-2 * 46 / 31), 1.0
FAR: FloatArray = np.array([0.01, 0.02, 0.04, 0.08, 0.16, 0.32])  # shares of people who may be far out
_TWO_GROUPS = 0.2  # of people, in the smaller of two groups
_LOOSE = 0.3  # of such a share, which is not quite the same at every A
_COARSE = 0.1  # of sums of squares, which are expected for a grid of sigma^2
_GAIN = 4.0  # of log likelihood: by chance alone one release in a hundred has as much
_SHARES: FloatArray = np.tile(np.geomspace(_LEAST, _MOST, _POINTS) ** 2, 1 + len(FAR))  # all near, then each share far
_USUAL, _SPREAD = 0.15, 1.0  # prior of sigma over half the range: median, standard deviation of its logarithm
_KNOWN_TO = 0.1  # of log sigma, where it follows from the mean
_PEAKED = 10.0  # variance of a clipped square over sigma^4; 2 for normal outcomes, more for outcomes with tails


def split_stage(s: float, alone: bool) -> tuple[float, float | None]:
    """Noise multipliers of a stage's sums and of its squares, which the first stage, that knows no curve, has not.

    (1 - share) / s^2 + share / s^2 = 1 / s^2: both together are as private as the stage alone.

    Args:
        s: of the stage.
        alone: whether there are no squares.
    """
    return (s, None) if alone else (s / math.sqrt(1 - SHARE), s / math.sqrt(SHARE))


class Scatter(NamedTuple):
    """How people scatter, of D draws.

    Attributes:
        variance: E sigma^2 (D,).
        far: probability that such a share of people is far out (D, K), see ``FAR``; 0 where nothing says so.
        sd: E sigma then (D, K).
    """

    variance: FloatArray
    far: FloatArray
    sd: FloatArray


def variances_of(half_range: float) -> FloatArray:
    """sigma^2 of all cases (S,), even in log sigma: all are near, then each share of ``FAR`` is far out."""
    return half_range**2 * _SHARES


def usual_variance(half_range: float) -> float:
    """The prior's median of sigma^2, for plans; stages take wider intervals where more is measured."""
    return (_USUAL * half_range) ** 2


def log_prior() -> FloatArray:
    """Log density before any square is measured (S,): of sigma, log normal about a sixth of half the range."""
    share = 0.5 * np.log(variances_of(1.0))
    prior: FloatArray = -0.5 * ((share - math.log(_USUAL)) / _SPREAD) ** 2
    return prior


def far_out(scatter: FloatArray) -> NDArray[np.bool_]:
    """Whether squares say that some people are far out (...), given log densities of the cases (..., S)."""
    found = scatter - log_prior()
    gain = found[..., _POINTS:].max(axis=-1) - found[..., :_POINTS].max(axis=-1)
    return np.asarray(gain > _GAIN)


def probabilities(scatter: FloatArray) -> FloatArray:
    """Of the cases (..., S), given their log densities."""
    p: FloatArray = softmax(scatter, axis=-1)
    p[..., _POINTS:] *= far_out(scatter)[..., None]
    p /= p.sum(axis=-1, keepdims=True)
    return p


def expected(scatter: FloatArray, half_range: float) -> Scatter:
    """What log densities (D, S) say of people, for clipping; large while little is known."""
    p, variances = probabilities(scatter), variances_of(half_range)
    of_shares = p[:, _POINTS:].reshape(len(p), len(FAR), _POINTS)
    far = of_shares.sum(axis=2)
    sd = of_shares @ np.sqrt(variances[:_POINTS]) / np.where(far > 0, far, 1.0)
    return Scatter(p @ variances, far, sd)


def most_of_squares(
    scatter: FloatArray, mean_square: FloatArray, n: int, s: float, half_range: float, *, far: bool
) -> FloatArray:
    """Squares A^2 of the largest distances that count (D, n), at most the whole range.

    ``REACH`` predicted standard deviations, and more once sigma is known: so far that squares of n normal outcomes add
    up to twice the noise, up to ``_WIDE``; and at every other look half the range, where the few may be.

    Args:
        scatter: log densities (D, S).
        mean_square: E (y - g)^2 (D, n).
        s: standard deviation of the noise on these squares.
        far: whether it is a look at half the range, if sigma is known.
    """
    p, logs = probabilities(scatter), np.log(variances_of(1.0))
    known = (p @ logs**2 - (p @ logs) ** 2 < _KNOWN)[:, None]
    wide = min(max(math.sqrt(n / (2 * s)), REACH), _WIDE)
    most = np.where(known, wide, REACH) ** 2 * mean_square
    if far and wide > REACH:
        most = np.where(known, np.maximum(most, half_range**2), most)
    return np.minimum(most, (2 * half_range) ** 2)


def log_density(
    half_range: float, curve_mse: FloatArray, reach: FloatArray, people: FloatArray, s: float, z: float
) -> FloatArray:
    """Log p(z | case) up to a constant, for every sigma^2 where all are near, and where a share is far out (S,).

    With t^2 = sigma^2 + E (f - g)^2 and a = A / t, E min(r^2, A^2) = t^2 (1 - 2 Phi(-a) - 2 a phi(a)) + 2 A^2 Phi(-a)
    of normal outcomes. E (f - g)^2 is one number known to about itself. Where A is small, two groups of people show
    less than that, and a sigma^2 read as normal would be too small: as likely as normal outcomes is, at each look, a
    fifth far out and the rest on the curve, E min(r^2, A^2) = min(t^2, A^2 / 5).

    Args:
        curve_mse: E (f - g)^2 at each place (M,), in squared model units.
        reach: A of each place (M,).
        people: records at each place (M,).
        s: standard deviation of the noise on z.
        z: the sum of squares, as released.
    """
    square = variances_of(half_range)[:_POINTS, None] + curve_mse
    a = reach / np.sqrt(square)
    beyond, at = ndtr(-a), np.exp(-0.5 * a * a) / math.sqrt(2 * math.pi)
    normal = (1 - 2 * beyond - 2 * a * at) / a**2 + 2 * beyond
    two_groups = np.minimum(1 / a**2, _TWO_GROUPS) @ people
    of_few = np.minimum((1 / a**2) @ people, FAR[:, None] * people.sum())
    each = np.minimum(_PEAKED / a**4, 0.25)
    unsure = people @ np.minimum(curve_mse / reach**2, 0.5)
    own = s**2 + each @ people + unsure**2

    def likely(mean: FloatArray, loose: float) -> FloatArray:
        variance = own + (loose * mean) ** 2
        density: FloatArray = -0.5 * (z + 0.5 * people.sum() - mean) ** 2 / variance - 0.5 * np.log(variance)
        return density

    near = np.logaddexp(likely(normal @ people, _COARSE), likely(two_groups, _COARSE)) - math.log(2)
    return np.concatenate([near, likely(of_few, _LOOSE).ravel()])


def of_two_values(half_range: float, square: FloatArray) -> FloatArray:
    """Log density of sigma^2 (D, S) where every outcome is +-half_range: h^2 - E f^2.

    Args:
        half_range: h, in model units.
        square: E f^2 over people (D,).
    """
    sigma = np.maximum(half_range**2 - square, _SHARES[0] * half_range**2)
    difference = 0.5 * np.log(variances_of(half_range) / sigma[:, None])
    log_density: FloatArray = -0.5 * (difference / _KNOWN_TO) ** 2
    return log_density


class NoiseShares(NamedTuple):
    """How the models of each kernel share the cases of sigma^2, see ``noise_shares``.

    Attributes:
        hats: share of each model in each case (m, S); those of one kernel add up to 1.
        of_kernel: 1 where a model has a kernel, else 0 (K, m).
        log_prior: log prior weight of each kernel (K,).
    """

    hats: FloatArray
    of_kernel: FloatArray
    log_prior: FloatArray


def noise_shares(
    noise_variances: FloatArray, prior_weights: FloatArray, kernels: Sequence[int], half_range: float
) -> NoiseShares:
    """Shares of the models (m) in the cases of sigma^2, linear between the noise variances of each kernel.

    Args:
        kernels: number of each model's kernel (m,).
    """
    labels = np.array(kernels)
    hats = np.empty((len(labels), len(_SHARES)))
    of_kernel = (labels == np.unique(labels)[:, None]).astype(float)
    for row in of_kernel:
        own = np.flatnonzero(row)
        hats[own] = _hats(noise_variances[own].tolist(), half_range).T
    return NoiseShares(hats, of_kernel, np.log(of_kernel @ prior_weights))


def model_weights(shares: NoiseShares, scatter: FloatArray, evidence: FloatArray) -> FloatArray:
    """Probabilities of the models in D draws (D, m).

    Args:
        scatter: log density of the squared residuals (D, S).
        evidence: log density of the sums under each model (D, m).
    """
    of_kernel, p = shares.of_kernel, probabilities(scatter)
    logs = shares.log_prior[:, None] + np.stack([of_kernel @ (each[:, None] * shares.hats) for each in evidence])
    logs -= logs.max(axis=1, keepdims=True)
    likely = np.exp(logs)
    likely *= p[:, None] / likely.sum(axis=1, keepdims=True)  # (D, K, S)
    return np.stack([((of_kernel.T @ each) * shares.hats).sum(axis=1) for each in likely])


def _hats(variances: Sequence[float], half_range: float) -> FloatArray:
    """Share of each variance in each sigma^2 of the grid (S, L), linear between two; equal ones share equally."""
    distinct = sorted(set(variances))
    grid = np.clip(variances_of(half_range), distinct[0], distinct[-1])
    hats = np.stack([np.interp(grid, distinct, row) for row in np.eye(len(distinct))], axis=1)
    chosen = [distinct.index(v) for v in variances]
    return np.asarray(hats[:, chosen] / np.bincount(chosen)[chosen])

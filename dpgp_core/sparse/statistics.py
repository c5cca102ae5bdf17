"""Private release of the sums A = sum y phi and B = sum phi phi^T: their sensitivity to one record, and their noise.

``kernel_norm_bound`` bounds |k(Z, x)| over all x, which the variant "paper" needs for its features.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import pdist

from ..arrays import FloatArray
from ..checks import check_positive
from ..gp.inducing import Features
from ..kernels import EQ, Stationary
from ..measurement.integers import GRID, IntArray, strategy_integers
from ..measurement.noise import GaussianNoise, with_noise

MOST_RECORDS = 1 << 22


def statistics_sensitivity(R_y: float, R_phi: float, c: float) -> float:
    """Return the exact sensitivity Delta of (A, sqrt(c) B) in the Euclidean (Frobenius) norm to replacing one record.

    Delta = R_y^2 / sqrt(2c) + sqrt(2c) R_phi^2   if R_y^2 <= 2 c R_phi^2,   otherwise 2 R_y R_phi

    Proof. Let the records be (y, phi) and (y', phi'), with norms a, b <= R = R_phi of the features, and
    t = phi . phi' in [-ab, ab]. The squared change is
        |y phi - y' phi'|^2 + c |phi phi^T - phi' phi'^T|^2 = y^2 a^2 + y'^2 b^2 - 2 y y' t + c (a^4 + b^4 - 2 t^2).
    For fixed t it grows with a and b, so a = b = R, which only widens the range of t. It is convex in y and in y', so
    both are +-R_y. By the symmetry t -> -t the worse sign is y y' = -R_y^2, which leaves
        2 R^2 R_y^2 + 2 c R^4 + 2 R_y^2 t - 2 c t^2,   0 <= t <= R^2.
    The vertex t = R_y^2 / (2c) gives (R_y^2 / sqrt(2c) + sqrt(2c) R^2)^2 if it is at most R^2. Otherwise the end t =
    R^2 (phi = phi', y = -y') gives 4 R_y^2 R^2, where the terms in c cancel. Both values are attained.

    Args:
        R_y: bound on |y| > 0, in model units.
        R_phi: bound on |phi| > 0.
        c: squared ratio > 0 of the noise scales, sa^2 / sb^2.

    Raises:
        ValueError: an argument is not positive.

    Source: first case Honkela & Melkas 2021, lemma 5 (stated there for every c); the second case is this project's.
    """
    for name, value in (("R_y", R_y), ("R_phi", R_phi), ("c", c)):
        check_positive(name, value)
    if R_y**2 >= 2 * c * R_phi**2:
        return 2 * R_y * R_phi
    return R_y**2 / math.sqrt(2 * c) + math.sqrt(2 * c) * R_phi**2


@dataclass(frozen=True, kw_only=True)
class NoiseScales:
    """Standard deviations of the noise: sa for A; for B, sb on the diagonal and sb / sqrt(2) off it.

    Raises:
        ValueError: a scale is negative or not finite.
    """

    sa: float
    sb: float

    def __post_init__(self) -> None:
        for name, value in (("sa", self.sa), ("sb", self.sb)):
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{name} must be a finite number of at least 0, got {value}")


NOISE_RATIO = 2.0  # c / c*; a larger ratio means more noise for A and less for B


def noise_scales(noise_multiplier: float, R_y: float, R_phi: float) -> NoiseScales:
    """Return the scales sa = s Delta and sb = sa / sqrt(c), with c = 2 c* and c* = R_y^2 / (2 R_phi^2).

    The two cases of ``statistics_sensitivity`` meet at c = c*. For c < c* Delta is constant, so a smaller c would only
    add noise to B.

    Args:
        noise_multiplier: noise multiplier s > 0 of the budget.
        R_y: bound on |y| > 0, in model units.
        R_phi: bound on |phi| > 0.

    Raises:
        ValueError: an argument is not positive.
    """
    check_positive("noise_multiplier", noise_multiplier)
    c = NOISE_RATIO * R_y**2 / (2 * R_phi**2)
    sa = noise_multiplier * statistics_sensitivity(R_y, R_phi, c)
    return NoiseScales(sa=sa, sb=sa / math.sqrt(c))


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyStatistics:
    """Released sums in model units. Everything else is computed from them and from public settings.

    Attributes:
        A: noisy sum of y phi (m,).
        B: noisy sum of phi phi^T (m, m), symmetric, but not necessarily positive semi-definite.
        noise: scales of the noise. They are public.
    """

    A: FloatArray
    B: FloatArray
    noise: NoiseScales


def add_noise(A: FloatArray, B: FloatArray, noise: NoiseScales, rng: np.random.Generator) -> NoisyStatistics:
    """Simulate a release: A + N(0, sa^2 I), and B with symmetric noise.

    The noise of B is independent and of standard deviation sb on the entries of (B_ii, sqrt(2) B_ij for i < j). This
    vector has m (m + 1) / 2 entries, and its norm is the Frobenius norm of B.

    Args:
        A: exact sum (m,). Private.
        B: exact sum (m, m), symmetric. Private.
        noise: scales of the noise.
    """
    m = len(A)
    E_a = noise.sa * rng.standard_normal(m)
    # sqrt(2) B_ij + sb z means B_ij + sb z / sqrt(2)
    upper = np.triu(rng.standard_normal((m, m)), 1) / math.sqrt(2)
    E_b = noise.sb * (upper + upper.T + np.diag(rng.standard_normal(m)))
    return NoisyStatistics(A=A + E_a, B=B + E_b, noise=noise)


@dataclass(frozen=True, kw_only=True, eq=False)
class IntegerSums:
    """Sums over records as integers A^ and B^, with A = A^ R_y R_phi / 2^40 and B = B^ R_phi^2 / 2^40. Private.

    Attributes:
        A: A^ (m,).
        B: B^ (m, m), symmetric.
        step_a: unit of A^, in model units.
        step_b: unit of B^.
    """

    A: IntArray
    B: IntArray
    step_a: float
    step_b: float

    def values(self) -> tuple[FloatArray, FloatArray]:
        """Return A (m,) and B (m, m), in model units. Private."""
        return self.A.astype(float) * self.step_a, self.B.astype(float) * self.step_b


def integer_sums(
    features: Features, blocks: Iterable[tuple[FloatArray, FloatArray]], m: int, R_y: float, R_phi: float
) -> IntegerSums:
    """Sum records as integers phi^ = 2^20 phi / R_phi with |phi^| <= 2^20, and y^ = 2^20 y / R_y in [-2^20, 2^20].

    Both depend on a single record and are checked as integers, so ``statistics_sensitivity`` holds for the sums
    regardless of earlier rounding errors. The sums of a block are products of floats whose values are integers. A block
    has at most 2^13 records, each of which contributes at most 2^40, so every partial sum stays within 2^53 and is
    exact. Blocks are added as 64-bit integers, which is exact for up to 2^22 records.

    Args:
        features: function that computes phi, of norm <= R_phi.
        blocks: inputs (b, D) and outputs (b,), in model units, of at most 8192 records each.
        m: number of features.
        R_y: bound on |y|.
        R_phi: bound on |phi|.

    Raises:
        ValueError: more than 2^22 records.
    """
    A, B, n = np.zeros(m, dtype=np.int64), np.zeros((m, m), dtype=np.int64), 0
    for X, y in blocks:
        n += len(y)
        if n > MOST_RECORDS:
            raise ValueError(f"the sums are exact for up to {MOST_RECORDS} records; give fewer, or a random part")
        phi = strategy_integers(features(X).T / R_phi).astype(float)
        whole = np.clip(np.rint(y / R_y * GRID), -GRID, GRID)
        A += (phi @ whole).astype(np.int64)
        B += (phi @ phi.T).astype(np.int64)
    return IntegerSums(A=A, B=B, step_a=R_y * R_phi / GRID**2, step_b=R_phi**2 / GRID**2)


def measure(sums: IntegerSums, noise: NoiseScales) -> NoisyStatistics:
    """Release the sums with discrete Gaussian noise on the integers, with randomness of the operating system.

    Standard deviations are those of ``add_noise``. The proof in ``measurement.noise`` applies to each entry: the
    mechanism with continuous noise of these standard deviations is calibrated, and every entry is rounded separately.
    """
    m = len(sums.A)

    def with_sd(exact: IntArray, sd: float, step: float) -> FloatArray:
        [z] = with_noise(exact.tolist(), GaussianNoise(sensitivity=1, noise_multiplier=sd / step), 1)
        return np.asarray(step * z)

    A = with_sd(sums.A, noise.sa, sums.step_a)
    diagonal = with_sd(np.diag(sums.B), noise.sb, sums.step_b)
    upper, above = np.triu_indices(m, 1), np.zeros((m, m))
    above[upper] = with_sd(sums.B[upper], noise.sb / math.sqrt(2), sums.step_b)
    return NoisyStatistics(A=A, B=above + above.T + np.diag(diagonal), noise=noise)


def noisy(sums: IntegerSums, noise: NoiseScales, rng: np.random.Generator | None = None) -> NoisyStatistics:
    """Release the sums with noise, or simulate a release if a generator is given."""
    return measure(sums, noise) if rng is None else add_noise(*sums.values(), noise, rng)


def clip_norms(phi: FloatArray, R_phi: float) -> FloatArray:
    """Scale down each row of phi (n, m) whose norm exceeds R_phi to the norm R_phi."""
    norms = np.sqrt(np.einsum("ij,ij->i", phi, phi))
    return np.asarray(phi * np.minimum(1.0, R_phi / np.maximum(norms, R_phi))[:, None])


def kernel_norm_bound(kernel: Stationary, Z: FloatArray) -> float:
    """Return a bound R_k with |k(Z, x)| <= R_k for every x, in squared model units.

    With kernel variance v and correlation rho, R_k = v sqrt(1 + (m - 1) rho(r_z / 2)^2), where r_z is the smallest
    scaled distance within Z, because at most one inducing input is closer to x than half of it. For an EQ kernel on a
    grid, R_k^2 = v^2 prod_n max_x sum_j exp(-(x - z_nj)^2 / l_n^2), because the square factorises. Features are clipped
    to R_k, so the guarantee does not depend on the numerical maximisation.

    Args:
        kernel: stationary kernel whose profile rho decreases with distance.

    Source: Honkela & Melkas 2021, eqs 8 and 9.
    """
    m, v = len(Z), float(kernel.variance)
    if m == 1:
        return v
    scaled = Z / np.asarray(kernel.lengthscale, dtype=float)
    if isinstance(kernel, EQ) and is_grid(Z):
        return v * math.sqrt(math.prod(_line_maximum(np.unique(column)) for column in scaled.T))
    half = kernel.profile(np.array([pdist(scaled).min() / 2]))[0]
    return v * math.sqrt(1 + (m - 1) * half**2)


def is_grid(Z: FloatArray) -> bool:
    """Whether the rows of Z (m, D) form a grid, that is, all combinations of the distinct values of its columns."""
    count = math.prod(len(np.unique(column)) for column in Z.T)
    return count == len(Z) == len(np.unique(Z, axis=0))


def _line_maximum(z: FloatArray) -> float:
    """Return max_x sum_j exp(-(x - z_j)^2) for ascending z, by a scan with steps of 1/20 and a local search."""

    def total(x: FloatArray) -> FloatArray:
        return np.asarray(np.exp(-((x[:, None] - z) ** 2)).sum(axis=1))

    scan = np.linspace(z[0], z[-1], max(2, math.ceil(20 * (z[-1] - z[0])) + 1))
    best, step = scan[total(scan).argmax()], max(scan[1] - scan[0], 1e-12)
    maximum = minimize_scalar(lambda x: -total(np.array([x]))[0], bounds=(best - step, best + step), method="bounded")
    return max(float(total(scan).max()), -float(maximum.fun)) * (1 + 1e-9)

"""Private release of A = sum y phi and B = sum phi phi^T: their sensitivity to one record, and the noise on them.

Last, bounds on |k(Z, x)| over all x: the paper's variant needs one for a record's kernel values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

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
    """Largest change Delta of (A, sqrt(c) B) in the Euclidean (Frobenius) norm when one record is replaced. Exact.

    Delta = R_y^2 / sqrt(2c) + sqrt(2c) R_phi^2   if R_y^2 <= 2 c R_phi^2,   otherwise 2 R_y R_phi

    Proof. Records (y, phi) and (y', phi'), norms a, b <= R = R_phi, t = phi . phi' in [-ab, ab]. The squared change is
        |y phi - y' phi'|^2 + c |phi phi^T - phi' phi'^T|^2 = y^2 a^2 + y'^2 b^2 - 2 y y' t + c (a^4 + b^4 - 2 t^2).
    At fixed t it grows with a and b: a = b = R, which only widens the range of t. It is convex in y and in y':
    both are +-R_y, and by the symmetry t -> -t the worse sign is y y' = -R_y^2, leaving
        2 R^2 R_y^2 + 2 c R^4 + 2 R_y^2 t - 2 c t^2,   0 <= t <= R^2.
    Its vertex t = R_y^2 / (2c) gives (R_y^2 / sqrt(2c) + sqrt(2c) R^2)^2 if it lies at or below R^2. Otherwise the end
    t = R^2 (phi = phi', y = -y') gives 4 R_y^2 R^2: there the terms in c cancel. Both are attained in the ball.

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
    """Standard deviations of the noise: ``sa`` on A; on B ``sb`` on the diagonal and sb / sqrt(2) off it.

    Raises:
        ValueError: a scale is negative or not finite.
    """

    sa: float
    sb: float

    def __post_init__(self) -> None:
        for name, value in (("sa", self.sa), ("sb", self.sb)):
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{name} must be a finite number of at least 0, got {value}")


NOISE_RATIO = 2.0  # c / c*: more would give A more of the noise and B less


def noise_scales(noise_multiplier: float, R_y: float, R_phi: float) -> NoiseScales:
    """Scales sa = s' Delta and sb = sa / sqrt(c), with c = 2 c*, c* = R_y^2 / (2 R_phi^2).

    At c = c* the two cases of ``statistics_sensitivity`` meet; below it Delta no longer falls, so c < c* only adds
    noise to B.

    Args:
        noise_multiplier: s' > 0 of the budget.
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
    """Released sums in model units: everything else is computed from them and from public settings.

    Attributes:
        A: noisy sum of y phi (m,).
        B: noisy sum of phi phi^T (m, m), symmetric; need not be positive semi-definite.
        noise: scales of the noise in them. Public.
    """

    A: FloatArray
    B: FloatArray
    noise: NoiseScales


def add_noise(A: FloatArray, B: FloatArray, noise: NoiseScales, rng: np.random.Generator) -> NoisyStatistics:
    """Numbered draw: A + N(0, sa^2 I) and B with noise on the vector (B_ii, sqrt(2) B_ij for i < j), symmetric again.

    The vector has m (m + 1) / 2 entries and the Frobenius norm of B.

    Args:
        A: exact sum (m,). Private.
        B: exact sum (m, m), symmetric. Private.
    """
    m = len(A)
    E_a = noise.sa * rng.standard_normal(m)
    # sqrt(2) B_ij + sb z has B_ij + sb z / sqrt(2)
    upper = np.triu(rng.standard_normal((m, m)), 1) / math.sqrt(2)
    E_b = noise.sb * (upper + upper.T + np.diag(rng.standard_normal(m)))
    return NoisyStatistics(A=A + E_a, B=B + E_b, noise=noise)


@dataclass(frozen=True, kw_only=True, eq=False)
class IntegerSums:
    """Sums over records in whole steps: A = A^ R_y R_phi / 2^40, B = B^ R_phi^2 / 2^40. Private.

    Attributes:
        A: A^ (m,).
        B: B^ (m, m), symmetric.
        step_a, step_b: size of one step of each, in model units.
    """

    A: IntArray
    B: IntArray
    step_a: float
    step_b: float

    def values(self) -> tuple[FloatArray, FloatArray]:
        """A (m,) and B (m, m), in model units. Private."""
        return self.A.astype(float) * self.step_a, self.B.astype(float) * self.step_b


def integer_sums(
    features: Features, blocks: Iterable[tuple[FloatArray, FloatArray]], m: int, R_y: float, R_phi: float
) -> IntegerSums:
    """Sum records as whole numbers: phi^ = 2^20 phi / R_phi with |phi^| <= 2^20, y^ = 2^20 y / R_y within +-2^20.

    Both depend on one record alone and are checked as integers, so ``statistics_sensitivity`` holds for the sums
    whatever floating point did before. Sums of a block are products of floats that hold integers: at most 2^13
    records of at most 2^40 each stay within 2^53, where every partial sum is exact in any order. Blocks are added as
    64-bit integers, exact up to 2^22 records.

    Args:
        features: phi, of norm <= R_phi.
        blocks: inputs (b, D) and outputs (b,) of at most 8192 records each, in model units.
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
    """Release the sums for real: discrete Gaussian noise on the integers, from the operating system.

    Standard deviations as for ``add_noise``. The proof in ``measurement.noise`` holds with them, entry by entry: the
    continuous mechanism of these standard deviations is the one calibrated, and each entry is rounded by itself.
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
    """The sums with noise: for real, or a numbered draw where a generator is given."""
    return measure(sums, noise) if rng is None else add_noise(*sums.values(), noise, rng)


def clip_norms(phi: FloatArray, R_phi: float) -> FloatArray:
    """Shorten each row of phi (n, m) that is longer than R_phi to that length."""
    norms = np.sqrt(np.einsum("ij,ij->i", phi, phi))
    return np.asarray(phi * np.minimum(1.0, R_phi / np.maximum(norms, R_phi))[:, None])


KernelNorm = Literal["tight", "generic", "trivial"]


def kernel_norm_bound(kernel: Stationary, Z: FloatArray, method: KernelNorm = "tight") -> float:
    """R_k with |k(Z, x)| <= R_k for every x, in squared model units.

    trivial: v sqrt(m).    generic: v sqrt(1 + (m - 1) rho(r_z / 2)^2), r_z the smallest scaled distance within Z: at
    most one inducing input is nearer than half of it.    tight: for an EQ kernel on a grid the square separates,
    R_k^2 = v^2 prod_n max_x sum_j exp(-(x - z_nj)^2 / l_n^2); otherwise as generic. Where norms are clipped to R_k
    the guarantee does not rest on the maximisation.

    Args:
        kernel: stationary, its profile rho falling with distance.
        method: "tight" (default), "generic" or "trivial".

    Raises:
        ValueError: the method is unknown.

    Source: Honkela & Melkas 2021, eqs 4, 8 and 9.
    """
    if method not in ("tight", "generic", "trivial"):
        raise ValueError(f"kernel_norm must be 'tight', 'generic' or 'trivial', got {method!r}")
    m, v = len(Z), float(kernel.variance)
    if method == "trivial" or m == 1:
        return v * math.sqrt(m)
    scaled = Z / np.asarray(kernel.lengthscale, dtype=float)
    if method == "tight" and isinstance(kernel, EQ) and is_grid(Z):
        return v * math.sqrt(math.prod(_line_maximum(np.unique(column)) for column in scaled.T))
    half = kernel.profile(np.array([pdist(scaled).min() / 2]))[0]
    return v * math.sqrt(1 + (m - 1) * half**2)


def is_grid(Z: FloatArray) -> bool:
    """True if the rows of Z (m, D) are all combinations of their columns' distinct values."""
    count = math.prod(len(np.unique(column)) for column in Z.T)
    return count == len(Z) == len(np.unique(Z, axis=0))


def _line_maximum(z: FloatArray) -> float:
    """max_x sum_j exp(-(x - z_j)^2), z ascending: a scan no coarser than 1/20, then a search beside its best point."""

    def total(x: FloatArray) -> FloatArray:
        return np.asarray(np.exp(-((x[:, None] - z) ** 2)).sum(axis=1))

    scan = np.linspace(z[0], z[-1], max(2, math.ceil(20 * (z[-1] - z[0])) + 1))
    best, step = scan[total(scan).argmax()], max(scan[1] - scan[0], 1e-12)
    maximum = minimize_scalar(lambda x: -total(np.array([x]))[0], bounds=(best - step, best + step), method="bounded")
    return max(float(total(scan).max()), -float(maximum.fun)) * (1 + 1e-9)

"""Bounds on |k(Z, x)| over all x: what the paper's variant must assume about one record's kernel values."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import pdist

from ..arrays import FloatArray
from ..kernels import EQ, Stationary

KernelNorm = Literal["tight", "generic", "trivial"]


def kernel_norm_bound(kernel: Stationary, Z: FloatArray, method: KernelNorm = "tight") -> float:
    """R_k with |k(Z, x)| <= R_k for every x, in squared model units.

    trivial: v sqrt(m).    generic: v sqrt(1 + (m - 1) rho(r_z / 2)^2), r_z the smallest scaled distance within Z: at
    most one inducing input is nearer than half of it.    tight: for an EQ kernel on a grid the square separates,
    R_k^2 = v^2 prod_n max_x sum_j exp(-(x - z_nj)^2 / l_n^2); otherwise as generic. Where norms are clipped to R_k
    the guarantee does not rest on the maximisation.

    Args:
        kernel: stationary, its profile rho falling with distance.
        Z: inducing inputs (m, D).
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
        sums: FloatArray = np.exp(-((x[:, None] - z) ** 2)).sum(axis=1)
        return sums

    scan = np.linspace(z[0], z[-1], max(2, math.ceil(20 * (z[-1] - z[0])) + 1))
    best, step = scan[total(scan).argmax()], max(scan[1] - scan[0], 1e-12)
    maximum = minimize_scalar(lambda x: -total(np.array([x]))[0], bounds=(best - step, best + step), method="bounded")
    return max(float(total(scan).max()), -float(maximum.fun)) * (1 + 1e-9)

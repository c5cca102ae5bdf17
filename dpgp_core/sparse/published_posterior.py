"""The published posterior of the sparse DP-GP, to show the difference: regularised by lam, cross terms left out."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from ..arrays import FloatArray
from ..checks import check_positive
from ..kernels import Kernel
from .posterior import SparsePosterior, noisy_weights_covariance
from .statistics import NoisyStatistics

Covariance = Literal["full", "paper", "naive"]

RHO = 0.01  # the paper's chance that its regularisation does not suffice


def paper_posterior(
    released: NoisyStatistics,
    kernel: Kernel,
    Z: FloatArray,
    root: FloatArray,
    noise_variance: float,
    covariance: Covariance = "full",
) -> SparsePosterior:
    """The paper's posterior, S = (K + B / s2 + lam I)^-1 and m = K S A / s2 with s2 = noise_variance, for comparison.

    lam = (sb / s2) sqrt(m log(2 m^2 / rho) (m + 1) / (2 m)), rho = 0.01. With w = S A the covariance K S K gains
    full:  K S [ sa^2 / s2^2 I + sb^2 / (2 s2^4) (|w|^2 I + w w^T) ] S K
    paper: the same with w w^T cut down to its diagonal, eq. 17, which leaves out the cross terms.    naive: nothing.

    Where noise beats lam, eigenvalues of S^-1 below 1 % of lam are raised to that.

    Args:
        released: statistics of raw features k(Z, x).
        kernel: covariance function of f.
        Z: inducing inputs (m, D).
        root: L (m, m) of ``inducing_root``.
        noise_variance: variance > 0 of the observation noise, in squared model units.
        covariance: "full" (default), "paper" or "naive".

    Raises:
        ValueError: noise_variance is not positive.

    Source: Honkela & Melkas 2021, eqs 12-18; "full" is this project's.
    """
    check_positive("noise_variance", noise_variance)
    m, noise = len(Z), released.noise
    lam = noise.sb / noise_variance * math.sqrt(m * math.log(2 * m**2 / RHO) * (m + 1) / (2 * m))
    values, U = np.linalg.eigh(root @ root.T + released.B / noise_variance + lam * np.eye(m))
    S = (U / np.maximum(values, max(lam / 100, np.finfo(float).eps * values[-1]))) @ U.T
    # m / s2 plays alpha's part: K S E_a / s2 - K S E_b w / s2^2 = K S (E_a - E_b alpha) / s2
    alpha = S @ released.A / noise_variance
    inner = noisy_weights_covariance(alpha, np.zeros((m, m)), noise)
    gain = root.T @ S / noise_variance
    published = np.diag(np.diag(inner))  # |w|^2 I and the diagonal of w w^T
    added = {"full": inner, "paper": published, "naive": np.zeros((m, m))}[covariance]
    return SparsePosterior(
        kernel=kernel,
        Z=Z,
        root=root,
        weights=root.T @ alpha,
        explained=np.eye(m) - root.T @ S @ root - gain @ added @ gain.T,
        log_evidence=math.nan,
    )

"""How releases are judged: errors over draws, and the shares of outputs inside intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpgp_core.arrays import FloatArray
from dpgp_core.mechanisms.base import Release

LEVELS = (0.5, 0.9, 0.95, 0.99)


def error_of(residuals: FloatArray) -> tuple[float, float]:
    """Root mean squared error of residuals (draws, N), mean over draws and its standard error."""
    errors = np.sqrt((residuals**2).mean(axis=1))
    return float(errors.mean()), float(errors.std(ddof=min(1, len(errors) - 1)) / np.sqrt(len(errors)))


def inside(release: Release, truth: FloatArray) -> list[float]:
    """Share of outputs ``truth`` (P,) inside the interval of each of ``LEVELS`` for one more output."""
    ends = [release.interval(level) for level in LEVELS]
    return [float(((low <= truth) & (truth <= high)).mean()) for low, high in ends]


def shares(found: Sequence[float] | FloatArray) -> str:
    """As printed: .50/.91/.95/.99."""
    return "/".join(f"{share:.2f}".lstrip("0") for share in found)

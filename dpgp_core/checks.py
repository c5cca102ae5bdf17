"""Checks of numbers that many modules take: each says what was given and what to give instead."""

from __future__ import annotations

import numpy as np


def check_interval(interval: tuple[float, float], name: str) -> None:
    """Raise ValueError unless ``interval`` is a finite (low, high) with low < high."""
    low, high = interval
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(f"{name} must be two finite numbers, got ({low}, {high})")
    if low >= high:
        raise ValueError(f"{name} must be (low, high) with low < high, got ({low}, {high}); swap or widen them")


def check_positive(name: str, value: float) -> None:
    """Raise ValueError unless ``value`` is a finite number above zero."""
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a finite number above 0, got {value}")

"""The mechanisms that a release can use, by the name that a configuration gives them."""

from __future__ import annotations

from ..mechanisms.base import Mechanism
from ..mechanisms.catalogue import CATALOGUE
from ..mechanisms.entry import KERNEL_NAMES, Parameters
from ..seasons import Periods

CHOICES = {name: entry for name, entry in CATALOGUE.items() if entry.released}
"""Rows of the catalogue by name, the recommended one first."""
DECLARED = ("mechanism", "kernel", "lengthscale", "noise_variance", "epsilon", "delta", "x_box", "cells", "periods")
"""What of a specification decides the mechanism: the arguments of ``build``."""


def build(
    mechanism: str,
    kernel: str,
    lengthscale: tuple[float, ...],
    noise_variance: float,
    epsilon: float,
    delta: float,
    x_box: tuple[tuple[float, float], ...],
    cells: int | None,
    periods: Periods = (),
) -> Mechanism:
    """The mechanism of a specification; the prior has variance 1 in model units."""
    return CHOICES[mechanism].build(
        Parameters(
            kernel=KERNEL_NAMES[kernel](lengthscale=lengthscale),
            noise_variance=noise_variance,
            epsilon=epsilon,
            delta=delta,
            x_box=x_box,
            cells=cells,
            periods=periods,
        )
    )

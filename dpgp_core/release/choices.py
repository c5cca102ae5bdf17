"""The mechanisms that a release can use, by the name that a configuration gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..mechanisms.base import Mechanism
from ..mechanisms.catalogue import CATALOGUE, KERNEL_NAMES, Parameters

if TYPE_CHECKING:
    from .specification import ReleaseSpec

CHOICES = {name: entry for name, entry in CATALOGUE.items() if entry.released}
"""Rows of the catalogue by name, the recommended one first."""


def build(spec: ReleaseSpec) -> Mechanism:
    """The mechanism of a specification; the prior has variance 1 in model units."""
    return spec.choice.build(
        Parameters(
            kernel=KERNEL_NAMES[spec.kernel](lengthscale=spec.lengthscale),
            noise_variance=spec.noise_variance,
            epsilon=spec.epsilon,
            delta=spec.delta,
            x_box=spec.x_box,
            cells=spec.cells,
        )
    )

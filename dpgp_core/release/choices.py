"""The mechanisms that a release can use, by the name that a configuration gives them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..gp.variational import grid_in_box
from ..kernels import KERNELS, Stationary
from ..mechanisms import Cloaking, CloakingInducing, GPPrior, IntegralBinning, RefinedCloaking, SparseVariational
from ..mechanisms.base import Mechanism

if TYPE_CHECKING:
    from .specification import ReleaseSpec

EXACT_ROWS = 5_000
"""Most rows for mechanisms that keep a matrix of rows by prediction points."""
FACTORED_ROWS = 200_000
"""Most rows for mechanisms that keep it in factors of low rank."""
ANY_ROWS = 2_000_000
"""Most rows for mechanisms that read records in one pass."""

KERNEL_NAMES = {kernel.__name__: kernel for kernel in KERNELS}


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A mechanism on offer.

    Attributes:
        title: a few words for a menu.
        build: the mechanism for a specification.
        max_rows: most rows it takes.
        uses_cells: whether it divides the box into ``cells``.
        pure: whether its delta is 0.
        kernels: names of the kernels it works with.
    """

    title: str
    build: Callable[[ReleaseSpec], Mechanism]
    max_rows: int = EXACT_ROWS
    uses_cells: bool = False
    pure: bool = False
    kernels: tuple[str, ...] = tuple(KERNEL_NAMES)


def _refined(spec: ReleaseSpec) -> Mechanism:
    return RefinedCloaking(
        kernel=kernel(spec), noise_variance=spec.noise_variance, epsilon=spec.epsilon, delta=spec.delta
    )


def _cloaking(spec: ReleaseSpec) -> Mechanism:
    return Cloaking(kernel=kernel(spec), noise_variance=spec.noise_variance, epsilon=spec.epsilon, delta=spec.delta)


def _inducing(spec: ReleaseSpec) -> Mechanism:
    return CloakingInducing(
        Z=grid_in_box(spec.x_box, _cells(spec)).tolist(),
        kernel=kernel(spec),
        noise_variance=spec.noise_variance,
        epsilon=spec.epsilon,
        delta=spec.delta,
    )


def _gp_prior(spec: ReleaseSpec) -> Mechanism:
    return GPPrior(kernel=kernel(spec), noise_variance=spec.noise_variance, epsilon=spec.epsilon, delta=spec.delta)


def _sparse(spec: ReleaseSpec) -> Mechanism:
    return SparseVariational(
        n_inducing=_cells(spec),
        kernel=kernel(spec),
        noise_variance=spec.noise_variance,
        epsilon=spec.epsilon,
        delta=spec.delta,
    )


def _integral_bins(spec: ReleaseSpec) -> Mechanism:
    return IntegralBinning(
        bins=_cells(spec),
        kernel_variance=1.0,
        lengthscale=spec.lengthscale,
        white_noise=spec.noise_variance,
        epsilon=spec.epsilon,
    )


CHOICES = {
    "refined": Choice(title="Refined cloaking (recommended)", build=_refined, max_rows=FACTORED_ROWS),
    "cloaking": Choice(title="Cloaking", build=_cloaking, max_rows=FACTORED_ROWS),
    "inducing": Choice(title="Cloaking, inducing inputs", build=_inducing, uses_cells=True),
    "sparse": Choice(title="Sparse DP-GP (protects inputs too)", build=_sparse, max_rows=ANY_ROWS, uses_cells=True),
    "integral_bins": Choice(
        title="Integral bins (delta 0)",
        build=_integral_bins,
        max_rows=ANY_ROWS,
        uses_cells=True,
        pure=True,
        kernels=("EQ",),
    ),
    "gp_prior": Choice(title="GP-prior noise", build=_gp_prior, max_rows=FACTORED_ROWS),
}
"""Mechanisms by name, the recommended one first."""


def kernel(spec: ReleaseSpec) -> Stationary:
    """The prior of a specification, with variance 1 in model units."""
    return KERNEL_NAMES[spec.kernel](lengthscale=spec.lengthscale)


def _cells(spec: ReleaseSpec) -> int:
    if spec.cells is None:
        raise ValueError(f"mechanism {spec.mechanism!r} needs cells, the number of cells along each input")
    return spec.cells

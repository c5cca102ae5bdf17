"""Catalogue of all mechanisms: id, title, how each is built, and where it is offered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..gp.grid import Grid
from ..kernels import KERNELS, Stationary
from ..seasons import Periods
from .base import Mechanism
from .bayes_cloaking import BayesCloaking
from .bins import IntegralBinning, LaplaceBinning
from .cloaking import Cloaking, CloakingInducing, RefinedCloaking
from .gp_prior import GPPrior, HallPosterior
from .posterior_sampling import PosteriorSampling
from .sparse_variational import SparseVariational

KERNEL_NAMES = {kernel.__name__: kernel for kernel in KERNELS}
Role = Literal["private", "other", "truth", "guarantee", "bins"]
Dash = Literal["solid", "dash", "dot", "longdash", "dashdot"]


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Public parameters of all mechanisms. Each mechanism of the catalogue uses some of them.

    Args:
        kernel: prior covariance of the curve, with variance 1 in model units.
        noise_variance: variance of one record about the curve, in squared model units.
        delta: delta of this budget; mechanisms with delta = 0 ignore it.
        cells: number of cells along each input, for mechanisms that divide the box.
        inducing: total number of inducing inputs; None for one in every cell.
        clip: clip bound of refined cloaking, in noise standard deviations; None for its default.
        fit_noise: whether integral bins fit the noise variance.
        ridge: r of kernel sums and posterior paths; the s of posterior paths is 0.8.
        periods: period of each input, for mechanisms that make their models themselves; () if no input has one.
        gap: relative gap up to which strategies of Bayes cloaking are optimised. A larger one is faster and less
            accurate, and equally private. None for its default.
    """

    kernel: Stationary
    noise_variance: float
    epsilon: float
    delta: float
    x_box: tuple[tuple[float, float], ...]
    n: int = 0
    cells: int | None = None
    inducing: int | None = None
    clip: float | None = None
    fit_noise: bool = False
    ridge: float = 2.0
    periods: Periods = ()
    gap: float | None = None

    @property
    def needed_cells(self) -> int:
        """Number of cells along each input.

        Raises:
            ValueError: ``cells`` is None.
        """
        if self.cells is None:
            raise ValueError("this mechanism needs cells, the number of cells along each input")
        return self.cells


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A row of the catalogue: how a mechanism is built, and where it is offered.

    Attributes:
        id: name in configurations and addresses. Unlike the title, it never changes.
        kind: class of the mechanism, whose attributes say what it can do.
        title: short title for menus, tables and legends.
        build: function that makes the mechanism from parameters.
        released: whether it is offered for real releases.
        compared: whether it is offered in comparisons.
        drawn: whether it is offered on pages that show one release.
        private_inputs: whether it protects inputs as well as outputs.
        max_inputs: largest number of inputs.
        simulated: number of simulated releases in comparisons; smaller for mechanisms that take long.
        line_style: colour and dash of its line.
        banded: whether figures also show the range over simulated releases.
    """

    id: str
    kind: type[Mechanism]
    title: str
    build: Callable[[Parameters], Mechanism]
    released: bool = False
    compared: bool = False
    drawn: bool = False
    private_inputs: bool = False
    max_inputs: int = 10
    simulated: int = 60
    line_style: tuple[Role, Dash] = ("other", "solid")
    banded: bool = False


def _modelled(p: Parameters) -> dict[str, Any]:
    """Return the parameters of a mechanism with a declared kernel and Gaussian noise."""
    return {"kernel": p.kernel, "noise_variance": p.noise_variance, "epsilon": p.epsilon, "delta": p.delta}


def _bayes(p: Parameters) -> Mechanism:
    mechanism = BayesCloaking(epsilon=p.epsilon, delta=p.delta, periods=p.periods or None)
    return mechanism if p.gap is None else replace(mechanism, gap=p.gap)


def _refined(p: Parameters) -> Mechanism:
    mechanism = RefinedCloaking(**_modelled(p))
    return mechanism if p.clip is None else replace(mechanism, clip=p.clip)


def _inducing(p: Parameters) -> Mechanism:
    Z = None if p.inducing else Grid(box=tuple(p.x_box), bins=p.needed_cells).centres.tolist()
    return CloakingInducing(**_modelled(p), Z=Z, n_inducing=p.inducing)


def _sparse(p: Parameters) -> Mechanism:
    along = p.needed_cells if p.inducing is None else max(3, round(p.inducing ** (1 / len(p.x_box))))
    return SparseVariational(**_modelled(p), n_inducing=along)


def _integral_bins(p: Parameters) -> Mechanism:
    return IntegralBinning(
        bins=p.needed_cells,
        kernel_variance=p.kernel.variance,
        lengthscale=p.kernel.lengthscale,
        white_noise=0.0 if p.fit_noise else p.noise_variance,
        fit_noise=p.fit_noise,
        epsilon=p.epsilon,
    )


def _paths(p: Parameters) -> Mechanism:
    return PosteriorSampling(kernel=p.kernel, r=p.ridge, sigma=0.8, delta=p.delta, n=p.n, x_box=p.x_box, eta=0.5)


_ROWS = (
    Entry(
        id="bayes_cells",
        kind=BayesCloaking,
        title="Bayes cloaking (inputs too)",
        build=lambda p: BayesCloaking(
            epsilon=p.epsilon, delta=p.delta, protects="inputs and outputs", periods=p.periods or None
        ),
        released=True,
        compared=True,
        private_inputs=True,
        max_inputs=3,
        simulated=4,
        line_style=("private", "dashdot"),
    ),
    Entry(
        id="bayes",
        kind=BayesCloaking,
        title="Bayes cloaking (ours)",
        build=_bayes,
        released=True,
        compared=True,
        drawn=True,
        line_style=("private", "solid"),
        simulated=4,
        banded=True,
    ),
    Entry(
        id="refined",
        kind=RefinedCloaking,
        title="Refined cloaking",
        build=_refined,
        released=True,
        compared=True,
        drawn=True,
        line_style=("private", "longdash"),
        banded=True,
    ),
    Entry(
        id="cloaking",
        kind=Cloaking,
        title="Cloaking",
        build=lambda p: Cloaking(**_modelled(p)),
        released=True,
        compared=True,
        drawn=True,
        line_style=("private", "dash"),
    ),
    Entry(
        id="inducing",
        kind=CloakingInducing,
        title="Cloaking, inducing inputs",
        build=_inducing,
        released=True,
        compared=True,
        line_style=("private", "dot"),
    ),
    Entry(
        id="published",
        kind=Cloaking,
        title="Cloaking, method of 2018",
        build=lambda p: Cloaking(**_modelled(p), objective="logdet", calibration="hall", unproven=True),
        compared=True,
        line_style=("other", "dash"),
        banded=True,
    ),
    Entry(
        id="gp_prior",
        kind=GPPrior,
        title="GP-prior noise",
        build=lambda p: GPPrior(**_modelled(p)),
        released=True,
        compared=True,
        drawn=True,
        line_style=("truth", "longdash"),
    ),
    Entry(
        id="sparse",
        kind=SparseVariational,
        title="Sparse DP-GP (inputs too)",
        build=_sparse,
        released=True,
        compared=True,
        private_inputs=True,
        simulated=8,
        line_style=("guarantee", "dashdot"),
    ),
    Entry(
        id="laplace_bins",
        kind=LaplaceBinning,
        title="Laplace bins",
        build=lambda p: LaplaceBinning(epsilon=p.epsilon, bins=p.needed_cells),
        compared=True,
        line_style=("bins", "dash"),
    ),
    Entry(
        id="integral_bins",
        kind=IntegralBinning,
        title="Integral bins (δ = 0)",
        build=_integral_bins,
        released=True,
        compared=True,
        line_style=("bins", "solid"),
        banded=True,
    ),
    Entry(
        id="kernel_sum",
        kind=HallPosterior,
        title="Kernel sum with GP noise",
        build=lambda p: HallPosterior(kernel=p.kernel, r=p.ridge, epsilon=p.epsilon, delta=p.delta),
        private_inputs=True,
    ),
    Entry(id="paths", kind=PosteriorSampling, title="Posterior paths", build=_paths, private_inputs=True),
)

CATALOGUE = {entry.id: entry for entry in _ROWS}
"""All mechanisms by id. The first is recommended in general, the second if inputs are public."""
IF_INPUTS_ARE_PUBLIC = "bayes"
"""Id of the mechanism that is recommended if inputs are public."""

MECHANISMS: tuple[type[Mechanism], ...] = tuple(dict.fromkeys(entry.kind for entry in _ROWS))
"""Classes of all mechanisms, each once."""

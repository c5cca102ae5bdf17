"""Every mechanism, once: name, title, what it can do, and how it is built. A new one is a file and a row here."""

from __future__ import annotations

from dataclasses import replace

from ..gp.inducing import grid_in_box
from .base import Mechanism
from .bayes_cloaking import BayesCloaking
from .cloaking import Cloaking
from .cloaking_inducing import CloakingInducing
from .entry import ANY_ROWS, FACTORED_ROWS, Entry, Parameters
from .gp_prior import GPPrior
from .hall_posterior import HallPosterior
from .integral_binning import IntegralBinning
from .laplace_binning import LaplaceBinning
from .posterior_sampling import PosteriorSampling
from .refined_cloaking import RefinedCloaking
from .sparse_variational import SparseVariational


def _bayes(p: Parameters) -> Mechanism:
    mechanism = BayesCloaking(epsilon=p.epsilon, delta=p.delta, periods=p.periods or None)
    return mechanism if p.gap is None else replace(mechanism, gap=p.gap)


def _bayes_cells(p: Parameters) -> Mechanism:
    return BayesCloaking(epsilon=p.epsilon, delta=p.delta, protects="inputs and outputs", periods=p.periods or None)


def _refined(p: Parameters) -> Mechanism:
    mechanism = RefinedCloaking(kernel=p.kernel, noise_variance=p.noise_variance, epsilon=p.epsilon, delta=p.delta)
    return mechanism if p.clip is None else replace(mechanism, clip=p.clip)


def _cloaking(p: Parameters) -> Mechanism:
    return Cloaking(kernel=p.kernel, noise_variance=p.noise_variance, epsilon=p.epsilon, delta=p.delta)


def _published(p: Parameters) -> Mechanism:
    return Cloaking(
        kernel=p.kernel,
        noise_variance=p.noise_variance,
        epsilon=p.epsilon,
        delta=p.delta,
        objective="logdet",
        calibration="hall",
        unproven=True,
    )


def _inducing(p: Parameters) -> Mechanism:
    Z = None if p.inducing else grid_in_box(p.x_box, p.needed_cells).tolist()
    return CloakingInducing(
        Z=Z,
        n_inducing=p.inducing,
        kernel=p.kernel,
        noise_variance=p.noise_variance,
        epsilon=p.epsilon,
        delta=p.delta,
    )


def _gp_prior(p: Parameters) -> Mechanism:
    return GPPrior(kernel=p.kernel, noise_variance=p.noise_variance, epsilon=p.epsilon, delta=p.delta)


def _sparse(p: Parameters) -> Mechanism:
    along = p.needed_cells if p.inducing is None else max(3, round(p.inducing ** (1 / len(p.x_box))))
    return SparseVariational(
        n_inducing=along, kernel=p.kernel, noise_variance=p.noise_variance, epsilon=p.epsilon, delta=p.delta
    )


def _laplace_bins(p: Parameters) -> Mechanism:
    return LaplaceBinning(epsilon=p.epsilon, bins=p.needed_cells)


def _integral_bins(p: Parameters) -> Mechanism:
    return IntegralBinning(
        bins=p.needed_cells,
        kernel_variance=p.kernel.variance,
        lengthscale=p.kernel.lengthscale,
        white_noise=0.0 if p.fit_noise else p.noise_variance,
        fit_noise=p.fit_noise,
        epsilon=p.epsilon,
    )


def _kernel_sum(p: Parameters) -> Mechanism:
    return HallPosterior(kernel=p.kernel, r=p.ridge, epsilon=p.epsilon, delta=p.delta)


def _paths(p: Parameters) -> Mechanism:
    return PosteriorSampling(
        kernel=p.kernel, r=p.ridge, sigma=p.path_scale, delta=p.delta, n=p.n, x_box=p.x_box, eta=0.5
    )


_ROWS = (
    Entry(
        id="bayes_cells",
        kind=BayesCloaking,
        title="Bayes cloaking (inputs too)",
        build=_bayes_cells,
        released=True,
        compared=True,
        private_inputs=True,
        max_rows=ANY_ROWS,
        max_inputs=3,
        automatic=True,
        scatter=True,
        levels=True,
        people=True,
        simulated=2,
        on_request=True,
        look=("guarantee", "solid"),
    ),
    Entry(
        id="bayes",
        kind=BayesCloaking,
        title="Bayes cloaking (ours)",
        build=_bayes,
        released=True,
        compared=True,
        drawn=True,
        max_rows=ANY_ROWS,  # those of one cell share a column, see ``bayes.filter_cells``
        many_inputs=3,
        automatic=True,
        scatter=True,
        levels=True,
        people=True,
        look=("private", "solid"),
        simulated=8,
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
        max_rows=FACTORED_ROWS,
        look=("private", "longdash"),
        banded=True,
    ),
    Entry(
        id="cloaking",
        kind=Cloaking,
        title="Cloaking",
        build=_cloaking,
        released=True,
        compared=True,
        drawn=True,
        max_rows=FACTORED_ROWS,
        look=("private", "dash"),
    ),
    Entry(
        id="inducing",
        kind=CloakingInducing,
        title="Cloaking, inducing inputs",
        build=_inducing,
        released=True,
        compared=True,
        uses_cells=True,
        look=("private", "dot"),
    ),
    Entry(
        id="published",
        kind=Cloaking,
        title="Cloaking, method of 2018",
        build=_published,
        compared=True,
        look=("other", "dash"),
        banded=True,
    ),
    Entry(
        id="gp_prior",
        kind=GPPrior,
        title="GP-prior noise",
        build=_gp_prior,
        released=True,
        compared=True,
        drawn=True,
        max_rows=FACTORED_ROWS,
        look=("truth", "longdash"),
    ),
    Entry(
        id="sparse",
        kind=SparseVariational,
        title="Sparse DP-GP (inputs too)",
        build=_sparse,
        released=True,
        compared=True,
        private_inputs=True,
        max_rows=ANY_ROWS,
        uses_cells=True,
        simulated=8,
        look=("guarantee", "dashdot"),
    ),
    Entry(
        id="laplace_bins",
        kind=LaplaceBinning,
        title="Laplace bins",
        build=_laplace_bins,
        compared=True,
        pure=True,
        max_rows=ANY_ROWS,
        uses_cells=True,
        look=("bins", "dash"),
    ),
    Entry(
        id="integral_bins",
        kind=IntegralBinning,
        title="Integral bins (δ = 0)",
        build=_integral_bins,
        released=True,
        compared=True,
        pure=True,
        max_rows=ANY_ROWS,
        uses_cells=True,
        kernels=("EQ",),
        look=("bins", "solid"),
        banded=True,
    ),
    Entry(
        id="kernel_sum", kind=HallPosterior, title="Kernel sum with GP noise", build=_kernel_sum, private_inputs=True
    ),
    Entry(id="paths", kind=PosteriorSampling, title="Posterior paths", build=_paths, private_inputs=True),
)

CATALOGUE = {entry.id: entry for entry in _ROWS}
"""Every mechanism by its name: first the recommended one, next what is recommended where inputs are public."""
IF_INPUTS_ARE_PUBLIC = "bayes"
"""The mechanism recommended then."""

MECHANISMS: tuple[type[Mechanism], ...] = tuple(dict.fromkeys(entry.kind for entry in _ROWS))
"""Their classes."""

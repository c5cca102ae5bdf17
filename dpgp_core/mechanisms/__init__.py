"""Private releases of GP predictions, in the order of the papers: one file each, listed in MECHANISMS."""

from .base import Mechanism, NotPrivate, Plan, Release
from .cloaking import Cloaking
from .cloaking_inducing import CloakingInducing
from .gp_prior import GPPrior
from .hall_posterior import HallPosterior
from .integral_binning import IntegralBinning
from .laplace_binning import LaplaceBinning
from .posterior_sampling import PathRelease, PosteriorSampling
from .refined_cloaking import RefinedCloaking
from .sparse_variational import SparseVariational

MECHANISMS: tuple[type[Mechanism], ...] = (
    GPPrior,
    Cloaking,
    CloakingInducing,
    RefinedCloaking,
    LaplaceBinning,
    IntegralBinning,
    PosteriorSampling,
    HallPosterior,
    SparseVariational,
)

__all__ = [
    "MECHANISMS",
    "Cloaking",
    "CloakingInducing",
    "GPPrior",
    "HallPosterior",
    "IntegralBinning",
    "LaplaceBinning",
    "Mechanism",
    "NotPrivate",
    "PathRelease",
    "Plan",
    "PosteriorSampling",
    "RefinedCloaking",
    "Release",
    "SparseVariational",
]

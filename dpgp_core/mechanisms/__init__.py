"""Private releases of GP predictions: one file each, listed in the catalogue."""

from .base import Mechanism, NotPrivate, Plan, Release, TeachingRelease
from .bayes_cloaking import BayesCloaking, BayesRelease
from .catalogue import CATALOGUE, MECHANISMS
from .cloaking import Cloaking, CloakingInducing
from .gp_prior import GPPrior, HallPosterior
from .integral_binning import IntegralBinning
from .laplace_binning import LaplaceBinning
from .posterior_sampling import PathRelease, PosteriorSampling
from .refined_cloaking import RefinedCloaking
from .sparse_variational import SparseVariational

__all__ = [
    "CATALOGUE",
    "MECHANISMS",
    "BayesCloaking",
    "BayesRelease",
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
    "TeachingRelease",
]

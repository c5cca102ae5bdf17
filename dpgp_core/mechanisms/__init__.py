"""Mechanisms: private releases of GP predictions. Each has a file of its own and a row in the catalogue."""

from .base import Mechanism, NotPrivate, Plan, Release, TeachingRelease
from .bayes_cloaking import BayesCloaking, BayesRelease
from .bins import IntegralBinning, LaplaceBinning
from .catalogue import CATALOGUE, MECHANISMS
from .cloaking import Cloaking, CloakingInducing, RefinedCloaking
from .gp_prior import GPPrior, HallPosterior
from .posterior_sampling import PathRelease, PosteriorSampling
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

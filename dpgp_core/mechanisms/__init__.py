"""Private releases of GP predictions, in the order of the papers: one file each, listed in MECHANISMS."""

from .base import Mechanism, NotPrivate, Plan, Release
from .cloaking import Cloaking
from .gp_prior import GPPrior
from .hall_posterior import HallPosterior
from .posterior_sampling import PathRelease, PosteriorSampling

MECHANISMS: tuple[type[Mechanism], ...] = (GPPrior, Cloaking, PosteriorSampling, HallPosterior)

__all__ = [
    "MECHANISMS",
    "Cloaking",
    "GPPrior",
    "HallPosterior",
    "Mechanism",
    "NotPrivate",
    "PathRelease",
    "Plan",
    "PosteriorSampling",
    "Release",
]

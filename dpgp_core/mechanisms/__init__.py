"""Private releases of GP predictions, in the order of the papers: one file each, listed in MECHANISMS."""

from .base import Mechanism, NotPrivate, Plan, Release
from .cloaking import Cloaking
from .gp_prior import GPPrior

MECHANISMS: tuple[type[Mechanism], ...] = (GPPrior, Cloaking)

__all__ = ["MECHANISMS", "Cloaking", "GPPrior", "Mechanism", "NotPrivate", "Plan", "Release"]

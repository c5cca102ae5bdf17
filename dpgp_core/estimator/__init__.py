"""Private Gaussian process regression with the methods that users of scikit-learn know."""

from .regressor import DPGaussianProcessRegressor
from .spending import SpentAgain, SpentByCopies

__all__ = ["DPGaussianProcessRegressor", "SpentAgain", "SpentByCopies"]

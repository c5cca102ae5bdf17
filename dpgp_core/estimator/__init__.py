"""Private Gaussian process regression with the methods that users of scikit-learn know."""

from .copies import SpentByCopies
from .regressor import DPGaussianProcessRegressor
from .spending import SpentAgain

__all__ = ["DPGaussianProcessRegressor", "SpentAgain", "SpentByCopies"]

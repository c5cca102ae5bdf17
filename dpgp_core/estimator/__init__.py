"""Private Gaussian process regression as an estimator with the interface of scikit-learn."""

from .regressor import DPGaussianProcessRegressor
from .spending import SpentAgain, SpentByCopies

__all__ = ["DPGaussianProcessRegressor", "SpentAgain", "SpentByCopies"]

"""Differential privacy for Gaussian processes: kernels, exact and private regression, accounting."""

__version__ = "0.1.0"

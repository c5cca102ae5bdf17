"""Differential privacy for Gaussian processes: kernels, exact and private regression, accounting."""

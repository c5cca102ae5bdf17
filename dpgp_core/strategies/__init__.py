"""Optimisation of strategies and of noise: which noisy sums, or which noise covariance, give the smallest error."""

"""Gaussian process regression: exact and low-rank posteriors, inducing inputs, sample paths and intervals."""

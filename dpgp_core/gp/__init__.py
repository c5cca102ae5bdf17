"""Gaussian process regression: the cloaking matrix C and the posterior."""

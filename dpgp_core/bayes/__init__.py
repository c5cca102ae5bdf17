"""Bayesian inference from noisy sums of clipped outputs, stage after stage, averaged over models."""

"""Columns to hide, and what the solver has to find for them, by eigendecompositions."""

import numpy as np
import pytest

from dpgp_core.strategies.solver import LOGDET, TRACE

both = pytest.mark.parametrize("objective", [LOGDET, TRACE], ids=["logdet", "trace"])


def columns(seed, r, n):
    return np.random.default_rng(seed).normal(size=(r, n))


def power_of_weighted_gram(B, mu, power):
    """(B diag(mu) B^T)^power by eigendecomposition of the matrix that the solver never forms."""
    values, vectors = np.linalg.eigh((B * mu) @ B.T)
    return (vectors * values**power) @ vectors.T


def g(B, mu, objective):
    return np.einsum("ij,ij->j", B, power_of_weighted_gram(B, mu, -objective.power) @ B)

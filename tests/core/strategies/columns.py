"""Columns to hide, and what the solver has to find for them, by eigendecompositions."""

import numpy as np
import pytest

from dpgp_core.linalg import FactoredMatrix
from dpgp_core.strategies.solver import LOGDET, TRACE

both = pytest.mark.parametrize("objective", [LOGDET, TRACE], ids=["logdet", "trace"])
GOALS = ("trace", "logdet")
by_name = pytest.mark.parametrize("objective", GOALS)


def columns(seed, r, n):
    return np.random.default_rng(seed).normal(size=(r, n))


def random_matrix(seed, P, n, decay=0.0):
    """Random C (P, n) with singular values falling over ``decay`` decades."""
    rng = np.random.default_rng(seed)
    U, s, Vt = np.linalg.svd(rng.normal(size=(P, n)), full_matrices=False)
    return (U * s * np.logspace(0, -decay, len(s))) @ Vt


def with_singular_values(seed, P, n, s):
    """A matrix (P, n) of singular values s as a product of factors that are far from orthogonal, and densely."""
    rng, r = np.random.default_rng(seed), len(s)
    U, _, Vt = np.linalg.svd(rng.normal(size=(P, n)), full_matrices=False)
    mix = rng.normal(size=(r, r))
    left, rows = (U[:, :r] * s) @ np.linalg.inv(mix), Vt[:r].T @ mix.T
    return FactoredMatrix(left, rows), left @ rows.T


def power_of_weighted_gram(B, mu, power):
    """(B diag(mu) B^T)^power by eigendecomposition of the matrix that the solver never forms."""
    values, vectors = np.linalg.eigh((B * mu) @ B.T)
    return (vectors * values**power) @ vectors.T


def g(B, mu, objective):
    return np.einsum("ij,ij->j", B, power_of_weighted_gram(B, mu, -objective.power) @ B)

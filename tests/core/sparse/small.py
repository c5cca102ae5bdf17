"""A small sparse model and records for it."""

import numpy as np

from dpgp_core.gp.inducing import inducing_root
from dpgp_core.kernels import EQ
from dpgp_core.sparse.statistics import NoiseScales

KERNEL, S2 = EQ(variance=1.5, lengthscale=1.2), 0.04
Z = np.linspace(-3, 3, 6)[:, None]
X_TEST = np.linspace(-4, 4, 9)[:, None]
SILENT = NoiseScales(sa=0.0, sb=0.0)
ROOT = inducing_root(KERNEL, Z)


def simulated(n):
    rng = np.random.default_rng(2)
    X = rng.uniform(-4, 4, (n, 1))
    return X, np.sin(1.5 * X[:, 0]) + 0.2 * rng.standard_normal(n)


def raw(x):
    return KERNEL(x, Z)

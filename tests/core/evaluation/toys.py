"""One small data set, its folds, and mechanisms of every kind of plan."""

import numpy as np

import datasets
from dpgp_core.evaluation.cross_validation import k_folds
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking, LaplaceBinning, RefinedCloaking

TOY = datasets.load("toy_1d")
FOLDS = k_folds(TOY.n, 4, np.random.default_rng(0))
CLOAKING = Cloaking(kernel=EQ(lengthscale=1.0), noise_variance=0.3, epsilon=1.0, delta=0.01)
EVERY_KIND = [
    CLOAKING,
    RefinedCloaking(kernel=EQ(lengthscale=1.0), noise_variance=0.3, epsilon=1.0, delta=0.01),
    LaplaceBinning(epsilon=1.0, bins=5),
]

"""Records, and an estimator that fits them in little time."""

import numpy as np

from dpgp_core.estimator import DPGaussianProcessRegressor

_X = np.sort(np.random.default_rng(5).uniform(0, 10, 30))
RECORDS = _X[:, None], 1 + np.sin(_X)


def make(**changes):
    declared = {"epsilon": 1.0, "delta": 0.01, "y_bounds": (-1, 3), "x_box": (0, 10), "stages": 2, "gap": 0.5}
    return DPGaussianProcessRegressor(**declared | changes)

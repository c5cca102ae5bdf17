import numpy as np
import pytest

from dpgp_core.estimator import DPGaussianProcessRegressor


@pytest.fixture(scope="session")
def records():
    rng = np.random.default_rng(5)
    x = np.sort(rng.uniform(0, 10, 30))
    return x[:, None], 1 + np.sin(x)


@pytest.fixture(scope="session")
def make():
    """Build an estimator that fits in little time."""
    declared = {"epsilon": 1.0, "delta": 0.01, "y_bounds": (-1, 3), "x_box": (0, 10), "stages": 2, "gap": 0.5}
    return lambda **changes: DPGaussianProcessRegressor(**{**declared, **changes})


@pytest.fixture(scope="session")
def fitted(make, records):
    return make().fit(*records)

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


@pytest.fixture(scope="session", params=["outputs", "inputs and outputs"])
def either(request, make, records):
    """An estimator of each promise, fitted in a unit of the output that is not that of the model."""
    return make(protects=request.param, y_scale=2.0).fit(*records)

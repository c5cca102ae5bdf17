import numpy as np
import pytest
from scipy.linalg import solve_triangular

from datasets import kung, london_hexes
from dpgp_core.kernels import EQ
from tests.core.tables import small


@pytest.fixture(scope="session")
def kung_data():
    return kung.load()


@pytest.fixture(scope="session")
def kung_model():
    # targets: EQ of 25 years, noise variance 0.3, in units of the kernel sd 25.742 cm
    return {"kernel": EQ(lengthscale=25.0), "noise_variance": 0.3}


@pytest.fixture(scope="session")
def hexes():
    return london_hexes.load()


@pytest.fixture(scope="session")
def make_dataset():
    return small


@pytest.fixture(scope="session")
def squared_shift():
    """Squared Mahalanobis length x^T (L L^T)^+ x of each column of x, by QR of L (full column rank)."""

    def squared(L, x):
        Q, R = np.linalg.qr(L)
        return (solve_triangular(R, Q.T @ x) ** 2).sum(axis=0)

    return squared

import numpy as np

from dpgp_core.strategies.mixture_risk import safe, unit


def test_column_norms():
    V = np.random.default_rng(0).standard_normal((3, 50))
    np.testing.assert_allclose(np.linalg.norm(unit(V), axis=0), 1, rtol=1e-14)
    assert (np.linalg.norm(safe(V), axis=0) <= 1).all()
    assert (safe(unit(V)) ** 2).sum(axis=0).max() <= 1
    np.testing.assert_array_equal(safe(V / 100), V / 100)

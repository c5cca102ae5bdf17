import numpy as np
import pytest

from dpgp_core.gp.grid import Grid
from dpgp_core.kernels import EQ, Matern52
from dpgp_core.sparse.statistics import is_grid, kernel_norm_bound

CASES = [
    (EQ(variance=2.0, lengthscale=1.3), Grid(box=((0.0, 9.0),), bins=9).centres),
    (EQ(lengthscale=[3.0, 1.0]), Grid(box=((0.0, 9.0), (0.0, 4.0)), bins=(3, 4)).centres),
    (EQ(lengthscale=0.2), Grid(box=((0.0, 9.0),), bins=4).centres),
    (Matern52(variance=0.5), Grid(box=((0.0, 9.0),), bins=5).centres),
    (EQ(), np.random.default_rng(1).uniform(0, 9, (6, 2))),
]


@pytest.mark.parametrize(("kernel", "Z"), CASES)
def test_no_point_has_a_longer_vector_and_tighter_is_smaller(kernel, Z):
    low, high = Z.min(axis=0) - 1, Z.max(axis=0) + 1
    X = np.vstack([np.random.default_rng(2).uniform(low, high, (20_000, Z.shape[1])), Z])
    longest = np.linalg.norm(kernel(X, Z), axis=1).max()
    tight, generic, trivial = (kernel_norm_bound(kernel, Z, method) for method in ("tight", "generic", "trivial"))
    assert longest <= tight <= generic * (1 + 1e-9) <= trivial * (1 + 1e-8)
    if isinstance(kernel, EQ) and is_grid(Z):
        assert longest >= 0.99 * tight


def test_unknown_method_is_refused():
    with pytest.raises(ValueError, match="kernel_norm must be 'tight', 'generic' or 'trivial', got 'loose'"):
        kernel_norm_bound(EQ(), np.zeros((1, 1)), "loose")

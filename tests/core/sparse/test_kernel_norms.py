import numpy as np
import pytest

from dpgp_core.gp.inducing import grid_in_box
from dpgp_core.kernels import EQ, Matern52
from dpgp_core.sparse.statistics import is_grid, kernel_norm_bound

CASES = [
    (EQ(variance=2.0, lengthscale=1.3), grid_in_box(((0.0, 9.0),), 9)),
    (EQ(lengthscale=[3.0, 1.0]), grid_in_box(((0.0, 9.0), (0.0, 4.0)), (3, 4))),
    (EQ(lengthscale=0.2), grid_in_box(((0.0, 9.0),), 4)),
    (Matern52(variance=0.5), grid_in_box(((0.0, 9.0),), 5)),
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

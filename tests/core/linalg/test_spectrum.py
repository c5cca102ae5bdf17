import numpy as np
import pytest

from dpgp_core.linalg import BLOCK, FactoredMatrix, rank_of, spectrum_of


def product(seed, P, n, r, decay):
    """Factors of a matrix (P, n) of rank r with singular values over ``decay`` decades."""
    rng = np.random.default_rng(seed)
    left = np.linalg.qr(rng.normal(size=(P, r)))[0] * np.logspace(0, -decay, r)
    mix = rng.normal(size=(r, r))  # factors that are not orthogonal themselves
    return FactoredMatrix(left @ np.linalg.inv(mix), np.linalg.qr(rng.normal(size=(n, r)))[0] @ mix.T)


@pytest.mark.parametrize("decay", [0, 3, 9])
@pytest.mark.parametrize(("P", "n", "r"), [(9, 40, 5), (4, 40, 8), (300, 50, 6), (7, 2 * BLOCK + 9, 6)], ids=str)
@pytest.mark.parametrize("form", ["factored", "dense"])
def test_spectrum_is_the_singular_value_decomposition(P, n, r, decay, form):
    if r > P:
        decay, C = 0, FactoredMatrix(*np.split(np.random.default_rng(1).normal(size=((P + n), r)), [P]))
    else:
        C = product(2, P, n, r, decay)
    dense = C.dense()
    tolerance = 10.0 ** -(decay + 1)
    U, s, units = spectrum_of(C if form == "factored" else dense, tolerance)
    rank = min(P, r)
    expected = np.linalg.svd(dense, compute_uv=False)[:rank]
    np.testing.assert_allclose(s[:rank], expected, rtol=1e-4, atol=1e-13)
    assert rank_of(s, tolerance) == rank
    U, s, V = U[:, :rank], s[:rank], units.first(rank).values()
    np.testing.assert_allclose(U.T @ U, np.eye(rank), atol=1e-10)
    np.testing.assert_allclose((U * s) @ V, dense, atol=1e-12 * expected[0])
    # small directions carry a relative error of eps s_1 / s_r
    np.testing.assert_allclose(V @ V.T, np.eye(rank), atol=1e-4)


def test_truncated_spectrum_keeps_the_largest():
    C = product(3, 9, 30, 5, 4)
    whole, part = spectrum_of(C, 1e-5), spectrum_of(C, 1e-5).kept(2)
    assert part.U.shape == (9, 2)
    np.testing.assert_array_equal(part.s, whole.s[:2])
    np.testing.assert_allclose(part.units.values(), whole.units.values()[:2], atol=1e-14)


def test_nothing_has_rank_zero():
    C = FactoredMatrix(np.zeros((4, 2)), np.ones((6, 2)))
    U, s, units = spectrum_of(C, 1e-7)
    assert U.shape == (4, 0)
    assert units.shape == (0, 6)
    assert not s.any()
    assert rank_of(s, 1e-7) == 0


def test_rank_counts_what_is_above_the_tolerance():
    assert rank_of(np.array([8.0, 4.0, 0.1]), 0.5) == 1
    assert rank_of(np.array([8.0, 4.0, 0.1]), 0.4) == 2

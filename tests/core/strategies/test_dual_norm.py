import numpy as np
import pytest

from dpgp_core.strategies.dual_norm import dual_norm, narrow


def largest(G):
    """Max tr G X over X >= 0, diag X <= 1."""
    cp = pytest.importorskip("cvxpy")
    X = cp.Variable(G.shape, PSD=True)
    return cp.Problem(cp.Maximize(cp.trace(G @ X)), [cp.diag(X) <= 1]).solve(solver="CLARABEL")


@pytest.mark.parametrize("columns", [1, 3, 7])
def test_it_bounds_the_semidefinite_program_closely(columns):
    rng = np.random.default_rng(columns)
    H = rng.standard_normal((7, columns))
    best = largest(H @ H.T)
    assert best * (1 - 1e-6) <= dual_norm(H, rng.standard_normal((7, 7))) <= 1.02 * best


def test_one_direction_is_the_square_of_the_sum():
    """Max of h^T X h is (sum |h|)^2, at X = sign sign^T."""
    h = np.array([[1.0], [-2.0], [0.5]])
    assert dual_norm(h, np.eye(3)) == pytest.approx(3.5**2, rel=1e-8)


def test_zeros_weigh_nothing_and_nothing_is_known_without_a_direction():
    assert dual_norm(np.zeros((3, 2)), np.eye(3)) == 0
    assert dual_norm(np.ones((3, 1)), np.zeros((2, 3))) == np.inf


def test_above_the_goal_it_stops():
    assert dual_norm(np.ones((3, 1)), np.ones((1, 3)), goal=8.9) == np.inf
    assert dual_norm(np.ones((3, 1)), np.ones((1, 3)), goal=9.1) == pytest.approx(9, rel=1e-8)


def test_narrow_keeps_second_moments():
    H = np.random.default_rng(1).standard_normal((3, 8))
    assert narrow(H).shape == (3, 3)
    np.testing.assert_allclose(narrow(H) @ narrow(H).T, H @ H.T, atol=1e-12)
    assert narrow(H.T) is not None
    assert narrow(H.T).shape == (8, 3)

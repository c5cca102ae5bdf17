import numpy as np
import pytest

from dpgp_core.strategies.bayes_solver import LimitedMemory


def test_a_known_curvature_is_inverted():
    """Steps along all axes of a quadratic: the inverse Hessian times the slope is the way to the minimum."""
    curvature, memory = np.array([[1.0, 4.0], [0.5, 2.0]]), LimitedMemory()
    for index in np.ndindex(2, 2):
        s = np.zeros((2, 2))
        s[index] = 0.1
        memory.add(s, curvature * s)
    slope = np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(memory.applied(slope, lambda q: q), slope / curvature, rtol=1e-12)


def test_without_memory_it_is_the_first_guess():
    np.testing.assert_allclose(LimitedMemory().applied(np.ones((2, 3)), lambda q: q * np.arange(3.0)), [[0, 1, 2]] * 2)


@pytest.mark.parametrize("y", [-1.0, 0.0])
def test_downward_curvature_is_not_remembered_and_the_memory_can_be_emptied(y):
    memory = LimitedMemory()
    memory.add(np.ones((1, 1)), np.full((1, 1), y))
    assert len(memory) == 0
    memory.add(np.ones((1, 1)), np.ones((1, 1)))
    assert len(memory) == 1
    memory.clear()
    assert len(memory) == 0

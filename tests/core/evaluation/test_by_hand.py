from __future__ import annotations

import numpy as np
import pytest

from dpgp_core.evaluation.by_hand import placed, world
from dpgp_core.evaluation.limits import limits
from dpgp_core.gp.regression import cloaking_matrix, posterior_of_sums
from dpgp_core.kernels import EQ

X = np.random.default_rng(3).uniform(0, 10, (40, 1))
GRID = np.linspace(0, 10, 31)[:, None]
KERNEL, NOISE, RANGE, MU = EQ(lengthscale=2.0), 0.3, 4.0, 0.8
T = (RANGE / MU) ** 2


@pytest.mark.parametrize("places", [[5.0], [1.0, 4.0, 9.0], [4.0, 4.0, 4.5]], ids=str)
def test_places_together_keep_the_budget_and_use_all_of_it(places):
    B = placed(X, np.array(places)[:, None], 1.5)
    assert B.shape == (len(places), len(X))
    assert (B**2).sum(axis=0).max() == pytest.approx(1)
    assert abs(X[B[0].argmax(), 0] - places[0]) == np.abs(X[:, 0] - places[0]).min()


def test_the_posterior_of_sums_is_the_conditional_of_the_joint_normal():
    B = placed(X, np.array([[2.0], [6.0]]), 1.0)
    joint = np.block([[KERNEL(X, X) + NOISE * np.eye(40), KERNEL(X, GRID)], [KERNEL(GRID, X), KERNEL(GRID, GRID)]])
    A = np.block([[B, np.zeros((2, 31))], [np.zeros((31, 40)), np.eye(31)]])
    seen = A @ joint @ A.T + np.diag([T, T] + [0.0] * 31)
    gain = seen[2:, :2] @ np.linalg.inv(seen[:2, :2])
    found = posterior_of_sums(KERNEL, X, GRID, NOISE, B, T)
    assert found.gain == pytest.approx(gain)
    assert found.deviation**2 == pytest.approx(np.diag(seen[2:, 2:] - gain @ seen[:2, 2:]))
    assert found.error == pytest.approx(np.sqrt((found.deviation**2).mean()))


def test_every_output_without_noise_is_the_usual_fit():
    found = posterior_of_sums(KERNEL, X, GRID, NOISE, np.eye(40), 1e-12)
    assert found.gain == pytest.approx(cloaking_matrix(KERNEL, X, GRID, NOISE), abs=1e-6)


def test_nothing_measured_leaves_the_prior():
    B = placed(X, np.zeros((0, 1)), 1.0)
    found = posterior_of_sums(KERNEL, X, GRID, NOISE, B, T)
    assert found.gain.shape == (31, 0)
    assert found.error == pytest.approx(1)


def test_nobody_falls_below_the_limits_by_hand():
    bound = limits(KERNEL, NOISE, X, GRID, mu=MU, output_range=RANGE)
    rng = np.random.default_rng(4)
    for many in (1, 3, 8, 20):
        B = placed(X, rng.uniform(0, 10, (many, 1)), float(rng.uniform(0.3, 3)))
        error = posterior_of_sums(KERNEL, X, GRID, NOISE, B, T).error
        assert bound.any <= bound.fixed <= error


def test_errors_in_worlds_are_those_foreseen():
    B = placed(X, np.array([[2.0], [5.0], [8.0]]), 1.0)
    found, rng = posterior_of_sums(KERNEL, X, GRID, NOISE, B, T), np.random.default_rng(9)
    squares = []
    for _ in range(400):
        y, f = world(KERNEL, NOISE, X, GRID, rng)
        squares.append(((found.gain @ (B @ y + np.sqrt(T) * rng.standard_normal(3)) - f) ** 2).mean())
    # the mean of 400 squares has a relative standard error of about 4 %; six of those: false alarms below 1e-6
    assert np.mean(squares) == pytest.approx(found.error**2, abs=6 * np.std(squares) / 20)


def test_bad_input_is_a_sentence():
    with pytest.raises(ValueError, match="width must be"):
        placed(X, GRID, 0.0)
    with pytest.raises(ValueError, match="no record is near any of the 1 places"):
        placed(X, np.array([[1e6]]), 0.1)
    with pytest.raises(ValueError, match="B must have 40 columns"):
        posterior_of_sums(KERNEL, X, GRID, NOISE, np.eye(3), T)
    with pytest.raises(ValueError, match="t must be"):
        posterior_of_sums(KERNEL, X, GRID, NOISE, np.eye(40), 0.0)

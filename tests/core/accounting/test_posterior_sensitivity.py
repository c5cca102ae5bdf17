from __future__ import annotations

import math

import numpy as np
import pytest

from dpgp_core.accounting import posterior_sensitivity as sensitivities


def rkhs_shift(K, rows, y):
    """|mean of all but the last - mean of all but the one before| in the RKHS of the core's posterior; K + q first."""
    noisy, plain = K, rows
    core = len(y) - 2
    W = np.linalg.solve(noisy[:core, :core], plain[:core, core:])
    G = plain[core:, core:] - plain[:core, core:].T @ W
    residual = y[core:] - W.T @ y[:core]
    q = noisy[0, 0] - plain[0, 0]
    a = residual / (np.diag(G) + q) * [1, -1]
    return math.sqrt(max(a @ G @ a, 0.0))  # G >= 0, and equal records leave a^T G a = 0 or, rounded, -1e-17


def test_core_variance_is_reached_by_equal_points_and_never_passed():
    rng = np.random.default_rng(1)
    for _ in range(200):
        n, q = int(rng.integers(2, 12)), 10 ** rng.uniform(-2, 1)
        x = rng.uniform(0, 2, n)
        K = np.exp(-np.abs(x[:, None] - x))
        v = 1 - K[0, 1:] @ np.linalg.solve(K[1:, 1:] + q * np.eye(n - 1), K[1:, 0])
        assert v <= sensitivities.core_variance(n, math.sqrt(q), math.exp(-2.0)) * (1 + 1e-12)
        k = np.full(n - 1, math.exp(-2.0))
        equal = 1 - k @ np.linalg.solve(np.ones((n - 1, n - 1)) + q * np.eye(n - 1), k)
        assert equal == pytest.approx(sensitivities.core_variance(n, math.sqrt(q), math.exp(-2.0)))


@pytest.mark.parametrize("V", [0.01, 0.2, 1.0])
@pytest.mark.parametrize("r", [0.1, 0.5, 1.0, 8.0])
@pytest.mark.parametrize("n", [1, 2, 50])
def test_suprema_over_the_variance_against_a_grid(V, r, n):
    v, q = np.linspace(0, V, 200_001), r * r
    assert sensitivities.peak(V, r) == pytest.approx((v / (v + q) ** 2).max(), rel=1e-8)
    sup = (np.sqrt(v) / (v + q) + math.sqrt(n - 1) / r * v * np.sqrt(1 - v) / (v + q)).max()
    coupled = sensitivities.coupled_sensitivity(V, r, n, 3.0)
    assert coupled == pytest.approx(6 * sup, rel=1e-8)
    assert coupled >= 6 * sup * (1 - 1e-12)


def test_constant_kernel_reaches_its_sensitivity():
    for n, r in ((1, 0.5), (4, 1.0), (30, 6.0)):
        K = np.ones((n + 1, n + 1))
        y = np.concatenate([np.ones(n - 1), [3.0, -3.0]])
        exact = rkhs_shift(K + r * r * np.eye(n + 1), K, y)
        assert sensitivities.constant_sensitivity(r, n, 3.0) == pytest.approx(exact)


def test_diagonal_kernel_stays_below_its_sensitivity():
    rng, worst = np.random.default_rng(2), 0.0
    for _ in range(2000):
        n, r = int(rng.integers(2, 8)), 10 ** rng.uniform(-0.7, 0.7)
        place = rng.integers(0, 3, n + 1)
        K = (place[:, None] == place).astype(float)
        exact = rkhs_shift(K + r * r * np.eye(n + 1), K, rng.choice([-1.0, 1.0], n + 1))
        V = sensitivities.core_variance(n, r, 0.0)
        worst = max(worst, exact / sensitivities.diagonal_sensitivity(V, r, 1.0))
    assert 0.7 < worst <= 1 + 1e-12


def test_outputs_of_one_rkhs_function_stay_below_its_sensitivity():
    rng, worst = np.random.default_rng(3), 0.0
    for _ in range(2000):
        n, r, side = int(rng.integers(1, 8)), 10 ** rng.uniform(-0.7, 0.7), 10 ** rng.uniform(-1, 1)
        x = rng.uniform(0, side, n + 1)
        K = np.exp(-np.abs(x[:, None] - x))
        a = rng.normal(size=n + 1) * (rng.random(n + 1) < 0.5)
        if not a.any():
            continue
        f = K @ a / math.sqrt(a @ K @ a)  # norm 1
        V = sensitivities.core_variance(n, r, math.exp(-side))
        worst = max(worst, rkhs_shift(K + r * r * np.eye(n + 1), K, f) / sensitivities.rkhs_sensitivity(V, r, 1.0))
    assert 0.7 < worst <= 1 + 1e-12

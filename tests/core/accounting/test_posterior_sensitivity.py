from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from dpgp_core.accounting import posterior_sensitivity as sensitivities
from dpgp_core.accounting.posterior_paths import posterior_sampling_epsilon
from tests.core.accounting import posterior_adversary as adversary


def test_equal_points_attain_the_core_variance():
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
def test_the_peak_over_the_variance_against_a_grid(V, r):
    v = np.linspace(0, V, 200_001)
    assert sensitivities.peak(V, r) == pytest.approx((v / (v + r * r) ** 2).max(), rel=1e-8)


# ---- the centred bound


def random_cores(count, seed):
    """V, r, n of cores: small and large variances, V near 1, ridges and sizes over many decades."""
    rng = np.random.default_rng(seed)
    small, near_one = 10 ** rng.uniform(-4, 0, count), 1 - 10 ** rng.uniform(-6, 0, count)
    V = np.where(rng.random(count) < 0.6, small, near_one)
    return V, 10 ** rng.uniform(-2, 2, count), np.rint(10 ** rng.uniform(0, 5, count))


def of_two_angles(V, r, n, size):
    """Sup of |G(A) e^(iA) + G(B) e^(-iB)| on a grid: the two bounds on the core's mean, neither ball nor bracket.

    Signs of u and y are such that x >= 0 >= x', so G is no absolute value: that would be larger where sin A < 0.
    """
    W, q, c = math.sqrt(V), r * r, math.sqrt(n - 1) / r
    A = np.sort([*np.linspace(-math.pi / 2, math.pi / 2, size), math.acos(W), -math.acos(W)])
    w = np.linspace(0, 1, 4000)[:, None] * np.minimum(W, np.cos(A))
    G = ((w + c * w**2 * np.sin(A)) / (w**2 + q)).max(axis=0)
    shift = (G * np.exp(1j * A))[:, None] + G * np.exp(-1j * A)
    return np.abs(shift).max()


@pytest.mark.full
def test_the_centred_bound_is_a_rounded_supremum():
    for V, r, n in zip(*random_cores(25, seed=11), strict=True):
        found, grid = sensitivities.centred_sensitivity(V, r, n, 1.0), of_two_angles(V, r, n, 721)
        assert grid <= found * (1 + 1e-12)
        assert grid == pytest.approx(found, rel=1e-4)


def exact_maximum(V, r, n):
    """2 X with 50 digits: each of the three pieces of X(t) where its slope vanishes or it ends."""
    V, r, n = mpmath.mpf(float(V)), mpmath.mpf(float(r)), mpmath.mpf(float(n))
    q, c = r * r, mpmath.sqrt(n - 1) / r

    def value(t):
        root = c * t * q + mpmath.sqrt((c * t * q) ** 2 + q)
        w = min(root, mpmath.sqrt(V), mpmath.sqrt(1 - t * t))
        return 2 * (w + c * w * w * t) * mpmath.sqrt(1 - t * t) / (w * w + q)

    low, high, golden = mpmath.mpf(0), mpmath.sqrt(0.5), (mpmath.sqrt(5) - 1) / 2
    for _ in range(260):  # value rises, then falls
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if value(left) > value(right) else (left, high)
    return value((low + high) / 2)


@pytest.mark.full
def test_fifty_digits_confirm_the_centred_bound():
    with mpmath.workdps(60):
        golden = [np.array([value]) for value in (1.0, 8.0, 400.0)]
        for V, r, n in zip(*map(np.append, golden, random_cores(40, seed=12)), strict=True):
            found, exact = mpmath.mpf(float(sensitivities.centred_sensitivity(V, r, n, 1.0))), exact_maximum(V, r, n)
            assert exact <= found
            assert found <= exact * (1 + mpmath.mpf("1e-8"))


def random_kernels(rng, count, n):
    """Covariances (count, n + 1, n + 1) with k(x, x) <= 1 and signs of all kinds: records in few or many directions."""
    features = rng.normal(size=(count, n + 1, int(rng.choice([2, 3, 8, 30]))))
    alike = np.sign(rng.normal(size=(count, n + 1, 1))) * rng.choice([0.1, 1.0, 10.0], (count, 1, 1))
    features[:, :, :1] += alike
    features /= np.linalg.norm(features, axis=2, keepdims=True)
    copied = rng.integers(0, max(1, n // 3), (count, n - 1))  # directions that many records share
    rows = np.arange(count)[:, None]
    features[:, :-2] = np.where(rng.random((count, 1, 1)) < 0.7, features[rows, copied], features[:, :-2])
    features *= np.where(rng.random((count, 1, 1)) < 0.5, 1.0, rng.uniform(0.5, 1, (count, n + 1, 1)))
    return features @ np.swapaxes(features, 1, 2)


def test_random_kernels_stay_below_the_centred_bound():
    """Exact shifts of the worst outputs over the bound at the larger of the two variances at hand."""
    rng, worst = np.random.default_rng(21), 0.0
    for n in (2, 3, 4, 5, 7, 10, 15, 22, 33, 50):
        K, q = random_kernels(rng, 400, n), 10 ** rng.uniform(-2, 2, 400)
        G, _ = adversary.reduced(K, q)
        V = np.maximum(G[:, 0, 0], G[:, 1, 1])
        bound = sensitivities.centred_sensitivity(V, np.sqrt(q), np.float64(n), 1.0)
        worst = max(worst, (adversary.worst_shift_of(K, q) / bound).max())
    assert 0.9 < worst <= 1 + 1e-9


def test_seven_directions_stay_below_the_centred_bound():
    K, y = adversary.seven_directions()
    q = np.array([64.0])
    G, B = (a[0] for a in adversary.reduced(K[None], q))
    shift = B @ y
    exact = math.sqrt(shift @ G @ shift)
    assert exact == pytest.approx(0.043415, rel=1e-4)
    assert adversary.worst_shift_of(K[None], q)[0] == pytest.approx(exact)  # no outputs are worse
    bound = sensitivities.centred_sensitivity(np.float64(1.0), np.float64(8.0), np.float64(400), 1.0)
    assert bound == pytest.approx(0.049630, rel=1e-4)
    assert exact < bound


def test_seven_directions_attain_epsilon_3_68():
    """Whatever is proven, no less than 3.68 can be: the exact delta of these neighbours, by polar coordinates."""
    K, y = adversary.seven_directions()
    G, B = (a[0] for a in adversary.reduced(K[None], np.array([64.0])))
    pair, delta = adversary.plane_pair(G, B @ y, 64.0, 0.0375), 400**-1.1
    assert adversary.exact_delta(3.676, *pair) == pytest.approx(delta, rel=1e-3)
    proven = posterior_sampling_epsilon(400, 8.0, 0.0375, math.exp(-math.sqrt(2) / 0.135), delta)
    assert proven == pytest.approx(5.03, abs=0.005)
    assert adversary.exact_delta(proven, *pair) < 0.2 * delta

"""Sums over records for the sparse DP-GP, their sensitivity, and both posteriors."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from dpgp_core.gp import inducing
from dpgp_core.gp.grid import Grid
from dpgp_core.gp.inducing import inducing_root, sum_statistics, whitened_features
from dpgp_core.kernels import EQ, Matern52, RationalQuadratic
from dpgp_core.mechanisms import SparseVariational, sparse_variational
from dpgp_core.sparse import posterior
from dpgp_core.sparse.posterior import errors_in_variables, paper_posterior
from dpgp_core.sparse.statistics import (
    IntegerSums,
    NoiseScales,
    add_noise,
    clip_norms,
    integer_sums,
    is_grid,
    kernel_norm_bound,
    measure,
    noise_scales,
    statistics_sensitivity,
)
from tests.core.replay import taped

KERNEL, S2 = EQ(variance=1.5, lengthscale=1.2), 0.04
Z = np.linspace(-3, 3, 6)[:, None]
X_TEST = np.linspace(-4, 4, 9)[:, None]
ROOT = inducing_root(KERNEL, Z)


def simulated(n):
    rng = np.random.default_rng(2)
    X = rng.uniform(-4, 4, (n, 1))
    return X, np.sin(1.5 * X[:, 0]) + 0.2 * rng.standard_normal(n)


def change(parameters, R_y, R_phi, c, m):
    """Norm of the change of (A, sqrt(c) B) for one replaced record, mapped into the bounds."""
    y, other_y = R_y * np.tanh(parameters[:2])
    phi, other = parameters[2 : 2 + m], parameters[2 + m :]
    # any vector -> the ball of radius R_phi
    phi, other = (R_phi * np.tanh(np.linalg.norm(p)) / np.linalg.norm(p) * p for p in (phi, other))
    moved_A = y * phi - other_y * other
    moved_B = np.outer(phi, phi) - np.outer(other, other)
    return math.sqrt((moved_A**2).sum() + c * (moved_B**2).sum())


@pytest.mark.full_for("0.05-1.2-1.0", "0.5-0.3-2.5", "2.0-0.3-2.5")
@pytest.mark.parametrize(  # c / c*: below 1 the second case of the formula
    ("ratio", "R_y", "R_phi"), [(0.05, 1.2, 1.0), (0.5, 0.3, 2.5), (1.0, 1.2, 1.0), (2.0, 0.3, 2.5), (8.0, 1.2, 1.0)]
)
def test_adversary_reaches_the_sensitivity_and_never_exceeds_it(ratio, R_y, R_phi):
    m, c = 3, ratio * R_y**2 / (2 * R_phi**2)
    bound = statistics_sensitivity(R_y, R_phi, c)
    rng = np.random.default_rng(7)
    random = [change(3 * rng.standard_normal(2 + 2 * m), R_y, R_phi, c, m) for _ in range(3000)]
    starts = rng.standard_normal((12, 2 + 2 * m))
    found = [minimize(lambda p: -change(p, R_y, R_phi, c, m), start, method="BFGS") for start in starts]
    best = max(-result.fun for result in found)
    assert max(random) <= bound * (1 + 1e-9)
    assert 0.99 * bound <= best <= bound * (1 + 1e-9)


def test_the_sensitivity_is_at_most_the_papers():
    R_y, R_phi = 1.3, 0.7
    c_star = R_y**2 / (2 * R_phi**2)
    assert statistics_sensitivity(R_y, R_phi, c_star) == pytest.approx(2 * R_y * R_phi)
    for ratio in (0.1, 0.9, 1.1, 5.0):
        c = ratio * c_star
        paper = math.sqrt(R_y**4 / (2 * c) + 2 * R_y**2 * R_phi**2 + 2 * c * R_phi**4)
        found = statistics_sensitivity(R_y, R_phi, c)
        assert found == pytest.approx(paper) if ratio > 1 else found < paper


def test_noise_scales():
    scales = noise_scales(1.7, 1.2, 3.0)
    c = 2 * 1.2**2 / (2 * 9)
    assert (scales.sa / scales.sb) ** 2 == pytest.approx(c)
    assert scales.sa == pytest.approx(1.7 * 1.2 * 3 * (1 / math.sqrt(2) + math.sqrt(2)))


@pytest.mark.full
def test_noise_of_the_symmetric_matrix():
    noise, rng = NoiseScales(sa=0.5, sb=2.0), np.random.default_rng(1)
    drawn = [add_noise(np.ones(3), np.eye(3), noise, rng) for _ in range(20_000)]
    A, B = np.array([d.A for d in drawn]) - 1, np.array([d.B for d in drawn]) - np.eye(3)
    np.testing.assert_array_equal(B, B.transpose(0, 2, 1))
    upper = B[:, *np.triu_indices(3)]
    covariance = np.cov(np.hstack([A, upper]).T)
    on = np.array([0.25] * 3 + [4.0 if i == j else 2.0 for i, j in zip(*np.triu_indices(3), strict=True)])
    # 6 standard errors of a (co)variance of independent normals: sqrt(2 or 1) v / sqrt(draws)
    allowed = 6 * np.sqrt((np.outer(on, on) * (1 + np.eye(9))) / 20_000)
    assert (np.abs(covariance - np.diag(on)) <= allowed).all()


def test_real_noise_has_the_stated_scales():
    """On A, on the diagonal of B and above it, where sqrt(2) times an entry has the noise of one on the diagonal."""
    sums = IntegerSums(A=np.arange(3), B=np.diag([5, 6, 7]), step_a=1e-9, step_b=2e-9)
    with taped() as tape:
        released = measure(sums, NoiseScales(sa=0.5, sb=2.0))
    assert [len(call.exact) for call in tape.calls] == [3, 3, 3]
    for call, sd in zip(tape.calls, (0.5 / 1e-9, 2.0 / 2e-9, 2.0 / 2e-9 / math.sqrt(2)), strict=True):
        assert call.parameter == pytest.approx(sd**2, rel=1e-6)
    np.testing.assert_allclose(released.B, np.diag([1e-8, 1.2e-8, 1.4e-8]))  # the tape's noise is 0


def test_outputs_beyond_the_bound_are_clipped():
    X, y = np.array([[0.5], [0.25]]), np.array([1.0, -2.0])
    inside, outside = (integer_sums(lambda x: x, [(X, factor * y)], 1, R_y=1.0, R_phi=1.0) for factor in (1.0, 50.0))
    assert inside.A.tolist() == [2**39 - 2**38]
    assert outside.A.tolist() == inside.A.tolist()


def test_long_rows_are_shortened_and_others_left_alone():
    phi = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0], [0.6, 0.8]])
    np.testing.assert_allclose(clip_norms(phi, 1.0), [[0.6, 0.8], [0.3, 0.4], [0, 0], [0.6, 0.8]])


CASES = [
    (EQ(variance=2.0, lengthscale=1.3), Grid(box=((0.0, 9.0),), bins=9).centres),
    (EQ(lengthscale=[3.0, 1.0]), Grid(box=((0.0, 9.0), (0.0, 4.0)), bins=(3, 4)).centres),
    (EQ(lengthscale=0.2), Grid(box=((0.0, 9.0),), bins=4).centres),
    (Matern52(variance=0.5), Grid(box=((0.0, 9.0),), bins=5).centres),
    (EQ(), np.random.default_rng(1).uniform(0, 9, (6, 2))),
]


@pytest.mark.parametrize(("kernel", "Z"), CASES)
def test_tight_kernel_norms_bound_every_vector(kernel, Z):
    low, high = Z.min(axis=0) - 1, Z.max(axis=0) + 1
    X = np.vstack([np.random.default_rng(2).uniform(low, high, (20_000, Z.shape[1])), Z])
    longest = np.linalg.norm(kernel(X, Z), axis=1).max()
    tight = kernel_norm_bound(kernel, Z)
    assert longest <= tight <= kernel.variance * len(Z) ** 0.5 * (1 + 1e-8)
    if isinstance(kernel, EQ) and is_grid(Z):
        assert longest >= 0.99 * tight


def whitened(x):
    return whitened_features(KERNEL, Z, ROOT, x)


def test_errors_in_variables_follow_the_formulas():
    X, y = simulated(200)
    noise = NoiseScales(sa=4.0, sb=20.0)
    A, B = sum_statistics(whitened, [(X, y)])
    released = add_noise(A, B, noise, np.random.default_rng(5))
    fit = errors_in_variables(released, KERNEL, Z, ROOT, S2)
    # B projected to positive semi-definite
    b, U = np.linalg.eigh(released.B)
    assert b.min() < 0
    B_plus = (U * np.maximum(b, 0)) @ U.T
    M = np.eye(6)
    for _ in range(5):
        R = S2 * B_plus + (noise.sa**2 + noise.sb**2 * np.trace(M) / 2) * np.eye(6) + noise.sb**2 * M / 2
        Cov = np.linalg.inv(np.eye(6) + B_plus @ np.linalg.solve(R, B_plus))
        alpha = Cov @ B_plus @ np.linalg.solve(R, released.A)
        M = np.outer(alpha, alpha) + Cov
    # f given u = L alpha has mean k K^-1 u and variance k_** - k K^-1 k^T
    C = np.linalg.solve(KERNEL(Z, Z), KERNEL(Z, X_TEST)).T @ ROOT
    mean, variance = fit.predict(X_TEST)
    np.testing.assert_allclose(mean, C @ alpha, atol=1e-7)
    expected = KERNEL.diagonal(X_TEST) - np.einsum("ij,jk,ik->i", C, np.eye(6) - Cov, C)
    np.testing.assert_allclose(variance, expected, atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_what_was_charged_is_always_computed(seed):
    # a scale, 10,000 times what is declared, and hardly any budget: rounding makes the covariance indefinite
    kernel, places = RationalQuadratic(lengthscale=1e5), np.linspace(0, 100, 40)[:, None]
    root, rng = inducing.inducing_root(kernel, places), np.random.default_rng(seed)
    for size in 10.0 ** np.arange(-2, 9, 2):
        released = add_noise(np.ones(40), np.eye(40), NoiseScales(sa=1e-3 * size, sb=size), rng)
        fit = errors_in_variables(released, kernel, places, root, 1e-4)
        mean, variance = fit.predict(places)
        assert np.isfinite([mean, variance]).all()


def test_the_papers_posterior_by_its_equations():
    X, y = simulated(200)
    noise = NoiseScales(sa=0.5, sb=0.5)
    A, B = sum_statistics(lambda x: KERNEL(x, Z), [(X, y)])
    released = add_noise(A, B, noise, np.random.default_rng(5))
    K, m = KERNEL(Z, Z), len(Z)
    lam = noise.sb / S2 * np.sqrt(m * np.log(2 * m**2 / 0.01) * (m + 1) / (2 * m))  # eq. 13
    S = np.linalg.inv(K + released.B / S2 + lam * np.eye(m))
    w = S @ released.A
    S21 = noise.sa**2 / S2**2 * K @ S @ S @ K  # eq. 14
    S22 = np.zeros((m, m))  # eq. 17, term by term
    for i in range(m):
        for j in range(i, m):
            E = np.zeros((m, m))
            E[i, j] = 1
            terms = [E] if i == j else [E, E.T]
            share = 1.0 if i == j else 0.5
            S22 += sum(share * noise.sb**2 / S2**4 * K @ S @ T @ np.outer(w, w) @ T.T @ S @ K for T in terms)
    k = np.linalg.solve(K, KERNEL(Z, X_TEST))
    added = {"paper": S21 + S22, "naive": np.zeros((m, m))}
    full = noise.sb**2 / (2 * S2**4) * K @ S @ (w @ w * np.eye(m) + np.outer(w, w)) @ S @ K
    for name, extra in {**added, "full": S21 + full}.items():
        mean, variance = paper_posterior(released, KERNEL, Z, ROOT, S2, name).predict(X_TEST)
        np.testing.assert_allclose(mean, k.T @ K @ S @ released.A / S2, atol=1e-8)
        expected = KERNEL.diagonal(X_TEST) - np.diag(k.T @ (K - K @ S @ K - extra) @ k)
        np.testing.assert_allclose(variance, expected, atol=1e-8)


PLACES = np.linspace(0, 10, 5)[:, None]
MECHANISM = SparseVariational(epsilon=1.0, delta=0.01, kernel=EQ(lengthscale=2.0), noise_variance=0.3, n_inducing=8)


def test_without_clipping_intervals_are_those_of_the_posterior(make_dataset):
    data = make_dataset(y_bounds=(-40.0, 42.0), y_scale=2.0)  # 18 prior standard deviations
    fit = MECHANISM.fit(data, np.random.default_rng(1))
    low, high = MECHANISM.release(data, PLACES, np.random.default_rng(1)).interval(0.9, "function")
    mean, variance = fit.predict(PLACES)
    np.testing.assert_allclose((low + high)[0] / 2, mean, rtol=1e-10)
    # 400 made-up curves: standard error of a variance 7 %, less here, where most is computed
    np.testing.assert_allclose((high - low)[0] / 2, 1.645 * np.sqrt(variance), rtol=0.1)


def test_bounds_that_clip_widen_them(make_dataset):
    data = make_dataset(y_bounds=(0.0, 2.0), y_scale=2.0)
    low, high = MECHANISM.release(data, PLACES, np.random.default_rng(1)).interval(0.99, "function")
    noise_free = 2 * 2.0 * 1.5  # of what bounds of half a standard deviation leave: f beyond them is not seen
    assert (high - low).min() > noise_free


def test_interval_ends_have_their_confidence_level(make_dataset):
    release = MECHANISM.release(make_dataset(), PLACES, np.random.default_rng(2), draws=3)
    low, high = release.interval(0.9, "outputs")
    for draw in range(3):
        for end in (low, high):
            found = release.uncertainty.level_of(end[draw])[draw]
            assert found == pytest.approx(np.full(5, 0.9), abs=2e-3)


def test_releases_and_plans_share_what_no_noise_changes(make_dataset, monkeypatch):
    """Simulated outputs serve the plans of all test inputs, and one root of the features all releases of a plan."""
    data, made = make_dataset(), {"clipped_moments": 0, "inducing_root": 0}

    def counted(module, name):
        original = getattr(module, name)

        def function(*args):
            made[name] += 1
            return original(*args)

        monkeypatch.setattr(module, name, function)

    counted(posterior, "clipped_moments")
    counted(sparse_variational, "inducing_root")
    mechanism = replace(MECHANISM)
    for points in (data.X[:5], data.X[5:]):
        plan = mechanism.plan_for(data, points)
        for epsilon in (1.0, 3.0):
            one = replace(mechanism, epsilon=epsilon)
            one.measure(plan, data, points, np.random.default_rng(1), 4, mean=False).interval(0.95)
    assert made == {"clipped_moments": 1, "inducing_root": 2 * 2 * 2}  # each release needs it for its features, too
    moved = mechanism.plan_for(make_dataset(y_bounds=(-9.0, 9.0)), data.X)
    assert moved.prior is not plan.prior

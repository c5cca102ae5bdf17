import math

import numpy as np
import pytest
from scipy.optimize import minimize

from dpgp_core.sparse.statistics import (
    IntegerSums,
    NoiseScales,
    add_noise,
    clip_norms,
    integer_sums,
    measure,
    noise_scales,
    statistics_sensitivity,
)
from tests.core.replay import taped


def change(parameters, R_y, R_phi, c, m):
    """Norm of the change of (A, sqrt(c) B) for one replaced record, mapped into the bounds."""
    y, other_y = R_y * np.tanh(parameters[:2])
    phi, other = parameters[2 : 2 + m], parameters[2 + m :]
    # any vector -> the ball of radius R_phi
    phi, other = (R_phi * np.tanh(np.linalg.norm(p)) / np.linalg.norm(p) * p for p in (phi, other))
    moved_A = y * phi - other_y * other
    moved_B = np.outer(phi, phi) - np.outer(other, other)
    return math.sqrt((moved_A**2).sum() + c * (moved_B**2).sum())


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


def test_the_two_cases_meet_at_c_star_and_the_papers_formula_is_never_smaller():
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


def test_bad_values_are_refused():
    with pytest.raises(ValueError, match="R_phi must be a finite number above 0, got 0"):
        statistics_sensitivity(1.0, 0, 1.0)
    with pytest.raises(ValueError, match="sb must be a finite number of at least 0, got -1"):
        NoiseScales(sa=1.0, sb=-1.0)
    with pytest.raises(ValueError, match="noise_multiplier must be a finite number above 0"):
        noise_scales(math.inf, 1.0, 1.0)

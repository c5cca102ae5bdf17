import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from dpgp_core.gp.exact import output_covariance, posterior
from dpgp_core.kernels import EQ
from dpgp_core.measurement.conditioning import Observation, condition

KERNEL = EQ(variance=1.7, lengthscale=0.8)
NOISE = 0.3
RNG = np.random.default_rng(0)
X, X_TEST, Y = RNG.uniform(0, 5, (9, 1)), RNG.uniform(0, 5, (4, 1)), RNG.standard_normal(9)


def observation(r, seed, sd=0.5):
    rng = np.random.default_rng(seed)
    A, root = rng.standard_normal((r, 9)), rng.standard_normal((r, r))
    return Observation(A=A, Z=A @ Y + rng.standard_normal(r), N=sd**2 * (np.eye(r) + root @ root.T))


def test_outputs_themselves_give_the_exact_posterior():
    """A = I without privacy noise: ordinary regression."""
    found = condition([Observation(A=np.eye(9), Z=Y, N=np.zeros((9, 9)))], KERNEL, NOISE, X, X_TEST)
    mean, covariance = posterior(KERNEL, X, Y, X_TEST, NOISE)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-9)
    np.testing.assert_allclose(found.variance, np.diag(covariance), rtol=1e-8)
    np.testing.assert_allclose(KERNEL(X_TEST, X_TEST) - found.root.T @ found.root, covariance, rtol=1e-7, atol=1e-9)


def test_a_linear_map_with_correlated_noise_by_joint_gaussian_algebra():
    """Against conditioning the joint normal of (f_*, Z), block by block, and the density of Z."""
    stages = [observation(3, 1), observation(2, 2, sd=2.0)]
    A, Z = np.vstack([o.A for o in stages]), np.concatenate([o.Z for o in stages])
    N = np.zeros((5, 5))
    N[:3, :3], N[3:, 3:] = stages[0].N, stages[1].N
    S = A @ output_covariance(KERNEL, X, NOISE) @ A.T + N
    cross = KERNEL(X_TEST, X) @ A.T
    found = condition(stages, KERNEL, NOISE, X, X_TEST)
    np.testing.assert_allclose(found.mean, cross @ np.linalg.solve(S, Z), rtol=1e-9)
    np.testing.assert_allclose(found.variance, 1.7 - np.diag(cross @ np.linalg.solve(S, cross.T)), rtol=1e-9)
    assert found.log_evidence == pytest.approx(multivariate_normal.logpdf(Z, cov=S), rel=1e-10)
    assert found.noise_variance == NOISE


def test_two_stages_are_one_stacked():
    one, two = observation(3, 1), observation(2, 2)
    evidence = condition([one, two], KERNEL, NOISE, X, X_TEST).log_evidence
    alone = condition([one], KERNEL, NOISE, X, X_TEST).log_evidence
    # log p(Z1, Z2) = log p(Z1) + log p(Z2 | Z1), and Z2 given Z1 is normal
    S = one.A @ output_covariance(KERNEL, X, NOISE)
    gain = np.linalg.solve(S @ one.A.T + one.N, S @ two.A.T)
    mean = gain.T @ one.Z
    covariance = two.A @ output_covariance(KERNEL, X, NOISE) @ two.A.T + two.N - gain.T @ S @ two.A.T
    assert evidence - alone == pytest.approx(multivariate_normal.logpdf(two.Z, mean, covariance), rel=1e-9)


def test_infinite_noise_leaves_the_prior():
    found = condition([Observation(A=np.eye(9), Z=Y, N=1e24 * np.eye(9))], KERNEL, NOISE, X, X_TEST)
    np.testing.assert_allclose(found.mean, 0, atol=1e-20)
    np.testing.assert_allclose(found.variance, 1.7)
    assert found.log_evidence == pytest.approx(-9 / 2 * math.log(2 * math.pi * 1e24), rel=1e-9)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="noise_variance"):
        condition([observation(2, 1)], KERNEL, 0.0, X, X_TEST)
    with pytest.raises(ValueError, match="equally many columns"):
        condition([observation(2, 1)], KERNEL, NOISE, X, np.zeros((3, 2)))

import numpy as np

from dpgp_core.gp.inducing import sum_statistics
from dpgp_core.sparse.posterior import paper_posterior
from dpgp_core.sparse.statistics import NoiseScales, add_noise
from tests.core.sparse.small import KERNEL, ROOT, S2, X_TEST, Z, raw, simulated


def test_the_papers_posterior_by_its_equations():
    X, y = simulated(200)
    noise = NoiseScales(sa=0.5, sb=0.5)
    A, B = sum_statistics(raw, [(X, y)])
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

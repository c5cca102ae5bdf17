import numpy as np
import pytest

from dpgp_core.strategies.bayes import RiskModel, bayes, certificate, risk, risk_without_privacy


def models_of(rng, n=9, count=2, k=4):
    """A random mixture; K is far from singular."""
    found = []
    for i in range(count):
        root = rng.standard_normal((n, k))
        found.append(
            RiskModel(
                noise=rng.uniform(0.2, 1.0, n),
                root=root,
                targets=root @ rng.standard_normal((k, 3)),
                prior_risk=50.0,
                weight=i + 1.0,
            )
        )
    return found


@pytest.mark.parametrize("t", [0.1, 3.0, 50.0])
@pytest.mark.parametrize("count", [1, 3])
def test_it_is_the_solution_of_the_semidefinite_program(count, t):
    cp = pytest.importorskip("cvxpy")
    models = models_of(np.random.default_rng(count), count=count)
    X, excess = cp.Variable((9, 9), PSD=True), 0
    for model in models:  # risk - risk without privacy = tr C (K^-1 + X / t)^-1 C^T, C = F^T K^-1
        P = np.linalg.inv(np.diag(model.noise) + model.root @ model.root.T)
        excess += model.weight * cp.matrix_frac(P @ model.targets, (P + P.T) / 2 + X / t)
    best = cp.Problem(cp.Minimize(excess), [cp.diag(X) <= 1]).solve(solver="CLARABEL")
    found = bayes(models, t, gap=1e-6, max_iterations=5000)
    least = risk_without_privacy(models)
    assert found.risk - least == pytest.approx(best, rel=1e-5)
    assert found.bound <= found.risk
    assert found.bound - least <= best * (1 + 1e-6)
    assert risk(models, found.B, t) == found.risk
    assert certificate(models, found.B, t) - least == pytest.approx(best, rel=1e-4)
    assert (np.linalg.norm(found.B, axis=0) <= 1).all()

import numpy as np
import pytest

from dpgp_core.strategies.risk_model import RiskModel


def random_model(rng, n, k, weight=1.0, signed=False, inside=True):
    """K = diag(noise) + root diag(signs) root^T, far from singular; ``inside``: targets in the root's span."""
    noise, root, signs = rng.uniform(0.4, 1.0, n), rng.standard_normal((n, k)), None
    if signed:  # |negative part| <= 0.2 < 0.4 <= noise
        signs = np.where(np.arange(k) % 2, -1.0, 1.0)
        root[:, signs < 0] *= np.sqrt(0.2) / np.linalg.norm(root[:, signs < 0], 2)
    targets = root @ rng.standard_normal((k, 3)) if inside else rng.standard_normal((n, 3))
    K = np.diag(noise) + (root * (1 if signs is None else signs)) @ root.T
    prior_risk = float(np.trace(targets.T @ np.linalg.solve(K, targets))) + 1.0
    return RiskModel(noise=noise, root=root, targets=targets, prior_risk=prior_risk, weight=weight, signs=signs)


def dense(model):
    """K (n, n)."""
    return np.diag(model.noise) + (model.root * (1 if model.signs is None else model.signs)) @ model.root.T


@pytest.fixture
def mixture():
    """Every kind of model: shared root with proportional noise, other noise, signs, targets outside the span."""
    rng = np.random.default_rng(7)
    first = random_model(rng, 9, 4, weight=0.5)
    louder = RiskModel(
        noise=3 * first.noise, root=first.root, targets=first.targets, prior_risk=first.prior_risk, weight=0.2
    )
    return [first, louder, random_model(rng, 9, 5, 0.7, signed=True), random_model(rng, 9, 2, inside=False)]

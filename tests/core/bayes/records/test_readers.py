import numpy as np
import pytest

from dpgp_core.bayes.plan import PlannedStage
from dpgp_core.bayes.records.readers import ExactMeasure, teaching
from dpgp_core.strategies.strategy import Strategy

ONE_ROW = Strategy(B=np.ones((1, 12)), risk=1.0, bound=0.5, gap=0.1, iterations=1)


@pytest.fixture
def data(make_dataset):
    return make_dataset()


def test_squares_are_measured_with_their_own_noise(data):
    """Mean and spread over exact and teaching draws, within 6 standard errors."""
    draws, s = 200, 0.7
    g, high = np.full((1, 12), 0.1), np.full((1, 12), 0.09)
    expected = (np.minimum((data.standardised() - 0.1) ** 2, 0.09) / 0.09 - 0.5).sum()
    exact, stage = ExactMeasure(data), PlannedStage(strategy=ONE_ROW, noise_multiplier=1.0, width=1.0, widths=(1.0,))
    exact(stage, -np.ones((1, 12)), np.ones((1, 12)))
    real = np.concatenate([exact.squares(s, g, high).z for _ in range(draws)])
    taught = (
        teaching(data, np.random.default_rng(0), draws).squares(s, np.repeat(g, draws, 0), np.repeat(high, draws, 0)).z
    )
    for z in (real, taught):
        assert abs(z.mean() - expected) < 6 * s / np.sqrt(draws)
        assert abs(z.std() / s - 1) < 6 / np.sqrt(2 * draws)

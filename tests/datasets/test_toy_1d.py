import numpy as np
import pytest

from datasets import toy_1d


def test_defaults():
    data = toy_1d.load()
    assert data.X.shape == (100, 1)
    assert data.simulated
    assert data.privacy_unit == "one person's value"
    assert data.y_bounds == (-2.0, 2.0)


def test_y_is_the_documented_curve_plus_noise():
    data = toy_1d.load(n=20_000)
    x = data.X[:, 0]
    residual = data.y - (np.sin(x) + 0.3 * np.cos(2 * x))
    assert residual.mean() == pytest.approx(0, abs=4 * 0.2 / np.sqrt(20_000))
    assert residual.std() == pytest.approx(0.2, abs=4 * 0.2 / np.sqrt(40_000))
    assert x.mean() == pytest.approx(5, abs=4 * 10 / np.sqrt(12 * 20_000))

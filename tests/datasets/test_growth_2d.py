import numpy as np
import pytest

from datasets import growth_2d


def test_defaults():
    data = growth_2d.load()
    assert data.X.shape == (5189, 2)
    assert data.simulated
    assert data.x_names == ("age", "weight")
    assert data.clipped_count == 0


def test_heights_follow_the_documented_curve():
    data = growth_2d.load(n=40_000)
    z = np.log(data.y / growth_2d.median_height(data.X[:, 0])) / 0.045
    assert z.mean() == pytest.approx(0, abs=6 / 200)
    assert z.std() == pytest.approx(1, abs=6 / 280)


def test_weights_follow_the_documented_index():
    data = growth_2d.load(n=40_000)
    ratio = data.X[:, 1] / (data.y / 100) ** 2 / (15 + 0.035 * (data.X[:, 0] - 5) ** 2)
    assert ratio.mean() == pytest.approx(1, abs=6 * 0.13 / 200)


def test_girls_grow():
    heights = growth_2d.median_height(np.linspace(2, 18, 200))
    assert (np.diff(heights) > 0).all()
    assert heights[0] == pytest.approx(87.5, abs=0.1)
    assert heights[-1] == pytest.approx(158, abs=0.1)

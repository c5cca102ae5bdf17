import numpy as np
import pytest

import datasets
from datasets import growth_visits
from datasets.growth_2d import median_height
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import BayesCloaking, Cloaking


def test_every_girl_has_one_to_ten_rows():
    data = growth_visits.load()
    rows = np.bincount(data.person)
    assert (data.people, len(rows), data.simulated) == (1000, 1000, True)
    assert (rows.min(), rows.max()) == (1, 10)
    assert rows.mean() == pytest.approx(5.5, abs=6 * 2.9 / 1000**0.5)
    assert data.clipped_count == 0


def test_rows_of_one_girl_are_alike():
    data = growth_visits.load()
    off = data.y - median_height(data.X[:, 0])
    means = np.bincount(data.person, off) / np.bincount(data.person)
    within = np.sqrt(np.mean((off - means[data.person]) ** 2))
    assert within < 0.5 * off.std()


def test_only_bayes_cloaking_takes_it_and_no_page_shows_it():
    data = growth_visits.load(girls=20)
    assert "growth_visits" not in datasets.EXHIBITS
    assert BayesCloaking(epsilon=1.0, delta=1e-5).promise_for(data).rows is None
    cloaking = Cloaking(epsilon=1.0, delta=1e-5, kernel=EQ(lengthscale=5.0), noise_variance=0.1)
    with pytest.raises(ValueError, match=r"hides one row only\. Use Bayes cloaking"):
        cloaking.release(data, np.array([[5.0]]), np.random.default_rng(0))

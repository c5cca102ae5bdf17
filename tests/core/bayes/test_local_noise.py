"""Stages are read again with the local dispersion as noise variance, where that is uneven. It costs no privacy."""

import json

import numpy as np
import pytest

from benchmarks.shared.simulated import simulated
from dpgp_core.bayes.clusters import clusters_of
from dpgp_core.bayes.filter import Filter
from dpgp_core.bayes.model import auto_models
from dpgp_core.bayes.reading import read
from dpgp_core.bayes.state import model_set
from dpgp_core.measurement.fit import Fit
from dpgp_core.measurement.statistics_file import statistics_from_files, statistics_to_files
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking

BOX, N = ((0.0, 1.0),), 3000
GRID = np.linspace(0.02, 0.98, 49)[:, None]
NOISY = np.abs(GRID[:, 0] - 0.5) < 0.1
CALM = np.abs(GRID[:, 0] - 0.5) > 0.2


def curve(x):
    return 45 + 12 * x + 5 * np.sin(6 * x)


def data_of(seed, noisy):
    """Outcomes whose standard deviation is ``noisy`` in the middle fifth of the inputs and 1 elsewhere."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, N)
    y = curve(x) + np.where(np.abs(x - 0.5) < 0.1, noisy, 1.0) * rng.standard_normal(N)
    return simulated(x[:, None], y, (0.0, 100.0), BOX)


def released(data, protects, seed=0):
    mechanism = BayesCloaking(epsilon=1.0, delta=1e-5, protects=protects)
    plan = mechanism.plan_for(data, GRID)
    return mechanism.measure(plan, data, GRID, np.random.default_rng(seed), mean=False)


def half_widths(release):
    low, high = release.interval(0.95, "function")
    return (high[0] - low[0]) / 2


@pytest.mark.full
@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
def test_intervals_are_narrow_where_outcomes_vary_little(protects, monkeypatch):
    """Two releases with the same measurements: error and half-width where people are alike, and coverage."""
    found = {}
    for reads in ("once", "again"):
        if reads == "once":
            kept = Filter.with_local_noise
            monkeypatch.setattr(Filter, "with_local_noise", lambda self, posterior, stages, distances: posterior)
        else:
            monkeypatch.setattr(Filter, "with_local_noise", kept)
        releases = [released(data_of(seed, 10.0), protects, seed) for seed in range(2)]
        half = np.array([half_widths(each) for each in releases])
        off = np.array([each.samples[0] - curve(GRID[:, 0]) for each in releases])
        found[reads] = half[:, CALM].mean(), np.sqrt((off[:, CALM] ** 2).mean()), (np.abs(off) <= half).mean()
    assert found["again"][0] < 0.75 * found["once"][0]
    assert found["again"][1] < found["once"][1]
    assert found["again"][2] > 0.9


@pytest.mark.full
def test_even_dispersion_leaves_a_release_as_it_is(monkeypatch):
    one = released(data_of(0, 1.0), "outputs")
    monkeypatch.setattr(Filter, "with_local_noise", lambda self, posterior, stages, distances: posterior)
    other = released(data_of(0, 1.0), "outputs")
    np.testing.assert_array_equal(one.samples, other.samples)
    np.testing.assert_array_equal(half_widths(one), half_widths(other))


@pytest.mark.full
def test_misfit_is_widened_and_not_read_again(monkeypatch):
    misfit = Fit(ratio=4.0, threshold=1.5, widened=2.0, likeliest=4.0)
    monkeypatch.setattr(Filter, "fit", lambda self, posterior: (misfit,))
    one = released(data_of(0, 10.0), "outputs")
    monkeypatch.setattr(Filter, "with_local_noise", lambda self, posterior, stages, distances: posterior)
    np.testing.assert_array_equal(one.samples, released(data_of(0, 10.0), "outputs").samples)


@pytest.mark.full
def test_a_file_gives_an_uneven_release_again():
    mechanism = BayesCloaking(epsilon=1.0, delta=1e-5)
    release = mechanism.release(data_of(0, 10.0), GRID)
    card, npz = statistics_to_files(release.statistics[0])
    found = statistics_from_files(json.loads(json.dumps(card)), npz)
    again = read(found, mechanism.models_of_release(found)).at(GRID).curve
    np.testing.assert_allclose(found.midpoint + found.y_scale * again.mean[0], release.samples[0], rtol=1e-9)


def test_column_variances_average_to_the_models():
    X = np.linspace(0.0, 1.0, 60)[:, None]
    models = model_set(auto_models(BOX, 1.0)[:2], clusters_of(BOX, X))
    even = models.in_columns(models.noise_variance)
    np.testing.assert_array_equal(even, np.repeat(models.noise_variance[:, None], even.shape[1], axis=1))

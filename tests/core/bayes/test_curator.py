"""The curator: it measures what a query asks, with noise of its own, and keeps only what was released."""

from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.bayes import settings
from dpgp_core.bayes.cells import CellGrid, located_grid
from dpgp_core.bayes.clusters import Clusters, clusters_of
from dpgp_core.bayes.counts import Locations
from dpgp_core.bayes.curator import Curator, measured_of
from dpgp_core.bayes.queries import NOTHING, Distances, Squares, StageMeasurement
from dpgp_core.bayes.refit import bins_of
from dpgp_core.measurement.integers import person_weights
from dpgp_core.measurement.measurement import CellCounts
from dpgp_core.measurement.noise import ZeroNoise
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from tests.core.tables import changed

GRID = CellGrid(box=((0.0, 10.0),), per_side=8)
LOW, HIGH, SQUARE, THRESHOLD = -0.4, 0.7, 0.09, 0.5
KINDS = ["cells", "known cells", "clusters"]


@pytest.fixture(params=[False, True], ids=["records", "people"])
def data(request, make_dataset):
    """Twelve records, of twelve or of five people."""
    person = np.array([0, 1, 2, 3, 4, 0, 1, 2, 0, 4, 4, 4]) if request.param else None
    return changed(make_dataset(), person=person)


def bins_for(kind, data):
    if kind == "clusters":
        return clusters_of(data.x_box, data.X, (), data.person)
    return GRID if kind == "cells" else located_grid(GRID, data.X, data.person)


def asked(columns, s):
    """A query of each kind about a parabola, and the parabola at any X."""
    rng = np.random.default_rng(1)
    B, ones = rng.standard_normal((3, columns.size)), np.ones(columns.size)
    B = np.trunc(2**20 * B / (1.001 * np.linalg.norm(B, axis=0))) / 2**20
    g = 0.3 - 0.02 * columns.nodes[:, 0]
    return (
        StageMeasurement(B, LOW * ones, HIGH * ones, s, g),
        Squares(g, SQUARE * ones, s),
        Distances(B, THRESHOLD, 0.2, s, NOTHING, (s, np.nan)),
    )


def exact(columns, data):
    """What noise is added to, from the records."""
    sums, _, distances = asked(columns, 1.0)
    cells, r = columns.index(data.X), data.standardised() - (0.3 - 0.02 * data.X[:, 0])
    weights = np.ones(12) if data.person is None else person_weights(data.person) / 2**20

    def summed(B, values):
        return (B[:, cells] * weights) @ values

    return [
        summed(sums.B, (np.clip(r, LOW, HIGH) - (LOW + HIGH) / 2) / (HIGH - LOW)),
        weights @ (np.minimum(r**2, SQUARE) / SQUARE - 0.5),
        summed(distances.B, np.minimum(np.abs(r), THRESHOLD) / THRESHOLD - 0.5),
        weights @ ((r > 0) - 0.5),
    ]


def measured(curator, queries):
    sums, squares, distances = queries
    found = curator.sums(sums), curator.squares(squares), curator.distances(distances, sums.g)
    return [found[0].z, found[1].z, found[2].z, found[2].above[1]]


@pytest.mark.parametrize("noise", [ZeroNoise(), None, np.random.default_rng(1)], ids=["silent", "real", "numbered"])
@pytest.mark.parametrize("kind", KINDS)
def test_with_little_noise_sums_are_exact(data, kind, noise):
    columns = bins_for(kind, data)
    curator = Curator(data, columns, noise)
    for found, expected in zip(measured(curator, asked(columns, 1e-6)), exact(columns, data), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-4)
    cells, weights = columns.index(data.X), None if data.person is None else person_weights(data.person) / 2**20
    people = data.person is not None
    counts = curator.counts(CellCounts(B=np.eye(columns.size), noise_multiplier=1e-6, people=people))
    np.testing.assert_allclose(counts, np.bincount(cells, weights, minlength=columns.size), atol=1e-4)
    locations = curator.locations(Locations(1e-6))
    weighted = (columns.offsets(data.X)[0] - 0.5) * (1 if weights is None else weights)
    np.testing.assert_allclose(locations.z, [np.bincount(cells, weighted, minlength=columns.size)], atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("real", [True, False])
def test_every_number_has_its_own_noise(data, kind, real):
    """Mean and standard deviation over 200 measurements, within 6 standard errors."""
    repeats, s, columns = 200, 0.7, bins_for(kind, data)
    curator, expected = Curator(data, columns, None if real else np.random.default_rng(0)), exact(columns, data)
    found = [measured(curator, asked(columns, s)) for _ in range(repeats)]
    noise = np.array([np.concatenate([np.atleast_1d(z - e) for z, e in zip(f, expected, strict=True)]) for f in found])
    assert np.abs(noise.mean(axis=0)).max() < 6 * s / np.sqrt(repeats)
    assert np.abs(noise.std(axis=0) / s - 1).max() < 6 / np.sqrt(2 * repeats)
    between = np.corrcoef(noise.T) - np.eye(noise.shape[1])
    assert np.abs(between).max() < 6 / np.sqrt(repeats)


@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
@pytest.mark.parametrize("kind", ["number", "amount", "yes/no"])
def test_a_statistic_leads_back_to_what_was_measured(data, protects, kind, monkeypatch):
    monkeypatch.setattr(settings, "TUNING", replace(settings.TUNING, many_to_locate=0))
    bounds = {"number": (-1.0, 3.0), "amount": (0.0, 3.0), "yes/no": (0.0, 1.0)}[kind]
    y = (data.y > 1.0).astype(float) if kind == "yes/no" else np.clip(data.y, *bounds)
    data = changed(data, y=y, y_kind=kind, y_bounds=bounds)
    mechanism = BayesCloaking(epsilon=20.0, delta=0.01, stages=2, protects=protects)
    plan = mechanism.plan_for(data, data.X[:2])
    release = mechanism.measure(plan, data, data.X[:2], draws=2)
    for statistics, given in zip(release.statistics, release.measured, strict=True):
        found = measured_of(statistics)
        np.testing.assert_array_equal(found.counts.B if protects != "outputs" else found.counts.mean, _counts(given))
        np.testing.assert_array_equal(found.z, given.z)
        assert len(found.stages) == len(given.stages) == (1 if kind == "yes/no" else 2)
        for stage, other in zip(found.stages, given.stages, strict=True):
            for name in ("B", "low", "high", "g", "z", "s"):
                np.testing.assert_array_equal(getattr(stage, name), getattr(other, name))
            assert (stage.squares is None) == (other.squares is None)
            for one, two in zip(stage.squares or (), other.squares or (), strict=True):
                np.testing.assert_array_equal(one, two)
        assert (found.distances is None) == (kind == "yes/no")
        for one, two in zip(found.distances or (), given.distances or (), strict=True):
            np.testing.assert_array_equal(one, two)
        assert (found.distances is not None and found.distances.above is not None) == (kind == "amount")
        assert (found.locations is None) == (protects == "outputs")
        for one, two in zip(found.locations or (), given.locations or (), strict=True):
            np.testing.assert_array_equal(one, two)
        _check_columns(bins_of(statistics), plan.filtered.bins)


def _counts(measured):
    return measured.counts.B if isinstance(measured.counts, CellCounts) else measured.counts.mean


def _check_columns(found, planned):
    np.testing.assert_array_equal(found.nodes, planned.nodes)
    assert type(found) is type(planned)
    if isinstance(planned, Clusters):
        np.testing.assert_array_equal(found.node_sums, planned.node_sums)

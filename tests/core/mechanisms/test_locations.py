"""Noisy locations within cells, which are released if inputs are private and people many."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.shared.simulated import simulated
from dpgp_core.bayes import settings
from dpgp_core.bayes.cells import CellGrid
from dpgp_core.bayes.counts import Locations, RecordCounts, locations_given
from dpgp_core.measurement.statistics_file import statistics_from_files, statistics_to_files
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from tests.core.mechanisms.neighbours import allowed, costs
from tests.core.tables import read_again

MANY = 100  # people to a unit of noise
BOXES = {
    "a side": (((0.0, 1.0),), {}),
    "a plane": (((0.0, 1.0), (0.0, 1.0)), {}),
    "groups": (((0.0, 1.0),), {"x_levels": (None, ("a", "b"))}),
}


@pytest.fixture
def of_few(monkeypatch):
    """Positions are measured of few people, too."""
    monkeypatch.setattr(settings, "TUNING", replace(settings.TUNING, many_to_locate=0))


def table(name, rng, n=20, **more):
    box, levels = BOXES[name]
    X = rng.uniform(0, 1, (n, len(box)))
    if levels:
        X = np.column_stack([X, rng.integers(0, 2, n)]).astype(float)
    return simulated(X, rng.uniform(-1, 1, n), (-1.0, 1.0), box, **levels, **more)


def moved(data, j, x, y):
    """The data with another record, or row, j."""
    X, values = data.X.copy(), data.y.copy()
    X[j, : len(np.atleast_1d(x))], values[j] = x, y
    return simulated(
        X,
        values,
        (-1.0, 1.0),
        tuple(data.x_box[: 1 if data.x_levels else None]),
        **({} if data.x_levels is None else {"x_levels": data.x_levels}),
        **({} if data.person is None else {"person": data.person}),
    )


@pytest.mark.full_for("a side")  # which groups have, too
@pytest.mark.parametrize("name", BOXES)
def test_moved_records_are_protected_as_guaranteed(name, of_few):
    """From an edge of a cell to the other, to another cell, out of the box: counts, locations and sums together."""
    rng = np.random.default_rng(0)
    data, mechanism = (
        table(name, rng),
        BayesCloaking(epsilon=1.0, delta=0.01, protects="inputs and outputs", stages=2),
    )
    data = moved(data, 3, [0.0] * len(BOXES[name][0]), 1.0)
    others = [
        moved(data, 3, [x] * len(BOXES[name][0]), y)
        for x in (0.0, 1 / 24 - 1e-9, 1 / 12 - 1e-9, 0.24, 0.5, 1.0, -1e9, 1e9)
        for y in (-1.0, 1.0)
    ]
    plan = mechanism.plan_for(data, data.X[:2])
    [statistics] = mechanism.measure(plan, data, data.X[:2]).statistics
    assert len(statistics.locations.z) == len(BOXES[name][0])
    found, promised = costs(mechanism, data, others, data.X[:2]), allowed(mechanism.guarantee)
    assert max(found) <= promised
    assert max(found) >= 0.5 * promised


def test_all_rows_of_a_person_are_protected(of_few):
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(7), 3)
    data = table("a side", rng, 21, person=person)
    mechanism = BayesCloaking(epsilon=1.0, delta=0.01, protects="inputs and outputs", stages=2)
    others = []
    for x, y in ((0.0, 1.0), (0.99, -1.0), (1e9, 1e9)):
        other = data
        for row in (3, 4, 5):
            other = moved(other, row, [x], np.clip(y, -1, 1))
        others.append(other)
    assert max(costs(mechanism, data, others, data.X[:2])) <= allowed(mechanism.guarantee)


@pytest.mark.parametrize("name", BOXES)
def test_all_measurements_spend_the_budget_exactly(name, of_few):
    data = table(name, np.random.default_rng(3))
    mechanism = BayesCloaking(epsilon=1.0, delta=0.01, protects="inputs and outputs")
    [statistics] = mechanism.measure(mechanism.plan_for(data, data.X[:1]), data, data.X[:1]).statistics
    spent = [each.noise_multiplier for each in (statistics.counts, *statistics.measurements)]
    assert sum(1 / s**2 for s in spent) == pytest.approx(1 / mechanism.noise_multiplier**2, rel=1e-9)


@pytest.mark.parametrize(("people", "measured"), [(MANY - 1, False), (MANY + 1, True)])
def test_locations_are_measured_for_many_people(people, measured):
    mechanism = BayesCloaking(epsilon=1.0, delta=1e-5, protects="inputs and outputs")
    n = int(people * mechanism.noise_multiplier)
    assert (mechanism.split("number", n).locations > 0) == measured
    weekly = BayesCloaking(epsilon=1.0, delta=1e-5, protects="inputs and outputs", periods=(7.0,))
    assert weekly.split("number", 10 * n).locations == 0


@pytest.mark.parametrize("name", BOXES)
def test_a_release_is_read_again_from_its_file(name, of_few):
    data = table(name, np.random.default_rng(2), 50)
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, protects="inputs and outputs", stages=2)
    release = mechanism.measure(mechanism.plan_for(data, data.X[:5]), data, data.X[:5])
    [statistics] = release.statistics
    card, npz = statistics_to_files(statistics)
    found = statistics_from_files(json.loads(json.dumps(card)), npz)
    np.testing.assert_array_equal(found.locations.z, statistics.locations.z)
    np.testing.assert_allclose(read_again(mechanism, found, data.X[:5]), release.samples[0], rtol=1e-9)


def sums_of(grid, X, s, rng):
    """Exact sums of locations (sides, M) and noise."""
    cells, offsets = grid.index(X), grid.offsets(X)[grid.numeric_sides]
    z = np.array([np.bincount(cells, t - 0.5, minlength=grid.size) for t in offsets])
    return Locations(s, z + s * rng.standard_normal(z.shape))


@pytest.mark.parametrize("dim", [1, 2])
def test_crowds_are_found_where_they_are(dim):
    """Means over a cell of what rises along its sides are those over its people, and of a parabola nearly."""
    rng, grid = np.random.default_rng(4), CellGrid(box=((0.0, 1.0),) * dim, per_side=4)
    X = np.clip(rng.choice([0.05, 0.3], (4000, dim)) + 0.01 * rng.standard_normal((4000, dim)), 0, 1)
    X[:, 1:] += 0.15  # no two sides are alike
    cells = grid.index(X)
    counts = RecordCounts(np.bincount(cells, minlength=grid.size).astype(float), np.zeros((grid.size, grid.size)))
    placed, unknown = locations_given(grid, counts, sums_of(grid, X, 1.0, rng))
    crowded = counts.mean > 100
    assert crowded.any()
    slopes = np.array([3.0, 1.0])[:dim]
    for function, off in ((lambda x: 1 - x @ slopes, 0.01), (lambda x: x**2 @ slopes, 0.03)):
        means = np.bincount(cells, function(X), minlength=grid.size)[crowded] / counts.mean[crowded]
        np.testing.assert_allclose(placed.averages(function(grid.nodes))[crowded], means, atol=off)
        assert np.abs(grid.averages(function(grid.nodes))[crowded] - means).max() > 2 * off
    assert unknown[crowded].max() < 0.1
    assert unknown[counts.mean == 0].min() > 0.9


def test_without_information_locations_stay_unknown():
    rng, grid = np.random.default_rng(5), CellGrid(box=((0.0, 1.0),) * 2, per_side=4)
    counts = RecordCounts(np.full(16, 30.0), 100.0 * np.eye(16))
    placed, unknown = locations_given(grid, counts, Locations(1e6, 1e6 * rng.standard_normal((2, 16))))
    np.testing.assert_allclose(unknown, 1.0, atol=0.01)
    values = rng.standard_normal(len(grid.nodes))
    np.testing.assert_allclose(placed.averages(values), grid.averages(values), atol=1e-3)


@pytest.mark.parametrize("z", [1e300, -1e300, 1e3])
def test_whatever_is_released_of_positions_can_be_read(z):
    """Nothing may fail after it was charged, however unlikely the noise."""
    grid = CellGrid(box=((0.0, 1.0),) * 2, per_side=4)
    for numbers in (-5.0, 0.0, 1e-9, 1e6):
        counts = RecordCounts(np.full(16, numbers), np.eye(16))
        placed, unknown = locations_given(grid, counts, Locations(0.5, np.full((2, 16), z)))
        assert np.isfinite(placed.node_sums).all()
        assert ((unknown >= 0) & (unknown <= 1)).all()

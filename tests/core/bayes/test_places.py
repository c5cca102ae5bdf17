"""Where inputs are public, where in its cell everybody stands: means over people, curves read from sums of cells."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.shared.simulated import simulated
from dpgp_core.bayes.state import model_set, prior_state, updated_state, linearise
from dpgp_core.bayes.cells import CellGrid, occupied
from dpgp_core.bayes.counts import public_counts
from dpgp_core.bayes.engine import NOTHING, StageMeasurement
from dpgp_core.bayes.model import Model
from dpgp_core.kernels import EQ, Matern12
from dpgp_core.levels import side_of
from dpgp_core.measurement.statistics_file import statistics_from_files, statistics_to_files
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from tests.core.bayes.oracle import residual_variance_of

WIDE = 50.0  # half-width of an interval that clips nothing


def parabola(x):
    """Of second degree in every column, with products."""
    return 1.0 + x @ np.linspace(0.3, -0.7, x.shape[1]) + (x**2).sum(axis=1) - 2 * x.prod(axis=1)


GRIDS = {
    "a side": (CellGrid(box=((-2.0, 3.0),), per_side=5), lambda rng: rng.uniform(-2, 3, (40, 1))),
    "a plane": (
        CellGrid(box=((-2.0, 3.0), (0.0, 1.0)), per_side=3),
        lambda rng: rng.uniform((-2, 0), (3, 1), (40, 2)),
    ),
    "levels": (
        CellGrid(box=(side_of(("a", "b", "c")), (0.0, 10.0)), per_side=4),
        lambda rng: np.column_stack([rng.integers(0, 2, 40), rng.uniform(0, 10, 40)]).astype(float),
    ),
    "a week": (
        CellGrid(box=((0.0, 699.0),), per_side=5, periods=(7.0,)),
        lambda rng: rng.integers(0, 699, (40, 1)).astype(float),
    ),
    "at edges": (CellGrid(box=((0.0, 1.0),), per_side=4), lambda rng: rng.choice((0.0, 0.25, 0.5, 1.0), (40, 1))),
}


@pytest.mark.parametrize("people", [False, True])
@pytest.mark.parametrize("name", GRIDS)
def test_means_over_cells_are_means_over_their_people(name, people):
    grid, draw = GRIDS[name]
    rng = np.random.default_rng(0)
    X = draw(rng)
    person = rng.integers(0, 12, 40) if people else None
    weights = np.ones(40) if person is None else 1 / np.bincount(person)[person]
    found, cells = occupied(grid, X, person), grid.index(X)
    at_nodes, at_people = parabola(grid.nodes), parabola(grid._lifted(X))
    np.testing.assert_allclose(found.at(X)(at_nodes), at_people, rtol=1e-9)
    means = found.averages(at_nodes)
    for cell in range(grid.size):
        there = cells == cell
        mean = np.average(at_people[there], weights=weights[there]) if there.any() else grid.averages(at_nodes)[cell]
        assert means[cell] == pytest.approx(mean, rel=1e-5 if people else 1e-9)  # shares are multiples of 2^-20
    two = found.averages(np.stack([at_nodes, 2 * at_nodes], axis=1))
    np.testing.assert_allclose(two, np.stack([means, 2 * means], axis=1))
    least, most = found.extremes(at_nodes)
    assert (least <= means).all()
    assert (means <= most).all()


def test_a_curve_read_from_sums_over_cells_is_that_of_the_records_which_share_columns():
    """Everybody's own place, by the covariance of all records: nothing is left to chance but outcomes and noise."""
    rng, noise_variance, s = np.random.default_rng(1), 0.2, 0.3
    X = np.concatenate([rng.normal(0.27, 0.01, 25), rng.normal(0.34, 0.005, 10), rng.uniform(0.6, 1, 15)])[:, None]
    kernel, points = EQ(variance=0.5, lengthscale=0.3), np.linspace(0.05, 0.95, 7)[:, None]
    grid = occupied(CellGrid(box=((0.0, 1.0),), per_side=12), X)
    [model] = model_set([Model(kernel=kernel, noise_variance=noise_variance)], grid)
    counts = public_counts(grid, X)
    prior, ends = prior_state(model, counts), np.full((1, grid.size), WIDE)
    query = StageMeasurement(NOTHING, -ends, ends, s, g=np.zeros((1, len(grid.nodes))))
    linear = linearise(model, counts, prior, query, WIDE, residual_variance_of(noise_variance))
    assert (linear.own < 1e-9).all()
    B, z = np.linalg.qr(rng.standard_normal((12, 12)))[0], rng.standard_normal(12)
    state = updated_state(model, prior, linear, B, s, z)
    columns = B[:, grid.index(X)] / (2 * WIDE)
    # eta of a person is a little more than the noise variance: it holds what clipping usually adds
    eta = prior.prior[model.cells.shape[1] :][: grid.size] / np.maximum(counts.mean, 1)
    assert (eta[counts.mean > 0] > noise_variance).all()
    S = columns @ (kernel(X, X) + np.diag(eta[grid.index(X)])) @ columns.T + s**2 * np.eye(12)
    cross = kernel(points, X) @ columns.T
    phi = model.at(points)
    np.testing.assert_allclose(phi @ state.mean[: phi.shape[1]], cross @ np.linalg.solve(S, z), rtol=1e-3, atol=1e-6)
    Q = state.rows[:, : phi.shape[1]] @ phi.T
    np.testing.assert_allclose(
        np.einsum("rp,rp->p", Q, Q), np.einsum("pr,pr->p", cross, np.linalg.solve(S, cross.T).T), rtol=1e-3
    )


def test_what_a_rough_curve_does_between_nodes_is_left_to_chance_and_less_than_all_it_does_in_a_cell():
    X = np.full((50, 1), 0.3)
    rough, smooth = (kind(variance=1.0, lengthscale=0.3) for kind in (Matern12, EQ))
    grid = occupied(CellGrid(box=((0.0, 1.0),), per_side=12), X)
    models = model_set([Model(kernel=kernel, noise_variance=0.1) for kernel in (rough, smooth)], grid)
    assert models[0].left_out.min() > 0.01
    assert models[0].left_out.max() < 0.1
    assert (models[1].left_out < 1e-6).all()
    hidden = model_set([Model(kernel=rough, noise_variance=0.1)], CellGrid(box=((0.0, 1.0),), per_side=12))
    assert hidden[0].left_out is None


def test_people_who_stand_at_the_edge_of_their_cells_are_cut_by_no_interval_that_reaches_both_bounds():
    """A curve's mean over them lies beyond the nodes: intervals were taken to clip, and a bias was suspected."""
    X = np.repeat([0.0, 0.25, 0.5, 0.75], 200)[:, None]
    data = simulated(X, 5 + 4 * X[:, 0], (0.0, 10.0), ((0.0, 1.0),))
    plan = BayesCloaking(epsilon=1.0, delta=1e-5, protects="outputs").plan_for(data, X[:1])
    filtered = plan.cells.with_counts(plan.counts)
    prior, rising = filtered.begin(), 4 * filtered.grid.nodes[:, 0] - 2
    assert (filtered.grid.averages(rising) < CellGrid.extremes(filtered.grid, rising)[0]).any()
    least, most = filtered.grid.extremes(rising)
    h = filtered.half_range
    query = StageMeasurement(NOTHING, (-h - most)[None], (h - least)[None], 1.0, g=rising[None])
    linear = filtered.linearised(prior, query)
    biased = filtered.models[0].bias.shape[1]
    assert all(not each.T[:, -biased:].any() for each in linear.values())


@pytest.mark.parametrize("seed", range(20))
def test_intervals_lie_within_the_range_of_residuals_wherever_the_curve_is_cut(seed):
    """Between nodes at the bounds it overshoots, and means of a constant round: a stage stopped with an error then."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([np.repeat(rng.choice((0.0, 1 / 12, 0.25, 0.9), 3), 40), rng.uniform(0, 1, 3)])[:, None]
    data = simulated(X, np.full(len(X), 0.1), (-1 / 3, 1 / 3), ((0.0, 1.0),), y_scale=0.7)
    plan = BayesCloaking(epsilon=1.0, delta=1e-5, protects="outputs").plan_for(data, X[:1])
    filtered = plan.cells.with_counts(plan.counts)
    h, prior = filtered.half_range, filtered.begin()
    overshooting = np.clip(10 * h * rng.standard_normal(len(filtered.grid.nodes)), -h, h)
    for g in (np.full(len(overshooting), h), np.full(len(overshooting), -h), overshooting):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(filtered), "curve", lambda *_, g=g: g[None])
            queries = filtered.intervals(prior, 0.75, np.inf)
        for query in queries:
            assert -2 * h <= query.low.min()
            assert query.high.max() <= 2 * h
            assert (query.low < query.high).all()


@pytest.fixture(scope="module")
def clustered():
    """200 people in two clusters of a plane, and their release with public inputs."""
    rng = np.random.default_rng(3)
    X = np.clip(np.repeat([[0.2, 0.3], [0.7, 0.8]], 100, axis=0) + 0.02 * rng.standard_normal((200, 2)), 0, 1)
    y = np.clip(30 + 20 * X[:, 0] + rng.standard_normal(200), 0, 60)
    data = simulated(X, y, (0.0, 60.0), ((0.0, 1.0),) * 2)
    mechanism = BayesCloaking(epsilon=1.0, delta=1e-5, protects="outputs", stages=2)
    return data, mechanism, mechanism.plan_for(data, X[:1])


def test_a_plan_is_of_these_places_and_no_others(clustered):
    data, mechanism, plan = clustered
    moved = replace(data, X=np.clip(data.X + 1e-4, 0, 1))
    np.testing.assert_array_equal(plan.cells.grid.index(moved.X), plan.cells.grid.index(data.X))
    with pytest.raises(ValueError, match="the plan is for other records"):
        mechanism.measure(plan, moved, data.X[:1])


def test_a_file_holds_places_and_is_read_without_them_as_those_of_before_were(clustered):
    data, mechanism, plan = clustered
    release = mechanism.measure(plan, data, data.X[:3])
    [statistics] = release.statistics
    card, npz = statistics_to_files(statistics)
    found = statistics_from_files(json.loads(json.dumps(card)), npz)
    np.testing.assert_array_equal(found.counts.places, plan.cells.grid.places)
    before = replace(statistics, counts=replace(statistics.counts, places=np.zeros(0)))
    card, npz = statistics_to_files(before)
    assert card["counts"] == {"known": "inputs are public"}
    assert not len(statistics_from_files(card, npz).counts.places)

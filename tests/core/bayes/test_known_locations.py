"""Public locations of records within cells: means over records, and curves read from sums over cells."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.shared.simulated import simulated
from dpgp_core.bayes.cells import CellGrid, LocatedGrid, cells_of, located_grid
from dpgp_core.bayes.clusters import Clusters
from dpgp_core.bayes.counts import public_counts
from dpgp_core.bayes.filter import filter_of
from dpgp_core.bayes.model import Model
from dpgp_core.bayes.queries import NOTHING, StageMeasurement
from dpgp_core.bayes.state import model_set, prior_state
from dpgp_core.bayes.strategy import intervals
from dpgp_core.bayes.update import linearise, updated_state
from dpgp_core.kernels import EQ, Matern12
from dpgp_core.levels import side_of
from dpgp_core.measurement.statistics_file import statistics_from_files, statistics_to_files
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from tests.core.bayes.oracle import residual_variance_of
from tests.core.tables import table

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


def in_clusters(data):
    """The filter as it is planned, over clusters."""
    plan = BayesCloaking(epsilon=1.0, delta=1e-5, protects="outputs").plan_for(data, data.X[:1])
    assert isinstance(plan.filtered.bins, Clusters)
    return plan.filtered.with_counts(plan.counts)


def in_cells(data):
    """The same over equal cells in which all locations are known."""
    mechanism = BayesCloaking(epsilon=1.0, delta=1e-5, protects="outputs")
    grid = located_grid(cells_of(data.x_box, data.people, mechanism.noise_multiplier, public=True), data.X)
    models = mechanism.models(data.x_box, data.half_range, people=data.people)
    return filter_of(models, grid, data.people, data.half_range).with_counts(public_counts(grid, data.X))


@pytest.mark.parametrize("people", [False, True])
@pytest.mark.parametrize("name", GRIDS)
def test_cell_means_are_means_over_records(name, people):
    grid, draw = GRIDS[name]
    rng = np.random.default_rng(0)
    X = draw(rng)
    person = rng.integers(0, 12, 40) if people else None
    weights = np.ones(40) if person is None else 1 / np.bincount(person)[person]
    found, cells = located_grid(grid, X, person), grid.index(X)
    at_nodes, at_people = parabola(grid.nodes), parabola(grid.lifted(X))
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


def test_cells_and_records_give_the_same_curve():
    """Everybody's own place, by the covariance of all records: nothing is left to chance but outcomes and noise."""
    rng, noise_variance, s = np.random.default_rng(1), 0.2, 0.3
    X = np.concatenate([rng.normal(0.27, 0.01, 25), rng.normal(0.34, 0.005, 10), rng.uniform(0.6, 1, 15)])[:, None]
    kernel, points = EQ(variance=0.5, lengthscale=0.3), np.linspace(0.05, 0.95, 7)[:, None]
    grid = located_grid(CellGrid(box=((0.0, 1.0),), per_side=12), X)
    models = model_set([Model(kernel=kernel, noise_variance=noise_variance)], grid)
    counts, k = public_counts(grid, X), models.rank
    prior, ends = prior_state(models, counts), np.full(grid.size, WIDE)
    query = StageMeasurement(NOTHING, -ends, ends, s, g=np.zeros(len(grid.nodes)))
    linear = linearise(counts, prior, query, WIDE, residual_variance_of(noise_variance))
    assert (linear.independent < 1e-9).all()
    B, z = np.linalg.qr(rng.standard_normal((12, 12)))[0], rng.standard_normal(12)
    state = updated_state(prior, linear, B, s, z)
    columns = B[:, grid.index(X)] / (2 * WIDE)
    # eta of a person is a little more than the noise variance: it holds what clipping usually adds
    eta = prior.prior[0, k : k + grid.size] / np.maximum(counts.mean, 1)
    assert (eta[counts.mean > 0] > noise_variance).all()
    S = columns @ (kernel(X, X) + np.diag(eta[grid.index(X)])) @ columns.T + s**2 * np.eye(12)
    cross = kernel(points, X) @ columns.T
    phi = models.at(0, points)
    np.testing.assert_allclose(phi @ state.mean[0, :k], cross @ np.linalg.solve(S, z), rtol=1e-3, atol=1e-6)
    Q = state.rows[0, :, :k] @ phi.T
    np.testing.assert_allclose(
        np.einsum("rp,rp->p", Q, Q), np.einsum("pr,pr->p", cross, np.linalg.solve(S, cross.T).T), rtol=1e-3
    )


def test_variation_between_nodes_is_part_of_the_variance():
    X = np.full((50, 1), 0.3)
    rough, smooth = (kind(variance=1.0, lengthscale=0.3) for kind in (Matern12, EQ))
    grid = located_grid(CellGrid(box=((0.0, 1.0),), per_side=12), X)
    models = model_set([Model(kernel=kernel, noise_variance=0.1) for kernel in (rough, smooth)], grid)
    assert models.feature_error[0].min() > 0.01
    assert models.feature_error[0].max() < 0.1
    assert (models.feature_error[1] < 1e-6).all()
    hidden = model_set([Model(kernel=rough, noise_variance=0.1)], CellGrid(box=((0.0, 1.0),), per_side=12))
    assert hidden.feature_error is None


def test_intervals_up_to_both_bounds_clip_no_record():
    """A curve's mean over them lies beyond the nodes: intervals were taken to clip, and a bias was suspected."""
    X = np.repeat([0.0, 0.25, 0.5, 0.75], 200)[:, None]
    data = simulated(X, 5 + 4 * X[:, 0], (0.0, 10.0), ((0.0, 1.0),))
    filtered = in_cells(data)
    columns, h = filtered.bins, filtered.half_range
    prior, rising = filtered.prior(), 4 * columns.nodes[:, 0] - 2
    assert (columns.averages(rising) < CellGrid.extremes(columns, rising)[0]).any()
    least, most = columns.extremes(rising)
    query = StageMeasurement(NOTHING, -h - most, h - least, 1.0, g=rising)
    assert not filtered.linearised(prior, query).bias.any()
    closer = query._replace(low=query.low / 2, high=query.high / 2)
    assert filtered.linearised(prior, closer).bias.any()


@pytest.mark.parametrize("clustered_or_not", [in_cells, in_clusters], ids=["cells", "clusters"])
@pytest.mark.parametrize("seed", range(20))
def test_clipping_intervals_are_within_the_range_of_residuals(seed, clustered_or_not):
    """Between nodes at the bounds it overshoots, and means of a constant round: a stage stopped with an error then."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([np.repeat(rng.choice((0.0, 1 / 12, 0.25, 0.9), 3), 40), rng.uniform(0, 1, 3)])[:, None]
    data = simulated(X, np.full(len(X), 0.1), (-1 / 3, 1 / 3), ((0.0, 1.0),), y_scale=0.7)
    filtered = clustered_or_not(data)
    h, prior = filtered.half_range, filtered.prior()
    overshooting = np.clip(10 * h * rng.standard_normal(len(filtered.bins.nodes)), -h, h)
    for g in (np.full(len(overshooting), h), np.full(len(overshooting), -h), overshooting):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(filtered), "curve", lambda *_, g=g: g)
            queries = intervals(filtered, prior, 0.75, np.inf)
        for query in queries:
            assert -2 * h <= query.low.min()
            assert query.high.max() <= 2 * h
            assert (query.low < query.high).all()


GROUP = side_of(("a", "b"))


@pytest.fixture(scope="module", params=["clusters", "cells"])
def clustered(request):
    """200 people in two towns of a plane; or in a plane of two groups, whose columns are cells; public inputs."""
    rng = np.random.default_rng(3)
    X = np.clip(np.repeat([[0.2, 0.3], [0.7, 0.8]], 100, axis=0) + 0.02 * rng.standard_normal((200, 2)), 0, 1)
    y, box, names = np.clip(30 + 20 * X[:, 0] + rng.standard_normal(200), 0, 60), ((0.0, 1.0),) * 2, ("x", "z")
    if request.param == "cells":
        X, box, names = np.column_stack([X, np.arange(200) % 2]), (*box, GROUP), (*names, "group")
    data = table(X, y, x_names=names, x_box=box, y_bounds=(0.0, 60.0))
    mechanism = BayesCloaking(epsilon=1.0, delta=1e-5, protects="outputs", stages=2)
    plan = mechanism.plan_for(data, X[:1])
    assert isinstance(plan.filtered.bins, Clusters if request.param == "clusters" else LocatedGrid)
    return data, mechanism, plan


def test_a_plan_fits_only_its_own_inputs(clustered):
    data, mechanism, plan = clustered
    moved = replace(data, X=data.X.copy())
    moved.X[:, :2] = moved.X[:, :2] * (1 - 1e-9) + 1e-9 * moved.X[:, :2].mean(axis=0)
    columns = plan.filtered.bins
    np.testing.assert_array_equal(columns.index(moved.X), columns.index(data.X))
    with pytest.raises(ValueError, match="the plan is for other records"):
        mechanism.measure(plan, moved, data.X[:1])


def test_a_file_contains_node_weights(clustered):
    data, mechanism, plan = clustered
    release, columns = mechanism.measure(plan, data, data.X[:3]), plan.filtered.bins
    [statistics] = release.statistics
    card, npz = statistics_to_files(statistics)
    found = statistics_from_files(json.loads(json.dumps(card)), npz)
    np.testing.assert_array_equal(found.counts.node_sums, columns.node_sums)
    if isinstance(columns, Clusters):
        np.testing.assert_array_equal(found.clusters, columns.ends)
    with pytest.raises(ValueError, match="places"):
        replace(statistics, counts=replace(statistics.counts, node_sums=np.zeros(0)))

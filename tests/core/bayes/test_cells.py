"""Public cells, and the state of all models given sums of outcomes clipped in them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from dpgp_core.bayes.cells import CellGrid, cells_of, finer_where_used
from dpgp_core.bayes.changepoints import change_points_of
from dpgp_core.bayes.counts import RecordCounts
from dpgp_core.bayes.model import Model
from dpgp_core.bayes.queries import NOTHING, StageMeasurement
from dpgp_core.bayes.state import model_set, prior_state
from dpgp_core.bayes.tuning import TUNING
from dpgp_core.bayes.update import curve_moments, linearise, updated_state
from dpgp_core.kernels import EQ, Matern32
from dpgp_core.levels import side_of
from tests.core.bayes.oracle import residual_variance_of

BOX, SIDE = ((-2.0, 4.0), (10.0, 11.0)), (0.0, 1.0)


def test_inputs_outside_the_box_are_in_edge_cells():
    grid = CellGrid(box=BOX, per_side=5)
    far = np.array([[-1e300, 9.0], [1e300, 1e300], [4.0, 11.0], [-2.0, 10.0]])
    np.testing.assert_array_equal(grid.index(far), [0, 24, 24, 0])
    np.testing.assert_array_equal(grid.index(grid.centres), np.arange(25))
    assert grid.size == 25
    assert len(grid.nodes) == 225


def test_interpolation_is_linear_and_constant_beyond_the_nodes():
    grid = CellGrid(box=((0.0, 1.0),), per_side=4)
    values = 3 - 2 * grid.nodes[:, 0]
    inside = np.linspace(grid.nodes[0, 0], grid.nodes[-1, 0], 50)[:, None]
    np.testing.assert_allclose(grid.at(inside)(values), 3 - 2 * inside[:, 0], atol=1e-12)
    np.testing.assert_allclose(grid.at(np.array([[-5.0], [7.0]]))(values), values[[0, -1]], atol=1e-12)
    grid, X = CellGrid(box=BOX, per_side=4), np.array([[0.3, 10.4], [1.7, 10.7]])
    np.testing.assert_allclose(grid.at(X)(grid.nodes @ [2.0, -5.0]), X @ [2.0, -5.0], atol=1e-9)


def levels(count):
    return side_of(tuple(map(str, range(count))))


@pytest.mark.parametrize(
    ("box", "people", "s", "shape", "of_public"),
    [
        ([SIDE], 10, 3.73, (12,), (12,)),
        ([SIDE], 300, 3.73, (16,), (16,)),
        ([SIDE], 3000, 3.73, (40,), (72,)),
        ([SIDE], 10**6, 3.73, (90,), (90,)),
        ([SIDE] * 2, 300, 3.73, (4, 4), (4, 4)),
        # on planes finer soon; people find four to a cell where counts are not public
        ([SIDE] * 2, 480, 3.73, (6, 6), (5, 5)),
        ([SIDE] * 2, 300, 0.9, (9, 9), (6, 6)),
        ([SIDE] * 2, 3000, 3.73, (9, 9), (8, 8)),
        ([SIDE] * 2, 30_000, 3.73, (10, 10), (14, 14)),
        ([SIDE] * 3, 300, 3.73, (3, 3, 3), (3, 3, 3)),
        ([SIDE] * 3, 3000, 3.73, (6, 6, 6), (6, 6, 6)),
        # more groups have fewer cells each and more together
        ([SIDE, levels(1)], 30_000, 3.73, (90, 1), (90, 1)),
        ([SIDE, levels(2)], 30_000, 3.73, (77, 2), (90, 2)),
        ([SIDE, levels(4)], 30_000, 3.73, (58, 4), (90, 4)),
        ([SIDE, levels(9)], 30_000, 3.73, (42, 9), (77, 9)),
    ],
)
def test_the_number_of_cells_follows_from_public_numbers(box, people, s, shape, of_public):
    assert cells_of(box, people, s).shape == shape
    assert cells_of(box, 10 * people, 10 * s).shape == shape
    assert cells_of(box, people, s, public=True).shape == of_public


def test_private_cells_hold_at_least_a_few_records():
    assert cells_of([SIDE, SIDE], 200, 0.4).shape == (7, 7)
    assert cells_of([SIDE, levels(3)], 400, 0.4).shape == (17, 3)
    assert cells_of([SIDE, levels(3)], 400, 0.4, public=True).shape == (40, 3)


@pytest.mark.parametrize(
    ("box", "X", "finer"),
    [
        ([SIDE, SIDE], lambda t: np.column_stack([t, t]), 12),  # along a line: at most twice as many a side
        ([SIDE, SIDE], lambda t: np.column_stack([t, (17 * t) % 1]), 6),  # everywhere: every cell is used
        ([SIDE, SIDE], lambda t: np.column_stack([t, 0.5 + 0.15 * np.sin(40 * t)]), 9),  # in a band of the plane
        ([SIDE], lambda t: t[:, None] ** 9, 6),  # along one side finer cells gain nothing
        ([SIDE, levels(2)], lambda t: np.column_stack([t, 0 * t]), 6),
    ],
)
def test_grids_are_refined_if_most_cells_are_empty(box, X, finer):
    grid = CellGrid(box=tuple(box), per_side=6)
    inputs = X((np.arange(600) + 0.5) / 600)
    found = finer_where_used(grid, inputs)
    assert found == CellGrid(box=tuple(box), per_side=finer)
    assert len(np.unique(found.index(inputs))) <= grid.size


GROUPS = (side_of(("a", "b", "c")), (0.0, 10.0))


def test_cells_are_places_times_levels():
    grid = CellGrid(box=GROUPS, per_side=4)
    assert (grid.size, len(grid.nodes)) == (12, 36)
    np.testing.assert_array_equal(grid.index(grid.centres), np.arange(12))
    np.testing.assert_array_equal(np.unique(grid.centres[:, 0]), [0, 1, 2])
    np.testing.assert_array_equal(
        grid.index(np.array([[2.0, 9.9], [0.0, 0.0], [1e9, -1e9], [-7.0, 3.0]])), [11, 0, 8, 1]
    )
    values = np.random.default_rng(0).standard_normal(len(grid.nodes))
    owner = grid.index(grid.nodes)
    for cell in range(grid.size):
        own = values[owner == cell]
        assert (grid.averages(values)[cell], *(e[cell] for e in grid.extremes(values))) == pytest.approx(
            (own.mean(), own.min(), own.max())
        )


def test_categories_do_not_share_nodes():
    grid = CellGrid(box=GROUPS, per_side=4)
    values = np.where(grid.nodes[:, 0] == 1, 5.0 * grid.nodes[:, 1], 0.0)
    x = np.linspace(2.0, 8.0, 13)
    for level, slope in ((0.0, 0.0), (1.0, 5.0), (2.0, 0.0)):
        np.testing.assert_allclose(grid.at(np.stack([np.full(13, level), x], axis=1))(values), slope * x, atol=1e-12)


def test_periodic_cells_follow_from_position_and_phase():
    grid = CellGrid(box=((0.0, 699.0),), per_side=5, periods=(7.0,))
    assert (grid.dim, grid.shape, grid.size) == (2, (5, 7), 35)
    assert cells_of([(0.0, 900.0)], 300, 4.0, (7.0,)).shape == (6, 7)
    np.testing.assert_array_equal(grid.index(grid.centres), np.arange(35))
    days = np.arange(700.0)[:, None]
    position, phase = np.unravel_index(grid.index(days), (5, 7))
    np.testing.assert_array_equal(phase, days[:, 0] % 7)
    np.testing.assert_array_equal(position, np.minimum(days[:, 0] * 5 / 699, 4).astype(int))
    np.testing.assert_array_equal(np.bincount(grid.index(days), minlength=35), np.full(35, 20))


def test_functions_of_position_and_phase_are_interpolated():
    grid = CellGrid(box=((0.0, 699.0),), per_side=5, periods=(7.0,))
    values = grid.nodes @ [0.01, 2.0]
    days = np.array([[100.0], [333.0], [410.0]])
    np.testing.assert_allclose(grid.at(days)(values), 0.01 * days[:, 0] + 2 * (days[:, 0] % 7 + 0.5), atol=1e-9)
    np.testing.assert_array_equal(grid.index(np.array([[-50.0], [9e9]])), grid.index(np.array([[0.0], [699.0]])))


CELLS = CellGrid(box=((0.0, 1.0),), per_side=6)


MODEL = Model(kernel=EQ(variance=0.5, lengthscale=0.4), noise_variance=0.2)


COUNTS = np.array([3.0, 8, 5, 20, 1, 7])
SURE = RecordCounts(COUNTS, np.zeros((6, 6)))


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(2)
    B = rng.standard_normal((4, 6))
    models = replace(model_set([MODEL], CELLS), bias=np.zeros((6, 0)))  # clipping has no bias here
    return models, B / np.linalg.norm(B, axis=0), rng


def about(low, high, g):
    """A stage that clips residuals about g to these intervals."""
    return StageMeasurement(NOTHING, low, high, 1.0, g)


WIDE = about(np.full(6, -50.0), np.full(6, 50.0), np.zeros(18))


def _open(counts, state, g=None):
    """An interval so wide that nothing is clipped."""
    query = WIDE if g is None else WIDE._replace(g=g)
    return linearise(counts, state, query, 100.0, residual_variance_of(0.2))


def _covariance(state):
    """Of (a, eta, b), of the first model."""
    return np.diag(state.prior[0]) - state.rows[0].T @ state.rows[0]


def test_two_stages_are_one_conditioning(world):
    """Noise of the records is shared by all stages, so two stages are a stack of rows."""
    models, B, rng = world
    before = prior_state(models, SURE)
    linear = replace(_open(SURE, before), rest=np.zeros((1, 6, 6)), shared_location=np.zeros((1, 6)))
    [T] = linear.T
    z, s = 0.1 * rng.standard_normal(8), 0.05
    first = updated_state(before, linear, B, s, z[:4])
    second = updated_state(first, replace(linear, mean=first.mean @ T.T), 2 * B, s, z[4:])
    both, prior = np.vstack([B, 2 * B]) @ T, _covariance(before)
    S = both @ prior @ both.T + s**2 * np.eye(8)
    gain = prior @ both.T @ np.linalg.inv(S)
    np.testing.assert_allclose(second.mean, [gain @ z], atol=1e-9)
    np.testing.assert_allclose(_covariance(second), prior - gain @ both @ prior, atol=1e-9)
    assert second.log_evidence == pytest.approx(multivariate_normal(np.zeros(8), S).logpdf(z), abs=1e-7)


def test_variances_of_states_match_their_covariance(world):
    """Each stage takes them off as it comes; all three follow from the covariance, which is computed from its rows."""
    models, B, rng = world
    state = prior_state(models, SURE)
    for rows in (B, B[:2]):
        state = updated_state(state, _open(SURE, state), rows, 0.05, 0.1 * rng.standard_normal(len(rows)))
    k, [cells], nodes = models.rank, models.bin_features, models.at(0, CELLS.nodes)
    C, X, g = _covariance(state)[:k, :k], rng.uniform(*CELLS.box[0], (5, 1)), np.zeros(18)
    assert state.rows.shape[1] == 6
    moments = curve_moments(state, g)
    np.testing.assert_allclose(moments.V, [cells @ C @ cells.T], atol=1e-9)
    np.testing.assert_allclose(state.variance_over_bins, [np.diag(moments.V[0])], atol=1e-9)
    np.testing.assert_allclose(state.star_variance, [np.diag(nodes @ C @ nodes.T)[CELLS.star.ravel()]], atol=1e-9)
    at_nodes = np.diag(nodes @ C @ nodes.T) + (nodes @ state.mean[0, :k]) ** 2
    within = CELLS.averages(at_nodes) - np.diag(moments.V[0]) - moments.shift[0] ** 2
    np.testing.assert_allclose(moments.within, [np.maximum(within, 0)], atol=1e-9)
    phi = models.at(0, X)
    Q = state.rows[0, :, :k] @ phi.T
    np.testing.assert_allclose(phi @ phi.T - Q.T @ Q, phi @ C @ phi.T, atol=1e-9)


@pytest.mark.parametrize("half_width", [0.2, 0.6, 3.0])
def test_moments_of_clipped_sums_are_those_of_simulation(world, half_width):
    """20,000 worlds of f at the cells, inputs spread evenly: means within 6 standard errors, covariances to 8 %."""
    models = world[0]
    rng = np.random.default_rng(7)
    low, high = np.full(6, -half_width), np.full(6, 1.5 * half_width)
    g = 0.3 + 0 * CELLS.nodes[:, 0]
    state = prior_state(models, SURE)
    linear = linearise(SURE, state, about(low, high, g), 10.0, residual_variance_of(0.2))
    worlds, sums, nodes = 20_000, np.zeros((20_000, 6)), models.at(0, CELLS.nodes)
    a = rng.standard_normal((worlds, nodes.shape[1]))
    f = a @ nodes.T
    for cell, count in enumerate(COUNTS.astype(int)):
        for _ in range(count):
            at = 3 * cell + rng.integers(0, 3, worlds)
            r = f[np.arange(worlds), at] + np.sqrt(0.2) * rng.standard_normal(worlds) - 0.3
            sums[:, cell] += (np.clip(r, low[cell], high[cell]) - (low + high)[cell] / 2) / (high - low)[cell]
    error, [T] = sums.std(axis=0) / np.sqrt(worlds), linear.T
    assert (np.abs(sums.mean(axis=0) - linear.mean[0]) < 6 * error + 1e-3 * COUNTS).all()
    expected = T @ _covariance(state) @ T.T + linear.rest[0]
    expected -= np.diag(
        linear.shared_location[0] * (1 - 1 / (TUNING.shared_location_factor * COUNTS))
    )  # here each has a place of its own
    scale = np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
    assert np.abs((np.cov(sums.T) - expected) / scale).max() < 0.08


def test_uncertain_counts_add_variance_to_uncentred_sums(world):
    unsure = RecordCounts(COUNTS, np.diag(np.arange(1.0, 7)))
    g = np.full(18, -2.0)
    state = prior_state(world[0], SURE)
    more = _open(unsure, state, g).rest - _open(SURE, state, g).rest
    K = CELLS.averages(CELLS.averages(MODEL.kernel(CELLS.nodes, CELLS.nodes)).T).diagonal()
    np.testing.assert_allclose(more, [np.diag(np.arange(1.0, 7) * (2.0**2 + K)) / 100**2], rtol=1e-3, atol=1e-12)


def test_a_shared_location_adds_common_variance():
    """Apart from each record's own noise, a cell's n records share n^2 of what the curve varies over it, in each of
    four stages with narrow intervals four times that: information of all four together is of n^2 once."""
    state = prior_state(model_set([MODEL], CELLS), SURE)
    linear = linearise(SURE, state, WIDE, 10.0, residual_variance_of(0.2))
    K = CELLS.averages(CELLS.averages(MODEL.kernel(CELLS.nodes, CELLS.nodes)).T)
    within = 0.5 - K.diagonal()
    np.testing.assert_allclose(linear.independent * 100**2, [4 * COUNTS**2 * within], rtol=0.02)


def test_the_evidence_averages_over_shares_of_one_location():
    """Two stages: the mean over shares of that variance, the same share in both, of the product of their densities."""
    B, rng = np.eye(6)[:4], np.random.default_rng(3)
    state, by_share = prior_state(model_set([MODEL], CELLS), SURE), np.zeros(4)
    for z in rng.standard_normal((2, 4)):
        linear = linearise(SURE, state, WIDE, 10.0, residual_variance_of(0.2))
        [T] = linear.T
        S = B @ (T @ _covariance(state) @ T.T + linear.rest[0]) @ B.T + 0.3**2 * np.eye(4)
        for i, share in enumerate(TUNING.location_shares):
            left_out = np.diag((1 - share) * linear.shared_location[0])
            by_share[i] += multivariate_normal(B @ linear.mean[0], S - B @ left_out @ B.T).logpdf(z)
        state = updated_state(state, linear, B, 0.3, z)
    assert state.log_evidence == pytest.approx(np.log(np.exp(by_share).mean()), abs=1e-8)
    assert np.ptp(by_share) > 0.01


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_evenly_spread_records_do_not_exclude_short_lengthscales(seed):
    """Sums of a rough curve over 60,000 people spread evenly in their cells: the rough model is likelier by 5 nats.

    If the evidence assumed one location in each cell, as the state does, two of these curves would favour the smooth
    model by as much.
    """
    grid = CellGrid(box=((0.0, 1.0),), per_side=12)
    models = model_set(
        [Model(kernel=EQ(variance=50.0, lengthscale=length), noise_variance=25.0) for length in (0.15, 0.3)], grid
    )
    counts, wide = RecordCounts(np.full(12, 5000.0), np.zeros((12, 12))), np.full(12, 60.0)
    a = np.random.default_rng(seed).standard_normal(models.features[0].at(grid.centres).values().shape[1])
    z = counts.mean * (models.bin_features[0, :, : len(a)] @ a) / 120
    state = prior_state(models, counts)
    linear = linearise(counts, state, about(-wide, wide, np.zeros(36)), 30.0, residual_variance_of(25.0))
    rough, smooth = updated_state(state, linear, np.eye(12), 5, z).log_evidence
    assert rough > smooth + 5


@pytest.mark.parametrize("part", ["rest", "gain", "bin_features"])
def test_covariances_that_overflow_lose_their_evidence_alone(part):
    _, models, B, z = stages_of_many()
    state = prior_state(models, SURE)
    linear = _open(SURE, state)
    broken = getattr(linear, part).copy()
    broken[1] = 1e200
    with np.errstate(all="ignore"):
        after = updated_state(state, replace(linear, **{part: broken}), B, 0.3, z[0])
    good = updated_state(state, linear, B, 0.3, z[0])
    assert np.isfinite(after.mean).all()
    assert np.isfinite(after.log_evidence).all()
    others = (
        models.label != 1 if part == "bin_features" else np.arange(len(models)) != 1
    )  # features are those of a kernel
    np.testing.assert_allclose(after.log_evidence[others], good.log_evidence[others], atol=1e-9)
    np.testing.assert_allclose(after.mean[others], good.mean[others], atol=1e-12)


# ---- All models together are what each is alone.


def stages_of_many():
    """Five models of three kernels with different numbers of features, as a list and a set, B and z of two stages."""
    kernels = EQ(variance=0.5, lengthscale=0.4), Matern32(variance=0.3, lengthscale=0.2), EQ(lengthscale=2.0)
    many = [
        Model(kernel=kernel, noise_variance=noise, weight=weight)
        for kernel, noise, weight in zip(
            [kernels[i] for i in (0, 1, 0, 2, 1)], (0.2, 0.1, 0.4, 0.3, 0.2), (1.0, 2.0, 0.5, 1.0, 1.0), strict=True
        )
    ]
    rng = np.random.default_rng(11)
    B = rng.standard_normal((4, 6))
    return many, set_of(many), B / np.linalg.norm(B, axis=0), 0.5 * rng.standard_normal((2, 4))


def set_of(models):
    return model_set(models, CELLS, change_points=change_points_of(CELLS, 1.0))


def read_in_two_stages(models, B, z, index=None):
    """The state after two stages: wide intervals about 0, narrow ones about a curve; only some models in the second."""
    state, g = prior_state(models, SURE), np.linspace(-0.3, 0.4, 18)
    state = updated_state(state, _open(SURE, state), B, 0.3, z[0])
    state = state if index is None else state.only(index)
    narrow = linearise(SURE, state, about(np.full(6, -0.6), np.full(6, 0.5), g), 1.0, residual_variance_of(0.2))
    return updated_state(state, narrow, B[:3], 0.2, z[1, :3])


SAME = {"rtol": 1e-9, "atol": 1e-9}


@pytest.mark.parametrize("index", [None, [0, 3], [1, 2, 4]])
def test_models_together_equal_models_alone(index):
    many, models, B, z = stages_of_many()
    assert len({each.shape[1] for each in models.nodes}) > 1
    index = np.arange(5) if index is None else np.array(index)
    together, g = read_in_two_stages(models, B, z, index), np.linspace(0.5, -0.5, 18)
    moments, misfit = curve_moments(together, g), together.misfit
    np.testing.assert_array_equal(together.index, index)
    for row, model in enumerate(index):
        one = set_of([many[model]])
        alone, k, M = read_in_two_stages(one, B, z), one.rank, CELLS.size
        for name in ("mean_over_bins", "mean_at_star", "variance_over_bins", "star_variance", "log_evidences_by_share"):
            np.testing.assert_allclose(getattr(together, name)[row], getattr(alone, name)[0], **SAME)
        np.testing.assert_allclose(together.coefficients[row, :k], alone.coefficients[0], **SAME)
        np.testing.assert_allclose(together.coefficients[row, k:], 0, atol=1e-12)
        rest = slice(models.rank, None), slice(k, None)
        np.testing.assert_allclose(together.mean[row, rest[0]], alone.mean[0, rest[1]], **SAME)
        np.testing.assert_allclose(together.rows[row, :, rest[0]], alone.rows[0, :, rest[1]], **SAME)
        np.testing.assert_allclose(together.prior[row, models.rank :][:M], alone.prior[0, k:][:M], **SAME)
        assert together.log_evidence[model] == pytest.approx(alone.log_evidence[0], abs=1e-9)
        for name in ("mean", "square", "explained", "log_evidence"):
            ours, its = getattr(together.change_points, name), getattr(alone.change_points, name)
            np.testing.assert_allclose(ours[row], its[0], **SAME)
        for ours, its in zip(moments, curve_moments(alone, g), strict=True):
            np.testing.assert_allclose(ours[row], its[0], **SAME)
        np.testing.assert_allclose(misfit[model], alone.misfit[0], **SAME)


def test_models_that_are_not_active_keep_their_evidence():
    _, models, B, z = stages_of_many()
    first = updated_state(prior_state(models, SURE), _open(SURE, prior_state(models, SURE)), B, 0.3, z[0])
    after = read_in_two_stages(models, B, z, np.array([0, 3]))
    np.testing.assert_array_equal(after.active, [True, False, False, True, False])
    np.testing.assert_array_equal(after.log_evidence[~after.active], first.log_evidence[~after.active])
    assert (after.log_evidence[after.active] != first.log_evidence[after.active]).all()
    np.testing.assert_array_equal(after.misfit[~after.active], 0)

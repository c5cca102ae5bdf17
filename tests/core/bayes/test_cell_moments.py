import numpy as np
import pytest
from scipy.stats import multivariate_normal

from dpgp_core.bayes.cell_moments import KAPPA, cell_models, cell_prior, cell_update, linearise
from dpgp_core.bayes.cells import CellGrid, Counts
from dpgp_core.bayes.engine import NOTHING, Observed
from dpgp_core.bayes.models import Model
from dpgp_core.kernels import EQ

CELLS = CellGrid(box=((0.0, 1.0),), per_side=6)


MODEL = Model(kernel=EQ(variance=0.5, lengthscale=0.4), noise_variance=0.2)


COUNTS = np.array([3.0, 8, 5, 20, 1, 7])


@pytest.fixture(scope="module")
def world():
    (model,) = cell_models([MODEL], CELLS, biased=False)
    rng = np.random.default_rng(2)
    B = rng.standard_normal((4, 6))
    return model, B / np.linalg.norm(B, axis=0), rng


def about(low, high, g):
    """A stage that clips residuals about g to these intervals."""
    return Observed(NOTHING, low[None], high[None], 1.0, g=g[None])


def _open(model, counts, state, g=None):
    """An interval so wide that nothing is clipped."""
    wide = np.full(6, 50.0)
    return linearise(model, counts, state, about(-wide, wide, np.zeros(18) if g is None else g), 100.0, 0.2)


def test_without_clipping_the_sums_are_those_of_the_model(world):
    """Covariance of sums over cells of f + e, in units of the width 100, with the share that clipping is given."""
    model = world[0]
    counts = Counts(COUNTS, np.zeros((6, 6)))
    state = cell_prior(model, counts)
    linear = _open(model, counts, state)
    K = CELLS.averages(CELLS.averages(MODEL.kernel(CELLS.nodes, CELLS.nodes)).T)
    within = 0.5 - K.diagonal()
    expected = np.outer(COUNTS, COUNTS) * K + np.diag(COUNTS * (0.2 * (1 + KAPPA) + within))
    found = linear.T @ state.covariance @ linear.T.T + linear.rest
    np.testing.assert_allclose(found, expected / 100**2, rtol=1e-3, atol=1e-9)
    np.testing.assert_allclose(linear.mean, 0, atol=1e-12)


def test_two_stages_are_one_conditioning(world):
    """Noise of the records is shared by all stages, so two stages are a stack of rows."""
    model, B, rng = world
    counts = Counts(COUNTS, np.zeros((6, 6)))
    before = cell_prior(model, counts)
    linear = _open(model, counts, before)._replace(rest=np.zeros((6, 6)))
    z, s = 0.1 * rng.standard_normal(8), 0.05
    first = cell_update(before, linear, B, s, z[:4])
    second = cell_update(first, linear._replace(mean=linear.T @ first.mean), 2 * B, s, z[4:])
    both = np.vstack([B, 2 * B]) @ linear.T
    S = both @ before.covariance @ both.T + s**2 * np.eye(8)
    gain = before.covariance @ both.T @ np.linalg.inv(S)
    np.testing.assert_allclose(second.mean, gain @ z, atol=1e-9)
    np.testing.assert_allclose(second.covariance, before.covariance - gain @ both @ before.covariance, atol=1e-9)
    assert second.log_evidence == pytest.approx(multivariate_normal(np.zeros(8), S).logpdf(z), abs=1e-7)


def test_what_is_known_of_curve_and_noises_is_expected_of_the_next_sums(world):
    model, _, rng = world
    counts = Counts(COUNTS, np.zeros((6, 6)))
    before = cell_prior(model, counts)
    state = before._replace(mean=rng.standard_normal(len(before.mean)))
    linear = _open(model, counts, state)
    np.testing.assert_allclose(linear.mean, linear.T @ state.mean, atol=1e-9)


@pytest.mark.parametrize("half_width", [0.2, 0.6, 3.0])
def test_moments_of_clipped_sums_are_those_of_simulation(world, half_width):
    """20,000 worlds of f at the cells, inputs spread evenly: means within 6 standard errors, covariances to 8 %."""
    model = world[0]
    rng = np.random.default_rng(7)
    counts = Counts(COUNTS, np.zeros((6, 6)))
    low, high = np.full(6, -half_width), np.full(6, 1.5 * half_width)
    g = 0.3 + 0 * CELLS.nodes[:, 0]
    state = cell_prior(model, counts)
    linear = linearise(model, counts, state, about(low, high, g), 10.0, 0.2)
    worlds, sums = 20_000, np.zeros((20_000, 6))
    a = rng.standard_normal((worlds, model.nodes.shape[1]))
    f = a @ model.nodes.T
    for cell, count in enumerate(COUNTS.astype(int)):
        for _ in range(count):
            at = 3 * cell + rng.integers(0, 3, worlds)
            r = f[np.arange(worlds), at] + np.sqrt(0.2) * rng.standard_normal(worlds) - 0.3
            sums[:, cell] += (np.clip(r, low[cell], high[cell]) - (low + high)[cell] / 2) / (high - low)[cell]
    error = sums.std(axis=0) / np.sqrt(worlds)
    assert (np.abs(sums.mean(axis=0) - linear.mean) < 6 * error + 1e-3 * COUNTS).all()
    expected = linear.T @ state.covariance @ linear.T.T + linear.rest
    scale = np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
    assert np.abs((np.cov(sums.T) - expected) / scale).max() < 0.08


def test_uncertain_counts_add_variance_where_residuals_are_off_the_middle(world):
    model = world[0]
    sure = Counts(COUNTS, np.zeros((6, 6)))
    unsure = Counts(COUNTS, np.diag(np.arange(1.0, 7)))
    g = np.full(18, -2.0)
    state = cell_prior(model, sure)
    more = _open(model, unsure, state, g).rest - _open(model, sure, state, g).rest
    K = CELLS.averages(CELLS.averages(MODEL.kernel(CELLS.nodes, CELLS.nodes)).T).diagonal()
    np.testing.assert_allclose(more, np.diag(np.arange(1.0, 7) * (2.0**2 + K)) / 100**2, rtol=1e-3, atol=1e-12)


def test_one_place_in_a_cell_moves_all_who_are_there_together(world):
    """Beside what each person scatters, a cell's n people share n^2 of what the curve varies over it."""
    (model,) = cell_models([MODEL], CELLS)
    state, wide = cell_prior(model, Counts(COUNTS, np.zeros((6, 6)))), np.full(6, 50.0)
    seen = about(-wide, wide, np.zeros(18))
    linear = linearise(model, Counts(COUNTS, np.zeros((6, 6))), state, seen, 10.0, 0.2)
    K = CELLS.averages(CELLS.averages(MODEL.kernel(CELLS.nodes, CELLS.nodes)).T)
    within = 0.5 - K.diagonal()
    np.testing.assert_allclose(linear.own * 100**2, COUNTS**2 * within, rtol=0.02)


def test_a_model_that_cannot_be_computed_has_no_say_and_stops_nothing(world):
    model, B, _ = world
    counts = Counts(COUNTS, np.zeros((6, 6)))
    state = cell_prior(model, counts)
    linear = _open(model, counts, state)
    after = cell_update(state, linear._replace(mean=np.full(6, np.nan)), B, 0.3, np.zeros(4))
    assert np.isfinite(after.mean).all()
    assert after.log_evidence < state.log_evidence - 1e3


def test_models_of_one_kernel_share_their_features():
    models = cell_models([MODEL, Model(kernel=MODEL.kernel, noise_variance=1.0)], CELLS)
    assert models[0].nodes is models[1].nodes

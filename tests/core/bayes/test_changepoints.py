"""Change points of a curve, steps and bumps: their posterior against every case counted by hand."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from scipy.stats import multivariate_normal

from benchmarks.fit import not_widened
from benchmarks.inputs import CURVES, OUTCOMES, PLACES, PROTECTS, World
from dpgp_core.bayes import changepoints
from dpgp_core.bayes import filter as filter_module
from dpgp_core.bayes.cells import CellGrid, located_grid
from dpgp_core.bayes.changepoints import change_points_of, no_change_points, with_masses_at_ends
from dpgp_core.bayes.clusters import clusters_of
from dpgp_core.bayes.counts import known_counts
from dpgp_core.bayes.filter import filter_of
from dpgp_core.bayes.model import Model, curve_models
from dpgp_core.bayes.queries import NOTHING, StageMeasurement
from dpgp_core.bayes.state import model_set, prior_state
from dpgp_core.bayes.strategy import intervals, moments_of
from dpgp_core.bayes.tuning import TUNING
from dpgp_core.bayes.update import curve_moments, linearise, updated_state
from dpgp_core.kernels import EQ
from dpgp_core.levels import side_of
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from tests.core.bayes.oracle import residual_variance_of

WIDE, LARGE = 1000.0, 2.0
CELLS = CellGrid(box=((0.0, 1.0),), per_side=6)
COUNTS = known_counts(np.array([50.0, 30, 0, 80, 40, 20]))
SMOOTH = Model(kernel=EQ(variance=0.5, lengthscale=[0.5]), noise_variance=0.3)
SHARE, AMPLITUDES = TUNING.change_point_share, TUNING.change_point_variances
OF_CELLS = change_points_of(CELLS, LARGE)
STEPS = CELLS.size - 1
J = len(OF_CELLS.step_share)
FOUND = OF_CELLS.prior(np.ones((1, 2)))._replace(
    squares=np.array([[2.0], [0], [0]])[None] * np.eye(1, J, 1)
)  # the second step


@pytest.fixture(scope="module")
def model():
    """A set of one model."""
    return model_set([SMOOTH], CELLS, change_points=OF_CELLS)


@pytest.fixture
def one_break(monkeypatch):
    monkeypatch.setattr(changepoints, "TUNING", replace(TUNING, most_change_points=1))


def stages(model, numbers=(3, 2), step=4.0):
    """States and their linearisations as a curve with a step is measured, and all that was released."""
    rng, state, seen = np.random.default_rng(5), prior_state(model, COUNTS), []
    wide = np.full(CELLS.size, WIDE)
    query = StageMeasurement(NOTHING, -wide, wide, 1.0, g=np.zeros(len(CELLS.nodes)))
    for r in numbers:
        B = rng.standard_normal((r, CELLS.size))
        B /= np.linalg.norm(B, axis=0)
        linear = linearise(COUNTS, state, query, WIDE, residual_variance_of(0.3))
        linear = replace(linear, rest=np.zeros((1, 6, 6)))
        truth = COUNTS.mean * step * (np.arange(CELLS.size) >= 3) / (2 * WIDE)
        z = B @ truth + 0.02 * rng.standard_normal(r)
        seen.append((B, linear, z))
        state = updated_state(state, linear, B, 0.02, z)
    return state, seen


def by_hand(model, seen):
    """Of every break, and of none: log weight and the posterior of (state, b), all stages conditioned on at once.

    Sums are linear in state and break, q = T (a, eta, bias) + slope phi b, whatever each stage was linearised about.
    """
    H = np.vstack([B @ linear.T[0] for B, linear, _ in seen])
    D = np.vstack([(B * linear.slope[0]) @ OF_CELLS.over_bins for B, linear, _ in seen])
    z = np.concatenate([z for *_, z in seen])
    [prior] = prior_state(model, COUNTS).prior
    cases = [(np.log1p(-SHARE), None, 0.0)]
    one = np.log(SHARE / (2 * D.shape[1]))
    cases += [(one, j, LARGE * share) for share in AMPLITUDES for j in range(D.shape[1])]
    found = []
    for log_prior, j, A in cases:
        rows = np.column_stack([H, np.zeros(len(z)) if j is None else D[:, j]])
        C = np.diag([*prior, A])
        S = rows @ C @ rows.T + 0.02**2 * np.eye(len(z))
        gain = np.linalg.solve(S, rows @ C).T
        density = multivariate_normal(np.zeros(len(z)), S).logpdf(z)
        found.append((log_prior + density, j, gain @ z, C - gain @ rows @ C))
    return found


def phi_of(model, X, j):
    return np.column_stack([model.at(0, X), np.zeros(len(X)) if j is None else OF_CELLS.at(X)[:, j]])


@pytest.mark.usefixtures("one_break")
def test_one_change_point_has_the_enumerated_posterior(model):
    state, seen = stages(model)
    cases = by_hand(model, seen)
    weights = softmax([log for log, *_ in cases])
    k, X = model.rank, np.linspace(0.02, 0.97, 9)[:, None]
    chosen = np.r_[0:k, state.mean.shape[1]]
    means, squares = [], []
    for _, j, mean, covariance in cases:
        phi = phi_of(model, X, j)
        means.append(phi @ mean[chosen])
        squares.append((phi @ covariance[np.ix_(chosen, chosen)] * phi).sum(axis=1) + means[-1] ** 2)
    expected = weights @ means
    shapes, phi = OF_CELLS.at(X), model.at(0, X)
    np.testing.assert_allclose(phi @ state.coefficients[0] + shapes @ state.change_points.mean[0], expected, atol=1e-7)
    Q = state.rows[0, :, :k] @ phi.T
    smooth = (phi * phi).sum(axis=1) - (Q**2).sum(axis=0)
    [of_change_points] = state.change_points.variance((shapes - Q.T @ state.change_points.G[0])[None])
    np.testing.assert_allclose(smooth + of_change_points, weights @ squares - expected**2, atol=1e-7)
    assert weights[0] < 0.01  # the step is seen
    none = cases[0][0] - np.log1p(-SHARE)
    assert state.change_points.log_evidence == pytest.approx(logsumexp([log for log, *_ in cases]) - none, abs=1e-6)


@pytest.mark.usefixtures("one_break")
def test_change_points_reduce_the_misfit_of_each_stage(model):
    """E |w - G b|^2 by cases, w and G of each stage as the filter whitened them."""
    state, seen = stages(model)
    weights, found = softmax([log for log, *_ in by_hand(model, seen)]), by_hand(model, seen)
    found_so_far = state.change_points
    G, white, ends = found_so_far.G[0], found_so_far.white[0], np.cumsum([0, *found_so_far.stage_sizes])
    for stage, (first, last) in enumerate(pairwise(ends)):
        expected = 0.0
        for weight, (_, j, mean, covariance) in zip(weights, found, strict=True):
            g = np.zeros(last - first) if j is None else G[first:last, j]
            left = white[first:last] - g * mean[-1]
            expected += weight * (left @ left + (g @ g) * covariance[-1, -1])
        assert state.misfit[0, stage] == pytest.approx(expected, rel=1e-6)


def test_the_bound_for_several_change_points_is_tight(model):
    """Two effects, every pair of cases by hand."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(changepoints, "TUNING", replace(TUNING, most_change_points=2))
        state, _ = stages(model)
    [G], [white] = state.change_points.G, state.change_points.white
    single = [(np.log1p(-SHARE), 0.0, 0)] + [
        (np.log(SHARE / (2 * J)), LARGE * share, j) for share in AMPLITUDES for j in range(J)
    ]
    logs = []
    for log_first, first, i in single:
        for log_second, second, j in single:
            S = np.eye(len(white)) + first * np.outer(G[:, i], G[:, i]) + second * np.outer(G[:, j], G[:, j])
            logs.append(log_first + log_second + multivariate_normal(np.zeros(len(white)), S).logpdf(white))
    exact = logsumexp(logs) - multivariate_normal(np.zeros(len(white)), np.eye(len(white))).logpdf(white)
    assert exact - 1.5 < state.change_points.log_evidence[0] < exact + 1e-9


def test_steps_are_uniform_between_middles_of_cells():
    """20,000 places of each: mean and variance over each cell, and covariance of points, are those of simulation."""
    rng, X = np.random.default_rng(3), np.linspace(0, 1, 4001)[:, None]
    phi, cells = OF_CELLS.at(X), CELLS.index(X)
    u = rng.uniform(size=20_000)
    for j in range(STEPS):
        at = np.interp(u, phi[:, j], X[:, 0]) if j else (0.5 + u) / 6
        means = np.clip((np.arange(1, 7) / 6 - np.clip(at, 0, 1)[:, None]) * 6, 0, 1)
        np.testing.assert_allclose(means.mean(axis=0), [phi[cells == c, j].mean() for c in range(6)], atol=0.01)
        np.testing.assert_allclose(OF_CELLS.step_variance[:, j], means.var(axis=0), atol=2e-3)
    points = X[[900, 1100, 1150]]
    step = u[:, None] < OF_CELLS.at(points)[:, 1]
    [of_places] = OF_CELLS.step_covariance(points, FOUND.square)
    np.testing.assert_allclose(of_places, 2 * np.cov(step.T, bias=True), atol=0.02)
    np.testing.assert_allclose(OF_CELLS.step_variance_at(points) @ FOUND.square[0], of_places.diagonal())


PLACES_OF_PEOPLE = np.array([[0.1], [0.2], [0.45], [0.5 + 1e-9], [0.75], [0.99]])  # one of each cell


def test_a_single_location_determines_f_there_despite_steps():
    """What is open beside them is between them and there: 20,000 places of a step from 1/4 to 5/12."""
    seen = OF_CELLS.given_locations(located_grid(CELLS, np.repeat(PLACES_OF_PEOPLE, 7, axis=0)))
    np.testing.assert_allclose(seen.over_bins, seen.at(PLACES_OF_PEOPLE), atol=1e-12)
    np.testing.assert_allclose(seen.step_variance_at(PLACES_OF_PEOPLE), 0, atol=1e-6)
    np.testing.assert_allclose(seen.within(FOUND), 0, atol=1e-9)
    X = np.array([[0.26], [0.31], [0.38], [0.45]])
    u = np.random.default_rng(3).uniform(size=(20_000, 1))
    off = (u < seen.at(X)[:, 1]).astype(float) - (u < seen.at_mean_location[CELLS.index(X), 1])
    [of_places] = seen.step_covariance(X, FOUND.square)
    np.testing.assert_allclose(of_places, 2 * np.cov(off.T, bias=True), atol=0.02)
    np.testing.assert_allclose(seen.step_variance_at(X) @ FOUND.square[0], of_places.diagonal(), atol=1e-12)


def test_evenly_spread_records_give_even_cell_means():
    X = (np.arange(6000)[:, None] + 0.5) / 6000
    seen, phi, cells = OF_CELLS.given_locations(located_grid(CELLS, X)), OF_CELLS.at(X), CELLS.index(X)
    means = np.array([phi[cells == c].mean(axis=0) for c in range(CELLS.size)])
    np.testing.assert_allclose(seen.over_bins[:, STEPS:], means[:, STEPS:], atol=1e-6)  # parabolas
    np.testing.assert_allclose(seen.over_bins[:, :STEPS], means[:, :STEPS], atol=0.02)
    np.testing.assert_allclose(seen.spread, 1, atol=1e-6)
    np.testing.assert_allclose(seen.step_variance_at(X[::500]), OF_CELLS.step_variance_at(X[::500]), atol=1e-6)


def test_bumps_are_quadratic_splines_of_height_one():
    X = np.linspace(0, 1, 601)[:, None]
    bumps = OF_CELLS.at(X)[:, STEPS:]
    assert bumps.shape[1] == sum(6 - (width % 2 == 0) for width in TUNING.bump_widths)
    np.testing.assert_allclose(bumps.max(axis=0), 1)
    third = np.diff(bumps.reshape(601, -1), n=3, axis=0)
    inner = np.arange(len(third)) % 100 < 97  # differences of one cell's points
    np.testing.assert_allclose(third[inner], 0, atol=1e-9)
    assert np.abs(np.diff(bumps, n=2, axis=0)).max() < 3e-4  # a bend would show as .01


def test_plateaus_are_a_step_up_and_an_equal_step_down():
    """On 80 parts: widths of 7, 10 and 13 parts, whose ramps are 1, 2 and 3 parts long."""
    shapes = change_points_of(CellGrid(box=((0.0, 1.0),), per_side=80), 1.0)
    widths, ramps, numbers = [7, 10, 13], [1, 2, 3], [72, 34, 22]
    plateaus = shapes.at((np.arange(8000)[:, None] + 0.5) / 8000)[:, -sum(numbers) :]
    np.testing.assert_allclose(plateaus.mean(axis=0) * 80, np.repeat(widths, numbers), atol=1e-9)
    np.testing.assert_allclose(plateaus.max(axis=0), 1)
    np.testing.assert_allclose(
        np.abs(np.diff(plateaus, axis=0)).max(axis=0) * 100, np.repeat(1 / np.array(ramps), numbers)
    )
    assert np.exp(shapes.log_prior[-sum(numbers) :]).sum() == pytest.approx(TUNING.plateau_share)
    assert np.exp(shapes.log_prior[: -sum(numbers)]).sum() == pytest.approx(SHARE)


def test_a_plateau_is_found_as_a_whole():
    """It is 2.5 standard deviations of the noise of a part high. Without its shape, one bump explains its middle."""
    shapes = change_points_of(CellGrid(box=((0.0, 1.0),), per_side=40), 10.0)
    truth = np.where((np.arange(40) >= 20) & (np.arange(40) < 27), 2.5, 0.0)
    variances = shapes.variances[None]
    found = shapes.updated(shapes.prior(variances), shapes.over_bins[None], truth[None], variances)
    np.testing.assert_allclose((shapes.over_bins @ found.mean[0])[20:27], 2.5, atol=0.5)


@pytest.mark.parametrize("noise_variance", [1e-3, 0.3])
def test_wide_bounds_limit_the_heights_of_change_points(noise_variance):
    models = model_set([SMOOTH, replace(SMOOTH, noise_variance=noise_variance)], CELLS, change_points=OF_CELLS)
    expected = np.minimum(LARGE * np.array(AMPLITUDES), 16 * noise_variance)
    np.testing.assert_allclose(models.change_point_variances[1], expected)


PLANE, WEEKS = ((0.0, 1.0), (0.0, 1.0)), ((0.0, 70.0),)


@pytest.mark.parametrize(
    "grid",
    [
        CellGrid(box=PLANE, per_side=3),
        CellGrid(box=WEEKS, per_side=4, periods=(7.0,)),
        CellGrid(box=((0.0, 1.0), side_of(("a", "b"))), per_side=4),
    ],
)
def test_planes_groups_and_periods_have_no_change_points(grid):
    assert change_points_of(grid, 1.0).over_bins.shape == no_change_points(grid).over_bins.shape == (grid.size, 0)
    points = grid.centres[:, : len(grid.box)]
    assert change_points_of(grid, 1.0).at(points).shape == (grid.size, 0)


def test_prior_probabilities_of_change_points_are_as_declared(model):
    state = prior_state(model, COUNTS).change_points
    np.testing.assert_array_equal(state.mean, np.zeros((1, J)))
    np.testing.assert_allclose(state.square.sum(), 3 * SHARE * LARGE * np.mean(AMPLITUDES))
    assert state.log_evidence == pytest.approx(0)


def test_variances_are_diagonals_of_covariances_with_change_points(model):
    state, _ = stages(model)
    moments = curve_moments(state, np.zeros(len(CELLS.nodes)))
    np.testing.assert_allclose(state.variance_over_bins[0], moments.V[0].diagonal(), atol=1e-12)
    np.testing.assert_allclose(moments.shift, state.mean_over_bins, atol=1e-12)


def test_plans_account_for_change_points():
    """The covariance of sums and curve that strategies are planned for, against its own rows, each break in turn."""
    models = curve_models(CELLS.box, 2.0)
    filtered = filter_of(models, CELLS, 220, 2.0).with_counts(COUNTS)
    without = filter_of(models, CELLS, 220, 2.0, change_points=False).with_counts(COUNTS)
    [query] = intervals(filtered, filtered.prior(), 1e9)
    more = []
    for each in (filtered, without):
        prior = each.prior()
        linear = each.linearised(prior, query)
        more.append((moments_of(each, prior, linear), linear.slope))
    (own, unit), (plain, _) = more
    for index in range(len(models)):
        square = np.full(J, 3 * SHARE / J * np.mean(filtered.models.change_point_variances[index]))
        of_curve = (OF_CELLS.over_bins * square) @ OF_CELLS.over_bins.T
        more_F = unit[index][:, None] * of_curve
        np.testing.assert_allclose(own.F[index] - plain.F[index], more_F, rtol=0.05, atol=1e-6)
        more_variance = own.variance[index] - plain.variance[index]
        np.testing.assert_allclose(more_variance, of_curve.diagonal(), rtol=1e-9)


def released(curve, repeat, X, *, included=True):
    """Error of the curve at X and whether the interval holds it, of one of 3,000 people, inputs protected.

    If the models do not include the curve, the interval is that before a noticed misfit widens it.
    """
    world, rng = World(PLACES["even"], CURVES[curve], OUTCOMES["normal"]), np.random.default_rng([3000, repeat])
    mechanism = BayesCloaking(epsilon=1.0, delta=1e-5, protects=PROTECTS["inputs"])
    data = world.table(3000, rng)
    release = mechanism.measure(mechanism.plan_for(data, X), data, X, rng, mean=False)
    assert release.fit.fits or not included
    low, high = (end[0] for end in (release if included else not_widened(release)).interval(0.95, "function"))
    return release.samples[0] - world.truth(X), (low <= world.truth(X)) & (world.truth(X) <= high)


def in_fifths(inside):
    """Share of the curve inside, on average and in the least of five fifths."""
    return np.mean(inside), min(each.mean() for each in np.array_split(np.array(inside), 5, axis=1))


CURVE = np.linspace(0.01, 0.99, 61)[:, None]


@pytest.mark.parametrize("curve", ["jump", "peak"])
def test_change_points_reduce_errors_at_steps_and_peaks(curve, monkeypatch):
    """In ten releases of each, errors are smaller, and the worst fifth of the curve is covered better."""
    errors, inside = zip(*(released(curve, repeat, CURVE) for repeat in range(10)), strict=True)
    monkeypatch.setattr(filter_module, "change_points_of", lambda grid, variance: no_change_points(grid))
    plain, held = zip(*(released(curve, repeat, CURVE, included=False) for repeat in range(10)), strict=True)
    assert np.mean(np.square(errors)) < np.mean(np.square(plain))
    assert in_fifths(inside)[1] > in_fifths(held)[1]


@pytest.mark.full
@pytest.mark.parametrize("curve", ["jump", "peak"])
def test_intervals_cover_steps_and_peaks(curve):
    """40 draws of each: .98 in the least fifth of a jump, .9 of a peak, with a standard error of .02."""
    average, least = in_fifths([released(curve, repeat, CURVE)[1] for repeat in range(40)])
    assert average > 0.92
    assert least >= 0.85


def test_smooth_curves_have_no_change_points():
    """Four fixed draws: nowhere does the curve rise in a sixtieth of the range by more than its own slope and noise."""
    for repeat in range(4):
        error, _ = released("smooth", repeat, CURVE)
        assert np.abs(np.diff(error)).max() < 0.5


def test_public_masses_have_shapes_of_their_own():
    x = np.concatenate([np.zeros(80), np.repeat(np.arange(1.0, 21), 10)])[:, None]
    found = change_points_of(clusters_of(((0.0, 40.0),), x), LARGE)
    np.testing.assert_array_equal(found.masses, [0])
    np.testing.assert_array_equal(found.at(np.array([[0.0], [0.01], [1]]))[:, -1], [1, 0, 0])
    np.testing.assert_array_equal(found.over_bins[:, -1], np.eye(21)[0])
    assert np.exp(found.log_prior).sum() == pytest.approx(TUNING.mass_share + SHARE + TUNING.plateau_share)
    few = np.repeat([0.1, 0.3, 0.5], 100)[:, None]  # as many records at each: none is a mass
    assert not len(change_points_of(clusters_of(((0.0, 1.0),), few), LARGE).masses)


@pytest.mark.parametrize(
    ("numbers", "noise", "masses", "shares"),
    [
        ([100.0, 40, 30, 30, 20, 20], 1.0, [0.0], [0.6]),
        ([20.0, 20, 30, 30, 40, 100], 1.0, [1.0], [0.6]),
        ([100.0, 20, 30, 30, 20, 100], 1.0, [0.0, 1.0], [0.8, 0.8]),
        ([100.0, 40, 30, 30, 20, 20], 30.0, [], []),  # noise may be the reason
        ([50.0, 40, 30, 30, 20, 20], 1.0, [], []),
        ([100.0, -5, 30, 30, 20, 20], 1.0, [0.0], [1.0]),
    ],
)
def test_noisy_counts_reveal_masses_at_the_ends(numbers, noise, masses, shares):
    counts = known_counts(np.array(numbers))._replace(covariance=noise**2 * np.eye(6))
    for before in (OF_CELLS, with_masses_at_ends(OF_CELLS, COUNTS._replace(mean=np.array([90.0, 1, 1, 1, 1, 90])))):
        found = with_masses_at_ends(before, counts)
        np.testing.assert_array_equal(found.masses, masses)
        cells = [0 if mass == 0 else 5 for mass in masses]
        np.testing.assert_allclose(found.over_bins[:, J:], np.eye(6)[:, cells] * shares)
        places = np.array([[0.0], [0.1], [1]])
        np.testing.assert_array_equal(found.at(places)[:, J:], places == np.array(masses).reshape(1, -1))


def test_a_mass_has_the_exact_posterior(one_break):
    """Before anything is released, the curve at the mass is more uncertain by the prior variance of its height."""
    found = with_masses_at_ends(OF_CELLS, known_counts(np.array([100.0, 40, 30, 30, 20, 20])))
    state = found.prior(LARGE * np.array([AMPLITUDES]))
    assert state.square[0, -1] == pytest.approx(TUNING.mass_share * LARGE * np.mean(AMPLITUDES))
    assert state.square[0, :-1].sum() == pytest.approx(SHARE * LARGE * np.mean(AMPLITUDES))

"""The filter of all models: how wide a stage clips, what it measures, and what its answers imply."""

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.outcomes import GRID
from dpgp_core import BayesCloaking
from dpgp_core.bayes import filter as filter_module
from dpgp_core.bayes import strategy
from dpgp_core.bayes.cells import CellGrid
from dpgp_core.bayes.clusters import clusters_of
from dpgp_core.bayes.counts import known_counts, public_counts
from dpgp_core.bayes.filter import filter_of
from dpgp_core.bayes.model import Model, auto_models, curve_models
from dpgp_core.bayes.periodic import with_phases
from dpgp_core.bayes.prediction import joint_covariances, predict
from dpgp_core.bayes.queries import Squares, StageMeasurement
from dpgp_core.bayes.residuals import has_outliers, model_weights
from dpgp_core.bayes.strategy import (
    choose_width,
    intervals,
    mixture_risk,
    moments_of,
    next_stage,
    plan_stage,
    representative_models,
    risk_model,
)
from dpgp_core.bayes.tuning import TUNING
from dpgp_core.kernels import EQ, Matern32
from dpgp_core.strategies.bayes import optimal_strategy, risk
from tests.core.tables import table

BOX, HALF = ((0.0, 10.0),), 2.0
CELLS = CellGrid(box=BOX, per_side=8)
ZERO = np.zeros(len(CELLS.nodes))


def of_people(numbers, gap=0.2):
    """The mixture where so many records are in each cell."""
    counts = known_counts(np.asarray(numbers, dtype=float))
    return filter_of(auto_models(BOX, HALF), CELLS, round(sum(numbers)), HALF, gap=gap).with_counts(counts)


def each_alone(moments):
    """Moments of every model by itself."""
    return [type(moments)(*(part[row] for part in moments)) for row in range(len(moments.K))]


@pytest.fixture(scope="module")
def even():
    return of_people([50] * 8)


@pytest.mark.parametrize("level", [-3.0, 0.0, 1.9999, 3.0])
def test_clipping_intervals_stay_in_range_with_minimal_width(even, level, monkeypatch):
    monkeypatch.setattr(type(even), "curve", lambda *_: np.clip(ZERO + level, -HALF, HALF))
    monkeypatch.setattr(type(even), "mean_square", lambda *_: np.full(8, 1e-12))
    [asked] = intervals(even, even.prior(), 0.75)
    assert (asked.g + asked.low.min() >= -HALF - 1e-12).all()
    assert (asked.g + asked.high.max() <= HALF + 1e-12).all()
    assert (asked.high - asked.low >= 2 * HALF * TUNING.narrowest * (1 - 1e-9)).all()


def test_a_given_width_replaces_the_choice(even):
    now = even.prior()
    asked, _ = next_stage(even, now, 1.0, math.inf)
    assert asked.width == math.inf
    assert asked.s == 1.0
    np.testing.assert_array_equal(asked.g, 0)
    np.testing.assert_allclose([asked.low, asked.high], [np.full(8, -HALF), np.full(8, HALF)])
    asked, _ = next_stage(even, now, 1.0, 1.5, strategy.identity_strategy(8).B)
    np.testing.assert_array_equal(asked.B, np.eye(8))
    np.testing.assert_array_equal(asked.low, intervals(even, now, 1.5)[0].low)
    asked, linear = next_stage(even, now, 1.0, None)
    assert asked.width in {even.clip * times for times in TUNING.widths}
    [expected] = intervals(even, now, asked.width)
    for one, other in ((asked.low, expected.low), (asked.high, expected.high), (asked.g, expected.g)):
        np.testing.assert_array_equal(one, other)
    assert asked.B.shape[1] == 8
    assert len(linear.index) == len(even.models)


def known_after(filtered, sd, s=0.3):
    """The posterior after a stage of the whole range that showed a curve of 0, and squares that show this sd."""
    now = filtered.prior()
    [query] = intervals(filtered, now, math.inf)
    stage = query._replace(B=np.eye(8), s=s, z=np.zeros(8))
    now = filtered.after(now, stage)
    g = filtered.curve(now)
    high = np.minimum(TUNING.threshold**2 * filtered.mean_square(now, g), (2 * HALF) ** 2)
    square = (sd * np.random.default_rng(1).standard_normal(4000)) ** 2
    sums = [
        n * (np.minimum(square, most) / most - 0.5).mean()
        for n, most in zip(filtered.counts.nonnegative, high, strict=True)
    ]
    return filtered.with_squares(now, Squares(g, high, s, float(sum(sums))))


@pytest.mark.parametrize(("s", "expected"), [(30.0, 0), (0.02, len(TUNING.widths) - 1)])
def test_stages_take_the_widest_nearly_optimal_interval(even, s, expected):
    """Each width by hand: what is left of the curve's variance once the stage is measured.

    Where noise leaves most of the risk, all widths leave about as much, and that is no reason for a wide interval.
    """
    known = known_after(even, 0.2)
    index, shares = representative_models(even.models, known.weights, even.active(known).state.index)
    likeliest = known._replace(state=known.state.only(index))
    queries = intervals(even, known, *(even.clip * times for times in TUNING.widths))
    B = np.random.default_rng(3).standard_normal((5, 8))
    B /= np.linalg.norm(B, axis=0)
    linears, left = [even.linearised(likeliest, query) for query in queries], []
    for linear in linears:
        moments = moments_of(even, known, linear)
        K, F, variance = (
            np.tensordot(shares / shares.sum(), part, axes=1) for part in (moments.K, moments.F, moments.variance)
        )
        S = B @ K @ B.T + s**2 * np.eye(5)
        explained = np.einsum("rm,rm->m", B @ F, np.linalg.solve(S, B @ F))
        left.append(float(even.counts.nonnegative @ (variance - explained) / even.counts.nonnegative.sum()))
    models = [mixture_risk(even, known, linear, shares) for linear in linears]
    prior = float(even.counts.nonnegative @ variance / even.counts.nonnegative.sum())
    good = np.flatnonzero(np.array(left) <= min(left) + TUNING.tied * (prior - min(left)))
    assert choose_width(models, B, s) == good[-1] == expected
    assert s < 1 or max(left) < 1.2 * min(left)


def test_failed_risks_fall_back_to_the_narrowest_interval(even, monkeypatch):
    def fails(*_, **__):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(strategy, "risk", fails)
    assert next_stage(even, even.prior(), 1.0, None)[0].width == even.clip * TUNING.widths[0]


def test_the_prior_curve_is_zero_with_prior_weights(even):
    now, models = even.prior(), even.models
    np.testing.assert_array_equal(even.curve(now), 0)
    assert now.weights.sum() == pytest.approx(1)
    spread = sum(
        weight * (noise + (models.bin_features[label] ** 2).sum(axis=1) + models.change_points.over_bins**2 @ square)
        for label, noise, weight, square in zip(
            models.label, models.noise_variance, now.weights, now.state.change_points.square, strict=True
        )
    )
    np.testing.assert_allclose(even.mean_square(now, ZERO), spread)


@pytest.mark.parametrize("s", [0.3, 3.0])
def test_plans_for_second_moments_are_nearly_optimal(s):
    few = of_people(np.arange(8.0) + 0.5, gap=1e-3)
    now = few.prior()
    linear = few.linearised(now, intervals(few, now, np.inf)[0])
    index, shares = representative_models(few.models, now.weights, few.active(now).state.index)
    of_likeliest = linear.only(index)
    alone = each_alone(moments_of(few, now, of_likeliest))
    mixture = [
        replace(risk_model(one, few.counts.nonnegative), weight=share) for one, share in zip(alone, shares, strict=True)
    ]
    moments = mixture_risk(few, now, of_likeliest, shares)
    B, closer = plan_stage(few, now, linear, s).B, optimal_strategy(mixture, s**2, gap=1e-3).B
    for each in (B, closer, np.random.default_rng(1).standard_normal((3, 8)) / 8):
        assert risk([moments], each, s**2) >= risk(mixture, each, s**2) * (1 - 1e-3)  # what was left out of either
    nothing = risk(mixture, np.zeros((1, 8)), s**2)
    assert nothing - risk(mixture, B, s**2) > 0.98 * (nothing - risk(mixture, closer, s**2))


def test_moments_are_those_of_the_state(even):
    """K = T C T^T + rest and F = T C Phi^T, and of change points, from the whole covariance of each model."""
    now = known_after(even, 0.3)
    linear = even.linearised(now, intervals(even, now, 1.5)[0])
    found, state, k = moments_of(even, now, linear), now.state.only(linear.index), even.models.rank
    for row, one in enumerate(each_alone(found)):
        C = np.diag(state.prior[row]) - state.rows[row].T @ state.rows[row]
        T, phi = linear.T[row], np.zeros((8, C.shape[1]))
        phi[:, :k] = even.models.bin_features[state.label[row]]
        of_sums = (
            linear.slope[row][:, None] * even.models.change_points.over_bins
            - T @ state.rows[row].T @ state.change_points.G[row]
        )
        of_curve = even.models.change_points.over_bins - phi @ state.rows[row].T @ state.change_points.G[row]
        change_points = state.change_points.only(np.array([row]))
        [joint] = change_points.covariance(np.vstack([of_sums, of_curve])[None])
        more, across = joint[:8, :8], joint[:8, 8:]
        np.testing.assert_allclose(one.K, T @ C @ T.T + linear.rest[row] + more, atol=1e-9, rtol=1e-9)
        np.testing.assert_allclose(one.F, T @ C @ phi.T + across, atol=1e-9, rtol=1e-9)


def test_failed_optimisation_falls_back_to_the_identity_strategy(even, monkeypatch):
    """Stages are planned after the charge, from noisy numbers: nothing may fail there."""

    def fails(*_, **__):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(strategy, "optimal_strategy", fails)
    asked, _ = next_stage(even, even.prior(), 1.0, None)
    np.testing.assert_array_equal(asked.B, np.eye(8))


def test_strategies_are_quantised_with_columns_within_norm_one(even):
    now = even.prior()
    for s in (0.1, 1.0, 30.0):
        integers = next_stage(even, now, s, None)[0].B * 2**20
        assert (integers == np.rint(integers)).all()
        assert ((integers**2).sum(axis=0) <= 2**40).all()


def test_identified_outliers_cause_reprocessing_of_all_sums():
    """As if the larger clipping bias had been known from the beginning; without outliers nothing is processed again."""
    rng, n = np.random.default_rng(0), 400
    X = (np.arange(n)[:, None] * 10 // n + 0.5) / 10
    columns = clusters_of(((0.0, 1.0),), X)
    many = filter_of(auto_models(((0.0, 1.0),), 1.0), columns, n, 1.0).with_counts(public_counts(columns, X))
    one, zero, cluster = np.ones(columns.size), np.zeros(len(columns.nodes)), columns.index(X)
    fifths = np.repeat(np.eye(5), n // 5, axis=1)
    B = np.stack([np.bincount(cluster, row, minlength=columns.size) > 0 for row in fifths]) / (n // 5) ** 0.5
    near = 0.01 * rng.standard_normal(n)
    for y, found in ((near, False), (np.where(np.arange(n) % 20 == 0, 0.95, near), True)):
        stages = []
        for reach in (0.9, 0.5, 0.3, 0.15, 0.1):
            z = float((np.minimum(y**2, reach**2) / reach**2 - 0.5).sum())
            sums = B[:, cluster] @ np.clip(y / reach, -1, 1) / 2
            squares = Squares(zero, reach**2 * one, 1.0, z)
            stages.append(StageMeasurement(B, -reach * one, reach * one, 0.1, zero, sums, squares))
        posterior, steps = many.given(stages), many.prior()
        assert has_outliers(posterior.log_densities) == found
        known = many.prior(posterior.log_densities) if found else steps
        for stage in stages:
            known = many.after(known, stage)
            known = known if found else many.with_squares(known, stage.squares)
        np.testing.assert_allclose(posterior.weights, known.weights, atol=0.01)
        index = np.flatnonzero(posterior.weights > 1e-4)
        ours, its = predict(many, posterior, X), predict(many, known, X)
        np.testing.assert_allclose(ours.means[0, index], its.means[0, index], atol=0.01)
        np.testing.assert_allclose(ours.variances[0, index], its.variances[0, index], atol=0.01)


# ---- All models together are what each is alone.


MANY = [
    Model(kernel=kernel, noise_variance=noise, weight=weight)
    for kernel, weight in ((EQ(variance=0.5, lengthscale=2.0), 1.0), (Matern32(variance=0.3, lengthscale=4.0), 2.0))
    for noise in (0.05, 0.3)
]
AT = np.linspace(0, 10, 7)[:, None]


def read_by(models, stages):
    filtered = filter_of(models, CELLS, 400, HALF, is_binary=False).with_counts(known_counts(np.full(8, 50.0)))
    return filtered, filtered.given(stages)


@pytest.fixture(scope="module")
def stages(even):
    """Two stages: the whole range, then intervals about the curve and squares."""
    rng, now = np.random.default_rng(5), even.prior()
    first = next_stage(even, now, 0.3, math.inf)[0]
    first = first._replace(z=rng.standard_normal(len(first.B)))
    now = even.after(now, first)
    second = next_stage(even, now, 0.2, 1.5)[0]
    squares = Squares(second.g, np.full(8, 2.0), 3.0, -120.0)
    return [first, second._replace(z=rng.standard_normal(len(second.B)), squares=squares)]


def test_a_mixture_predicts_what_its_models_predict_alone(stages):
    filtered, together = read_by(MANY, stages)
    prediction, (shared, places) = predict(filtered, together, AT), joint_covariances(filtered, together, AT)
    for index, model in enumerate(MANY):
        one, alone = read_by([model], stages)
        assert together.state.log_evidence[index] == pytest.approx(alone.state.log_evidence[0], abs=1e-9)
        its = predict(one, alone, AT)
        np.testing.assert_allclose(prediction.means[0, index], its.means[0, 0], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(prediction.variances[0, index], its.variances[0, 0], rtol=1e-9, atol=1e-9)
        [Q], [of_places] = joint_covariances(one, alone, AT)
        np.testing.assert_allclose(shared[index].T @ shared[index], Q.T @ Q, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(places[index], of_places, rtol=1e-9, atol=1e-9)


def test_weights_of_a_mixture_follow_from_evidence_alone(stages):
    """Of its models read one by one: squares give the noise, and evidence the kernel."""
    filtered, together = read_by(MANY, stages)
    evidence = np.array([read_by([model], stages)[1].state.log_evidence[0] for model in MANY])
    expected = model_weights(filtered.noise_shares, together.log_densities, evidence)
    np.testing.assert_allclose(together.weights, expected, rtol=1e-9, atol=1e-12)


def test_a_failing_model_stops_no_release(stages, monkeypatch):
    """Its sums are not numbers: it has no weight, and the others predict as they would."""
    filtered, good = read_by(MANY, stages)
    plain = filter_module.linearise

    def broken(*args):
        linear = plain(*args)
        mean = linear.mean.copy()
        mean[linear.index == 1] = np.nan
        return replace(linear, mean=mean)

    monkeypatch.setattr(filter_module, "linearise", broken)
    found = filtered.given(stages)
    assert found.weights.sum() == pytest.approx(1)
    assert found.weights[1] < 1e-12
    others = [0, 2, 3]
    np.testing.assert_allclose(found.state.log_evidence[others], good.state.log_evidence[others], atol=1e-9)
    np.testing.assert_allclose(
        predict(filtered, found, AT).means[0, others], predict(filtered, good, AT).means[0, others], atol=1e-9
    )
    assert np.isfinite(predict(filtered, found, AT).interval(0.95)).all()
    asked, _ = next_stage(filtered, found, 1.0, None)
    assert np.isfinite(asked.B).all()


X_TEST = GRID[:, None]


def test_models_ruled_out_by_squares_are_dropped(monkeypatch):
    mechanism = BayesCloaking(epsilon=3.0, delta=1e-5)
    rng = np.random.default_rng(2)
    x = (rng.integers(0, 24, 4000) + 0.5) / 24
    data = table(x[:, None], np.sin(5 * x) + 0.1 * rng.standard_normal(4000), y_bounds=(-2.0, 2.0), x_box=((0.0, 1.0),))
    plan = mechanism.plan_for(data, X_TEST)
    [measured] = mechanism.measure(plan, data, X_TEST, np.random.default_rng(1), mean=False).measured
    filtered = plan.filtered.with_counts(measured.counts)
    posterior = filtered.given(measured.stages)
    out = ~posterior.state.active
    noises = np.array([model.noise_variance for model in plan.models])
    assert set(noises[out]).isdisjoint(noises[~out])
    assert 2 * out.sum() >= len(out)
    monkeypatch.setattr(filter_module, "TUNING", replace(TUNING, ruled_out=0.0))
    every = filtered.given(measured.stages)
    assert every.state.active.all()
    np.testing.assert_allclose(posterior.weights, every.weights, atol=1e-7)
    intervals = (predict(filtered, each, X_TEST).interval(0.95) for each in (posterior, every))
    for one, other in zip(*intervals, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_some_model_always_remains_for_planning():
    """A model that is read no further stands for no kernel that has no weight, nor where squares turn round."""
    models = BayesCloaking(epsilon=1.0, delta=1e-5).models(BOX, HALF, people=10**6)
    every = filter_of(models, CELLS, 4000, HALF).with_counts(known_counts(np.full(8, 500.0)))
    now, noises = every.prior(), every.models.noise_variance
    believed = (noises == noises[-1]) & ~every.models.always_planned_for
    now = now._replace(weights=believed / believed.sum())
    assert set(every.active(now).state.index) == set(np.flatnonzero(noises == noises[-1]))
    asked, linear = next_stage(every, now, 1.0, None)
    later = every.after(now, asked._replace(z=np.zeros(len(asked.B))), linear)
    np.testing.assert_array_equal(later.state.active, noises == noises[-1])
    narrow = np.where(np.arange(len(now.log_densities)) > 0, -1e6, 0.0)
    turned = every._reweighted(later._replace(log_densities=narrow))
    np.testing.assert_array_equal(turned.weights > 0, noises == noises[-1])
    assert np.isfinite(next_stage(every, turned, 1.0, None)[0].B).all()
    assert np.isfinite(predict(every, turned, AT).interval(0.95)).all()


@pytest.mark.parametrize(("share", "sought"), [(1e-2, True), (1e-4, True), (1e-8, False)])
def test_curves_are_planned_for_until_ruled_out(share, sought):
    """A season of this probability, every trend with and without it."""
    box, year = [(0.0, 5000.0)], (365.0,)
    grid = CellGrid(box=box, per_side=4, periods=year)
    models = BayesCloaking(epsilon=1.0, delta=1e-5, periods=year).models(box, HALF)
    models = filter_of(with_phases(models, year), grid, 5000, HALF).models
    seasonal = models.always_planned_for
    weights = np.where(seasonal, share / seasonal.sum(), (1 - share) / (~seasonal).sum())
    index, shares = representative_models(models, weights, np.arange(len(models)))
    assert (np.diff(index) > 0).all()
    assert seasonal[index].any() == sought
    assert (shares[seasonal[index]] > 1e-4).all()


def test_one_model_represents_each_family_in_plans():
    """The likeliest of those of the largest amplitude."""
    models = filter_of(curve_models(BOX, HALF, rough=1.0), CELLS, 400, HALF).models
    weights = np.random.default_rng(2).dirichlet(np.ones(len(models)))
    index, shares = representative_models(models, weights, np.arange(len(models)))
    assert shares.sum() == pytest.approx(1)
    families = [models.family[i] for i in index]
    assert len(set(families)) == len(families) == len(set(models.family))
    for i, share in zip(index, shares, strict=True):
        own = [j for j in range(len(models)) if models.family[j] == models.family[i]]
        assert share == pytest.approx(weights[own].sum())
        large = [j for j in own if models.amplitude[j] == models.amplitude[own].max()]
        assert i == max(large, key=lambda j: weights[j])


def test_many_records_are_measured_with_the_identity_strategy():
    """Ten million on a plane: the solver took 200 steps, seven seconds on a finer one, to come as far."""
    grid = CellGrid(box=BOX * 2, per_side=10)
    filtered = filter_of(auto_models(grid.box, HALF), grid, 10**7, HALF).with_counts(known_counts(np.full(100, 1e5)))
    prior = filtered.prior()
    [query] = intervals(filtered, prior, math.inf)
    linear = filtered.linearised(prior, query)
    planned = plan_stage(filtered, prior, linear, 20.0)
    np.testing.assert_array_equal(planned.B, np.eye(100))
    index, shares = representative_models(filtered.models, prior.weights, linear.index)
    moments = mixture_risk(filtered, prior, linear.only(index), shares)
    assert planned.risk == pytest.approx(risk([moments], np.eye(100), 400.0))
    assert planned.risk <= 1.001 * optimal_strategy([moments], 400.0, gap=1e-6, max_iterations=500).risk

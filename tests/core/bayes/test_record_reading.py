"""The filter over records: against dense algebra, and against the filter over cells with one record each."""

from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.bayes.state import KAPPA
from dpgp_core.bayes.cells import CellGrid
from dpgp_core.bayes.counts import known_counts
from dpgp_core.bayes.engine import NOTHING, Measured, StageMeasurement, Posterior, Squares
from dpgp_core.bayes.filter import filter_of
from dpgp_core.bayes.filter_records import record_filter
from dpgp_core.bayes.model import Model, auto_models
from dpgp_core.bayes.residuals import REACH, far_out
from dpgp_core.bayes.clipping import DRAWN_TIED, NARROWEST, WIDTHS, PlannedStage, OutcomeInfo
from dpgp_core.kernels import EQ, Matern32
from dpgp_core.strategies.strategy import Strategy
from tests.core.bayes.oracle import conditioned

MODELS = (
    Model(kernel=EQ(variance=1.3, lengthscale=2.0), noise_variance=0.3),
    Model(kernel=Matern32(variance=0.7, lengthscale=1.5), noise_variance=0.1, weight=2.0),
)


@pytest.fixture(scope="module")
def world():
    """Two stages of two draws on nine records: inputs, test inputs, what was observed."""
    rng = np.random.default_rng(3)
    X, X_test = rng.uniform(0, 6, (9, 1)), rng.uniform(-1, 8, (4, 1))
    stages = []
    for rank, s in ((3, 0.8), (4, 0.2)):
        B = rng.standard_normal((rank, 9))
        B /= np.linalg.norm(B, axis=0)
        centre, half_width = 0.5 * rng.standard_normal((2, 9)), rng.uniform(0.2, 1.2, (2, 9))
        stages.append(StageMeasurement(B, centre - half_width, centre + half_width, s, rng.standard_normal((2, rank))))
    return X, X_test, tuple(stages)


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("draw", [0, 1])
def test_stage_after_stage_is_dense_conditioning_on_all_stages(world, index, draw):
    X, X_test, stages = world
    outcome = record_filter(MODELS, X, X_test).read(stages)
    mean, covariance, log_evidence = conditioned(MODELS[index], X, X_test, stages, draw)
    state = outcome.states[index]
    np.testing.assert_allclose(state.mean[draw], mean, atol=1e-9)
    np.testing.assert_allclose(state.variance[draw], np.diag(covariance), atol=1e-9)
    assert state.log_evidence[draw] == pytest.approx(log_evidence, abs=1e-8)


def test_covariance_left_is_the_priors_less_what_is_shared(world):
    X, X_test, stages = world
    filtered = record_filter(MODELS[:1], X, X_test)
    (place,), (state,) = filtered.models, filtered.read(stages).states
    covariance = conditioned(MODELS[0], X, X_test, stages, 0)[1]
    Q = state.shared[0]
    np.testing.assert_allclose(place.phi[:9] @ place.phi[9:].T - Q[:, :9].T @ Q[:, 9:], covariance[:9, 9:], atol=1e-9)


def test_weights_are_prior_times_evidence(world):
    X, X_test, stages = world
    outcome = record_filter(MODELS, X, X_test).read(stages)
    evidence = np.array([[conditioned(model, X, X_test, stages, draw)[2] for model in MODELS] for draw in range(2)])
    expected = np.array([1, 2]) * np.exp(evidence)
    np.testing.assert_allclose(outcome.weights, expected / expected.sum(axis=1, keepdims=True), rtol=1e-6)


def test_weights_of_very_unlikely_data_are_finite(world):
    X, X_test, _ = world
    filtered = record_filter(MODELS, X, X_test)
    pairs = zip(filtered.begin().states, (-1e5, -2e5), strict=True)
    far = tuple(state._replace(log_evidence=np.array([value])) for state, value in pairs)
    np.testing.assert_array_equal(filtered._weighed(Posterior(far, None, NOTHING)).weights, [[1.0, 0.0]])


def test_a_measurement_that_clips_everything_changes_nothing_at_the_test_inputs(world):
    X, X_test, stages = world
    filtered, far = record_filter(MODELS[:1], X, X_test), np.full((1, 9), 400.0)
    before = filtered.begin()
    (state,) = filtered.after(before, StageMeasurement(stages[0].B, far, far + 1, 0.5, np.zeros((1, 3)))).states
    np.testing.assert_allclose(state.mean[0, 9:], 0, atol=1e-12)
    np.testing.assert_allclose(state.variance, before.states[0].variance, atol=1e-12)


@pytest.mark.parametrize("level", [-3.0, 0.0, 0.9999, 3.0])
def test_intervals_stay_in_the_range_and_are_never_too_narrow(records, level):
    now = records.begin()
    certain = tuple(
        s._replace(mean=np.full_like(s.mean, level), variance=np.full_like(s.mean, 1e-12)) for s in now.states
    )
    low, high = records.next_intervals(now._replace(states=certain), 0.75)
    assert (low >= -HALF).all()
    assert (high <= HALF).all()
    assert (high - low >= 2 * HALF * NARROWEST * (1 - 1e-9)).all()


N, TESTS, HALF, BOX = 400, 9, 1.0, ((0.0, 1.0),)
X, X_TEST = (np.arange(N)[:, None] + 0.5) / N, np.linspace(0.1, 0.9, TESTS)[:, None]
FIFTHS = np.repeat(np.eye(5), N // 5, axis=1)  # sums over fifths of the inputs
CLIPS = tuple(0.75 * times for times in WIDTHS)


@pytest.fixture(scope="module")
def many():
    return record_filter(auto_models(BOX, HALF), X, X_TEST, public=OutcomeInfo(BOX, HALF))


def known_after(many, scatters, s=0.3):
    """Of one draw for each scatter, what a stage of sums about 0, and squares that say it, leave."""
    whole = np.full((len(scatters), N), HALF)
    seen = StageMeasurement(FIFTHS, -whole, whole, s, np.zeros((len(scatters), len(FIFTHS))))
    now = many.after(many.begin(len(scatters)), seen)
    g = many.curve(now)
    high = np.minimum(REACH**2 * many.mean_square(now, g), (2 * HALF) ** 2)
    normal = np.random.default_rng(1).standard_normal(4000)
    sums = [
        N * (np.minimum((scatter * normal) ** 2, reach.mean()) / reach.mean() - 0.5).mean()
        for scatter, reach in zip(scatters, high, strict=True)
    ]
    return many.with_squares(now, Squares(g, high, s, np.array(sums)))


def taken(many, known, s, widths=CLIPS):
    """The intervals that a stage of sums over fifths takes."""
    fifths = Strategy(B=FIFTHS, risk=1.0, bound=0.5, gap=0.1, iterations=1)
    stage = PlannedStage(strategy=fifths, noise_multiplier=s, widths=widths)
    asked, _ = many.next_stage(known, stage, s, first=False)
    return asked.low, asked.high


@pytest.mark.parametrize(("s", "expected"), [(3.0, 0), (0.1, len(CLIPS) - 1)])
def test_draws_take_the_widest_that_takes_away_nearly_as_much_risk_as_the_best(many, s, expected):
    """Where noise leaves most of the risk, all widths leave about the same, and that is no reason for a wide one."""
    known = known_after(many, [0.1])
    tried = [many.next_intervals(known, clip) for clip in CLIPS]
    model, left = int(known.weights[0].argmax()), []
    for ends in tried:
        states = many.updated(known, StageMeasurement(FIFTHS, *ends, s, np.zeros((1, len(FIFTHS)))))
        left.append(states[model].variance[0, many.tests].sum())
    before = known.states[model].variance[0, many.tests].sum()
    gained = before - np.array(left)
    good = np.flatnonzero(gained >= (1 - DRAWN_TIED) * gained.max())
    assert good[-1] == expected
    np.testing.assert_array_equal(taken(many, known, s), tried[expected])
    assert s < 1 or max(left) < 1.2 * min(left)


def test_draws_choose_for_themselves_as_if_alone(many):
    """By what squares say of each: where people scatter more, intervals that touch the range are worth it sooner."""
    scatters, s = [0.05, 0.6], 6.0
    low, high = taken(many, known_after(many, scatters), s)
    for draw, scatter in enumerate(scatters):
        alone = taken(many, known_after(many, [scatter]), s)
        np.testing.assert_allclose(low[draw], alone[0][0], rtol=1e-9)
        np.testing.assert_allclose(high[draw], alone[1][0], rtol=1e-9)
    assert (high[1] - low[1]).mean() > 2 * (high[0] - low[0]).mean()


def test_draws_with_people_far_out_are_read_again_and_each_as_if_alone(many):
    """Of two draws, people of the second are far out: then its sums before are biased by that, the other's are not."""
    rng, one = np.random.default_rng(0), np.ones((2, N))
    near, means = 0.01 * rng.standard_normal(N), FIFTHS / (N // 5) ** 0.5
    y, stages = np.stack([near, np.where(np.arange(N) % 20 == 0, 0.95, near)]), []
    for reach in (0.9, 0.5, 0.3, 0.15, 0.1):
        z = (np.minimum(y**2, reach**2) / reach**2 - 0.5).sum(axis=1)
        sums = means @ np.clip(y / reach, -1, 1).T / 2
        seen = Squares(0 * one, reach**2 * one, 1.0, z)
        stages.append(StageMeasurement(means, -reach * one, reach * one, 0.1, sums.T, seen))
    posterior = many.read(stages)
    np.testing.assert_array_equal(has_outliers(posterior.scatter), [False, True])
    known = many.begin()._replace(scatter=posterior.scatter[1:])
    for stage in Measured(tuple(stages)).draws(slice(1, 2)).stages:
        known = many.after(known, stage)
    each = [many.read(Measured(tuple(stages)).draws(slice(draw, draw + 1)).stages) for draw in range(2)]
    for draw, alone, tolerance in ((0, each[0], 1e-9), (1, each[1], 1e-9), (1, known, 0.01)):
        np.testing.assert_allclose(posterior.weights[draw], alone.weights[0], atol=tolerance)
        for together, state in zip(posterior.states, alone.states, strict=True):
            np.testing.assert_allclose(together.mean[draw], state.mean[0], atol=tolerance)
            np.testing.assert_allclose(together.variance[draw], state.variance[0], atol=tolerance)


def test_one_width_is_taken_without_a_question(many):
    known = known_after(many, [0.2])
    unasked = taken(replace(many, public=None), known._replace(scatter=None), 1.0, CLIPS[:1])
    for ours, theirs in zip(unasked, many.next_intervals(known, CLIPS[0]), strict=True):
        np.testing.assert_array_equal(ours, theirs)


# ---- The two filters of Bayes cloaking are one where each cell has one record, at its centre, and nothing is clipped.


NOISE_VARIANCE, S = 0.2, 0.3
GRID = CellGrid(box=((0.0, 1.0),), per_side=12)
SEVEN = np.linspace(0, 1, 7)[:, None]


@pytest.fixture(scope="module")
def stages():
    """Strategy and numbers of two stages."""
    rng = np.random.default_rng(4)
    Bs = rng.standard_normal((2, 5, GRID.size))
    return [(B / np.linalg.norm(B, axis=0), z) for B, z in zip(Bs, rng.standard_normal((2, 5)), strict=True)]


def told(filtered, stages, half_width):
    """What a filter says of the curve after the stages: mean, variance and evidence."""
    ends, g = np.full((1, GRID.size), half_width), filtered.zero
    posterior = filtered.read([StageMeasurement(B, -ends, ends, S, z[None], g=g) for B, z in stages])
    found = filtered.predict(posterior)
    return found.means[0, 0], found.variances[0, 0], filtered.log_evidence(posterior)[0]


def by_records(stages, half_width):
    model = Model(kernel=EQ(variance=0.5, lengthscale=0.4), noise_variance=NOISE_VARIANCE)
    return told(record_filter([model], GRID.centres, SEVEN), stages, half_width)


def by_cells(stages, half_width):
    # cells count what clipping usually adds as noise of the record, which records do stage by stage
    of_record = Model(kernel=EQ(variance=0.5, lengthscale=0.4), noise_variance=NOISE_VARIANCE / (1 + KAPPA))
    filtered = filter_of([of_record], GRID, GRID.size, 100.0, biased=False).at(SEVEN)
    [model], along = filtered.models, len(GRID.nodes) // GRID.size
    at_centres = model.at(GRID.centres)
    model = replace(model, cells=at_centres, nodes=np.repeat(at_centres, along, axis=0))  # nobody is off the centre
    filtered = replace(filtered, models=(model,)).with_counts(known_counts(np.ones(GRID.size)))
    return told(filtered, stages, half_width)


def test_with_nothing_clipped_cells_of_one_record_are_records(stages):
    for cells, records in zip(by_cells(stages, 50.0), by_records(stages, 50.0), strict=True):
        np.testing.assert_allclose(cells, records, rtol=1e-5, atol=1e-5)


def test_with_much_clipped_they_say_nearly_the_same(stages):
    """Records learn each noise by itself and clip by what they learnt; cells follow the sum of their noises."""
    half_width = 1.5 * NOISE_VARIANCE**0.5
    (mean, variance, _), (other, other_variance, _) = by_cells(stages, half_width), by_records(stages, half_width)
    assert (np.abs(mean - other) < 0.4 * np.sqrt(other_variance)).all()  # 0.29
    np.testing.assert_allclose(variance, other_variance, rtol=0.2)  # 0.12

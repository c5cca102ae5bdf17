"""Settings, how the budget is split over stages, and what is planned."""

import math

import numpy as np
import pytest

from dpgp_core.bayes import planning
from dpgp_core.bayes.engine import StageMeasurement, run_stages
from dpgp_core.bayes.filter_records import leading, record_filter
from dpgp_core.bayes.model import auto_models
from dpgp_core.bayes.planning import FEW, importance_of, plan_stages, planned_variance, risk_models
from dpgp_core.bayes.readers import RecordsInFloats
from dpgp_core.bayes.residuals import split_stage
from dpgp_core.bayes.clipping import OutcomeInfo, bias_features, bias_sd, ends_of, stage_multipliers, widest_near_optimal
from dpgp_core.strategies.bayes import risk

from .conftest import HALF

TWO = 2.0


def test_ends_that_nobody_can_pass_clip_nothing():
    low, high, half_width = ends_of(np.array([-2.0, -1.0]), np.array([0.5, 2.0]), np.array([0.0, 0.5]), TWO)
    assert low[0] < -1e5
    assert high[1] > 1e5
    np.testing.assert_allclose(half_width, [0.5, 1.5])
    both = ends_of(np.array([-2.0]), np.array([2.0]), np.zeros(1), TWO)
    np.testing.assert_array_equal(bias_sd(both.half_width, 1.0, TWO), 0)


def test_bias_fades_with_the_width_and_has_variance_one_where_it_is_not_scaled():
    beta = bias_sd(np.array([0.0, 0.75, 1.5, 3.0]), 1.0, TWO)
    assert (np.diff(beta) < 0).all()
    np.testing.assert_allclose(bias_sd(np.array([1.5]), 4.0, 2 * TWO), 2 * bias_sd(np.array([0.75]), 1.0, TWO))
    X = np.random.default_rng(0).uniform(0, 5, (30, 2))
    psi = bias_features([(0.0, 5.0), (0.0, 5.0)], X)
    np.testing.assert_allclose((psi**2).sum(axis=1), 1, atol=0.01)


def test_where_people_scatter_as_far_as_the_range_lets_them_the_mean_may_be_a_standard_deviation_off():
    at_once = np.zeros(1)
    np.testing.assert_allclose(bias_sd(at_once, TWO**2, TWO), TWO)
    roomy = bias_sd(at_once, 1.0, 100.0)
    np.testing.assert_allclose(bias_sd(at_once, 1.0, 4.0), roomy, rtol=0.01)
    assert roomy < 0.4


def test_plans_take_the_widest_of_nearly_equal_risks():
    """Of each draw its own, here of four."""
    risks = np.array([[1.0, 1.05, 1.2], [1.0, 1.2, 1.0], [1.0, 2.0, 2.0], [3.0, 2.0, 1.0]]).T
    np.testing.assert_array_equal(widest_near_optimal(risks, np.array([0.05, 0.0, 0.5, 0.0])), [1, 2, 0, 2])


@pytest.mark.parametrize("stages", [1, 3, 5, 10])
def test_all_stages_together_spend_exactly_the_budget(stages):
    found = stage_multipliers(1.3, stages)
    assert math.fsum(1 / s**2 for s in found) == pytest.approx(1 / 1.3**2, rel=1e-14)
    np.testing.assert_allclose(np.divide(found[0], found) ** 2, np.minimum(2.0 ** np.arange(stages), 8), rtol=1e-14)


N, TESTS = 80, 20
LEAST = 1e-3  # of the noise
BOX = [(0.0, 1.0)] * 2


@pytest.fixture(scope="module")
def plane():
    X = np.random.default_rng(0).uniform(0, 1, (N + TESTS, 2))
    return record_filter(auto_models(BOX, HALF)[2::5], X[:N], X[N:], public=OutcomeInfo(BOX, HALF))


def test_strategies_are_certified_and_have_columns_of_norm_one_at_most(planned):
    for stage in planned:
        integers = stage.planned.B * 2**20
        assert (integers == np.rint(integers)).all()
        assert ((integers**2).sum(axis=0) <= 2**40).all()
        assert 0 <= stage.planned.avoidable <= stage.planned.gap
        assert stage.planned.gap <= 1e-3 or stage.planned.avoidable <= 1e-3


def test_importance_is_in_proportion_to_weights():
    np.testing.assert_allclose(importance_of([1, 1, 4], 3), np.array([1, 1, 4]) / 6)
    np.testing.assert_allclose(importance_of(None, 4), 0.25)


def test_strategies_attend_to_what_is_important():
    """Measured for one test input alone, it is predicted better than when all count, and the others are worse."""
    rng = np.random.default_rng(8)
    X, X_test = rng.uniform(0, 1, (40, 1)), np.linspace(0, 1, 20)[:, None]
    filtered = record_filter(auto_models([(0.0, 1.0)], HALF)[6:7], X, X_test)
    silent = RecordsInFloats(np.zeros(40), lambda rows: np.zeros((1, rows)))
    alone = (np.arange(20) == 9).astype(float)
    variances = []
    for weights in (None, alone):
        planned = plan_stages(filtered, [2.0], importance=importance_of(weights, 20))
        _, posterior = run_stages(filtered, planned, silent)
        variances.append(posterior.states[0].variance[0, 40:])
    assert variances[1][9] < 0.9 * variances[0][9]
    assert variances[1].mean() > 1.1 * variances[0].mean()


def test_many_records_are_planned_for_people_who_scatter_more():
    few, many = planned_variance(FEW, HALF), planned_variance(FEW + 1, HALF)
    assert few < many
    assert few == pytest.approx(0.15**2)


def covariance(place, state):
    """Phi Phi^T - Q^T Q in units of the noise (N + TESTS + q,) squared."""
    sd = np.sqrt(np.concatenate([place.noise, np.full(len(place.phi) - N, place.noise.mean())]))
    signal = place.phi @ place.phi.T - state.shared[0].T @ state.shared[0]
    return signal / np.outer(sd, sd)


def test_no_direction_loses_more_than_a_thousandth_of_the_noise(plane):
    whole = np.full((1, N), HALF)
    B = np.random.default_rng(1).standard_normal((12, N)) / 4
    states = plane.after(plane.begin(), StageMeasurement(B, -whole, whole, 0.3, np.zeros((1, 12)))).states
    kept = []
    for place, state in zip(plane.models, states, strict=True):
        less, left = leading(place, state, LEAST)
        kept.append((less.phi.shape[1] + left.shared.shape[1]) / (place.phi.shape[1] + 12))
        assert left.shared.shape[1] > 0
        assert np.linalg.norm(covariance(place, state) - covariance(less, left), 2) <= 1.001 * LEAST
        np.testing.assert_array_equal(left.variance, state.variance)
    assert min(kept) < 0.8
    assert max(kept) <= 1


def test_plans_for_what_stands_out_are_as_good_and_their_risks_true(plane, monkeypatch):
    """Under the whole covariance, stage after stage."""
    monkeypatch.setattr(planning, "WIDTHS", (1.0,))  # two widths of nearly the same risk are not compared here
    multipliers = stage_multipliers(0.4, 3)
    whole = plan_stages(plane, multipliers, gap=1e-2)
    monkeypatch.setattr(planning, "MANY", 10)
    planned = plan_stages(plane, multipliers, gap=1e-2)
    first = now = plane.begin()
    for stage, other, looser in zip(planned, whole, (4, 2, 1), strict=True):
        low, high = plane.next_intervals(now, stage.width)
        models = risk_models(plane, now, low, high, np.full(TESTS, 1 / TESTS))
        B, (s, _) = stage.planned.B, split_stage(stage.noise_multiplier, looser == 4)
        assert stage.width == other.width
        assert stage.planned.gap <= looser * 2e-2
        assert stage.planned.risk == pytest.approx(risk(models, B, s**2), rel=5e-3)
        assert stage.planned.risk == pytest.approx(other.planned.risk, rel=looser * 1e-2)
        now = plane.after(now, StageMeasurement(B, low, high, s, np.zeros((1, len(B)))))._replace(weights=first.weights)

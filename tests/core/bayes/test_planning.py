import math

import numpy as np
import pytest

from dpgp_core.bayes import planning
from dpgp_core.bayes.engine import Observed, run_stages
from dpgp_core.bayes.filter_records import leading, record_filter
from dpgp_core.bayes.models import auto_models
from dpgp_core.bayes.planning import FEW, importance_of, plan_stages, planned_variance, risk_models
from dpgp_core.bayes.readers import RecordsInFloats
from dpgp_core.bayes.scatter import split
from dpgp_core.bayes.stages import Public, rescaled, stage_multipliers
from dpgp_core.strategies.bayes import risk

from .conftest import HALF, S

N, TESTS = 80, 20
LEAST = 1e-3  # of the noise
BOX = [(0.0, 1.0)] * 2


@pytest.fixture(scope="module")
def plane():
    X = np.random.default_rng(0).uniform(0, 1, (N + TESTS, 2))
    return record_filter(auto_models(BOX, HALF)[2::5], X[:N], X[N:], public=Public(BOX, HALF))


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


def test_rescaling_keeps_the_strategies_and_spends_the_other_budget(planned):
    again = rescaled(planned, 3 * S)
    assert math.fsum(1 / stage.noise_multiplier**2 for stage in again) == pytest.approx(1 / (3 * S) ** 2, rel=1e-14)
    assert all(a.strategy is b.strategy for a, b in zip(again, planned, strict=True))


@pytest.mark.parametrize("weights", [[1.0], [0.0] * 3, [-1.0, 1.0, 1.0], [np.nan] * 3])
def test_importance_must_fit_the_test_inputs(weights):
    with pytest.raises(ValueError, match="weights must be 3 numbers"):
        importance_of(weights, 3)


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
    states = plane.after(plane.begin(), Observed(B, -whole, whole, 0.3, np.zeros((1, 12)))).states
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
        B, (s, _) = stage.planned.B, split(stage.noise_multiplier, looser == 4)
        assert stage.width == other.width
        assert stage.planned.gap <= looser * 2e-2
        assert stage.planned.risk == pytest.approx(risk(models, B, s**2), rel=5e-3)
        assert stage.planned.risk == pytest.approx(other.planned.risk, rel=looser * 1e-2)
        now = plane.after(now, Observed(B, low, high, s, np.zeros((1, len(B)))))._replace(weights=first.weights)

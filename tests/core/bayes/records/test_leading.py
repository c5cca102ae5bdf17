import numpy as np
import pytest

from dpgp_core.bayes.bias import Public
from dpgp_core.bayes.models import auto_models
from dpgp_core.bayes.plan import stage_multipliers
from dpgp_core.bayes.records import planning
from dpgp_core.bayes.records.choosing import next_intervals
from dpgp_core.bayes.records.leading import leading
from dpgp_core.bayes.records.places import places_of
from dpgp_core.bayes.records.planning import plan_stages, risk_models
from dpgp_core.bayes.records.stages import Observed, after, begin
from dpgp_core.bayes.scatter import split
from dpgp_core.strategies.bayes import risk

HALF, N, TESTS = 1.0, 80, 20
LEAST = 1e-3  # of the noise
BOX, WEIGHTS = [(0.0, 1.0)] * 2, np.full(4, 1 / 4)


@pytest.fixture(scope="module")
def places():
    X = np.random.default_rng(0).uniform(0, 1, (N + TESTS, 2))
    return places_of(auto_models(BOX, HALF)[2::5], X[:N], X[N:], public=Public(BOX, HALF))


def covariance(place, state):
    """Phi Phi^T - Q^T Q in units of the noise (N + TESTS + q,) squared."""
    sd = np.sqrt(np.concatenate([place.noise, np.full(len(place.phi) - N, place.noise.mean())]))
    signal = place.phi @ place.phi.T - state.shared[0].T @ state.shared[0]
    return signal / np.outer(sd, sd)


def test_no_direction_loses_more_than_a_thousandth_of_the_noise(places):
    whole = np.full((1, N), HALF)
    B = np.random.default_rng(1).standard_normal((12, N)) / 4
    now = after(places, WEIGHTS, begin(places, WEIGHTS, 1), Observed(B, -whole, whole, 0.3, np.zeros((1, 12))))
    states = now.states
    kept = []
    for place, state in zip(places, states, strict=True):
        less, left = leading(place, state, LEAST)
        kept.append((less.phi.shape[1] + left.shared.shape[1]) / (place.phi.shape[1] + 12))
        assert left.shared.shape[1] > 0
        assert np.linalg.norm(covariance(place, state) - covariance(less, left), 2) <= 1.001 * LEAST
        np.testing.assert_array_equal(left.variance, state.variance)
    assert min(kept) < 0.8
    assert max(kept) <= 1


def test_plans_for_what_stands_out_are_as_good_and_their_risks_true(places, monkeypatch):
    """Under the whole covariance, stage after stage."""
    monkeypatch.setattr(planning, "WIDTHS", (1.0,))  # two widths of nearly the same risk are not compared here
    multipliers = stage_multipliers(0.4, 3)
    whole = plan_stages(places, WEIGHTS, HALF, multipliers, gap=1e-2)
    monkeypatch.setattr(planning, "MANY", 10)
    planned = plan_stages(places, WEIGHTS, HALF, multipliers, gap=1e-2)
    now = begin(places, WEIGHTS, 1)
    for stage, other, looser in zip(planned, whole, (4, 2, 1), strict=True):
        low, high = next_intervals(now.states, WEIGHTS[None], N, HALF, stage.width)
        models = risk_models(places, WEIGHTS, now.states, low, high, np.full(TESTS, 1 / TESTS))
        B, (s, _) = stage.strategy.B, split(stage.noise_multiplier, looser == 4)
        assert stage.width == other.width
        assert stage.strategy.gap <= looser * 2e-2
        assert stage.strategy.risk == pytest.approx(risk(models, B, s**2), rel=5e-3)
        assert stage.strategy.risk == pytest.approx(other.strategy.risk, rel=looser * 1e-2)
        now = after(places, WEIGHTS, now, Observed(B, low, high, s, np.zeros((1, len(B)))))._replace(
            weights=WEIGHTS[None]
        )

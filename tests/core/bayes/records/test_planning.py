import math

import numpy as np
import pytest

from dpgp_core.bayes.models import auto_models
from dpgp_core.bayes.plan import rescaled
from dpgp_core.bayes.records.places import places_of
from dpgp_core.bayes.records.planning import FEW, importance_of, plan_stages, planned_variance
from dpgp_core.bayes.records.stages import run_stages

from .conftest import HALF, S


def test_strategies_are_certified_and_have_columns_of_norm_one_at_most(planned):
    for stage in planned:
        integers = stage.strategy.B * 2**20
        assert (integers == np.rint(integers)).all()
        assert ((integers**2).sum(axis=0) <= 2**40).all()
        assert 0 <= stage.strategy.avoidable <= stage.strategy.gap
        assert stage.strategy.gap <= 1e-3 or stage.strategy.avoidable <= 1e-3


def test_a_record_counts_as_much_as_the_average_test_input():
    importance = importance_of([1, 1, 4], tests=3, records=2)
    np.testing.assert_allclose(importance, np.array([1, 1, 4, 2, 2]) / 10)
    np.testing.assert_allclose(importance_of(None, tests=4, records=0), 0.25)


def test_strategies_attend_to_what_is_important():
    """Measured for one test input alone, it is predicted better than when all count, and the others are worse."""
    rng = np.random.default_rng(8)
    X, X_test = rng.uniform(0, 1, (40, 1)), np.linspace(0, 1, 20)[:, None]
    places = places_of(auto_models([(0.0, 1.0)], HALF)[6:7], X, X_test)
    alone = (np.arange(20) == 9).astype(float)
    variances = []
    for weights in (None, alone):
        planned = plan_stages(places, np.ones(1), HALF, [2.0], importance=importance_of(weights, 20, 0))
        zero = np.zeros((1, planned[0].strategy.rank))
        outcome = run_stages(planned, places, np.ones(1), HALF, lambda *_, zero=zero: zero)
        variances.append(outcome.states[0].variance[0, 40:])
    assert variances[1][9] < 0.9 * variances[0][9]
    assert variances[1].mean() > 1.1 * variances[0].mean()


def test_rescaling_keeps_the_strategies_and_spends_the_other_budget(planned):
    again = rescaled(planned, 3 * S)
    assert math.fsum(1 / stage.noise_multiplier**2 for stage in again) == pytest.approx(1 / (3 * S) ** 2, rel=1e-14)
    assert all(a.strategy is b.strategy for a, b in zip(again, planned, strict=True))


@pytest.mark.parametrize("weights", [[1.0], [0.0] * 3, [-1.0, 1.0, 1.0], [np.nan] * 3])
def test_importance_must_fit_the_test_inputs(weights):
    with pytest.raises(ValueError, match="weights must be 3 numbers"):
        importance_of(weights, 3, 0)


def test_many_records_are_planned_for_people_who_scatter_more():
    few, many = planned_variance(FEW, HALF), planned_variance(FEW + 1, HALF)
    assert few < many
    assert few == pytest.approx(0.15**2)

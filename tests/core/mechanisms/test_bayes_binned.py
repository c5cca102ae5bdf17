"""Bayes cloaking of records that share columns by public cells."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.bayes.cells import public_counts
from dpgp_core.measurement.statistics_file import statistics_from_files, statistics_to_files
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from tests.core.mechanisms.shifts import allowed, shift
from tests.core.tables import read_again

X_TEST = np.linspace(0.5, 9.5, 6)[:, None]
PLANS = {}


@pytest.fixture(scope="module")
def mechanism():
    return BayesCloaking(epsilon=2.0, delta=0.01, binned=True, stages=3, gap=1e-2)


@pytest.fixture
def data(make_dataset):
    return make_dataset()


@pytest.fixture
def plan(mechanism, data):
    if not PLANS:  # made once: it is the same for every test
        PLANS[mechanism] = mechanism.plan_for(data, X_TEST)
    return PLANS[mechanism]


def test_no_neighbour_is_farther_than_what_was_calibrated_and_some_are_nearly_as_far(mechanism, data):
    """A record's output, replaced by anything: distance of all stages together in the noise's own metric."""
    mu, farthest = allowed(mechanism), 0.0
    for j in (0, 4, 7, 11):
        for value in (-1e300, 0.7, 1e300):
            y = data.y.copy()
            y[j] = value
            farthest = max(farthest, shift(mechanism, data, replace(data, y=y), X_TEST))
    assert 0.7 * mu < farthest <= mu


def test_the_card_promises_outputs_and_the_stages_spend_it_exactly(mechanism, plan, data):
    release = mechanism.measure(plan, data, X_TEST)
    assert release.guarantee.protects == "outputs"
    assert "noisy counts" not in release.guarantee.theorem
    assert release.guarantee.proven_epsilon == pytest.approx(2.0, rel=1e-9)
    spent = sum(1 / each.noise_sd**2 for each in release.statistics[0].measurements)
    assert spent == pytest.approx(mechanism.guarantee.loss.mu**2, rel=1e-8)
    assert spent <= mechanism.guarantee.loss.mu**2  # the noise is rounded up


def test_a_plan_knows_counts_and_no_output(mechanism, plan, data):
    again = mechanism.plan_for(replace(data, y=np.full(12, 1e300)), X_TEST)
    np.testing.assert_array_equal(plan.counts.mean, again.counts.mean)
    np.testing.assert_array_equal(plan.counts.mean, public_counts(plan.cells.grid, data.X).mean)
    assert plan.counts.mean.sum() == 12
    assert not plan.counts.covariance.any()
    moved = replace(data, X=data.X[::-1] * 0.5)
    with pytest.raises(ValueError, match="the plan is for other records"):
        mechanism.measure(plan, moved, X_TEST)


def test_a_file_of_it_holds_counts_and_no_input_and_gives_the_values_again(mechanism, plan, data):
    release = mechanism.measure(plan, data, X_TEST)
    card, npz = statistics_to_files(release.statistics[0])
    found = statistics_from_files(json.loads(json.dumps(card)), npz)
    np.testing.assert_array_equal(found.counts.numbers, plan.counts.mean)
    np.testing.assert_allclose(read_again(mechanism, found, X_TEST), release.samples[0], rtol=1e-9)
    with np.load(io.BytesIO(npz)) as archive:
        assert set(archive.files) == {
            "N",
            *(f"{name}_{i}" for name in ("B", "z", "low", "high", "g") for i in (1, 2, 3)),
            *(f"squares_{name}_{i}" for name in ("high", "z") for i in (2, 3)),
            *(f"distances_{name}" for name in ("B", "g", "z", "reach", "sd")),
        }


def test_many_records_share_columns_unless_another_way_was_asked_for():
    few, many = 400, 401
    asked = {"epsilon": 1.0, "delta": 0.01}
    usual = BayesCloaking(**asked)
    assert usual.shares_columns(many, 2)
    assert not usual.shares_columns(few, 2)
    assert not usual.shares_columns(many, 4)  # cells have 1 to 3 inputs
    assert BayesCloaking(**asked, binned=True).shares_columns(10, 1)
    for other in ({"binned": False}, {"weights": (1.0,)}, {"protects": "inputs and outputs"}):
        assert not BayesCloaking(**asked, **other).shares_columns(many, 2)


def test_a_plan_serves_another_budget(plan, data):
    other = BayesCloaking(epsilon=0.5, delta=0.01, binned=True, stages=3)
    measured = other.measure(plan, data, X_TEST).statistics[0].measurements
    assert sum(1 / each.noise_sd**2 for each in measured) == pytest.approx(other.guarantee.loss.mu**2, rel=1e-8)


def test_what_has_no_meaning_is_refused(mechanism, data):
    with pytest.raises(ValueError, match=r"use plan_for\(\)"):
        mechanism.plan(data.X, X_TEST, x_box=data.x_box, half_range=1.0)
    single = BayesCloaking(epsilon=2.0, delta=0.01, stages=1, gap=0.1)
    with pytest.raises(ValueError, match=r"binned=True; make it by plan_for\(\)"):
        mechanism.measure(single.plan_for(data, X_TEST), data, X_TEST)

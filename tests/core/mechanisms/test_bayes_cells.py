"""Bayes cloaking that protects inputs and outputs."""

from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.accounting.guarantee import TEACHING
from dpgp_core.measurement.statistics_file import statistics_from_files, statistics_to_files
from dpgp_core.mechanisms.base import TeachingRelease
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from tests.core.replay import assert_same
from tests.core.tables import changed, read_again

X_TEST = np.linspace(0.5, 9.5, 6)[:, None]


@pytest.fixture(scope="module")
def mechanism():
    return BayesCloaking(epsilon=2.0, delta=0.01, protects="inputs and outputs", stages=2)


@pytest.fixture
def data(make_dataset):
    return make_dataset()


def test_the_card_says_what_is_protected(mechanism):
    card = mechanism.guarantee
    assert card.protects == "inputs and outputs"
    assert "input and output" in card.neighbours
    assert card.unit == "one record"
    assert not any("inputs (who is in the data" in words for words in card.not_covered)
    assert card.proven_epsilon == pytest.approx(2.0, rel=1e-9)


def test_a_plan_knows_the_number_of_records_and_no_record(mechanism, data):
    with pytest.raises(ValueError, match="plan_for"):
        mechanism.plan(data.X, X_TEST, x_box=data.x_box, half_range=2.0)
    moved = replace(data, X=np.full((12, 1), -1e9), y=np.full(12, 1e300))  # a constant column, out of the box
    plan = mechanism.plan_for(data, X_TEST)
    assert_same(plan, mechanism.plan_for(moved, X_TEST))
    assert mechanism.measure(plan, moved, X_TEST).samples.shape == (1, 6)
    with pytest.raises(ValueError, match="another number of records"):
        mechanism.measure(plan, data.subset(np.arange(5)), X_TEST)
    with pytest.raises(ValueError, match="other bounds, or another scale"):
        mechanism.measure(plan, changed(data, y_scale=1.0), X_TEST)


@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
def test_without_what_they_hide_numbered_draws_are_the_same_and_no_release(mechanism, data, protects):
    drawing = replace(mechanism, protects=protects)
    plan = drawing.plan_for(data, X_TEST)
    beside, alone = (
        drawing.measure(plan, data, X_TEST, np.random.default_rng(5), 2, mean=mean) for mean in (True, False)
    )
    np.testing.assert_array_equal(alone.samples, beside.samples)
    assert alone.guarantee == beside.guarantee
    assert TEACHING in alone.guarantee.not_covered
    assert isinstance(beside, TeachingRelease)
    assert not isinstance(alone, TeachingRelease)
    assert not hasattr(alone, "mean")


def families(make_dataset, rng, people=60, rows=4, spread=0.3):
    """People who are measured several times, each alike in all of them."""
    person = np.repeat(np.arange(people), rows)
    X = rng.uniform(0, 10, (len(person), 1))
    own = rng.normal(0, spread, people)[person]
    return make_dataset(X=X, y=np.sin(X[:, 0]) / 2 + own, person=person)


@pytest.mark.parametrize("protects", ["inputs and outputs", "outputs"])
def test_people_with_several_rows_are_promised_what_people_get(make_dataset, protects):
    rng = np.random.default_rng(0)
    data = families(make_dataset, rng)
    mechanism = BayesCloaking(epsilon=2.0, delta=1e-4, protects=protects)
    release = mechanism.release(data, X_TEST)
    assert "all rows of one person" in release.guarantee.neighbours
    assert any("whose row" in each for each in release.guarantee.assumptions)
    assert any("rows everybody has" in each for each in release.guarantee.not_covered) == (protects == "outputs")
    [statistics] = release.statistics
    assert statistics.n == data.people == 60
    assert statistics.counts.people
    back = statistics_from_files(*statistics_to_files(statistics))
    assert back.counts.people
    np.testing.assert_allclose(read_again(mechanism, back, X_TEST), release.samples[0], atol=1e-9)


def test_one_row_each_is_measured_as_if_nobody_had_asked(make_dataset):
    """But for counts in finer steps, whose rounding is 1e-7; later stages are planned anew from what came of them."""
    rng = np.random.default_rng(1)
    data = replace(families(make_dataset, rng, rows=1), person=None)
    mechanism = BayesCloaking(epsilon=1.0, delta=1e-4, protects="inputs and outputs")
    rows, people = (
        mechanism.release(replace(data, person=person), X_TEST, np.random.default_rng(2)).measured[0]
        for person in (None, np.arange(data.n)[::-1])
    )
    assert people.counts.noise_sd == pytest.approx(rows.counts.noise_sd, rel=1e-6)
    np.testing.assert_allclose(people.z, rows.z, atol=1e-5)
    assert [stage.noise_multiplier for stage in people.stages] == [stage.noise_multiplier for stage in rows.stages]


def test_how_many_rows_somebody_has_moves_no_plan(make_dataset):
    """Plans know the number of people and nothing of their rows."""
    rng = np.random.default_rng(3)
    few, many = families(make_dataset, rng, rows=1), families(make_dataset, rng, rows=9)
    mechanism = BayesCloaking(epsilon=1.0, delta=1e-4, protects="inputs and outputs")
    one, other = (mechanism.plan_for(each, X_TEST) for each in (few, many))
    np.testing.assert_array_equal(one.counts, other.counts)
    assert one.cells.n == other.cells.n == 60


def test_a_plan_for_rows_is_not_one_for_people(make_dataset):
    data = families(make_dataset, np.random.default_rng(4), rows=1)
    mechanism = BayesCloaking(epsilon=1.0, delta=1e-4, protects="inputs and outputs")
    plan = mechanism.plan_for(replace(data, person=None), X_TEST)
    with pytest.raises(ValueError, match="several rows"):
        mechanism.measure(plan, data, X_TEST)
    with pytest.raises(ValueError, match="leave weights and binned out"):
        BayesCloaking(epsilon=1.0, delta=1e-4, binned=False).release(data, X_TEST)

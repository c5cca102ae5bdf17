"""Bayes cloaking with public and with private inputs."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.accounting.guarantee import TEACHING
from dpgp_core.bayes.cells import CellGrid, LocatedGrid
from dpgp_core.bayes.clusters import Clusters, max_clusters
from dpgp_core.bayes.counts import public_counts
from dpgp_core.bayes.refit import refit
from dpgp_core.bayes.settings import OWN_ROWS
from dpgp_core.measurement.statistics_file import statistics_from_files, statistics_to_files
from dpgp_core.mechanisms.base import TeachingRelease
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.table import KINDS
from tests.bayes_digests import at, made
from tests.core.replay import assert_same, taped
from tests.core.tables import changed, read_again

X_TEST = np.linspace(0.5, 9.5, 6)[:, None]


@pytest.fixture
def data(make_dataset):
    return make_dataset()


@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
def test_refit_reads_every_model_as_the_release_did(data, protects):
    """Its models weigh the same beforehand, and a release's do not: how they are read is compared, of two stages."""
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, gap=0.05, protects=protects, stages=2)
    release = mechanism.release(data, X_TEST)
    noises = list(dict.fromkeys(model.noise_variance for model in release.models))
    again = refit(
        release.statistics[0],
        kernels=[model.kernel for model in release.models[:: len(noises)]],
        noise_variances=noises,
        X_test=X_TEST,
        change_points=True,
    )
    prediction = release.uncertainty.prediction
    np.testing.assert_allclose(again.mixture.means, prediction.means, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(again.mixture.variances, prediction.variances, rtol=1e-5, atol=1e-8)
    assert again.fit.threshold == release.fit.threshold
    values = read_again(mechanism, release.statistics[0], X_TEST)
    np.testing.assert_allclose(values, release.samples[0], rtol=1e-9, atol=1e-9)


def outcomes(make_dataset, kind):
    data = make_dataset(x_box=((-2.0, 12.0),))
    return changed(data, y=(np.arange(data.n) % 2).astype(float), y_bounds=(0.0, 1.0), y_kind=kind)


@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
def test_few_people_for_the_budget_have_three_stages(make_dataset, protects):
    """The number of stages follows from public numbers, unless it was declared."""
    data, few = make_dataset(), BayesCloaking(epsilon=0.1, delta=0.01, gap=0.3, protects=protects)
    assert data.people < 30 * few.noise_multiplier
    many = replace(few, epsilon=20.0)
    assert data.people > 30 * many.noise_multiplier
    releases = [each.release(data, X_TEST, np.random.default_rng(0)) for each in (few, many, replace(few, stages=4))]
    assert [len(each.measured[0].stages) for each in releases] == [3, 6, 4]


def numbers(mechanism, kind, people):
    """How many measurements of outputs there are: stages, squares of all but the first, and what is about the curve."""
    return 2 * mechanism.stages_of(kind, people) - 1 + {"number": 1, "amount": 2, "count": 2, "yes/no": 0}[kind]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
def test_all_measurements_spend_the_guarantee(make_dataset, kind, protects):
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, stages=3, gap=0.3, protects=protects)
    data = outcomes(make_dataset, kind)
    found = mechanism.release(data, X_TEST).statistics[0]
    hidden = protects == "inputs and outputs"
    spent = [each.noise_multiplier for each in found.measurements]
    spent += [found.counts.noise_multiplier] if hidden else []
    assert len(spent) == numbers(mechanism, kind, data.people) + hidden
    assert sum(1 / s**2 for s in spent) == pytest.approx(mechanism.guarantee.loss.mu**2, rel=1e-12)
    assert mechanism.guarantee.proven_epsilon == pytest.approx(2.0, rel=1e-9)
    assert ("noisy counts" in mechanism.guarantee.theorem) == hidden


def test_a_plan_serves_another_budget(data):
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, stages=3, gap=0.3)
    other = replace(mechanism, epsilon=0.5)
    release = other.measure(mechanism.plan_for(data, X_TEST), data, X_TEST)
    spent = sum(1 / each.noise_multiplier**2 for each in release.statistics[0].measurements)
    assert spent == pytest.approx(1 / other.noise_multiplier**2, rel=1e-12)
    assert release.guarantee.budget.epsilon == 0.5


# ---- Columns of the strategies.


def test_a_file_stores_clusters_and_reproduces_values(data):
    public = BayesCloaking(epsilon=2.0, delta=0.01, stages=3)
    release = public.release(data, X_TEST)
    columns = public.plan_for(data, X_TEST).filtered.bins
    card, npz = statistics_to_files(release.statistics[0])
    found = statistics_from_files(json.loads(json.dumps(card)), npz)
    np.testing.assert_array_equal(found.counts.numbers, public_counts(columns, data.X).mean)
    np.testing.assert_array_equal(found.counts.node_sums, columns.node_sums)
    np.testing.assert_array_equal(found.clusters, columns.ends)
    assert found.per_side is None
    np.testing.assert_allclose(read_again(public, found, X_TEST), release.samples[0], rtol=1e-9)
    with np.load(io.BytesIO(npz)) as archive:
        assert set(archive.files) == {
            "N",
            "places",
            "clusters",
            *(f"{name}_{i}" for name in ("B", "z", "low", "high", "g") for i in (1, 2, 3)),
            *(f"squares_{name}_{i}" for name in ("high", "z") for i in (2, 3)),
            *(f"distances_{name}" for name in ("B", "g", "z", "reach", "sd")),
        }


COLUMNS = [  # table, public columns, how many
    ("one", 40, Clusters, 40),
    ("one", 200, Clusters, max_clusters(200)),
    ("plane", 1000, Clusters, max_clusters(1000)),
    ("groups", 40, Clusters, 40),
    ("groups", 200, LocatedGrid, None),
    ("week", 200, LocatedGrid, None),
]


@pytest.mark.parametrize(("sides", "n", "kind", "size"), COLUMNS)
def test_columns_follow_from_the_kind_of_public_inputs(sides, n, kind, size):
    found, options = made(sides, "number", n), {"periods": [7.0]} if sides == "week" else {}
    public = BayesCloaking(epsilon=1.0, delta=0.01, **options)
    columns = public.plan_for(found, at(found.x_box)).filtered.bins
    assert isinstance(columns, kind)
    assert size is None or columns.size == size
    at_one_place = replace(found, X=np.repeat(found.X[:1], n, axis=0))
    hidden, same = (
        replace(public, protects="inputs and outputs").plan_for(each, at(found.x_box)).filtered.bins
        for each in (found, at_one_place)
    )
    assert type(hidden) is CellGrid
    assert hidden == same


@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
def test_test_inputs_change_nothing_that_is_measured(data, protects):
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, stages=3, protects=protects)
    with taped() as tape:
        one = mechanism.release(data, X_TEST)
    with taped(tape):
        other = mechanism.release(data, X_TEST[:1] + 1)
    assert_same(list(one.statistics), list(other.statistics))


@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
def test_every_simulated_release_plans_its_own_stages(data, protects):
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, stages=3, protects=protects)
    plan = mechanism.plan_for(data, X_TEST)
    both = mechanism.measure(plan, data, X_TEST, np.random.default_rng(3), 2, mean=False)
    rng = np.random.default_rng(3)
    for draw in range(2):
        alone = mechanism.measure(plan, data, X_TEST, rng, mean=False)
        assert_same(alone.measured[0], both.measured[draw])
        np.testing.assert_array_equal(alone.samples[0], both.samples[draw])
    assert not np.array_equal(both.measured[0].stages[1].g, both.measured[1].stages[1].g)


# ---- Bayes cloaking that protects inputs and outputs.


@pytest.fixture(scope="module")
def hidden():
    return BayesCloaking(epsilon=2.0, delta=0.01, protects="inputs and outputs", stages=2)


@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
def test_simulated_releases_without_noise_are_equal(hidden, data, protects):
    drawing = replace(hidden, protects=protects)
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
def test_people_receive_the_guarantee_for_people(make_dataset, protects):
    data = families(make_dataset, np.random.default_rng(0))
    hidden = BayesCloaking(epsilon=2.0, delta=1e-4, protects=protects)
    release = hidden.release(data, X_TEST)
    assert "all rows of one person" in release.guarantee.neighbours
    assert OWN_ROWS in release.guarantee.assumptions
    assert any("rows everybody has" in each for each in release.guarantee.not_covered) == (protects == "outputs")
    [statistics] = release.statistics
    assert statistics.n == data.people == 60
    assert statistics.counts.people
    back = statistics_from_files(*statistics_to_files(statistics))
    assert back.counts.people
    np.testing.assert_allclose(read_again(hidden, back, X_TEST), release.samples[0], atol=1e-9)


def test_one_row_each_equals_unnamed_rows(make_dataset):
    """But for counts in finer steps, whose rounding is 1e-7; later stages are planned anew from what came of them."""
    rng = np.random.default_rng(1)
    data = replace(families(make_dataset, rng, rows=1), person=None)
    hidden = BayesCloaking(epsilon=1.0, delta=1e-4, protects="inputs and outputs")
    rows, people = (
        hidden.release(replace(data, person=person), X_TEST, np.random.default_rng(2)).measured[0]
        for person in (None, np.arange(data.n)[::-1])
    )
    assert people.counts.noise_sd == pytest.approx(rows.counts.noise_sd, rel=1e-6)
    np.testing.assert_allclose(people.z, rows.z, atol=1e-5)
    assert [stage.s for stage in people.stages] == [stage.s for stage in rows.stages]


def test_how_many_rows_somebody_has_moves_no_plan(make_dataset):
    """Plans know the number of people and nothing of their rows."""
    rng = np.random.default_rng(3)
    few, many = families(make_dataset, rng, rows=1), families(make_dataset, rng, rows=9)
    hidden = BayesCloaking(epsilon=1.0, delta=1e-4, protects="inputs and outputs")
    one, other = (hidden.plan_for(each, X_TEST) for each in (few, many))
    assert one.counts is other.counts is None
    assert one.filtered.bins == other.filtered.bins
    assert one.filtered.n == other.filtered.n == 60

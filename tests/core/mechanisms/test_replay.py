"""What releases give away, from every number that noise was added to, and what noise does not reach."""

import random
import secrets
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from benchmarks.attacks.null_space_work import null_space_attack
from dpgp_core import EQ, BayesCloaking
from dpgp_core.attack.audit import epsilon_lower_bound
from dpgp_core.mechanisms import CATALOGUE
from dpgp_core.mechanisms.base import LazyStatistics
from tests.bayes_digests import at, made
from tests.core.mechanisms.cases import CASES, PARAMETERS, WHOLE, X_TEST, built, with_output
from tests.core.mechanisms.neighbours import allowed, at_the_ends, costs
from tests.core.replay import assert_same, gaussian_epsilon

# ---- What a release gives away, by every number that noise was added to: at most the claim, and close to it.
#
# Also: with the same noisy numbers a neighbour's release is the same to the last bit, so nothing else depends on y.


@pytest.fixture
def data(make_dataset):
    return make_dataset(x_box=((-2.0, 12.0),))


CLOSE = {  # the worst record's share of the claim, where these neighbours do not meet it
    "sparse": 0.9,
    "paper's sparse GP": 0.9,
    "prior of variance 2.5": 0.7,
    "prior noise, low-rank inference": 0.7,
    # no output moves the sums, the squares and the distances as far as each could go alone
    **dict.fromkeys(("bayes", "bayes, all stages", "declared kernel"), 0.8),
    **dict.fromkeys(("bayes_cells", "bayes_cells, all stages"), 0.6),
}


@pytest.mark.parametrize("case", [*CASES, *(pytest.param(case, marks=pytest.mark.full) for case in WHOLE)])
def test_every_number_released_adds_up_to_the_claim(case, data):
    mechanism = built(case)
    promise, most = mechanism.guarantee, max(costs(mechanism, *at_the_ends(data, range(data.n), beyond=1e9)))
    assert most <= allowed(promise)
    found = gaussian_epsilon(most, promise.budget.delta) if promise.budget.delta else most
    assert found <= promise.budget.epsilon * (1 + 1e-6)
    assert found >= CLOSE.get(case, 0.97) * promise.proven_epsilon


@pytest.mark.parametrize("case", CASES)
def test_two_releases_reveal_their_composed_guarantee(case, data):
    neighbours = at_the_ends(data, [11])
    [one], [two] = (costs(built(case), *neighbours, draws=draws) for draws in (1, 2))  # fresh noise for each
    assert 1.3 * one < two <= allowed(built(case).release(data, X_TEST, draws=2).guarantee)


# ---- Bayes cloaking: what is planned from released numbers is the same for neighbours, whatever the columns are.


CONFIGURATIONS = {  # sides, outcome, records, whether people have several rows, options
    "single places": ("one", "number", 30, False, {}),
    "clusters on a line": ("one", "number", 200, False, {}),
    "clusters on a plane": ("plane", "amount", 200, False, {}),
    "clusters in three dimensions": ("solid", "number", 200, False, {}),
    "clusters of people": ("one", "amount", 200, True, {}),
    "single places of groups": ("groups", "count", 40, False, {}),
    "cells of groups": ("groups", "number", 200, True, {}),
    "cells of a week": ("week", "number", 200, False, {"periods": [7.0]}),
    "yes or no": ("one", "yes/no", 200, False, {}),
    "one stage": ("plane", "number", 200, False, {"stages": 1}),
    "six stages": ("one", "count", 200, False, {"stages": 6}),
    "declared kernel": ("one", "number", 200, False, {"kernels": [EQ(lengthscale=2.0)], "noise_variances": [0.2]}),
}


def swapped(data, j, value, x=None):
    """The data with another outcome, and another input, for record j or for all rows of its person."""
    rows = np.arange(data.n) == j if data.person is None else data.person == data.person[j]
    X = data.X if x is None else np.where(rows[:, None], x, data.X)
    return replace(data, X=X, y=np.where(rows, value, data.y))


@pytest.mark.full_for(  # over cells fewer records change nothing, and stages are one with outputs private alone
    "single places-inputs and outputs",
    "single places of groups-inputs and outputs",
    "one stage-inputs and outputs",
)
@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_neighbours_with_equal_noisy_numbers_release_equal_bytes(name, protects):
    """Strategies, intervals, models and predictions; and what tells neighbours apart is within the claim."""
    sides, kind, n, people, options = CONFIGURATIONS[name]
    mechanism = BayesCloaking(**{"epsilon": 2.0, "delta": 1e-3, "stages": 3, "protects": protects, **options})
    data = made(sides, kind, n, people)
    (low, high), j = data.y_bounds, 7
    data = swapped(data, j, low, None if protects == "outputs" else data.X[0])
    others = [swapped(data, j, high), swapped(data, j, high, None if protects == "outputs" else data.X[-1])]
    found = costs(mechanism, data, others, at(data.x_box), rng=np.random.default_rng(1))
    assert 0.2 * allowed(mechanism.guarantee) < max(found) <= allowed(mechanism.guarantee)
    plans = (mechanism.plan_for(each, at(data.x_box)) for each in (data, others[1]))
    assert_same(*((plan.models, plan.kind, plan.counts, plan.filtered.bins) for plan in plans))


@pytest.fixture(params=["cloaking", "refined"])
def release(request, data):
    return built(request.param).release(data, X_TEST, draws=3)


def test_every_release_follows_from_its_statistics(release):
    assert isinstance(release.statistics, LazyStatistics)
    assert len(release.statistics) == 3
    for draw in range(3):
        offset, factor, z = release.statistics.mapped(draw)
        np.testing.assert_allclose(offset + factor @ z, release.samples[draw], rtol=1e-9)


def test_statistics_contain_measurements_and_guarantee(release):
    for found in (release.statistics[0], release.statistics[-1]):
        assert found.guarantee["epsilon"] == release.guarantee.budget.epsilon
        assert found.guarantee["releases"] == 3
        assert all(len(stage.z) == len(stage.measurement.B) for stage in found.stages)
    assert [len(found.stages) for found in release.statistics[:2]] == [len(release.statistics[0].stages)] * 2
    stages = release.statistics[0].stages
    assert release.statistics.size == sum(stage.measurement.B.size for stage in stages)


# ---- What noise does not reach says nothing: real releases of neighbours are told apart by no linear score.


CONFIDENCE = 1 - 1e-6  # a true claim is called false with probability 1e-6 at most; the bits are fixed
RELEASED = [name for name in CATALOGUE if name != "paths"]
FULL_RANK = {"gp_prior", "kernel_sum"}  # as many numbers as test points: there is no null space


@pytest.fixture
def fixed_bits(monkeypatch):
    monkeypatch.setattr(secrets, "token_bytes", random.Random(2).randbytes)


def proven(draw, pair, count, delta):
    """Lower bound on epsilon by a score learnt on ``count`` releases of each, tested on as many others."""
    attack = null_space_attack(*(draw(data, count) for data in pair))
    inside, outside = (attack.score(draw(data, count)) for data in pair)
    return epsilon_lower_bound(inside, outside, delta, CONFIDENCE)


SLOW = [name for name in RELEASED if name.startswith("bayes")]  # of these each draw takes long
QUICK = [name for name in RELEASED if name not in SLOW]
SMALL = product(QUICK, [1.0], [300])
FULL = [*product(SLOW, (0.01, 1.0), [300]), *product(QUICK, (0.01, 1.0, 10.0), [2000])]


@pytest.mark.full_for("sparse-1.0-300")
@pytest.mark.parametrize(
    ("name", "epsilon", "count"), [*SMALL, *(pytest.param(*case, marks=pytest.mark.full) for case in FULL)]
)
def test_no_linear_score_passes_the_claim(name, epsilon, count, data, fixed_bits):
    mechanism = CATALOGUE[name].build(replace(PARAMETERS, kernel=EQ(lengthscale=8.0), cells=2, epsilon=epsilon))
    X_test = np.linspace(-2, 12, 5 if name in FULL_RANK else 80)[:, None]
    delta = mechanism.guarantee.budget.delta
    if name == "bayes_cells":  # each draw plans its stages anew
        mechanism, count = replace(mechanism, stages=2), count // 6
    pair = [with_output(data, 4, value) for value in data.y_bounds]
    found = proven(lambda each, draws: mechanism.release(each, X_test, draws=draws).samples, pair, count, delta)
    assert found <= mechanism.guarantee.proven_epsilon

"""What releases give away, from every number that noise was added to, and what noise does not reach."""

import random
import secrets
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from benchmarks.attacks.null_space_work import null_space_attack
from dpgp_core import EQ, Cloaking, RefinedCloaking
from dpgp_core.attack.audit import epsilon_lower_bound
from dpgp_core.gp.regression import cloaking_matrix
from dpgp_core.mechanisms import CATALOGUE, BayesCloaking, HallPosterior
from dpgp_core.mechanisms.base import EachDraw
from dpgp_core.mechanisms.catalogue import Parameters
from tests.core.mechanisms.cases import PARAMETERS, VARIANTS, X_TEST, built, with_output, with_record
from tests.core.replay import assert_same, gaussian_epsilon, gaussian_mu, pure_epsilon, taped

# ---- What a release gives away, by every number that noise was added to: at most the claim, and close to it.
#
# Also: with the same noisy numbers a neighbour's release is the same to the last bit, so nothing else depends on y.


BUILT = {name: CATALOGUE[name].build(PARAMETERS) for name in CATALOGUE if name not in ("paths", "published")} | {
    "two stages of Bayes": BayesCloaking(epsilon=1.0, delta=0.01, stages=2, gap=0.01),
    "two stages over cells": BayesCloaking(epsilon=1.0, delta=0.01, protects="inputs and outputs", stages=2),
}
OPTIONS = {name: built(name) for name in VARIANTS if name not in BUILT}
LONG = ("bayes", "bayes_cells")  # all of their stages in `make test-all`
NAMES = [pytest.param(name, marks=pytest.mark.full if name in LONG else []) for name in BUILT]
CELLS = BUILT["two stages over cells"]
# the worst record: is it met by these neighbours, and how nearly?
# no output moves the sums, the squares and the distances as far as each could go alone
CLOSE = {"sparse": 0.9, "bayes_cells": 0.6, "two stages over cells": 0.6, "bayes": 0.8, "two stages of Bayes": 0.8}


def planned(mechanism, data):
    """Plan once: (data, number of draws) -> the release at the same plan."""
    if not isinstance(mechanism, HallPosterior):  # whose strategy is private
        plan = mechanism.plan_for(data, X_TEST)
        return lambda each, draws=1: mechanism.measure(plan, each, X_TEST, draws=draws)
    return lambda each, draws=1: mechanism.release(each, X_TEST, draws=draws)


def replayed(release, one, other, draws=1):
    """The tape of the neighbour, whose outcomes are those of the first; the two releases are the same."""
    with taped() as first:
        before = release(one)
    with taped(first) as second:
        after = release(other)
    assert len(before.statistics) == draws
    assert_same(list(before.statistics), list(after.statistics))
    assert_same(before, after)
    return second


def given_away(mechanism, tape):
    """Epsilon at the mechanism's delta, from the tape alone."""
    delta = mechanism.guarantee.budget.delta
    return gaussian_epsilon(gaussian_mu(tape), delta) if delta else pure_epsilon(tape)


@pytest.fixture
def data(make_dataset):
    return make_dataset(x_box=((-2.0, 12.0),))


@pytest.mark.parametrize("name", NAMES)
def test_every_number_released_adds_up_to_the_claim(name, data):
    mechanism = BUILT[name]
    release, claim = planned(mechanism, data), mechanism.guarantee.budget.epsilon
    found = [
        given_away(mechanism, replayed(release, *(with_output(data, j, end) for end in (-1e9, 1e9))))
        for j in range(data.n)
    ]
    assert max(found) <= claim * (1 + 1e-6)
    assert max(found) >= CLOSE.get(name, 0.97) * claim


@pytest.mark.parametrize("name", [*NAMES, *OPTIONS])
def test_two_draws_give_away_what_they_are_said_to(name, data):
    mechanism = (OPTIONS | BUILT)[name]
    release = planned(mechanism, data)
    tape = replayed(lambda each: release(each, 2), *(with_output(data, 11, end) for end in (-1.0, 3.0)), draws=2)
    one = replayed(release, *(with_output(data, 11, end) for end in (-1.0, 3.0)))
    assert len(tape.calls) == 2 * len(one.calls)  # fresh noise for each
    both = release(data, 2).guarantee.budget.epsilon
    assert 1.3 * given_away(mechanism, one) < given_away(mechanism, tape) <= both * (1 + 1e-6)


@pytest.mark.parametrize("name", ["sparse", "kernel_sum", "paper's sparse GP"])
def test_a_record_that_moves_gives_away_no_more(name, data):
    mechanism = (OPTIONS | BUILT)[name]
    for x, y in ((-2.0, -1.0), (12.0, 3.0), (1e6, 3.0)):
        tape = replayed(planned(mechanism, data), with_output(data, 4, 3.0), with_record(data, 4, x, y))
        assert 0.2 <= given_away(mechanism, tape) <= 1 + 1e-6


def test_counts_and_residuals_over_cells_add_up_to_the_claim(data):
    release, found = planned(CELLS, data), []
    for x, y in ((data.X[4, 0], 3.0), (-2.0, -1.0), (12.0, 3.0)):
        tape = replayed(release, with_output(data, 4, -1.0), with_record(data, 4, x, y))
        found.append(given_away(CELLS, tape))
    assert max(found) <= 1 + 1e-6
    assert max(found) >= CLOSE["bayes_cells"]


AGES = np.linspace(0, 10, 7)[:, None]
SETTINGS = {"kernel": EQ(lengthscale=2.0), "noise_variance": 0.3, "epsilon": 1.0, "delta": 0.01}


@pytest.fixture(params=[Cloaking, RefinedCloaking], ids=lambda kind: kind.__name__)
def release(request, make_dataset):
    return request.param(**SETTINGS).release(make_dataset(), AGES, draws=3)


def test_every_draw_follows_from_its_statistics(release):
    assert isinstance(release.statistics, EachDraw)
    assert len(release.statistics) == 3
    for draw in range(3):
        offset, factor, z = release.statistics.mapped(draw)
        np.testing.assert_allclose(offset + factor @ z, release.samples[draw], rtol=1e-9)


def test_statistics_hold_what_was_measured_and_the_promise(release):
    for found in (release.statistics[0], release.statistics[-1]):
        assert found.guarantee["epsilon"] == release.guarantee.budget.epsilon
        assert found.guarantee["releases"] == 3
        assert all(len(stage.z) == len(stage.measurement.B) for stage in found.stages)
    assert [len(found.stages) for found in release.statistics[:2]] == [len(release.statistics[0].stages)] * 2
    stages = release.statistics[0].stages
    assert release.statistics.size == sum(stage.measurement.B.size for stage in stages)


# ---- What noise does not reach says nothing: real releases of neighbours are told apart by no linear score.


CONFIDENCE = 1 - 1e-6  # a true claim is called false with probability 1e-6 at most; the bits are fixed
STRONG = Parameters(
    kernel=EQ(lengthscale=8.0),
    noise_variance=0.3,
    epsilon=1.0,
    delta=0.01,
    x_box=((-2.0, 12.0),),
    cells=2,
    inducing=None,
)
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


@pytest.mark.parametrize(
    ("name", "epsilon", "count"), [*SMALL, *(pytest.param(*case, marks=pytest.mark.full) for case in FULL)]
)
def test_no_linear_score_passes_the_claim(name, epsilon, count, data, fixed_bits):
    mechanism = CATALOGUE[name].build(replace(STRONG, epsilon=epsilon))
    X_test = np.linspace(-2, 12, 5 if name in FULL_RANK else 80)[:, None]
    delta = mechanism.guarantee.budget.delta
    if name == "bayes_cells":  # each draw plans its stages anew
        mechanism, count = replace(mechanism, stages=2), count // 6
    pair = [with_output(data, 4, value) for value in data.y_bounds]
    found = proven(lambda each, draws: mechanism.release(each, X_test, draws=draws).samples, pair, count, delta)
    assert found <= mechanism.guarantee.proven_epsilon


@pytest.mark.parametrize("epsilon", [0.01, 1.0])
@pytest.mark.parametrize("objective", ["trace", "logdet"])
def test_the_score_breaks_float_noise_about_a_float_mean(epsilon, objective, kung_data, kung_model):
    """The path of older versions: mean plus noise, both rounded, where the noise has few directions."""
    mechanism = Cloaking(epsilon=epsilon, delta=0.01, objective=objective, **kung_model)
    X_test, rng = np.linspace(0, 90, 91)[:, None], np.random.default_rng(3)
    oldest = np.arange(kung_data.n) == kung_data.X[:, 0].argmax()
    pair = [replace(kung_data, y=np.where(oldest, value, kung_data.y)) for value in kung_data.y_bounds]
    C = cloaking_matrix(X=kung_data.X, X_test=X_test, **kung_model)
    design = mechanism.plan(kung_data.X, X_test).design
    A, factor = design.project(C), mechanism.noise_multiplier * kung_data.output_range * design.factor

    def draw(data, count):
        mean = data.in_data_units(A @ data.standardised())
        return mean + rng.standard_normal((count, factor.shape[1])) @ factor.T

    # nearly all of 2,000 fresh releases are told apart, which proves an epsilon of 4
    assert proven(draw, pair, 2000, 0.01) > 2.0

"""What noise does not reach says nothing: real releases of neighbours are told apart by no linear score."""

import random
import secrets
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from dpgp_core.attack.audit import epsilon_lower_bound
from dpgp_core.attack.linear import null_space_attack
from dpgp_core.gp.regression import cloaking_matrix
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import CATALOGUE, Cloaking
from dpgp_core.mechanisms.catalogue import Parameters

CONFIDENCE = 1 - 1e-6  # a true claim is called false with probability 1e-6 at most; the bits are fixed
PARAMETERS = Parameters(
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


def neighbours(make_dataset):
    data = make_dataset(x_box=((-2.0, 12.0),))
    ys = [np.where(np.arange(12) == 4, value, data.y) for value in data.y_bounds]
    return [replace(data, y=y) for y in ys]


def samples_of(mechanism, data, X_test, draws):
    return mechanism.release(data, X_test, draws=draws).samples


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
def test_no_linear_score_passes_the_claim(name, epsilon, count, make_dataset, fixed_bits):
    mechanism = CATALOGUE[name].build(replace(PARAMETERS, epsilon=epsilon))
    X_test = np.linspace(-2, 12, 5 if name in FULL_RANK else 80)[:, None]
    delta = mechanism.guarantee.budget.delta
    if name == "bayes_cells":  # each draw plans its stages anew
        mechanism, count = replace(mechanism, stages=2), count // 6
    found = proven(
        lambda data, draws: samples_of(mechanism, data, X_test, draws), neighbours(make_dataset), count, delta
    )
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

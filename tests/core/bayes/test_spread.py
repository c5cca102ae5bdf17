from functools import cache

import numpy as np
import pytest
from scipy.special import erf

from dpgp_core.bayes.filter_records import record_filter
from dpgp_core.bayes.models import auto_models
from dpgp_core.bayes.planning import plan_distances
from dpgp_core.bayes.spread import Distances, reach_of, split
from dpgp_core.bayes.stages import Public
from dpgp_core.table import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_shares_are_of_one_budget(kind):
    spent = [s for s in split(1.7, kind) if s is not None]
    assert sum(1 / s**2 for s in spent) == pytest.approx(1 / 1.7**2, rel=1e-14)
    assert len(spent) == {"number": 2, "amount": 3, "count": 3, "yes/no": 1}[kind]


def test_reach_is_two_standard_deviations_within_the_range():
    assert reach_of(np.array([0.25, 9.0]), 3.0).tolist() == [1.0, 3.0]


BOX, GRID = ((0.0, 10.0),), np.linspace(0.5, 9.5, 19)[:, None]


SHAPES = {"even": lambda x: 0.3 + 0 * x, "growing": lambda x: 0.1 + 0.04 * x}


def records(X):
    """Models of no account: distances have models of their own."""
    return record_filter(auto_models(BOX, 1.0)[:1], X, GRID, public=Public(BOX, 1.0))


@cache
def released(shape, n, s=4.0, draws=40):
    """Distances of people who scatter by their shape about a curve that is known, and their inputs."""
    rng, sd = np.random.default_rng(0), SHAPES[shape]
    X = 10 * (np.arange(n)[:, None] + 0.5) / n
    B = plan_distances(records(X), s).B
    reach = np.full(draws, 2 * float(np.median(sd(X))))
    y = rng.normal(0, sd(X[:, 0]), (draws, n))
    a = np.minimum(np.abs(y), reach[:, None])
    z = (a / reach[:, None] - 0.5) @ B.T + s * rng.standard_normal((draws, len(B)))
    return Distances(B, reach, reach / 2, s, z), X


@pytest.mark.parametrize("shape", SHAPES)
def test_scatter_is_found_at_each_place_and_better_by_many(shape):
    sd = SHAPES[shape]
    errors = []
    for n in (300, 3000):
        seen, X = released(shape, n)
        found = np.sqrt(records(X).read_distances(seen).noise_variance)
        errors.append(np.sqrt(((found / sd(GRID[:, 0]) - 1) ** 2).mean()))
    assert errors[1] < 0.1 < errors[0] < 0.5


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [300, pytest.param(3000, marks=pytest.mark.full)])
def test_intervals_hold_one_more_output_wherever_it_is(shape, n):
    sd = SHAPES[shape]
    seen, X = released(shape, n)
    half = 2.0 * np.sqrt(records(X).read_distances(seen).noise_variance)
    inside = erf(half / (sd(GRID[:, 0]) * 2**0.5)).mean()
    assert inside > 0.93


def test_columns_are_at_most_one_long():
    X = np.linspace(0, 10, 50)[:, None]
    assert (np.linalg.norm(plan_distances(records(X), 4.0).B, axis=0) <= 1).all()

"""Sixty records at random places of one input, and five planned stages."""

import numpy as np
import pytest

from dpgp_core.bayes.bias import Public
from dpgp_core.bayes.models import auto_models
from dpgp_core.bayes.plan import stage_multipliers
from dpgp_core.bayes.records.places import places_of
from dpgp_core.bayes.records.planning import plan_stages

BOX = [(0.0, 1.0)]
HALF, N, TESTS = 1.0, 60, 20
S = 1.3
UNIFORM = np.full(20, 1 / 20)


@pytest.fixture(scope="session")
def places():
    X = np.random.default_rng(0).uniform(0, 1, (N + TESTS, 1))
    return places_of(auto_models(BOX, HALF), X[:N], X[N:], public=Public(BOX, HALF))


@pytest.fixture(scope="session")
def planned(places):
    return plan_stages(places, UNIFORM, HALF, stage_multipliers(S, 5))

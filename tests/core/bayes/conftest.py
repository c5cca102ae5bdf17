"""Sixty records at random places of one input, and five planned stages."""

import numpy as np
import pytest

from dpgp_core.bayes.filter_records import record_filter
from dpgp_core.bayes.models import auto_models
from dpgp_core.bayes.planning import plan_stages
from dpgp_core.bayes.stages import Public, stage_multipliers

BOX = [(0.0, 1.0)]
HALF, N, TESTS = 1.0, 60, 20
S = 1.3


@pytest.fixture(scope="session")
def records():
    X = np.random.default_rng(0).uniform(0, 1, (N + TESTS, 1))
    return record_filter(auto_models(BOX, HALF), X[:N], X[N:], public=Public(BOX, HALF))


@pytest.fixture(scope="session")
def planned(records):
    return plan_stages(records, stage_multipliers(S, 5))

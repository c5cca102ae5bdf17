"""What Bayes cloaking and its readings refuse, and in which words."""

import math

import numpy as np
import pytest

from dpgp_core.bayes.cells import CellGrid, cells_of
from dpgp_core.bayes.mixture import Mixture
from dpgp_core.bayes.model import Model, auto_models
from dpgp_core.bayes.periodic import with_periodic_models
from dpgp_core.bayes.refit import posterior_given, refit
from dpgp_core.bayes.settings import BayesSettings
from dpgp_core.kernels import EQ
from dpgp_core.levels import side_of
from dpgp_core.measurement.statistics_file import outcome_model_of
from dpgp_core.seasons import YEAR
from tests.core.bayes.test_difference import POINTS, world
from tests.core.mechanisms.cases import built
from tests.refusals import each, told

SIDE, BOX = (0.0, 1.0), ((0.0, 900.0),)
ONE = np.ones((1, 1, 1))
MIXTURE = Mixture(means=ONE, variances=ONE, noise_variances=ONE[0, 0], weights=ONE[0])
GROUPS = world(60, 0)[0]


def settings(**changes):
    return BayesSettings(epsilon=1.0, delta=0.01, **changes)


@pytest.fixture(scope="module")
def release():
    return built("bayes").release(GROUPS, POINTS)


REFUSALS = [
    # settings
    *told(
        lambda changes: settings(**changes),
        [
            ({"protects": "inputs"}, "protects must be 'outputs' or 'inputs and outputs', got 'inputs'"),
            ({"stages": 0}, "stages must be a whole number from 1 to 10, got 0"),
            ({"stages": 11}, "stages must be a whole number from 1 to 10, got 11"),
            ({"clip": 0.0}, "clip must be a finite number above 0"),
            ({"gap": -1.0}, "gap must be a finite number above 0"),
            ({"kernels": (EQ(),), "noise_variances": ()}, "noise_variances must have one entry per kernel, 1, got 0"),
            ({"noise_variances": (0.1,)}, "noise_variances must have one entry per kernel, 0, got 1"),
        ],
    ),
    # models
    *told(
        lambda name, value: Model(**{"kernel": EQ(), "noise_variance": 1.0, name: value}),
        [("noise_variance", 0.0, "noise"), ("noise_variance", np.nan, "noise"), ("weight", -1.0, "weight")],
    ),
    (lambda: with_periodic_models(auto_models(BOX, 2.0), BOX, 2.0, (None, 7.0)), "periods must have 1 entries"),
    (
        lambda: settings(periods=[YEAR]).models(((0.0, 500.0),), 2.0),
        r"the period of input 1 is 365\.243, which comes less than 2 times",
    ),
    # cells
    (lambda: CellGrid(box=(SIDE, SIDE), per_side=1), "per_side"),
    *told(
        lambda box, periods: cells_of(box, 300, 4.0, periods),
        [
            ([SIDE] * 4, (), "1 to 3 input columns, got 4"),
            ([SIDE] * 4 + [side_of(("a", "b"))], (), "1 to 3 input columns, got 4 that are numbers"),
            ([*BOX] * 3, (None, None, 7.0), "1 to 3 input columns, a period counting as one, got 4"),
        ],
    ),
    # intervals
    *each(MIXTURE.interval, "level must lie", [0.0, 1.0, math.nan]),
    (lambda: MIXTURE.interval(0.9, "both"), "of must be 'outputs' or 'function'"),
    # files
    (lambda: outcome_model_of({"reading": "by the stars"}), "made for an unknown kind of outcomes, 'by the stars'"),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS)
def test_bad_input_is_refused_with_these_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def reread(statistics, **changes):
    given = {"kernels": [EQ()], "noise_variances": [0.1], "X_test": np.zeros((2, 2))}
    return refit(statistics, **given | changes)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda of: of.difference("a", "z", POINTS[:7]), "has no level 'z'; its levels are a, b, c"),
        (lambda of: of.difference("a", "a", POINTS[:7]), "name two levels"),
        (lambda of: of.difference("a", "b", POINTS[:7], of="x"), "'x' is no input of the release that is a category"),
        (lambda of: of.difference("a", "b", POINTS[:7, :1]), "columns"),
        (lambda of: reread(of.statistics[0], kernels=[]), "at least one kernel"),
        (lambda of: reread(of.statistics[0], noise_variances=[]), "at least one kernel"),
        (lambda of: reread(of.statistics[0], X_test=np.zeros((2, 3))), "equally many columns"),
        (lambda of: reread(of.statistics[0]).interval(1.0), "level must lie"),
        (lambda of: reread(of.statistics[0]).interval(0.5, of="noise"), "'outputs' or 'function'"),
        (lambda of: posterior_given(of.statistics[0], of.models).at(np.zeros((2, 3))), "equally many columns"),
    ],
)
def test_unreadable_releases_are_refused(release, call, words):
    with pytest.raises(ValueError, match=words):
        call(release)

"""What strategies and noise designs refuse, and in which words."""

import math

import numpy as np
import pytest

from dpgp_core.linalg import FactoredMatrix
from dpgp_core.strategies.bayes import optimal_strategy
from dpgp_core.strategies.noise_design import design_noise
from dpgp_core.strategies.risk_model import RiskModel
from tests.refusals import each, told

from .conftest import random_model

MATRIX = r"C must be a finite matrix \(P, n\) with P, n >= 1, got shape "
MODEL = {"noise": np.ones(3), "root": np.ones((3, 2)), "targets": np.ones((3, 1)), "prior_risk": 9.0}
REFUSALS = [
    # noise design
    *told(
        lambda changes: design_noise(**{"C": np.ones((2, 3)), **changes}),
        [
            ({"C": np.zeros(3)}, MATRIX + r"\(3,\)"),
            ({"C": np.zeros((0, 3))}, MATRIX + r"\(0, 3\)"),
            ({"C": np.zeros((3, 0))}, MATRIX + r"\(3, 0\)"),
            ({"C": np.full((2, 3), np.nan)}, MATRIX + r"\(2, 3\)"),
            ({"C": FactoredMatrix(np.full((2, 2), np.nan), np.ones((3, 2)))}, MATRIX),
            ({"objective": "entropy"}, "objective must be 'trace' or 'logdet', got 'entropy'"),
            ({"weights": np.ones(2), "objective": "logdet"}, "weights change nothing for objective 'logdet'"),
            ({"weights": np.ones(3)}, r"weights must be 2 non-negative numbers, not all 0, got shape \(3,\)"),
            ({"weights": np.zeros(2)}, "weights must be 2 non-negative numbers, not all 0"),
            ({"weights": np.array([1.0, -1.0])}, "weights must be 2 non-negative numbers"),
            ({"weights": np.array([1.0, np.nan])}, "weights must be 2 non-negative numbers"),
        ],
    ),
    *each(
        lambda gap: design_noise(np.ones((2, 3)), gap=gap),
        "gap must be above 0, got {}; 1e-3 is a good choice",
        [0.0, math.nan],
    ),
    *each(
        lambda tolerance: design_noise(np.ones((2, 3)), rank_tolerance=tolerance),
        r"rank_tolerance must be a number in \[1e-12, 1\), got '?{}'?$",
        [1.0, 1e-13, "best", math.nan],
    ),
    # risk model
    *told(
        lambda changes: RiskModel(**MODEL | changes),
        [
            ({"noise": np.array([1.0, 0.0, 1.0])}, "above 0"),
            ({"noise": np.ones((3, 1))}, "above 0"),
            ({"root": np.ones((2, 2))}, "root must be a finite matrix with 3 rows"),
            ({"targets": np.full((3, 1), np.nan)}, "targets must be a finite matrix"),
            ({"targets": np.ones((3, 0))}, "at least one column"),
            ({"signs": np.ones(3)}, "signs must be 2 numbers"),
            ({"signs": np.array([1.0, 0.5])}, "signs must be 2 numbers"),
            ({"weight": 0.0}, "weight must be"),
            ({"prior_risk": np.inf}, "prior_risk must be"),
        ],
    ),
    # strategies
    *told(
        lambda options: optimal_strategy(**{"models": [RiskModel(**MODEL)], "t": 1.0, **options}),
        [
            ({"t": 0.0}, "t must be"),
            ({"gap": -1.0}, "gap must be"),
            ({"rank": 0}, "rank must be at least 1"),
            ({"start": np.ones((2, 4))}, "start must be a finite matrix with 3 columns"),
            ({"groups": np.array([0, 2, 2])}, "groups must be 3 labels"),
            ({"models": []}, "models is empty"),
            ({"models": [RiskModel(**MODEL), random_model(np.random.default_rng(0), 4, 1)]}, "same number of outputs"),
        ],
    ),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS)
def test_bad_input_is_refused_with_these_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()

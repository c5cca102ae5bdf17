"""The risk of a strategy, under one model and under a mixture."""

import numpy as np
import pytest

from dpgp_core.strategies.mixture_risk import MixtureRisk
from dpgp_core.strategies.risk_model import (
    nearest_of_spread,
    sums,
)

from .conftest import dense


def test_sums_by_group():
    values, groups = np.arange(10.0).reshape(5, 2), np.array([1, 0, 1, 2, 0])
    np.testing.assert_array_equal(sums(values, groups), [[10, 12], [4, 6], [6, 7]])
    np.testing.assert_array_equal(sums(values[:, 0], groups), [10, 4, 6])


def test_separate_clusters_are_the_groups():
    rng = np.random.default_rng(0)
    which = rng.integers(5, size=200)
    features = 100 * rng.standard_normal((5, 50))[which] + 0.01 * rng.standard_normal((200, 50))
    labels = nearest_of_spread(features, 5)
    assert len({*zip(which.tolist(), labels.tolist(), strict=True)}) == 5
    np.testing.assert_array_equal(np.unique(labels), range(5))


def test_equal_rows_share_a_group():
    rows = np.repeat(np.eye(3), 4, axis=0)
    np.testing.assert_array_equal(np.unique(nearest_of_spread(rows, 10)), range(3))
    np.testing.assert_array_equal(
        nearest_of_spread(rows, 10).reshape(3, 4).T[0][:, None].repeat(4, 1).ravel(), nearest_of_spread(rows, 10)
    )


@pytest.fixture
def B():
    B = np.random.default_rng(3).standard_normal((4, 9))
    return B / np.linalg.norm(B, axis=0)


def dense_risk(models, B, t):
    total = 0.0
    for model in models:
        BF, S = B @ model.targets, B @ dense(model) @ B.T + t * np.eye(len(B))
        total += model.weight * (model.prior_risk - np.trace(BF.T @ np.linalg.solve(S, BF)))
    return total


@pytest.mark.parametrize("t", [1e-3, 0.3, 30.0])
def test_the_risk_is_the_dense_one(mixture, B, t):
    assert MixtureRisk(mixture, t).at(B).risk == pytest.approx(dense_risk(mixture, B, t), rel=1e-10)


def test_the_least_risk_is_that_of_known_outputs(mixture):
    known = [m.weight * (m.prior_risk - np.trace(m.targets.T @ np.linalg.solve(dense(m), m.targets))) for m in mixture]
    assert MixtureRisk(mixture, 1.0).least == pytest.approx(sum(known), rel=1e-10)
    assert MixtureRisk(mixture, 1e-9).at(np.eye(9)).risk == pytest.approx(sum(known), rel=1e-6)

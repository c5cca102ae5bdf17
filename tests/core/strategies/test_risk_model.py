"""The risk of a strategy, under one model and under a mixture."""

from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.strategies.bayes import bayes, risk, risk_without_privacy
from dpgp_core.strategies.mixture_risk import MixtureRisk
from dpgp_core.strategies.risk_model import (
    in_common_basis,
    nearest_of_spread,
    of_sums,
    sums,
    with_noise_of_one_shape,
)
from dpgp_core.strategies.strategy import lower_bound

from .conftest import dense, random_model


@pytest.fixture
def models():
    """Roots that share a space of 6 dimensions but for a millionth."""
    rng = np.random.default_rng(3)
    shared, found = rng.standard_normal((30, 6)), []
    for k, signed in ((5, False), (6, True), (4, False)):
        model = random_model(rng, 30, k, 0.3, signed=signed)
        root = shared @ rng.standard_normal((6, k)) * 0.02 + 1e-6 * rng.standard_normal((30, k))
        found.append(replace(model, root=root, targets=root @ rng.standard_normal((k, 3)), prior_risk=10.0))
    return found


@pytest.mark.parametrize("t", [0.01, 1.0, 100.0])
def test_a_common_basis_changes_no_risk(models, t):
    """Value, gradient and certificate are those of the same models with roots of their own."""
    common = in_common_basis(models, 1e-8)
    spelled_out = [
        replace(each, basis=None, root=each.basis @ each.root, targets=each.basis @ each.targets) for each in common
    ]
    one, other = MixtureRisk(common, t), MixtureRisk(spelled_out, t)
    assert one.least == pytest.approx(other.least, rel=1e-9)
    B = bayes(spelled_out, t, gap=1e-2).B
    here, there = one.at(B), other.at(B)
    assert here.risk == pytest.approx(there.risk, rel=1e-9)
    np.testing.assert_allclose(one.gradient(here), other.gradient(there), atol=1e-8 * np.abs(B).max())
    assert lower_bound(one, here) == pytest.approx(lower_bound(other, there), rel=1e-7)
    assert one.above_noise.shape == other.above_noise.shape


def test_sums_over_groups_keep_the_basis_common(models):
    groups = np.repeat(np.arange(10), 3)
    summed = of_sums(in_common_basis(models, 1e-8), groups)
    assert all(each.basis is summed[0].basis and each.basis.shape == (10, 6) for each in summed)
    B = np.random.default_rng(0).standard_normal((3, 10)) / 3
    assert risk(summed, B, 1.0) == pytest.approx(risk(of_sums(models, groups), B, 1.0), rel=1e-6)


def test_a_strategy_in_a_common_basis_starts_from_another_of_its_groups(models):
    common, groups = in_common_basis(models, 1e-8), np.repeat(np.arange(15), 2)
    first = bayes(common, 1.0, gap=1e-4, groups=groups)
    again = bayes(common, 1.0, gap=1e-3, groups=groups, start=first.B)
    assert first.gap <= 1e-4
    assert again.gap <= 1e-3
    assert again.iterations < first.iterations / 2
    assert risk_without_privacy(common) < again.bound


def test_noises_of_one_shape_keep_their_means_and_those_in_proportion_stay(models):
    alike = with_noise_of_one_shape(models)
    shape = alike[0].noise / alike[0].noise.mean()
    for model, each in zip(models, alike, strict=True):
        assert each.noise.mean() == pytest.approx(model.noise.mean(), rel=1e-12)
        np.testing.assert_allclose(each.noise / each.noise.mean(), shape, rtol=1e-12)
        assert each.root is model.root
    assert len(MixtureRisk(alike, 1.0).shapes) == 1 < len(MixtureRisk(models, 1.0).shapes)
    for model, each in zip(alike, with_noise_of_one_shape(alike), strict=True):
        np.testing.assert_allclose(each.noise, model.noise, rtol=1e-12)


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


def test_equal_rows_share_a_group_and_no_label_is_missing():
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

import math

import numpy as np
import pytest
from scipy.stats import binomtest, mannwhitneyu

from dpgp_core.accounting.tradeoff import gaussian_tradeoff
from dpgp_core.attack.roc import Roc, clopper_pearson_high, clopper_pearson_low


@pytest.fixture
def tied():
    rng = np.random.default_rng(1)
    return rng.integers(2, 12, 60).astype(float), rng.integers(0, 9, 45).astype(float)


def test_auc_is_the_mann_whitney_statistic(tied):
    inside, outside = tied
    brute = np.mean([(a > b) + 0.5 * (a == b) for a in inside for b in outside])
    area = Roc.of(inside, outside).auc().value
    assert area == pytest.approx(brute, rel=1e-14)
    assert area == pytest.approx(mannwhitneyu(inside, outside).statistic / (60 * 45), rel=1e-14)


def test_auc_is_the_area_under_the_curve(tied):
    roc = Roc.of(*tied)
    false, true = roc.curve()
    assert np.trapezoid(true, false) == pytest.approx(roc.auc().value, rel=1e-13)


def test_curve_against_brute_force(tied):
    inside, outside = tied
    false, true = Roc.of(inside, outside).curve()
    expected = {(np.mean(outside >= t), np.mean(inside >= t)) for t in [*inside, *outside, math.inf]}
    found = set(zip(false, true, strict=True))
    assert {tuple(np.round(p, 12)) for p in found} == {tuple(np.round(p, 12)) for p in expected}
    assert (np.diff(false) >= 0).all()
    assert (np.diff(true) >= 0).all()
    assert (false[0], true[0], false[-1], true[-1]) == (0, 0, 1, 1)


def test_swapping_the_labels_mirrors_everything(tied):
    inside, outside = tied
    one, other = Roc.of(inside, outside), Roc.of(-outside, -inside)
    assert one.auc() == pytest.approx(other.auc(), rel=1e-13)
    assert Roc.of(outside, inside).auc().value == pytest.approx(1 - one.auc().value, rel=1e-13)
    (false, true), (mirrored_false, mirrored_true) = one.curve(), other.curve()
    np.testing.assert_allclose(1 - mirrored_true[::-1], false, atol=1e-14)
    np.testing.assert_allclose(1 - mirrored_false[::-1], true, atol=1e-14)


def test_auc_interval_against_the_bootstrap():
    rng = np.random.default_rng(2)
    inside, outside = rng.normal(1, 1, 400), rng.normal(0, 1, 300)
    areas = [Roc.of(rng.choice(inside, 400), rng.choice(outside, 300)).auc().value for _ in range(2000)]
    low, high = Roc.of(inside, outside).auc()[1:]
    assert (high - low) / (2 * 1.96) == pytest.approx(np.std(areas), rel=0.1)


def test_power_is_that_of_the_best_threshold_within_the_rate():
    outside, inside = np.arange(100.0), np.arange(50.0, 150.0)
    roc = Roc.of(inside, outside)
    assert roc.power_at(0.05).value == np.mean(inside > 94)
    assert roc.power_at(0.001).value == np.mean(inside > 99)


def test_power_intervals_cover():
    # N(1, 1) against N(0, 1): true power 1 - gaussian_tradeoff. Promise 95 %, conservative.
    truth, rng = 1 - float(gaussian_tradeoff(np.array(0.05), 1.0)), np.random.default_rng(3)
    inside = 0
    for _ in range(400):
        value, low, high = Roc.of(rng.normal(1, 1, 500), rng.normal(0, 1, 500)).power_at(0.05)
        assert low <= value <= high
        inside += low <= truth <= high
    assert inside >= 380


def test_power_interval_is_trivial_when_the_rate_is_out_of_reach():
    estimate = Roc.of(np.arange(5.0), np.arange(5.0)).power_at(0.999)
    assert estimate.high == 1
    assert Roc.of(np.arange(5.0), np.arange(5.0)).power_at(1e-6).low == 0


def test_allowed_is_what_the_budget_allows():
    roc = Roc.of(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.5, 2.5]))
    a = roc.curve()[0]
    # epsilon = ln 2, delta = 0.1: misses at least max(0.9 - 2 a, (0.9 - a) / 2, 0)
    np.testing.assert_allclose(roc.allowed(math.log(2), 0.1), np.minimum(0.1 + 2 * a, np.minimum(0.55 + a / 2, 1)))


@pytest.mark.parametrize("hits", [0, 1, 17, 99, 100])
@pytest.mark.parametrize("confidence", [0.9, 0.999998])
def test_clopper_pearson_is_that_of_scipy(hits, confidence):
    expected = binomtest(hits, 100).proportion_ci(confidence, method="exact")
    tail = (1 - confidence) / 2
    assert clopper_pearson_low(np.array(hits), 100, tail) == pytest.approx(
        expected.low, rel=1e-8, abs=1e-11
    )  # its root's
    assert clopper_pearson_high(np.array(hits), 100, tail) == pytest.approx(expected.high, rel=1e-8)


def test_bad_scores_and_rates_are_named():
    good = np.arange(4.0)
    with pytest.raises(ValueError, match=r"inside must hold at least 2 scores, got shape \(1,\); run more trials"):
        Roc.of(good[:1], good)
    with pytest.raises(ValueError, match="outside holds scores that are not numbers"):
        Roc.of(good, np.array([np.nan, 1.0]))
    with pytest.raises(ValueError, match=r"false_positive must lie strictly between 0 and 1, got 1\.0"):
        Roc.of(good, good).power_at(1.0)
    for call in (Roc.of(good, good).auc, lambda c: Roc.of(good, good).power_at(0.1, c)):
        with pytest.raises(ValueError, match=r"confidence must lie strictly between 0 and 1, got 95"):
            call(95)

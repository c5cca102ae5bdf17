"""Errors on people left out, in closed form; sweeps over epsilon, and comparisons of mechanisms."""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.evaluation.comparison import Trial, held_out_errors, hold_out, sweep, sweeps, with_epsilon
from dpgp_core.evaluation.cross_validation import held_out_matrices, k_folds, plan_folds
from dpgp_core.gp.regression import cloaking_matrix
from dpgp_core.kernels import EQ, Matern12, Matern52
from dpgp_core.mechanisms import Cloaking, RefinedCloaking
from dpgp_core.mechanisms.gaussian import ModelBasedMechanism
from tests.core.evaluation.simulated import expected_rmse, monte_carlo_folds
from tests.core.evaluation.toys import CLOAKING, EVERY_KIND, FOLDS, TOY


def many_folds(n):
    rng = np.random.default_rng(3)
    return {"ordered": k_folds(n, 4), "shuffled": k_folds(n, 5, rng), "monte carlo": monte_carlo_folds(n, 6, 7, rng)}


@pytest.mark.parametrize("rng", [None, np.random.default_rng(1)])
def test_k_folds_test_every_record_once(rng):
    folds = k_folds(23, 5, rng)
    assert [len(test) for test in folds] == [5, 5, 5, 4, 4]
    assert (np.sort(np.concatenate(folds)) == np.arange(23)).all()
    assert all((np.diff(test) > 0).all() for test in folds)
    assert (np.concatenate(folds) == np.arange(23)).all() == (rng is None)
    again, other = (k_folds(50, 5, np.random.default_rng(seed)) for seed in (1, 2))
    assert all(map(np.array_equal, k_folds(50, 5, np.random.default_rng(1)), again))
    assert not all(map(np.array_equal, again, other))


@pytest.mark.parametrize(
    "kernel", [EQ(lengthscale=0.3), Matern12(variance=2.0), Matern52(lengthscale=(0.2, 3.0))], ids=repr
)
@pytest.mark.parametrize("noise_variance", [1e-3, 0.3])
@pytest.mark.parametrize("layout", ["ordered", "shuffled", "monte carlo"])
def test_closed_form_equals_refits(kernel, noise_variance, layout):
    X = np.random.default_rng(2).uniform(size=(40, 2))
    X[7] = X[21]  # two records at one place
    folds = many_folds(40)[layout]
    for test, closed in zip(folds, held_out_matrices(kernel, X, folds, noise_variance), strict=True):
        refitted = cloaking_matrix(kernel, np.delete(X, test, axis=0), X[test], noise_variance)
        np.testing.assert_allclose(closed, refitted, atol=1e-8)


@pytest.mark.parametrize("objective", ["trace", "logdet"])
@pytest.mark.parametrize("rank_tolerance", [1e-7, 0.3])
@pytest.mark.parametrize("layout", ["shuffled", "monte carlo"])
def test_the_plan_equals_the_release_of_each_fold(objective, rank_tolerance, layout):
    rng = np.random.default_rng(4)
    X, y, folds = rng.uniform(size=(40, 1)), rng.normal(size=40), many_folds(40)[layout]
    kernel = EQ(lengthscale=0.2)
    options = {"objective": objective, "rank_tolerance": rank_tolerance, "gap": 1e-6}
    plan = plan_folds(kernel, X, folds, 0.3, **options)
    mechanism = Cloaking(kernel=kernel, noise_variance=0.3, epsilon=1, delta=0.01, **options)
    residuals, traces = [], []
    for test, A in zip(folds, plan.matrices(), strict=True):
        released = mechanism.plan(np.delete(X, test, axis=0), X[test])
        np.testing.assert_allclose(A, released.weights, atol=1e-8)
        residuals.append(y[test] - released.weights @ np.delete(y, test))
        traces.append((released.factor**2).sum())
    np.testing.assert_allclose(plan.residual_map @ y, np.concatenate(residuals), atol=1e-8)
    np.testing.assert_allclose(plan.noise_trace, traces, rtol=1e-5)  # both within the gap of the same optimum
    assert plan.tested == sum(map(len, folds))


EPSILONS = (0.5, 3.0)


@pytest.fixture(scope="module", params=EVERY_KIND, ids=lambda mechanism: mechanism.label)
def here(request):
    """A mechanism, and its sweep in this thread."""
    return request.param, sweep(request.param, TOY, FOLDS, EPSILONS, 7, 11)


def test_a_sweep_is_the_errors_at_every_epsilon(here):
    mechanism, found = here
    held = hold_out(mechanism, TOY, FOLDS)
    for errors, epsilon in zip(found.errors, EPSILONS, strict=True):
        alone = held_out_errors(with_epsilon(mechanism, epsilon), held, 7, 11)
        np.testing.assert_array_equal(errors, alone)
    assert found.seconds > 0


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_a_sweep_is_equal_in_every_process(here, kind):
    mechanism, found = here
    with kind(2) as executor:
        there = sweep(mechanism, TOY, FOLDS, EPSILONS, 7, 11, executor)
    np.testing.assert_allclose(found.errors, there.errors, rtol=1e-10, atol=0)
    np.testing.assert_allclose(found.half_width, there.half_width, rtol=1e-10, atol=0)


def test_plans_are_made_once_and_share_the_declared_model(monkeypatch):
    made = {"model": 0, "plan": 0}

    def counted(kind, name, what):
        original = getattr(kind, name)

        def method(self, *args):
            made[what] += 1
            return original(self, *args)

        monkeypatch.setattr(kind, name, method)

    counted(ModelBasedMechanism, "model_for", "model")
    counted(Cloaking, "plan_of", "plan")
    variants = [replace(CLOAKING, objective="logdet"), replace(CLOAKING, noise_variance=0.5)]
    shared = {name: getattr(CLOAKING, name) for name in ("kernel", "noise_variance", "epsilon", "delta")}
    tried = [RefinedCloaking(**shared), CLOAKING, *variants, replace(CLOAKING, delta=0.1)]
    found = sweeps([Trial(each, EPSILONS, 7, EPSILONS[:1]) for each in tried], TOY, FOLDS, 11)
    assert made == {"model": 2 * len(FOLDS), "plan": 3 * len(FOLDS)}  # the last stage of refined cloaking is cloaking
    for mechanism, together in zip(tried, found, strict=True):
        alone = sweep(mechanism, TOY, FOLDS, EPSILONS, 7, 11)
        np.testing.assert_array_equal(together.errors, alone.errors)
        np.testing.assert_array_equal(together.half_width, [alone.half_width[0], np.nan])


def test_expected_squared_error_is_bias_plus_noise():
    held = hold_out(CLOAKING, TOY, FOLDS)
    bias, sd = [], []
    for fold in held:
        release = CLOAKING.release(fold.train, fold.X_test, np.random.default_rng(0))
        bias.append(release.mean - fold.truth)
        sd.append(release.noise_sd)
    exact = expected_rmse(np.concatenate(bias), np.concatenate(sd))
    errors = held_out_errors(CLOAKING, held, 20_000, 1)
    squared = errors**2
    # mean of 20,000 squared errors within 6 standard errors: false alarm below 1e-8
    assert abs(squared.mean() - exact**2) <= 6 * squared.std() / math.sqrt(len(squared))
    found = sweep(CLOAKING, TOY, FOLDS, (CLOAKING.epsilon,), 1, 1)
    [width], truth = found.half_width, np.concatenate([fold.truth for fold in held])
    ends = [
        CLOAKING.release(f.train, f.X_test, np.random.default_rng([1, k])).interval(0.95) for k, f in enumerate(held)
    ]
    low, high = (np.concatenate([end[side][0] for end in ends]) for side in (0, 1))
    outside = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
    assert found.half_score[0] == pytest.approx(((high - low) / 2 + 20 * outside).mean())
    # noise, what the model leaves unknown, and one output's own variance 0.3, in model units of y_scale
    assert width > 1.96 * math.hypot(np.median(np.concatenate(sd)), math.sqrt(0.3) * TOY.y_scale) * 0.99


@pytest.mark.parametrize("mechanism", EVERY_KIND, ids=lambda mechanism: mechanism.label)
def test_records_tested_are_not_trained_on(mechanism):
    # poison every output of the first fold: what is released for that fold must not change
    poisoned = TOY.y.copy()
    poisoned[FOLDS[0]] = TOY.y_bounds[1]
    before = hold_out(mechanism, TOY, FOLDS)[0]
    after = hold_out(mechanism, replace(TOY, y=poisoned), FOLDS)[0]
    np.testing.assert_array_equal(before.train.y, after.train.y)
    assert not np.array_equal(before.truth, after.truth)
    assert sorted(np.concatenate([before.train.X[:, 0], before.X_test[:, 0]])) == sorted(TOY.X[:, 0])


@pytest.mark.parametrize("mechanism", EVERY_KIND, ids=lambda mechanism: mechanism.label)
def test_plans_made_at_one_epsilon_serve_another(mechanism):
    tighter = with_epsilon(mechanism, 0.3)
    reused = held_out_errors(tighter, hold_out(mechanism, TOY, FOLDS), 5, 3)
    fresh = held_out_errors(tighter, hold_out(tighter, TOY, FOLDS), 5, 3)
    np.testing.assert_allclose(reused, fresh)
    assert reused.mean() > held_out_errors(mechanism, hold_out(mechanism, TOY, FOLDS), 5, 3).mean()

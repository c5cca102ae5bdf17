import io
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from dpgp_core.gp.exact import output_covariance, posterior
from dpgp_core.kernels import EQ
from dpgp_core.linalg.blocks import FactoredMatrix
from dpgp_core.release import CHOICES, plan_release, preview, publish, read_table
from dpgp_core.release.plan import decimals

PUBLIC = [name for name in CHOICES if name != "sparse"]


@pytest.fixture
def read(make_table):
    return lambda spec, seed=0: read_table(io.BytesIO(make_table(seed)), spec)


@pytest.mark.parametrize("mechanism", CHOICES)
def test_the_plan_does_not_depend_on_the_outputs(make_spec, read, mechanism):
    spec = make_spec(mechanism=mechanism)
    one, other = (plan_release(spec, read(spec, seed).X) for seed in (0, 1))
    assert one.step == other.step
    for name in ("X_test", "noise_sd", "model_sd"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_where_inputs_are_private_the_plan_does_not_depend_on_them(make_spec, read):
    spec = make_spec(mechanism="sparse")
    X = read(spec).X
    one, other = plan_release(spec, X), plan_release(spec, X[::-1] / 2)
    assert (one.step, one.X, one.noise_sd, one.model_sd) == (other.step, None, None, None)
    np.testing.assert_array_equal(one.X_test, other.X_test)


@pytest.mark.parametrize("mechanism", [name for name in PUBLIC if name != "refined"])
def test_noise_sd_is_the_spread_of_releases(make_spec, read, mechanism):
    spec = make_spec(mechanism=mechanism, epsilon=50.0, total_epsilon=100.0)
    data = read(spec)
    plan = plan_release(spec, data.X)
    rng = np.random.default_rng(4)
    values = np.array([publish(spec, data, rng, plan).values for _ in range(2000)])
    # relative error of a standard deviation from 2000 draws is 1.6 % (Gaussian), 2.5 % (Laplace); seeded
    np.testing.assert_allclose(values.std(axis=0), plan.noise_sd, rtol=0.1)


@pytest.mark.parametrize("mechanism", ["refined", "cloaking", "gp_prior"])
def test_a_low_rank_plan_says_what_the_exact_one_says(make_spec, make_table, monkeypatch, mechanism):
    spec = make_spec(mechanism=mechanism)
    data = read_table(io.BytesIO(make_table(0, 400)), spec)
    exact = plan_release(spec, data.X)
    monkeypatch.setattr("dpgp_core.gp.inference.EXACT_ALWAYS", 10)
    low = plan_release(spec, data.X)
    assert isinstance(exact.weights.weights, np.ndarray)
    assert isinstance(low.weights.weights, FactoredMatrix)
    np.testing.assert_allclose(low.model_sd, exact.model_sd, rtol=1e-3)
    # refined: simulated from 50 x 40 other draws, about 2 % each; seeded
    np.testing.assert_allclose(low.noise_sd, exact.noise_sd, rtol=0.1 if mechanism == "refined" else 1e-2)
    assert low.step == exact.step


@pytest.mark.parametrize("epsilon", [0.5, 5.0])
def test_noise_sd_of_refined_cloaking_is_the_spread_for_outputs_from_the_prior(make_spec, read, epsilon):
    spec = make_spec(epsilon=epsilon, total_epsilon=100.0)
    data = read(spec)
    plan = plan_release(spec, data.X)
    rng = np.random.default_rng(4)
    covariance = spec.scale**2 * output_covariance(EQ(lengthscale=25.0), data.X, 0.3)
    squares = []
    for y in rng.multivariate_normal(np.full(data.n, data.midpoint), covariance, size=60):
        values = [publish(spec, replace(data, y=y), rng, plan).values for _ in range(20)]
        squares.append(np.var(values, axis=0, ddof=1))
    # two averages over made-up outputs, whose variances differ by a third: 5 % each; seeded
    np.testing.assert_allclose(np.sqrt(np.mean(squares, axis=0)), plan.noise_sd, rtol=0.15)


@pytest.mark.parametrize("mechanism", PUBLIC)
def test_the_step_is_far_below_the_noise(make_spec, read, mechanism):
    spec = make_spec(mechanism=mechanism)
    plan = plan_release(spec, read(spec).X)
    smallest = plan.noise_sd[plan.noise_sd > 0].min()
    assert plan.step <= max(0.01 * smallest, 1e-6 * spec.output_range) < 10 * plan.step
    assert math.log10(plan.step) == pytest.approx(round(math.log10(plan.step)), abs=1e-12)


def test_points_out_of_reach_do_not_make_the_step_vanish(make_spec, read):
    spec = make_spec(mechanism="cloaking", kernel="Matern12", x_box=((0, 1e5),), lengthscale=(100.0,))
    plan = plan_release(spec, read(spec).X)
    assert plan.noise_sd.min() < 1e-9 * spec.output_range
    assert plan.step == pytest.approx(1e-4)  # 1e-6 of 150 cm, rounded down to a power of ten


def test_model_sd_is_the_posterior_standard_deviation(make_spec, read):
    spec = make_spec(mechanism="gp_prior")  # releases C y itself
    data = read(spec)
    _, covariance = posterior(EQ(lengthscale=25.0), data.X, data.y, spec.points(), 0.3)
    wanted = spec.scale * np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(plan_release(spec, data.X).model_sd, wanted, rtol=1e-6)


@pytest.mark.parametrize("mechanism", PUBLIC)
def test_model_sd_is_never_below_what_the_best_fit_leaves(make_spec, read, mechanism):
    spec = make_spec(mechanism=mechanism)
    data = read(spec)
    _, covariance = posterior(EQ(lengthscale=25.0), data.X, data.y, spec.points(), 0.3)
    model_sd = plan_release(spec, data.X).model_sd
    if mechanism == "integral_bins":
        assert model_sd is None
    else:
        assert (model_sd >= spec.scale * np.sqrt(np.diag(covariance)) * (1 - 1e-6)).all()


def test_a_model_that_cannot_be_solved_is_a_sentence(make_spec, monkeypatch):
    def fail(*_):
        raise LinAlgError("singular")

    spec = make_spec()
    monkeypatch.setattr(type(spec.built), "plan", fail)
    with pytest.raises(
        ValueError, match="cannot be computed on these inputs; try a lengthscale nearer to the spacing"
    ) as caught:
        plan_release(spec, np.zeros((2, 1)))
    assert type(caught.value) is ValueError


def test_decimals_of_steps():
    assert [decimals(10.0**k) for k in (-3, 0, 2)] == [3, 0, -2]


def test_preview_is_the_plan_without_noise(make_spec, read):
    spec = make_spec(mechanism="cloaking", epsilon=99.0, total_epsilon=100.0)
    data = read(spec)
    plan = plan_release(spec, data.X)
    shown = preview(spec, data, plan)
    np.testing.assert_array_equal(shown, preview(spec, data))
    values = publish(spec, data, np.random.default_rng(1), plan).values
    assert (np.abs(values - shown) <= 5 * plan.noise_sd + plan.step).all()


@pytest.mark.parametrize("mechanism", ["cloaking", "refined"])
def test_noise_that_underflows_is_refused_instead_of_published(make_spec, mechanism):
    # the nearest person is 32 lengthscales from a test point: C is about 1e-220, and its square is 0
    spec = make_spec(mechanism=mechanism, lengthscale=(0.11,), grid=(2,))
    with pytest.raises(ValueError, match="cannot be computed on these inputs"):
        plan_release(spec, np.array([[3.5], [50.0], [60.0]]))
    assert plan_release(spec, np.array([[1.0], [50.0], [60.0]])).noise_sd[0] > 0

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from dpgp_core.gp.regression import posterior
from dpgp_core.kernels import EQ
from dpgp_core.linalg import FactoredMatrix
from dpgp_core.release import CHOICES, plan_release, preview, publish
from dpgp_core.release.plan import decimals

AFTERWARDS = ("bayes", "bayes_cells", "sparse")  # how wide their intervals are is known after the release only
PUBLIC = [name for name in CHOICES if name not in AFTERWARDS]


@pytest.mark.parametrize("mechanism", CHOICES)
def test_the_plan_does_not_depend_on_the_outputs(make_spec, read, mechanism):
    spec = make_spec(mechanism=mechanism)
    one, other = (plan_release(spec, read(spec, seed).X) for seed in (0, 1))
    assert one.step == other.step
    for name in ("X_test", "half_width"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("mechanism", ["bayes_cells", "sparse"])
def test_where_inputs_are_private_the_plan_does_not_depend_on_them(make_spec, read, mechanism):
    spec = make_spec(mechanism=mechanism)
    X = read(spec).X
    one, other = plan_release(spec, X), plan_release(spec, X[::-1] / 2)
    assert (one.step, one.X, one.half_width) == (other.step, None, None)
    np.testing.assert_array_equal(one.X_test, other.X_test)
    if one.plan is not None:
        np.testing.assert_array_equal(one.plan.counts, other.plan.counts)


@pytest.mark.parametrize("mechanism", PUBLIC)
def test_half_widths_are_those_of_the_release(make_spec, read, mechanism):
    spec = make_spec(mechanism=mechanism)
    data = read(spec)
    plan = plan_release(spec, data.X)
    low, high = publish(spec, data, plan).curve
    np.testing.assert_allclose((high - low) / 2, plan.half_width, atol=plan.step)


@pytest.mark.parametrize("mechanism", AFTERWARDS)
def test_no_width_is_named_that_is_not_known_yet(make_spec, read, mechanism):
    plan = plan_release(make_spec(mechanism=mechanism), read(make_spec(mechanism=mechanism)).X)
    assert plan.half_width is None
    assert plan.half_outputs is None
    assert plan.step > 0


@pytest.mark.parametrize("mechanism", ["refined", "cloaking", "gp_prior"])
def test_a_low_rank_plan_says_what_the_exact_one_says(make_spec, read, monkeypatch, mechanism):
    spec = make_spec(mechanism=mechanism)
    data = read(spec, n=400)
    exact = plan_release(spec, data.X)
    monkeypatch.setattr("dpgp_core.gp.regression.EXACT_ALWAYS", 10)
    low = plan_release(spec, data.X)
    assert isinstance(exact.plan.strategy, np.ndarray)
    assert isinstance(low.plan.strategy, FactoredMatrix)
    # from 400 other made-up outputs each; the numbers are fixed
    np.testing.assert_allclose(low.half_width, exact.half_width, rtol=0.3)
    assert low.step == exact.step


@pytest.mark.parametrize("mechanism", PUBLIC)
def test_the_step_is_far_below_the_intervals(make_spec, read, mechanism):
    spec = make_spec(mechanism=mechanism)
    plan = plan_release(spec, read(spec).X)
    wanted = np.clip(0.01 * plan.half_width.min(), 1e-6 * spec.output_range, 0.01 * spec.output_range)
    assert plan.step <= wanted < 10 * plan.step
    assert math.log10(plan.step) == pytest.approx(round(math.log10(plan.step)), abs=1e-12)


@pytest.mark.parametrize("mechanism", PUBLIC)
def test_intervals_are_never_narrower_than_what_the_best_fit_leaves(make_spec, read, mechanism):
    spec = make_spec(mechanism=mechanism)
    data = read(spec)
    _, covariance = posterior(EQ(lengthscale=25.0), data.X, data.y, spec.points(), 0.3)
    least = 1.96 * spec.outcome.scale * np.sqrt(np.diag(covariance))
    assert (plan_release(spec, data.X).half_width >= least * (1 - 1e-2)).all()


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
    values = publish(spec, data, plan).values
    assert (np.abs(values - shown) <= 3 * plan.half_width).all()


@pytest.mark.parametrize("mechanism", ["cloaking", "refined"])
def test_noise_that_underflows_is_refused_instead_of_published(make_spec, mechanism):
    # the nearest person is 32 lengthscales from a test point: C is about 1e-220, and its square is 0
    spec = make_spec(mechanism=mechanism, lengthscale=(0.11,), grid=(2,))
    with pytest.raises(ValueError, match="cannot be computed on these inputs"):
        plan_release(spec, np.array([[3.5], [50.0], [60.0]]))
    assert plan_release(spec, np.array([[1.0], [50.0], [60.0]])).half_width[0] > 0


def test_a_release_that_would_measure_nothing_is_refused_before_it_is_charged(make_spec):
    spec = make_spec(mechanism="inducing", lengthscale=(0.11,), grid=(2,), cells=1, kernel="Matern52")
    spec = replace(spec, noise_variance=1e4)
    with pytest.raises(ValueError, match=r"nobody in the table moves any value on the grid.*declare a longer length"):
        plan_release(spec, np.array([[75.8], [27.6], [30.1]]))

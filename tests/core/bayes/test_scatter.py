import math

import numpy as np
import pytest

from dpgp_core.bayes import scatter
from dpgp_core.bayes.models import Model
from dpgp_core.bayes.scatter import (
    expected,
    log_density,
    model_weights,
    nothing_known,
    of_two_values,
    split,
    usual_variance,
)
from dpgp_core.kernels import EQ

HALF = 2.0


def seen(values, about=0.0, reach=1.5, s=1.0):
    """Squares of values (n,), all at one place, without noise."""
    z = (np.minimum(values**2, reach**2) / reach**2 - 0.5).sum()
    return (np.array([about]), np.array([reach]), np.array([float(len(values))]), s, float(z))


@pytest.mark.parametrize("sd", [0.1, 0.3, 0.5])
def test_squares_tell_how_far_people_scatter(sd):
    values = np.random.default_rng(0).normal(0, sd, 20_000)
    known = nothing_known() + log_density(HALF, *seen(values, reach=3 * sd))
    assert math.sqrt(expected(known, HALF)) == pytest.approx(sd, rel=0.1)


def test_squares_of_yes_and_no_say_their_variance():
    values = np.where(np.random.default_rng(0).uniform(size=20_000) < 0.1, 0.9, -0.1)
    known = nothing_known() + log_density(0.5, *seen(values, reach=1.0))
    assert expected(known, 0.5) == pytest.approx(0.09, rel=0.15)


@pytest.mark.parametrize("share", [0.15, 0.2, 0.25])
def test_two_groups_seen_too_close_are_not_taken_for_little_scatter(share):
    """A fifth of the answers are yes, and g is near no: squares cut at A see few of many, as if people were alike."""
    values = np.where(np.arange(300) < 300 * share, 0.9, -0.1)
    truth = float((values**2).mean())
    p = np.exp(nothing_known() + log_density(0.5, *seen(values, reach=0.6, s=20.0)))
    assert p[scatter.variances_of(0.5) >= truth].sum() / p.sum() > 0.03


def test_the_usual_variance_is_the_median_of_what_is_known_before_anything_is_measured():
    p = np.exp(nothing_known())
    below = p[scatter.variances_of(HALF) < usual_variance(HALF)].sum() / p.sum()
    assert below == pytest.approx(0.5, abs=0.03)


def test_what_the_curve_is_off_is_not_scatter():
    values = np.random.default_rng(1).normal(0, 0.5, 20_000)
    known = nothing_known() + log_density(HALF, *seen(values, about=0.16, reach=2.5))
    assert expected(known, HALF) < 0.15


def test_between_two_models_variances_are_right_on_average_and_sums_say_the_kernel():
    """Whatever evidence of sums says about the noise."""
    kernels = [EQ(lengthscale=length) for length in (1.0, 2.0)]
    models = [Model(kernel=kernel, noise_variance=v) for kernel in kernels for v in (0.04, 0.16, 0.64)]
    grid = scatter.variances_of(HALF)
    sure = np.where(np.arange(len(grid)) == np.abs(grid - 0.1).argmin(), 0.0, -1e4)
    truth = grid[np.abs(grid - 0.1).argmin()]
    evidence = np.array([0.0, 5, 900, 2, 7, 902])
    weights = model_weights(models, kernels_of(models), sure[None], evidence[None], HALF)[0]
    assert weights.sum() == pytest.approx(1)
    assert weights @ [model.noise_variance for model in models] == pytest.approx(truth)
    assert weights[3:].sum() == pytest.approx(1 / (1 + math.exp(-2)))


def kernels_of(models):
    return [model.kernel for model in models]


def test_a_stage_and_its_squares_spend_what_the_stage_may():
    assert sum(1 / s**2 for s in split(1.7, alone=False)) == pytest.approx(1 / 1.7**2, rel=1e-14)
    assert split(1.7, alone=True) == (1.7, None)


def test_yes_and_no_scatter_as_their_mean_says():
    """Outcomes of -1 and 1 with a mean of .6: 1 - .36."""
    found = of_two_values(1.0, np.array([0.36, 0.0]))
    np.testing.assert_allclose(expected(found, 1.0), [0.64, 1.0], rtol=0.1)

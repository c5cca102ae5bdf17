"""Intervals allow for plateaus that the curve smooths, and only there. The curve stays as it is."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from benchmarks.bayes.ends import ENDS
from benchmarks.outcomes import DELTA, GRID, PROTECTS, WORLDS
from dpgp_core.bayes import dispersion
from dpgp_core.bayes.model import Model
from dpgp_core.bayes.prediction import predict, variance_of_plateaus
from dpgp_core.bayes.refit import posterior_given
from dpgp_core.kernels import Matern32
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking

PLATEAU = ENDS["plateau"]
THERE = (PLATEAU.there[0] <= PLATEAU.places) & (PLATEAU.places <= PLATEAU.there[1])


@cache
def release(protects, repeat):
    """The release of ``python -m benchmarks bayes_ends --worlds plateau`` with this number."""
    rng = np.random.default_rng([PLATEAU.n, repeat])
    return measured(PLATEAU.table(rng), PLATEAU.places, protects, rng)


def measured(data, X, protects, rng):
    mechanism = BayesCloaking(epsilon=1.0, delta=DELTA, protects=PROTECTS[protects])
    X = X[:, None]
    made = mechanism.measure(mechanism.plan_for(data, X), data, X, rng, mean=False)
    return made, posterior_given(made.statistics[0], mechanism.models_of_release(made.statistics[0]))


def coverage(protects, repeats):
    """Share of the plateau that 95 % intervals cover."""
    inside = []
    for repeat in repeats:
        low, high = (each[0, THERE] for each in release(protects, repeat)[0].interval(0.95, "function"))
        truth = PLATEAU.truth[THERE]
        inside.append(((low <= truth) & (truth <= high)).mean())
    return float(np.mean(inside))


def test_intervals_cover_plateaus_that_the_curve_smooths():
    """Without the cautious posterior, they cover 0.41 of these plateaus."""
    assert coverage("inputs", range(8)) > 0.6


@pytest.mark.full
@pytest.mark.parametrize("protects", ["outputs", "inputs"])
def test_intervals_cover_plateaus(protects):
    """Without the cautious posterior, they cover 0.70 and 0.65 of all plateaus."""
    assert coverage(protects, range(24)) > 0.8


@pytest.mark.parametrize("protects", ["outputs", "inputs"])
def test_plateaus_do_not_move_the_curve(protects):
    made, read = release(protects, 3)
    prediction, (filtered, posterior) = made.uncertainty.prediction, read._conditioned
    alone = predict(filtered, posterior, PLATEAU.places[:, None])
    np.testing.assert_allclose(prediction.mean, alone.mean, rtol=1e-9, atol=1e-12)
    assert prediction.cautious[0, THERE].min() > 0
    np.testing.assert_allclose(prediction.variance, alone.variance + prediction.cautious, rtol=1e-6)


def test_published_means_are_those_without_the_cautious_posterior(monkeypatch):
    _, read = release("inputs", 3)
    monkeypatch.setattr(dispersion, "variance_of_plateaus", lambda *given: np.zeros(len(given[-1])))
    before = read.at(PLATEAU.places[:, None]).curve
    monkeypatch.undo()
    after = read.at(PLATEAU.places[:, None]).curve
    np.testing.assert_array_equal(after.mean, before.mean)
    assert (after.variance >= before.variance).all()
    assert not before.cautious.any()


@pytest.mark.parametrize("protects", ["outputs", "inputs"])
def test_intervals_of_a_smooth_curve_are_hardly_wider(protects):
    rng = np.random.default_rng([3000, 0])
    made, _ = measured(WORLDS["normal"].table(3000, rng), GRID, protects, rng)
    prediction = made.uncertainty.prediction
    alone = replace(prediction, variances=prediction.variances - prediction.cautious[:, None])
    wide, narrow = (np.subtract(*each.interval(0.95, "function")[::-1]).mean() for each in (prediction, alone))
    assert wide < 1.07 * narrow


def test_residual_variances_of_bins_replace_those_of_the_models():
    """Where they are equal to that of the only model, the posterior is the usual one."""
    _, read = release("inputs", 3)
    filtered, posterior = read._conditioned
    label, variance = posterior.state.label[:1], float(posterior.state.noise_variance[0])
    usual = replace(filtered, models=filtered.models.with_noise(label, variance))
    again = replace(usual, noise_over_bins=np.full(filtered.bins.size, variance))
    first, second = (each.prior(posterior.log_densities) for each in (usual, again))
    for stage in read.measured.stages[:3]:
        first, second = usual.after(first, stage), again.after(second, stage)
    np.testing.assert_allclose(second.state.mean, first.state.mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(second.state.log_evidence, first.state.log_evidence, rtol=1e-9)


def test_curves_without_change_points_have_no_plateaus():
    made, read = release("inputs", 3)
    alone = posterior_given(made.statistics[0], read.models, change_points=False)
    assert not alone.at(PLATEAU.places[:, None]).curve.cautious.any()


def test_curves_that_are_all_rough_have_no_plateaus():
    made, _ = release("inputs", 3)
    rough = [Model(kernel=Matern32(lengthscale=30.0), noise_variance=0.1)]
    read = posterior_given(made.statistics[0], rough)
    (filtered, posterior), X = read._conditioned, PLATEAU.places[:, None]
    dispersion = np.ones(filtered.bins.size)
    curve = predict(filtered, posterior, X)
    assert not variance_of_plateaus(filtered, posterior, read.measured.stages, dispersion, curve, X).any()

import json
from pathlib import Path

import numpy as np
import pytest

import dpgp_core
from dpgp_core.bayes.models import Model
from dpgp_core.bayes.records.filter import mixture_of
from dpgp_core.bayes.records.places import places_of
from dpgp_core.bayes.records.released import observed_of, public_of
from dpgp_core.bayes.records.stages import posterior
from dpgp_core.bayes.refit import refit
from dpgp_core.kernels import EQ, Matern52
from dpgp_core.measurement.refit import linear_observation
from dpgp_core.measurement.statistics_file import statistics_from_files
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking

X_TEST = np.linspace(-1, 11, 5)[:, None]
NOISES = [0.05, 0.3]


@pytest.fixture(scope="module")
def statistics(make_dataset):
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, stages=3, gap=0.3)
    return mechanism.release(make_dataset(), X_TEST).statistics[0]


def test_the_public_name_is_this_one():
    assert dpgp_core.refit is refit


@pytest.mark.parametrize("kernel", [EQ(lengthscale=2.0), Matern52(variance=0.5, lengthscale=4.0)], ids=["EQ", "Matern"])
def test_a_refit_is_what_a_fresh_mechanism_of_that_kernel_reads_from_the_same_numbers(statistics, kernel):
    """Two computations of one posterior: observations of outputs stacked, and the filter of stages."""
    models = [Model(kernel=kernel, noise_variance=noise) for noise in NOISES]
    places = places_of(models, statistics.X, X_TEST, public=public_of(statistics))
    outcome = posterior(observed_of(statistics), places, np.full(2, 0.5))
    fresh = mixture_of(places, outcome.states, outcome.weights)
    again = refit(statistics, kernels=[kernel], noise_variances=NOISES, X_test=X_TEST)
    np.testing.assert_allclose(again.weights, outcome.weights[0], rtol=1e-9, atol=1e-9)
    in_unit = [statistics.midpoint + statistics.y_scale * end[0] for end in fresh.interval(0.9, "function")]
    np.testing.assert_allclose(again.mean, statistics.midpoint + statistics.y_scale * fresh.mean[0], atol=1e-9)
    np.testing.assert_allclose(again.interval(0.9), in_unit, atol=1e-8)


def test_nothing_is_spent(statistics):
    """No record is at hand: what is read is the statistic, and it stays as it was."""
    before = [stage.z.copy() for stage in statistics.stages], dict(statistics.guarantee)
    refit(statistics, kernels=[EQ()], noise_variances=NOISES, X_test=X_TEST)
    for z, stage in zip(before[0], statistics.stages, strict=True):
        np.testing.assert_array_equal(z, stage.z)
    assert dict(statistics.guarantee) == before[1]


def test_a_reading_that_ignores_clipping_is_another_one():
    """Later intervals of this file are .75 predicted standard deviations to a side: half of the outputs are clipped."""
    kept = json.loads((Path(__file__).parent / "before" / "records.json").read_text(encoding="utf-8"))
    statistics = statistics_from_files(kept["card"], bytes.fromhex(kept["npz"]))
    names = {"kernels": [EQ(lengthscale=2.0)], "noise_variances": [0.05], "X_test": statistics.X}
    honest, linear = refit(statistics, **names), refit(statistics, **names, observe=linear_observation)
    width, other = ((high - low).mean() for low, high in (honest.interval(0.95), linear.interval(0.95)))
    assert abs(other / width - 1) > 0.01


def test_bad_arguments_are_refused(statistics):
    with pytest.raises(ValueError, match="at least one kernel"):
        refit(statistics, kernels=[], noise_variances=NOISES, X_test=X_TEST)
    with pytest.raises(ValueError, match="equally many columns"):
        refit(statistics, kernels=[EQ()], noise_variances=NOISES, X_test=np.zeros((2, 2)))

import numpy as np
import pytest

from dpgp_core.bayes.intervals import Mixture
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.mechanisms.bayes_release import BayesRelease, MixtureUncertainty


@pytest.fixture
def release():
    """One model, two test inputs, in an output of bounds 0 to 10 and unit 5: N(0, 1) and N(4, 1) in model units."""
    prediction = Mixture(
        means=np.array([[[0.0, 4.0]]]),
        variances=np.ones((1, 1, 2)),
        noise_variances=np.array([3.0]),
        weights=np.ones((1, 1)),
    )
    uncertainty = MixtureUncertainty(prediction=prediction, bounds=(0.0, 10.0), midpoint=5.0, y_scale=0.5)
    return BayesRelease(
        X_test=np.zeros((2, 1)),
        samples=uncertainty.values,
        guarantee=BayesCloaking(epsilon=1.0, delta=0.01).guarantee,
        statistics=(),
        uncertainty=uncertainty,
        observed=(),
    )


def test_samples_are_means_in_the_outputs_unit(release):
    np.testing.assert_allclose(release.samples, [[5.0, 7.0]])
    np.testing.assert_array_equal(release.model_weights, [[1.0]])


def test_intervals_are_in_the_outputs_unit_and_may_pass_the_bounds_as_outputs_do(release):
    low, high = release.interval(0.95, "function")
    np.testing.assert_allclose([low[0], high[0]], [[5 - 0.98, 7 - 0.98], [5 + 0.98, 7 + 0.98]], atol=1e-3)
    low, high = release.interval(0.999999, "outputs")
    np.testing.assert_allclose([low[0, 0], high[0, 1]], [5 - 4.8916, 7 + 4.8916], atol=1e-3)


def test_a_plan_knows_its_worst_gap(make_dataset):
    data = make_dataset()
    plan = BayesCloaking(epsilon=1.0, delta=0.01, stages=2, gap=0.2).plan(
        data.X, data.X, x_box=data.x_box, half_range=2.0 / data.y_scale
    )
    assert plan.gap == max(stage.strategy.gap for stage in plan.stages) <= 0.2
    np.testing.assert_allclose(plan.prior_weights, 1 / 20)

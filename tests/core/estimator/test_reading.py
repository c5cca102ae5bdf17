import numpy as np
import pytest

from dpgp_core import BayesCloaking
from dpgp_core.bayes.reading import Reading
from dpgp_core.bayes.stages import Public
from dpgp_core.estimator.predicting import FittedReading

X_TEST = np.linspace(-2, 12, 9)[:, None]


@pytest.fixture
def release(make_dataset):
    data = make_dataset(x_box=((-2.0, 12.0),))
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, stages=2)
    found = mechanism.release(data, X_TEST, np.random.default_rng(1))
    public = Public(data.x_box, data.output_range / data.y_scale / 2)
    models = mechanism.models(*public[:2])
    read = Reading(models=models, measured=found.measured[0], x_box=data.x_box, X=data.X, public=public)
    return found, FittedReading(read=read, outcome=data.outcome, columns=data.columns)


def test_what_is_read_is_what_was_released(release):
    found, reading = release
    mean, sd = reading.mean_and_sd(X_TEST)
    np.testing.assert_allclose(mean, found.samples[0], rtol=1e-9)
    low, high = found.interval(0.5, "function")
    assert ((low[0] < mean) & (mean < high[0])).all()
    assert (sd > 0).all()


def test_rows_at_a_time_change_nothing(release, monkeypatch):
    _, reading = release
    whole = reading.mean_and_sd(X_TEST)
    monkeypatch.setattr("dpgp_core.estimator.predicting._ROWS", 2)
    np.testing.assert_allclose(reading.mean_and_sd(X_TEST), whole, rtol=1e-7, atol=1e-9)

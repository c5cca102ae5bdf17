from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.measurement.measurement import LaplaceMeasurement, Measurement
from dpgp_core.measurement.statistics import Stage, Statistics
from tests.core.tables import columns


def measured(n=6, r=2, bounds=(-1.0, 3.0)):
    B = np.random.default_rng(r).standard_normal((r, n))
    B /= np.linalg.norm(B, axis=0)
    return Measurement(B=B, low=np.full(n, bounds[0]), high=np.full(n, bounds[1]), bounds=bounds, noise_multiplier=2.0)


@pytest.fixture
def statistics():
    measurement = measured()
    return Statistics(
        stages=(Stage(measurement=measurement, z=measurement.measure(np.zeros(6))),),
        X=np.arange(6.0)[:, None],
        columns=columns(("age",), ("years",), ((0.0, 10.0),)),
        y_name="height",
        y_unit="cm",
        y_scale=2.0,
        guarantee={"epsilon": 1.0, "delta": 0.01},
    )


def test_bounds_are_those_of_the_stages(statistics):
    assert statistics.bounds == (-1.0, 3.0)
    assert statistics.midpoint == 1.0


def test_a_stage_refuses_numbers_that_do_not_fit():
    for z in (np.zeros(3), np.array([0.0, np.nan])):
        with pytest.raises(ValueError, match="z must be 2 finite numbers"):
            Stage(measurement=measured(), z=z)


def test_laplace_stages_are_stages():
    n = 3
    laplace = LaplaceMeasurement(B=np.eye(n), low=np.zeros(n), high=np.ones(n), bounds=(0.0, 1.0), epsilon=1.0)
    assert Stage(measurement=laplace, z=np.zeros(n)).z.shape == (3,)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stages": ()}, "at least one stage"),
        ({"X": np.zeros((5, 1))}, r"X must be a finite matrix \(6, 1\)"),
        ({"X": np.full((6, 1), np.inf)}, "X must be a finite matrix"),
        ({"X": np.zeros((6, 2))}, r"X must be a finite matrix \(6, 1\)"),
        ({"y_scale": 0.0}, "y_scale must be a positive number"),
        ({"guarantee": {"epsilon": np.nan}}, "of texts, finite numbers"),
        ({"guarantee": {"loss": object()}}, "of texts, finite numbers"),
    ],
)
def test_what_does_not_fit_is_refused(statistics, changes, message):
    with pytest.raises(ValueError, match=message):
        replace(statistics, **changes)


@pytest.mark.parametrize("other", [measured(bounds=(0.0, 3.0)), measured(n=5)])
def test_stages_speak_of_the_same_outputs(statistics, other):
    with pytest.raises(ValueError, match="same number of columns and the same bounds"):
        replace(statistics, stages=(*statistics.stages, Stage(measurement=other, z=np.zeros(2))))

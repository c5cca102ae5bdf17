from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.measurement import Measurement
from dpgp_core.measurement.statistics import Above, MeasuredDistances, Stage, Statistics
from tests.core.tables import columns


def of(high, n=3, rows=1, low=0.0):
    high = np.broadcast_to(np.asarray(high, dtype=float), (n,)).copy()
    return Measurement(
        B=np.full((rows, n), 0.5), low=np.full(n, low), high=high, bounds=(low, float(high.max())), noise_multiplier=2.0
    )


def made(**changed):
    given = {"measurement": of(0.7), "g": np.zeros(3), "sd": 0.3, "z": np.zeros(1)} | changed
    return MeasuredDistances(**given)


def test_the_reach_is_that_of_all_and_all_that_is_spent_is_listed():
    assert made().reach == 0.7
    stage = Stage(measurement=of(1.0), z=np.zeros(1))
    plain = {"columns": columns(("x",), ("",), ((0.0, 1.0),)), "y_name": "y", "y_unit": "", "y_scale": 1.0}
    statistics = Statistics(stages=(stage,), X=np.zeros((3, 1)), guarantee={}, distances=made(), **plain)
    assert len(statistics.measured) == 2
    count = Above(measurement=of(1.0), z=np.zeros(1))
    assert len(replace(statistics, distances=made(above=count)).measured) == 3


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"z": np.zeros(2)}, "1 finite numbers"),
        ({"g": np.array([0.0, np.nan, 0.0])}, "3 finite numbers"),
        ({"sd": 0.0}, "positive"),
        ({"sd": np.inf}, "positive"),
        ({"measurement": of([0.5, 0.7, 0.7])}, "same reach"),
        ({"measurement": of(0.7, low=-0.1)}, "begin at 0"),
    ],
)
def test_what_does_not_fit_is_refused(changed, said):
    with pytest.raises(ValueError, match=said):
        made(**changed)


def test_one_number_lies_above_the_curve():
    with pytest.raises(ValueError, match="must be one, got 2"):
        Above(measurement=of(1.0, rows=2), z=np.zeros(1))

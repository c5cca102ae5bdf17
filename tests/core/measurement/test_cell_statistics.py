from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.measurement.measurement import CellCounts, Measurement
from dpgp_core.measurement.statistics import CellStatistics, KnownCounts, Stage
from tests.core.tables import columns

WHOLE = np.full(4, 2.0)


@pytest.fixture
def stage():
    measurement = Measurement(B=np.eye(2, 4), low=-WHOLE, high=WHOLE, bounds=(-2.0, 2.0), noise_multiplier=1.0)
    return Stage(measurement=measurement, g=np.zeros(12), z=np.array([0.1, -0.3]))


@pytest.fixture
def statistics(stage):
    return CellStatistics(
        counts=CellCounts(B=np.eye(3, 4), noise_multiplier=2.0),
        z=np.array([3.0, 1.0, 7.0]),
        stages=(stage,),
        n=12,
        per_side=4,
        columns=columns(("age",), ("years",), ((0.0, 90.0),)),
        y_name="height",
        y_unit="cm",
        bounds=(40.0, 180.0),
        y_scale=20.0,
        guarantee={"epsilon": 1.0},
    )


def test_units_follow_from_the_declared_bounds(statistics):
    assert statistics.midpoint == 110.0
    assert statistics.half_range == 3.5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stages": ()}, "statistics must have at least one stage"),
        ({"n": 0}, "n must be at least 1, got 0"),
        ({"z": np.zeros(2)}, r"z must be 3 finite numbers, got shape \(2,\)"),
        ({"z": np.array([0.0, np.nan, 1.0])}, "z must be 3 finite numbers"),
        ({"per_side": 5}, "every strategy must have 5 columns, one per cell of the box"),
        (
            {"per_side": 2, "columns": columns(("a", "b"), ("",) * 2, ((0.0, 1.0),) * 2)},
            "every g must have 36 values, one per node of the box",
        ),
        ({"guarantee": {"epsilon": float("nan")}}, "the guarantee must be of texts, finite numbers"),
    ],
)
def test_what_does_not_fit_is_named(statistics, changes, message):
    with pytest.raises(ValueError, match=message):
        replace(statistics, **changes)


def test_a_stage_of_another_length_is_named(stage):
    with pytest.raises(ValueError, match=r"z must be 2 finite numbers, got shape \(3,\)"):
        replace(stage, z=np.zeros(3))
    with pytest.raises(ValueError, match="g must be 12 finite numbers"):
        replace(stage, g=np.full(12, np.inf))


def test_public_counts_are_whole_numbers_that_add_up(statistics):
    known = replace(statistics, counts=KnownCounts(numbers=np.array([5.0, 0, 3, 4])), z=np.zeros(0))
    assert known.n == 12
    with pytest.raises(ValueError, match="the counts must add up to 13 records, not 12"):
        replace(known, n=13)
    with pytest.raises(ValueError, match="z must be 0 finite numbers"):
        replace(known, z=np.ones(2))
    with pytest.raises(ValueError, match="every strategy must have 4 columns"):
        replace(known, counts=KnownCounts(numbers=np.array([12.0])))
    for numbers in ([1.5, 2.5], [-1.0, 3.0], [np.inf, 1.0]):
        with pytest.raises(ValueError, match="numbers"):
            KnownCounts(numbers=np.array(numbers))

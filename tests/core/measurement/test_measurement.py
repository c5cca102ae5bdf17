"""What is added up over records, how far one can move it, and draws that are numbered."""

import random
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from dpgp_core.measurement.discrete import discrete_gaussian, discrete_laplace
from dpgp_core.measurement.measurement import STEPS, CellCounts, LaplaceMeasurement, Measurement
from dpgp_core.measurement.noise import NotBatchable, NumberedDraws, ZeroNoise
from tests.core.measurement.sealing import strategy
from tests.core.measurement.test_cells import residuals


def gaussian(B=None, low=-1.0, high=3.0, s=2.0):
    B = strategy(3, 12, 0) if B is None else B
    n = B.shape[1]
    return Measurement(B=B, low=np.full(n, low), high=np.full(n, high), bounds=(low, high), noise_multiplier=s)


def laplace(epsilon=0.5, bins=3, n=12):
    return LaplaceMeasurement(
        B=np.eye(bins)[:, np.arange(n) % bins],
        low=np.full(n, -1.0),
        high=np.full(n, 3.0),
        bounds=(-1.0, 3.0),
        epsilon=epsilon,
    )


def outputs(n=12, seed=1):
    return np.random.default_rng(seed).uniform(-2, 4, n)


def exact(measurement, y):
    """2^40 B q in rational arithmetic, with q rounded to multiples of 2^-20."""
    low, high = measurement.bounds
    q = [round((Fraction(min(max(v, low), high)) - Fraction(low)) / Fraction(high - low) * 2**20) for v in y]
    return [sum(Fraction(b) * 2**20 * (p - 2**19) for b, p in zip(row, q, strict=True)) for row in measurement.B]


@pytest.mark.parametrize(
    ("measurement", "sampler"),
    [
        (gaussian(), partial(discrete_gaussian, gaussian().noise.variance)),
        (laplace(), partial(discrete_laplace, 2 * STEPS)),
    ],
    ids=["gaussian", "laplace"],
)
def test_a_measurement_is_the_integers_plus_the_sampler(measurement, sampler):
    y, noise = outputs(), sampler(3, random.Random(4).getrandbits)
    expected = [float((x + e) / STEPS) for x, e in zip(exact(measurement, y), noise, strict=True)]
    assert measurement.measure(y, random.Random(4).getrandbits).tolist() == expected


CELLS = np.array([0, 1, 1, 4])
MEASURED = {
    "gaussian": (gaussian(), outputs(), {}),
    "laplace": (laplace(), outputs(), {}),
    "counts": (CellCounts(B=strategy(3, 5, 0), noise_multiplier=1.0), CELLS, {}),
    "residuals": (residuals(), np.array([0.1, 0.2, -0.3, 5.0]), {"cells": CELLS}),
}


@pytest.mark.parametrize(("measurement", "data", "where"), MEASURED.values(), ids=MEASURED)
def test_measuring_is_fresh_and_teaching_is_numbered(measurement, data, where):
    first, second = (measurement.measure(data, **where) for _ in range(2))
    assert (first != second).any()  # the same with probability below 2^-60
    draws, same = (measurement.teaching(data, np.random.default_rng(3), 4000, **where) for _ in range(2))
    assert draws.shape == (4000, 3)
    assert (draws == same).all()
    # five standard errors
    assert draws.std(axis=0) == pytest.approx(
        np.full(3, measurement.noise_sd), rel=0.12 if isinstance(measurement, LaplaceMeasurement) else 0.06
    )
    noiseless = measurement.teaching(data, ZeroNoise(), **where)[0]
    assert draws.mean(axis=0) == pytest.approx(noiseless, abs=5 * measurement.noise_sd / 4000**0.5)


def test_the_used_strategy_is_rounded_and_short():
    measurement = gaussian()
    integers = [[int(b * 2**20) for b in column] for column in measurement.B.T]
    assert (np.array(integers).T == measurement.B * 2**20).all()
    assert max(sum(b * b for b in column) for column in integers) <= 2**40
    np.testing.assert_allclose(measurement.B, strategy(3, 12, 0), atol=1e-5)


def test_arrays_cannot_be_changed_afterwards():
    B, low = strategy(3, 12, 0), np.full(12, -1.0)
    measurement = Measurement(B=B, low=low, high=np.full(12, 3.0), bounds=(-1.0, 3.0), noise_multiplier=1.0)
    B[:], low[:] = 5.0, 2.0
    assert np.abs(measurement.B).max() <= 1
    assert measurement.low[0] == -1
    for array in (measurement.B, measurement.low, measurement.high):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


def test_centre_and_width():
    measurement = Measurement(
        B=np.eye(2), low=np.array([0.0, 1.0]), high=np.array([1.0, 4.0]), bounds=(0.0, 4.0), noise_multiplier=1.0
    )
    assert measurement.centre.tolist() == [0.5, 2.5]
    assert measurement.width.tolist() == [1.0, 3.0]
    # B q = (y - centre) / width inside the intervals
    assert measurement.teaching(np.array([0.75, 1.75]), ZeroNoise())[0].tolist() == [0.25, -0.25]


def test_each_row_has_its_own_generator():
    few, many, later = NumberedDraws(3, 1), NumberedDraws(1, 20), NumberedDraws(3, 4)
    for size in (5, 2, 9):  # stage after stage
        row = few.standard_normal((1, size))[0]
        np.testing.assert_array_equal(many.standard_normal((20, size))[2], row)
        np.testing.assert_array_equal(later.standard_normal((4, size))[0], row)
    assert not (NumberedDraws(1, 2).standard_normal((2, 5))[0] == NumberedDraws(1, 2).standard_normal((2, 5))[1]).any()


def test_a_single_release_equals_its_number():
    row = NumberedDraws(7, 1).standard_normal((1, 4))
    np.testing.assert_array_equal(row, np.random.default_rng(7).standard_normal((1, 4)))
    row = NumberedDraws(7, 1).laplace(size=(1, 4))
    np.testing.assert_array_equal(row, np.random.default_rng(7).laplace(size=(1, 4)))


def test_other_batch_sizes_are_refused():
    with pytest.raises(NotBatchable, match="20 at a time"):
        NumberedDraws(1, 20).standard_normal((3, 4))
    with pytest.raises(NotBatchable, match="2 at a time"):
        NumberedDraws(1, 2).laplace(size=4)
    with pytest.raises(ValueError, match="count"):
        NumberedDraws(1, 0)

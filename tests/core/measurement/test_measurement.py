"""What is added up over records, how far one can move it, and draws that are numbered."""

import random
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.attack.audit import epsilon_lower_bound
from dpgp_core.measurement.discrete import discrete_gaussian, discrete_laplace
from dpgp_core.measurement.measurement import STEPS, CellCounts, LaplaceMeasurement, Measurement
from dpgp_core.measurement.noise import NotBatchable, NumberedDraws, ZeroNoise
from tests.core.measurement.sealing import strategy
from tests.core.measurement.test_cells import residuals

DELTA = 0.01
CONFIDENCE = 1 - 1e-6


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


# --- what an attacker sees who knows everything but one output -----------------------------------------------------

POINTS, RANK, TRAIN, TEST = 150, 4, 2000, 2000
NEIGHBOUR = 5
FAR = (1000.0, 1003.0)  # far from 0, rounding errors of a mean are as large as those of its sum with noise


def neighbours(bounds):
    low, high = bounds
    one = low + (high - low) * np.random.default_rng(8).uniform(size=12)
    other = one.copy()
    one[NEIGHBOUR], other[NEIGHBOUR] = low, high
    return one, other


def curve_map():
    return np.random.default_rng(9).standard_normal((POINTS, RANK))


def linear_score(first, second):
    """The best linear score that two sets of curves (m, P) teach: all their directions, the faintest too."""
    together = np.concatenate([first, second])
    centre = together.mean(axis=0)
    _, sizes, directions = np.linalg.svd(together - centre, full_matrices=False)
    scale = np.maximum(sizes, 1e-300)
    white = [(curves - centre) @ directions.T / scale for curves in (first, second)]
    covariance = np.cov(np.concatenate([w - w.mean(axis=0) for w in white]).T)
    gap = white[0].mean(axis=0) - white[1].mean(axis=0)
    weights = np.linalg.lstsq(covariance, gap, rcond=1e-12)[0]
    return lambda curves: (curves - centre) @ directions.T / scale @ weights


def attacked(release, pair):
    """Lower bound on epsilon and accuracy of the best linear score, trained and tested on separate releases."""
    score = linear_score(*(np.array([release(y) for _ in range(TRAIN)]) for y in pair))
    inside, outside = (score(np.array([release(y) for _ in range(TEST)])) for y in pair)
    threshold = (np.median(inside) + np.median(outside)) / 2
    accuracy = ((inside > threshold).mean() + (outside <= threshold).mean()) / 2
    return epsilon_lower_bound(inside, outside, DELTA, CONFIDENCE), accuracy


@pytest.mark.full_for("0.01-bounds0", "0.01-bounds4", "1.0-bounds1", "1.0-bounds3")
@pytest.mark.parametrize(
    ("epsilon", "bounds"), [(0.01, FAR), (1.0, FAR), (10.0, FAR), (1.0, (1e9, 1e9 + 2)), (0.01, (-1e-9, 1e-9))]
)
def test_no_direction_distinguishes_neighbours_beyond_the_claim(epsilon, bounds):
    """Seeded, so one outcome; of seeds, one in a million would fail."""
    measurement = gaussian(strategy(RANK, 12, 0), *bounds, noise_multiplier(epsilon, DELTA))
    bits, curves = random.Random(6).getrandbits, curve_map()
    centre, width = sum(bounds) / 2, bounds[1] - bounds[0]
    found, _ = attacked(lambda y: centre + width * (curves @ measurement.measure(y, bits)), neighbours(bounds))
    assert found <= epsilon
    if epsilon == 10:
        assert found > 0  # the attack sees what the guarantee allows to be seen


@pytest.mark.parametrize("epsilon", [0.01, 1.0])
def test_the_attack_refutes_float_noise_of_low_rank(epsilon):
    """The fixture of what must not be done: the mean's rounding errors stand in the directions without noise."""
    low, high = FAR
    B, curves, s = strategy(RANK, 12, 0), curve_map(), noise_multiplier(epsilon, DELTA)
    rng = np.random.default_rng(10)

    def release(y):
        mean = (low + high) / 2 + curves @ (B @ (y - (low + high) / 2))
        return mean + (high - low) * (curves @ (s * rng.standard_normal(RANK)))

    found, accuracy = attacked(release, neighbours(FAR))
    assert accuracy > 0.95
    assert found > 2 * epsilon


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

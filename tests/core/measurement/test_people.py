"""Everybody counts once: sensitivity of people who have several rows, in integers, by brute force and by search."""

import random

import numpy as np
import pytest

from dpgp_core.measurement.integers import GRID, person_weights, weighted
from dpgp_core.measurement.measurement import STEPS, CellCounts, Measurement
from tests.core.measurement.sealing import strategy

M = 6
BOUNDS = (-2.0, 2.0)


def counts(seed):
    return CellCounts(B=strategy(4, M, seed), noise_multiplier=1.0, people=True)


def residuals(seed):
    low, high = np.full(M, -1.0), np.linspace(0.5, 2.0, M)
    return Measurement(B=strategy(4, M, seed), low=low, high=high, bounds=BOUNDS, noise_multiplier=1.0)


def added(measurement, person, cells, *values):
    """What rows (n,) of people add to the integers, without noise."""
    exact = measurement._exact(*values, np.asarray(cells), person_weights(np.asarray(person)))
    return np.array([float(x) for x in exact])


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 50, GRID + 1])
def test_everybodys_weights_add_up_to_one(rows):
    person = np.random.default_rng(rows).permutation(np.concatenate([np.full(rows, 3), np.arange(10, 15)]))
    weights = person_weights(person)
    own = weights[person == 3]
    assert own.sum() == GRID
    assert own.max() - own.min() <= 1
    assert (weights[person != 3] == GRID).all()


def test_weighted_locations_stay_within_one_row():
    rng = np.random.default_rng(0)
    for rows in (1, 2, 3, 11, 50, 1000):
        places = rng.choice([-GRID // 2, GRID // 2, 12345], rows)
        own = weighted(places, person_weights(np.zeros(rows)))
        assert np.abs(own).sum() <= GRID // 2
        assert (np.abs(own - places / rows) <= 1).all()
    assert weighted(np.array([-3, 3]), np.array([GRID // 2, GRID // 2])).tolist() == [-1, 1]  # both towards zero


@pytest.mark.parametrize("seed", range(4))
def test_a_person_stays_within_one_rows_noise(seed):
    """1, 2 and 50 rows against any others; corners of the hull are reached, and nothing is beyond them."""
    rng, of_counts, of_sums = np.random.default_rng(seed), counts(seed), residuals(seed)
    ends = np.array([-9.0, 9.0])

    def anybody(m):
        cells = rng.integers(0, M, m)
        return added(of_counts, np.zeros(m), cells), added(of_sums, np.zeros(m), cells, rng.choice(ends, m))

    people = [anybody(m) for m in (1, 1, 2, 2, 3, 7, 50) for _ in range(20)]
    corners = [added(of_counts, [0], [a]) for a in range(M)]
    far = max(np.linalg.norm(a - b) for a in corners for b in corners)
    for one in people:
        for other in people:
            assert np.linalg.norm(one[0] - other[0]) <= of_counts.noise.sensitivity
            assert np.linalg.norm(one[1] - other[1]) <= of_sums.noise.sensitivity
    assert far == pytest.approx(of_counts.noise.sensitivity, rel=1e-5)
    longest = int(np.linalg.norm(of_sums.B, axis=0).argmax())
    ends_of_one = [added(of_sums, [0], [longest], np.array([value])) for value in ends]
    assert np.linalg.norm(ends_of_one[1] - ends_of_one[0]) == pytest.approx(STEPS, rel=1e-4)


@pytest.mark.parametrize("rows", [0, 1, 2, 50])
def test_nobody_adds_more_than_half_a_row(rows):
    """So anybody, with rows or without, is within the noise of one row of anybody else; the half is reached."""
    of_sums = residuals(7)
    longest = int(np.linalg.norm(of_sums.B, axis=0).argmax())
    own = added(of_sums, np.zeros(rows, dtype=int), np.full(rows, longest), np.full(rows, 9.0))
    assert np.linalg.norm(own) <= of_sums.noise.sensitivity / 2
    assert np.linalg.norm(own) == pytest.approx(STEPS / 2 if rows else 0, rel=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_no_search_finds_a_person_beyond_one_row(seed):
    """Rows moved one at a time to wherever a person is furthest from another: they end in a corner, and stay there."""
    rng, measurement = np.random.default_rng(seed), counts(seed)
    for m in (2, 5, 50):
        cells, others = rng.integers(0, M, m), rng.integers(0, M, 3)
        reference = added(measurement, np.zeros(3), others)
        for j in range(m):
            moved = [np.where(np.arange(m) == j, cell, cells) for cell in range(M)]
            cells = max(moved, key=lambda each: np.linalg.norm(added(measurement, np.zeros(m), each) - reference))
        assert np.linalg.norm(added(measurement, np.zeros(m), cells) - reference) <= measurement.noise.sensitivity


def test_overweight_persons_would_be_detected():
    """Without weights one person of 50 rows moves the sums fifty times as far as the noise covers."""
    measurement, m = residuals(0), 50
    cells = np.full(m, 2)
    plain = [np.array([float(x) for x in measurement._exact(np.full(m, end), cells)]) for end in (-9.0, 9.0)]
    length = float(np.linalg.norm(measurement.B[:, 2]))
    assert np.linalg.norm(plain[1] - plain[0]) == pytest.approx(m * length * STEPS, rel=1e-3)
    own = [added(measurement, np.zeros(m), cells, np.full(m, end)) for end in (-9.0, 9.0)]
    assert np.linalg.norm(own[1] - own[0]) <= STEPS


def test_one_row_each_differs_in_units_only():
    cells, values = np.array([0, 1, 1, 5]), np.array([0.3, -0.2, 5.0, -9.0])
    person = np.arange(4)
    plain = residuals(1)._exact(values, cells)
    assert plain == residuals(1)._exact(values, cells, person_weights(person))
    rows = CellCounts(B=strategy(4, M, 1), noise_multiplier=1.0)._exact(cells)
    assert counts(1)._exact(cells, person_weights(person)) == [GRID * x for x in rows]


def test_counts_of_people_have_the_same_noise():
    measurement = counts(2)
    person, cells = np.array([0, 0, 1]), np.array([0, 1, 1])
    expected = measurement.B @ np.array([0.5, 1.5, 0, 0, 0, 0])
    draws = measurement.teaching(cells, np.random.default_rng(0), 4000, person_weights(person))
    # false alarm below 1e-6: six standard errors
    np.testing.assert_allclose(draws.mean(axis=0), expected, atol=6 * measurement.noise_sd / 4000**0.5)
    assert draws.std() == pytest.approx(measurement.noise_sd, rel=0.05)
    assert measurement.noise_sd <= 2.001
    one = measurement.measure(cells, random.Random(1).getrandbits, person_weights(person))
    assert np.abs(one - expected).max() < 8 * measurement.noise_sd

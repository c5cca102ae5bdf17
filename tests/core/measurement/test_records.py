import math
import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpgp_core.measurement.discrete import discrete_gaussian
from dpgp_core.measurement.records import RecordSum

FINE = 1 << 30


def vectors(n=50, k=7, radius=3.0, seed=0):
    V = np.random.default_rng(seed).standard_normal((n, k))
    return radius * V / np.linalg.norm(V, axis=1, keepdims=True)


def squared(row):
    return sum(int(v) ** 2 for v in row)


@pytest.mark.parametrize("k", [1, 7, 300])
@pytest.mark.parametrize("stretch", [0.3, 1.0, 1 + 1e-9, 1.1, 1e150, 1e300])
def test_vectors_are_inside_the_ball_in_integers(k, stretch):
    integers = RecordSum(radius=3.0, noise_multiplier=1.0).integers(stretch * vectors(k=k))
    assert max(map(squared, integers.tolist())) <= FINE**2
    shortest = min(map(squared, integers.tolist())) ** 0.5
    if stretch < 1e200:
        assert shortest >= min(stretch, 1) * FINE - math.sqrt(k) - 1.2


def test_what_is_not_a_number_counts_as_nothing():
    V = np.array([[1.0, np.nan], [np.inf, 0.0], [1e308, 1e308], [1.0, 1.0]])
    integers = RecordSum(radius=2.0, noise_multiplier=1.0).integers(V)
    assert (integers[:3] == 0).all()
    assert integers[3].tolist() == [FINE // 2, FINE // 2]


def test_replacing_a_record_moves_the_sum_by_at_most_the_sensitivity():
    """Every pair of candidate records, in integers; opposite vectors on the sphere reach it."""
    measurement = RecordSum(radius=2.0, noise_multiplier=1.0)
    others = vectors(5, 2, 2.0)
    ends = [np.array([a, b]) for a, b in product([-np.inf, -2.0, -1.3, 0.0, 0.7, 2.0, 5.0], repeat=2)]
    sums = [measurement._exact([np.vstack([others, end])]) for end in ends]
    largest = max(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for x, y in product(sums, repeat=2))
    assert largest == (2 * FINE) ** 2 == measurement.noise(2).sensitivity ** 2


def test_a_declared_sensitivity_holds_with_all_roundings():
    """Vectors at most 0.01 apart: their integers are at most the noise's sensitivity apart, and nearly reach it."""
    k, S, rng = 40, 0.01, np.random.default_rng(3)
    measurement = RecordSum(radius=1.0, noise_multiplier=1.0, sensitivity=S)
    centre = vectors(1, k, 0.99)
    pairs = [centre + S / 2 * sign * vectors(1, k, 1.0, seed) for seed in range(200) for sign in (1, -1)]
    integers = measurement.integers(np.vstack(pairs) * (1 + 1e-13 * rng.standard_normal((400, 1)))).tolist()
    gaps = [sum((a - b) ** 2 for a, b in zip(*integers[i : i + 2], strict=True)) for i in range(0, 400, 2)]
    allowed = measurement.noise(k).sensitivity
    assert max(gaps) <= allowed**2
    assert max(gaps) >= (allowed * 0.999) ** 2
    assert allowed >= Fraction(S) * FINE + 2 * math.sqrt(k)
    assert RecordSum(radius=1.0, noise_multiplier=1.0, sensitivity=5.0).noise(k).sensitivity == 2 * FINE


def test_sums_are_exact_whatever_the_blocks():
    V = vectors(9000, 3)
    measurement = RecordSum(radius=3.0, noise_multiplier=2.0)
    exact = [sum(column) for column in zip(*measurement.integers(V).tolist(), strict=True)]
    for blocks in ([V], [V[:5], V[5:7000], V[7000:]], iter([V])):
        assert measurement._exact(blocks) == exact
    noise = discrete_gaussian(measurement.noise(3).variance, 3, random.Random(1).getrandbits)
    expected = [3.0 * ((x + e) / FINE) for x, e in zip(exact, noise, strict=True)]
    assert measurement.measure([V], random.Random(1).getrandbits).tolist() == expected


def test_real_measurements_are_fresh_and_teaching_is_numbered():
    V = vectors()
    measurement = RecordSum(radius=3.0, noise_multiplier=2.0)
    assert measurement.noise_sd(7) == pytest.approx(12.0, rel=1e-8)
    assert (measurement.measure([V]) != measurement.measure([V])).any()
    draws = measurement.teaching([V], np.random.default_rng(0), 4000)
    assert (draws == measurement.teaching([V], np.random.default_rng(0), 4000)).all()
    assert draws.std(axis=0) == pytest.approx(np.full(7, 12.0), rel=0.06)  # five standard errors
    assert draws.mean(axis=0) == pytest.approx(V.sum(axis=0), abs=5 * 12 / 4000**0.5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"radius": 0.0}, "radius must be"),
        ({"radius": np.inf}, "radius must be"),
        ({"sensitivity": -1.0}, "sensitivity must be"),
        ({"noise_multiplier": 0.0}, "noise_multiplier must be"),
    ],
)
def test_bad_arguments_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        RecordSum(**{"radius": 1.0, "noise_multiplier": 1.0} | changes)


def test_no_records_are_refused():
    with pytest.raises(ValueError, match="at least one record"):
        RecordSum(radius=1.0, noise_multiplier=1.0).measure([])

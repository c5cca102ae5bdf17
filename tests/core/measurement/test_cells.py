"""Sums over public cells, and the statistic that is released of them."""

import random
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from dpgp_core.measurement.discrete import discrete_gaussian
from dpgp_core.measurement.integers import GRID, output_integers
from dpgp_core.measurement.measurement import CellCounts, Measurement
from dpgp_core.measurement.statistics import CellStatistics, KnownCounts, Stage
from tests.core.tables import columns

M = 5


def strategy(r=3, m=M, seed=0):
    B = np.random.default_rng(seed).standard_normal((r, m))
    return B / np.linalg.norm(B, axis=0)


def residuals(**changes):
    given = {"B": strategy(), "low": np.full(M, -2.0), "high": np.linspace(1.0, 3.0, M), "bounds": (-2.0, 3.0)}
    return Measurement(**given | {"noise_multiplier": 1.5} | changes)


def squared_gap(one, other):
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def test_a_record_moves_the_counts_by_at_most_the_sensitivity():
    """All pairs of cells, in integers: the sensitivity is the smallest whole number that no pair passes."""
    measurement = CellCounts(B=strategy(), noise_multiplier=1.0)
    others = np.array([0, 0, 3, 4, 1])
    largest = max(
        squared_gap(*(measurement._exact(np.append(others, cell)) for cell in pair))
        for pair in product(range(M), repeat=2)
    )
    assert (measurement.noise.sensitivity - 1) ** 2 < largest <= measurement.noise.sensitivity**2


@pytest.mark.parametrize(
    ("B", "sensitivity"),
    [
        (np.array([[1.0, -1.0]]), 2 * GRID),  # opposite columns: 2, not sqrt(2)
        (np.array([[0.6, 0.0], [0.0, 0.8]]), GRID),  # 0.6^2 + 0.8^2 = 1 but for the rounding of both
    ],
)
def test_known_sensitivities(B, sensitivity):
    found = CellCounts(B=B, noise_multiplier=1.0).noise.sensitivity
    assert abs(found - sensitivity) <= 1


def test_sensitivity_of_many_cells_is_found_block_by_block():
    B = 0.5 * strategy(4, 2500)
    B[:, 3], B[:, 2400] = [1.0, 0, 0, 0], [-1.0, 0, 0, 0]
    assert CellCounts(B=B, noise_multiplier=1.0).noise.sensitivity == 2 * GRID


def test_counts_are_counted_exactly():
    measurement = CellCounts(B=strategy(), noise_multiplier=2.0)
    cells = np.array([0, 4, 4, 2, 4, 0])
    exact = (measurement.B @ [2, 0, 1, 0, 3] * GRID).tolist()
    assert measurement._exact(cells) == exact
    noise = discrete_gaussian(measurement.noise.variance, 3, random.Random(2).getrandbits)
    expected = [(x + e) / GRID for x, e in zip(exact, noise, strict=True)]
    assert measurement.measure(cells, random.Random(2).getrandbits).tolist() == expected


def test_a_record_moves_the_residuals_by_at_most_two_to_the_forty():
    """Every pair of records among cells and extremes; reached where two opposite columns have norm 1."""
    B = strategy()
    B[:, 0], B[:, 1] = [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]
    measurement = residuals(B=B)
    cells, values = np.array([0, 3, 2, 4]), np.array([0.3, -1.0, 9.0, 0.0])
    records = list(product(range(-1, M + 1), [-np.inf, -2.0, 0.1, 3.0, np.inf]))
    exact = [measurement._exact(np.append(values, value), np.append(cells, cell)) for cell, value in records]
    gaps = [squared_gap(one, other) for one, other in product(exact, repeat=2)]
    assert max(gaps) == GRID**4
    assert measurement.noise.sensitivity == GRID**2


def test_residuals_are_summed_exactly():
    measurement = residuals()
    rng = np.random.default_rng(4)
    cells, values = rng.integers(0, M, 40), rng.normal(0, 2, 40)
    places = output_integers(values, measurement.low[cells], measurement.high[cells])
    sums = [sum(int(p) for p, cell in zip(places, cells, strict=True) if cell == a) for a in range(M)]
    exact = [sum(int(b * GRID) * q for b, q in zip(row, sums, strict=True)) for row in measurement.B]
    assert measurement._exact(values, cells) == exact
    noise = discrete_gaussian(measurement.noise.variance, 3, random.Random(2).getrandbits)
    expected = [(x + e) / GRID**2 for x, e in zip(exact, noise, strict=True)]
    assert measurement.measure(values, random.Random(2).getrandbits, cells=cells).tolist() == expected


def test_more_records_than_64_bits_hold_are_summed_exactly():
    """2^25 records at the top of one cell, as sums: 2^20 2^44."""
    from dpgp_core.measurement.measurement import _product

    assert _product(np.array([[1.0], [-0.5]]), np.array([1 << 44]), object) == [1 << 64, -1 << 63]


@pytest.mark.parametrize("kind", ["counts", "residuals"])
def test_real_measurements_are_fresh_and_teaching_is_numbered(kind):
    cells = np.array([0, 1, 1, 4])
    if kind == "counts":
        measurement, data, where = CellCounts(B=strategy(), noise_multiplier=1.0), (cells,), {}
    else:
        measurement, data, where = residuals(), (np.array([0.1, 0.2, -0.3, 5.0]),), {"cells": cells}
    first, second = (measurement.measure(*data, **where) for _ in range(2))
    assert (first != second).any()  # the same with probability below 2^-60
    draws = measurement.teaching(*data, np.random.default_rng(1), 4000, **where)
    assert (draws == measurement.teaching(*data, np.random.default_rng(1), 4000, **where)).all()
    assert draws.std(axis=0) == pytest.approx(np.full(3, measurement.noise_sd), rel=0.06)  # five standard errors
    exact = np.array(measurement._exact(*data, **where)) / (GRID if kind == "counts" else GRID**2)
    assert draws.mean(axis=0) == pytest.approx(exact, abs=5 * measurement.noise_sd / 4000**0.5)


def test_counts_that_nobody_can_move_are_noisy_all_the_same():
    equal = CellCounts(B=np.full((2, 5), 0.5), noise_multiplier=3.0)
    assert equal.noise_sd == pytest.approx(3.0, rel=1e-5)


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

"""Sums over public cells, and the statistic that is released of them."""

import random
from itertools import product

import numpy as np
import pytest

from dpgp_core.measurement.discrete import discrete_gaussian
from dpgp_core.measurement.integers import GRID, output_integers
from dpgp_core.measurement.measurement import CellCounts, Measurement
from tests.core.measurement.sealing import strategy

M = 5


def residuals(**changes):
    given = {"B": strategy(3, M, 0), "low": np.full(M, -2.0), "high": np.linspace(1.0, 3.0, M), "bounds": (-2.0, 3.0)}
    return Measurement(**given | {"noise_multiplier": 1.5} | changes)


def squared_gap(one, other):
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def test_a_record_moves_counts_within_the_sensitivity():
    """All pairs of cells, in integers: the sensitivity is the smallest whole number that no pair passes."""
    measurement = CellCounts(B=strategy(3, M, 0), noise_multiplier=1.0)
    others = np.array([0, 0, 3, 4, 1])
    largest = max(
        squared_gap(*(measurement._exact(np.append(others, cell)) for cell in pair))
        for pair in product(range(M), repeat=2)
    )
    assert (measurement.noise.sensitivity - 1) ** 2 < largest <= measurement.noise.sensitivity**2


def test_sensitivity_is_found_block_by_block():
    B = 0.5 * strategy(4, 2500, 0)
    B[:, 3], B[:, 2400] = [1.0, 0, 0, 0], [-1.0, 0, 0, 0]
    assert CellCounts(B=B, noise_multiplier=1.0).noise.sensitivity == 2 * GRID


def test_counts_are_counted_exactly():
    measurement = CellCounts(B=strategy(3, M, 0), noise_multiplier=2.0)
    cells = np.array([0, 4, 4, 2, 4, 0])
    exact = (measurement.B @ [2, 0, 1, 0, 3] * GRID).tolist()
    assert measurement._exact(cells) == exact
    noise = discrete_gaussian(measurement.noise.variance, 3, random.Random(2).getrandbits)
    expected = [(x + e) / GRID for x, e in zip(exact, noise, strict=True)]
    assert measurement.measure(cells, random.Random(2).getrandbits).tolist() == expected


def test_a_record_moves_residuals_within_2_to_40():
    """Every pair of records among cells and extremes; reached where two opposite columns have norm 1."""
    B = strategy(3, M, 0)
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


def test_constant_counts_are_noisy_too():
    equal = CellCounts(B=np.full((2, 5), 0.5), noise_multiplier=3.0)
    assert equal.noise_sd == pytest.approx(3.0, rel=1e-5)

"""Stages over records and over public cells: what is spent, what one record can move, what everything follows from."""

import math
from itertools import product

import numpy as np
import pytest

from dpgp_core.bayes.cells import CellGrid
from dpgp_core.bayes.engine import run_stages
from dpgp_core.bayes.filter import filter_of
from dpgp_core.bayes.model import auto_models
from dpgp_core.bayes.readers import RecordReader, RecordsInFloats
from dpgp_core.bayes.residuals import split_stage
from dpgp_core.bayes.clipping import PlannedStage, counts_apart, stage_multipliers
from dpgp_core.measurement.measurement import CellCounts, Measurement

from .conftest import HALF, N, S


def _moved(stage, y, neighbour):
    """How far two tables lie apart in a stage, in units of its noise: means of z (2, D, r + 1)."""
    means = []
    for outputs in (y, neighbour):
        q = (np.clip(outputs, stage.low, stage.high) - (stage.low + stage.high) / 2) / (stage.high - stage.low)
        rows = q @ stage.B.T / stage.noise_multiplier
        of = stage.squares
        if of is not None:
            one = (np.minimum((outputs - of.g) ** 2, of.high) / of.high - 0.5).sum(axis=1) / of.s
            rows = np.hstack([rows, one[:, None]])
        means.append(rows)
    return np.array(means)


def test_log_likelihood_ratio_has_the_claimed_law(records, planned):
    """Simulated end to end with two neighbours: mean mu^2 / 2 and variance mu^2 within 6 standard errors.

    mu is each draw's own distance, in units of the noise, of what the two would have measured: the claim, if the worst
    record moved both sums and squares by 1. No two outputs do quite that.
    """
    draws, j = 400, 3
    y = np.linspace(-HALF, HALF, N)
    y[j] = -HALF
    neighbour = y.copy()
    neighbour[j] = HALF
    rng = np.random.default_rng(2)
    reader = RecordsInFloats(y, lambda rows: rng.standard_normal((draws, rows)))
    observed, _ = run_stages(records, planned, reader, draws=draws)
    spent = sum((each.B**2).sum(axis=0) / each.noise_multiplier**2 for each in observed)
    spent += sum(1 / each.squares.s**2 for each in observed if each.squares is not None)
    assert 1 - 1e-4 <= spent.max() * S**2 <= 1 + 1e-12  # 2^-20 is lost in rounding B
    ratio, square = np.zeros(draws), np.zeros(draws)
    for stage in observed:
        z = stage.z / stage.noise_multiplier
        if stage.squares is not None:
            z = np.hstack([z, stage.squares.z[:, None] / stage.squares.s])
        mine, theirs = _moved(stage, y, neighbour)
        ratio += (((z - theirs) ** 2 - (z - mine) ** 2) / 2).sum(axis=1)
        square += ((mine - theirs) ** 2).sum(axis=1)
    standard = (ratio - square / 2) / np.sqrt(square)
    assert abs(standard.mean()) < 6 / math.sqrt(draws)
    assert abs(standard.var() - 1) < 6 * math.sqrt(2 / draws)
    assert square.max() <= 1 / S**2 * (1 + 1e-12)


CELLS, HALF_OF_TWELVE = CellGrid(box=((0.0, 10.0),), per_side=8), 1.0
S0, _, LEFT = counts_apart(0.8)
MULTIPLIERS = stage_multipliers(LEFT, 3)


@pytest.fixture(scope="module")
def measurements(make_dataset):
    """Every measurement of a real run over cells, and its public function."""
    counts = CellCounts(B=np.eye(8), noise_multiplier=S0)
    reader = RecordReader(make_dataset(), CELLS, None)
    over_cells = filter_of(auto_models(CELLS.box, HALF_OF_TWELVE), CELLS, 12, HALF_OF_TWELVE, gap=0.2)
    unplanned = [PlannedStage(strategy=None, noise_multiplier=s) for s in MULTIPLIERS]
    run_stages(over_cells.with_counts(counts, reader.counts(counts)), unplanned, reader)
    found = [(counts, None)]
    for stage in reader._stages:
        found += [(each.measurement, each.g) for each in (stage, stage.squares) if each is not None]
    return found


@pytest.mark.parametrize("stages", [1, 5, 10])
def test_multipliers_spend_the_whole_budget(stages):
    for positions in (False, True):
        counts, of_positions, left = counts_apart(1.7, positions=positions)
        measured = (counts, of_positions, *stage_multipliers(left, stages))
        assert sum(1 / s**2 for s in measured) == pytest.approx(1 / 1.7**2, rel=1e-12)
        assert 1 / counts**2 == pytest.approx(0.15 / 1.7**2, rel=1e-12)
        assert np.isinf(of_positions) != positions


def test_every_stage_is_measured_once_with_its_own_noise(measurements):
    """Counts, the first sums, and then sums and squares, which share what a stage may spend."""
    kinds = [(type(m), m.noise_multiplier) for m, _ in measurements]
    shared = [part for s in MULTIPLIERS[1:] for part in split_stage(s, alone=False)]
    assert kinds == [(CellCounts, S0), *((Measurement, s) for s in (MULTIPLIERS[0], *shared))]
    assert sum(1 / s**2 for _, s in kinds) == pytest.approx(1 / 0.8**2, rel=1e-12)


def test_no_replaced_record_moves_a_stage_further_than_its_noise_covers(measurements, make_dataset):
    """Exact integers, every pair of records among cell centres and edges and extreme outputs; adversarial search."""
    data = make_dataset()
    rng = np.random.default_rng(0)
    inputs = np.concatenate([CELLS.centres[:, 0], [-1e9, 0, 10, 1e9], rng.uniform(0, 10, 10)])
    outputs = [-1e300, -1.0, 1.0, 3.0, 1e300]
    for measurement, g in measurements:
        exact = []
        for x, y in product(inputs, outputs):
            X, values = data.X.copy(), data.standardised().copy()
            X[4], values[4] = x, np.clip((y - data.midpoint) / data.y_scale, -HALF_OF_TWELVE, HALF_OF_TWELVE)
            cells = CELLS.index(X)
            residuals = None if g is None else values - CELLS.at(X)(g)
            more = () if g is None else (residuals**2 if measurement.bounds[0] == 0 else residuals,)
            exact.append([int(v) for v in measurement._exact(*more, cells)])
        largest = max(sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) for pair in product(exact, repeat=2))
        assert largest <= measurement.noise.sensitivity**2
        if g is None:
            assert largest > (measurement.noise.sensitivity - 1) ** 2

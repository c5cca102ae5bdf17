"""Stages over records and over public cells: what is spent, what one record can move, what everything follows from."""

import math
from itertools import product

import numpy as np
import pytest

from dpgp_core.bayes.cells import CellGrid, plan_counts
from dpgp_core.bayes.engine import run_stages
from dpgp_core.bayes.filter_cells import cell_filter
from dpgp_core.bayes.models import auto_models
from dpgp_core.bayes.readers import CellReader, RecordsInFloats
from dpgp_core.bayes.scatter import split_stage
from dpgp_core.bayes.stages import PlannedStage, counts_apart, stage_multipliers
from dpgp_core.measurement.measurement import CellCounts, Measurement

from .conftest import HALF, N, S


def _measure(y, rng, draws=1):
    """Draws side by side of outputs y (n,)."""
    return RecordsInFloats(y, lambda rows: rng.standard_normal((draws, rows)))


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


def test_no_record_moves_the_stages_further_than_the_claim(records, planned):
    """mu^2 = sum_i |b_ij|^2 (q_j - q'_j)^2 / s_i^2 and the same of squares, whatever intervals were chosen.

    The worst record's is the claim if both were moved by 1. No two outputs do quite that; none move them further.
    """
    rng = np.random.default_rng(1)
    y = rng.uniform(-HALF, HALF, N)
    observed, _ = run_stages(records, planned, _measure(y, rng, 7), draws=7)
    bound = np.zeros(N)
    for stage in observed:
        bound += (stage.B**2).sum(axis=0) / stage.noise_multiplier**2
        bound += 0.0 if stage.squares is None else 1 / stage.squares.s**2
    claim = 1 / S**2
    assert bound.max() <= claim * (1 + 1e-12)
    assert bound.max() >= claim * (1 - 1e-4)  # 2^-20 is lost in rounding B
    largest = 0.0
    for j in range(0, N, 7):
        pairs = [(a, b) for a in (-HALF, 0.0, HALF) for b in (-HALF, -0.5, 0.5, HALF)]
        for a, b in pairs:
            one, other = y.copy(), y.copy()
            one[j], other[j] = a, b
            apart = sum(((m := _moved(stage, one, other))[0] - m[1]) ** 2 @ np.ones(m.shape[2]) for stage in observed)
            largest = max(largest, float(apart.max()))
    assert 0.5 * claim < largest <= claim * (1 + 1e-12)


def test_log_likelihood_ratio_has_the_claimed_law(records, planned):
    """Simulated end to end with two neighbours: mean mu^2 / 2 and variance mu^2 within 6 standard errors.

    mu is each draw's own distance, in units of the noise, of what the two would have measured.
    """
    draws, j = 400, 3
    y = np.linspace(-HALF, HALF, N)
    y[j] = -HALF
    neighbour = y.copy()
    neighbour[j] = HALF
    observed, _ = run_stages(records, planned, _measure(y, np.random.default_rng(2), draws), draws=draws)
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


ROOM, STAGES = ((0.0, 10.0),), 3
HALF_OF_TWELVE = 1.0
CELLS = CellGrid(box=ROOM, per_side=8)
OVER_CELLS = cell_filter(auto_models(ROOM, HALF_OF_TWELVE), CELLS, 12, HALF_OF_TWELVE, gap=0.2)
S0, LEFT = counts_apart(0.8)
MULTIPLIERS = stage_multipliers(LEFT, STAGES)
UNPLANNED = [PlannedStage(strategy=None, noise_multiplier=s) for s in MULTIPLIERS]


@pytest.fixture(scope="module")
def counts():
    return CellCounts(B=plan_counts(CELLS, 12, S0, 0.2), noise_multiplier=S0)


class Recorded:
    """Measures for real and keeps every measurement and its public function."""

    def __init__(self, dataset, replay=None):
        self.reader = CellReader(dataset, CELLS, None)
        self.measurements, self.z, self.replay = [], [], list(replay or ())

    def _kept(self, measurement, g, z):
        self.measurements.append((measurement, g))
        self.z.append(self.replay[len(self.z)] if self.replay else z)
        return self.z[-1]

    def counts(self, measurement):
        return self._kept(measurement, None, self.reader.counts(measurement))

    def sums(self, asked):
        seen = self.reader.sums(asked)
        return seen._replace(z=self._kept(self.reader._stages[-1].measurement, asked.g[0], seen.z))

    def squares(self, asked):
        seen = self.reader.squares(asked)
        return seen._replace(z=self._kept(self.reader._stages[-1].squares.measurement, asked.g[0], seen.z))


def over_cells(counts, reader):
    """What the stages released, the mixture with counts, and what it knows then."""
    filtered = OVER_CELLS.with_counts(counts, reader.counts(counts))
    observed, posterior = run_stages(filtered, UNPLANNED, reader)
    return observed, filtered, posterior


@pytest.fixture(scope="module")
def run(make_dataset, counts):
    reader = Recorded(make_dataset())
    return reader, *over_cells(counts, reader)


@pytest.mark.parametrize("stages", [1, 5, 10])
def test_multipliers_spend_the_whole_budget(stages):
    first, left = counts_apart(1.7)
    others = stage_multipliers(left, stages)
    assert 1 / first**2 + sum(1 / s**2 for s in others) == pytest.approx(1 / 1.7**2, rel=1e-12)
    assert 1 / first**2 == pytest.approx(0.15 / 1.7**2, rel=1e-12)


def test_every_stage_is_measured_once_with_its_own_noise(run):
    """Counts, the first sums, and then sums and squares, which share what a stage may spend."""
    kinds = [(type(m), m.noise_multiplier) for m, _ in run[0].measurements]
    shared = [part for s in MULTIPLIERS[1:] for part in split_stage(s, alone=False)]
    assert kinds == [(CellCounts, S0), *((Measurement, s) for s in (MULTIPLIERS[0], *shared))]
    assert sum(1 / s**2 for _, s in kinds) == pytest.approx(1 / 0.8**2, rel=1e-12)


def test_no_replaced_record_moves_a_stage_further_than_its_noise_covers(run, make_dataset):
    """Exact integers, every pair of records among cell centres and edges and extreme outputs; adversarial search."""
    data = make_dataset()
    rng = np.random.default_rng(0)
    inputs = np.concatenate([CELLS.centres[:, 0], [-1e9, 0, 10, 1e9], rng.uniform(0, 10, 10)])
    outputs = [-1e300, -1.0, 1.0, 3.0, 1e300]
    for measurement, g in run[0].measurements:
        exact = []
        for x, y in product(inputs, outputs):
            X, values = data.X.copy(), data.standardised().copy()
            X[4], values[4] = x, np.clip((y - data.midpoint) / data.y_scale, -HALF_OF_TWELVE, HALF_OF_TWELVE)
            cells = CELLS.index(X)
            residuals = None if g is None else values - CELLS.at(X, g)
            more = () if g is None else (residuals**2 if measurement.bounds[0] == 0 else residuals,)
            exact.append([int(v) for v in measurement._exact(*more, cells)])
        largest = max(sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) for pair in product(exact, repeat=2))
        assert largest <= measurement.noise.sensitivity**2
        if g is None:
            assert largest > (measurement.noise.sensitivity - 1) ** 2


def test_what_follows_is_a_function_of_what_was_released(run, make_dataset, counts):
    """Other inputs and outputs with the same noisy numbers: same strategies, intervals, functions, predictions."""
    data = make_dataset()
    other = make_dataset(X=np.full((12, 1), 777.0), y=-data.y[::-1] * 1e6)
    reader = Recorded(other, replay=run[0].z)
    released, filtered, found = over_cells(counts, reader)
    for mine, theirs in zip(released, run[1], strict=True):
        for name in ("B", "low", "high", "g", "z"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))
        for a, b in zip(mine.squares or (), theirs.squares or (), strict=True):
            np.testing.assert_array_equal(a, b)
    X_test = np.linspace(-1, 11, 7)[:, None]
    a, b = filtered.at(X_test).predict(found), run[2].at(X_test).predict(run[3])
    np.testing.assert_array_equal(a.means, b.means)
    np.testing.assert_array_equal(a.variances, b.variances)
    np.testing.assert_array_equal(a.weights, b.weights)

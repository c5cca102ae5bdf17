"""Stages over public cells: what is spent, what one record can move, and that nothing depends on inputs."""

from itertools import product

import numpy as np
import pytest

from dpgp_core.bayes.cells.counts import plan_counts
from dpgp_core.bayes.cells.grid import CellGrid
from dpgp_core.bayes.cells.known import CellSetting, cell_mixture
from dpgp_core.bayes.cells.measuring import CellsExactly
from dpgp_core.bayes.cells.models import cell_models
from dpgp_core.bayes.cells.stages import cell_multipliers, cell_posterior, run_cells
from dpgp_core.bayes.models import auto_models
from dpgp_core.bayes.scatter import split
from dpgp_core.measurement.integers import GRID
from dpgp_core.measurement.measurement import CellCounts, Measurement

BOX, HALF, N, STAGES = ((0.0, 10.0),), 2.0, 12, 3
CELLS = CellGrid(box=BOX, per_side=8)
MODELS = cell_models(auto_models(BOX, HALF), CELLS)
SETTING = CellSetting(grid=CELLS, models=MODELS, n=N, half_range=HALF, clip=0.75, gap=0.2)
S0, MULTIPLIERS = cell_multipliers(0.8, STAGES)


@pytest.fixture(scope="module")
def counts():
    return CellCounts(B=plan_counts(CELLS, N, S0, 0.2), noise_multiplier=S0)


class Recorded:
    """Measures for real and keeps every measurement and its public function."""

    def __init__(self, dataset, replay=None):
        self.reader, self.measurements, self.z, self.replay = CellsExactly(dataset, CELLS), [], [], list(replay or ())

    def _kept(self, measurement, g, z):
        self.measurements.append((measurement, g))
        self.z.append(self.replay[len(self.z)] if self.replay else z)
        return self.z[-1]

    def counts(self, measurement):
        return self._kept(measurement, None, self.reader.counts(measurement))

    def residuals(self, measurement, g):
        return self._kept(measurement, g, self.reader.residuals(measurement, g))

    def squares(self, measurement, g):
        return self._kept(measurement, g, self.reader.squares(measurement, g))


@pytest.fixture(scope="module")
def run(make_dataset, counts):
    reader = Recorded(make_dataset())
    return reader, *run_cells(SETTING, counts, MULTIPLIERS, reader)


@pytest.mark.parametrize("stages", [1, 5, 10])
def test_multipliers_spend_the_whole_budget(stages):
    first, others = cell_multipliers(1.7, stages)
    assert 1 / first**2 + sum(1 / s**2 for s in others) == pytest.approx(1 / 1.7**2, rel=1e-12)
    assert 1 / first**2 == pytest.approx(0.15 / 1.7**2, rel=1e-12)


def test_every_stage_is_measured_once_with_its_own_noise(run):
    """Counts, the first sums, and then sums and squares, which share what a stage may spend."""
    kinds = [(type(m), m.noise_multiplier) for m, _ in run[0].measurements]
    shared = [part for s in MULTIPLIERS[1:] for part in split(s, alone=False)]
    assert kinds == [(CellCounts, S0), *((Measurement, s) for s in (MULTIPLIERS[0], *shared))]
    assert sum(1 / s**2 for _, s in kinds) == pytest.approx(1 / 0.8**2, rel=1e-12)


def test_columns_are_multiples_of_the_grid_and_at_most_1_long(run):
    for measurement, _ in run[0].measurements[1:]:
        integers = np.rint(measurement.B * GRID).astype(np.int64)
        np.testing.assert_array_equal(integers / GRID, measurement.B)
        assert (np.einsum("ij,ij->j", integers, integers) <= GRID**2).all()


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
            X[4], values[4] = x, np.clip((y - data.midpoint) / data.y_scale, -HALF, HALF)
            cells = CELLS.place(X)
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
    other = make_dataset(X=np.full((N, 1), 777.0), y=-data.y[::-1] * 1e6)
    reader = Recorded(other, replay=run[0].z)
    released, found = run_cells(SETTING, counts, MULTIPLIERS, reader)
    for mine, theirs in zip(released.stages, run[1].stages, strict=True):
        for a, b in zip(mine[:6], theirs[:6], strict=True):
            np.testing.assert_array_equal(a, b)
        for a, b in zip(mine.squares or (), theirs.squares or (), strict=True):
            np.testing.assert_array_equal(a, b)
    X_test = np.linspace(-1, 11, 7)[:, None]
    a, b = (cell_mixture(MODELS, each, X_test) for each in (found, run[2]))
    np.testing.assert_array_equal(a.means, b.means)
    np.testing.assert_array_equal(a.variances, b.variances)
    np.testing.assert_array_equal(a.weights, b.weights)


def test_the_posterior_can_be_computed_again_from_the_release(run):
    again = cell_posterior(SETTING, run[1])
    np.testing.assert_array_equal(again.weights, run[2].weights)
    for mine, theirs in zip(again.states, run[2].states, strict=True):
        np.testing.assert_array_equal(mine.mean, theirs.mean)

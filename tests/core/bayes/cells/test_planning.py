import numpy as np
import pytest

from dpgp_core.bayes.cells import planning
from dpgp_core.bayes.cells.choosing import intervals
from dpgp_core.bayes.cells.counts import known_counts, plan_counts
from dpgp_core.bayes.cells.grid import CellGrid
from dpgp_core.bayes.cells.known import CellSetting, linearised, start
from dpgp_core.bayes.cells.measuring import CellsForTeaching
from dpgp_core.bayes.cells.models import cell_models
from dpgp_core.bayes.cells.planning import Seen, plan_for_mixture, plan_stage
from dpgp_core.bayes.cells.stages import cell_multipliers, run_cells
from dpgp_core.bayes.models import auto_models
from dpgp_core.measurement.cells import CellCounts
from dpgp_core.measurement.integers import GRID
from dpgp_core.strategies.bayes import risk

BOX, HALF, N = ((0.0, 10.0),), 2.0, 12
CELLS = CellGrid(box=BOX, per_side=8)


def strategies(dataset, seed):
    setting = CellSetting(
        grid=CELLS, models=cell_models(auto_models(BOX, HALF), CELLS), n=N, half_range=HALF, clip=0.75, gap=0.2
    )
    first, others = cell_multipliers(0.8, 2)
    counts = CellCounts(B=plan_counts(CELLS, N, first, 0.2), noise_multiplier=first)
    reader, found = CellsForTeaching(dataset, CELLS, np.random.default_rng(seed)), []

    class Watching:
        def counts(self, measurement):
            return reader.counts(measurement)

        def residuals(self, measurement, g):
            found.append(measurement.B)
            return reader.residuals(measurement, g)

        def squares(self, measurement, g):
            return reader.squares(measurement, g)

    run_cells(setting, counts, others, Watching())
    return found


@pytest.fixture
def data(make_dataset):
    return make_dataset(x_box=BOX)


def test_columns_are_multiples_of_the_grid_and_at_most_1_long(data):
    for B in strategies(data, 1):
        integers = np.rint(B * GRID).astype(np.int64)
        np.testing.assert_array_equal(integers / GRID, B)
        assert (np.einsum("ij,ij->j", integers, integers) <= GRID**2).all()


def test_plans_follow_from_what_was_released(data):
    one, again, other = strategies(data, 1), strategies(data, 1), strategies(data, 2)
    for B, same in zip(one, again, strict=True):
        np.testing.assert_array_equal(B, same)
    assert any(B.shape != C.shape or (B != C).any() for B, C in zip(one, other, strict=True))


@pytest.mark.parametrize("s", [0.3, 3.0])
def test_second_moments_plan_all_but_as_well_as_the_mixture(s):
    setting = CellSetting(
        grid=CELLS, models=cell_models(auto_models(BOX, HALF), CELLS), n=N, half_range=HALF, clip=0.75, gap=1e-3
    )
    counts = known_counts(np.arange(8.0) + 0.5)
    now = start(setting, counts, np.zeros(0))
    linear = linearised(setting, now, intervals(setting, now, np.inf))
    seen = Seen(setting.models, now.states, now.weights, linear, counts.mean)
    mixture = planning.risks_of(seen)
    moments = planning.moments_of(seen)
    B, closer = (plan(seen, s, 1e-3).B for plan in (plan_stage, plan_for_mixture))
    for each in (B, closer, np.random.default_rng(1).standard_normal((3, 8)) / 8):
        assert risk([moments], each, s**2) >= risk(mixture, each, s**2) * (1 - 1e-3)  # what was left out of either
    nothing = risk(mixture, np.zeros((1, 8)), s**2)
    assert nothing - risk(mixture, B, s**2) > 0.98 * (nothing - risk(mixture, closer, s**2))

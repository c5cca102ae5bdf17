from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.bayes.cells.binned import PER_SIDE, binned_stages
from dpgp_core.bayes.cells.counts import public_counts
from dpgp_core.bayes.cells.grid import CellGrid, cells_of
from dpgp_core.bayes.cells.known import CellSetting, start
from dpgp_core.bayes.cells.models import cell_models
from dpgp_core.bayes.models import auto_models, typical_models
from dpgp_core.bayes.plan import stage_multipliers
from dpgp_core.measurement.integers import GRID

CELLS = CellGrid(box=((0.0, 1.0),), per_side=15)
SETTING = CellSetting(
    grid=CELLS,
    models=cell_models(typical_models(auto_models(CELLS.box, 1.0)), CELLS),
    n=400,
    half_range=1.0,
    clip=0.75,
    gap=1e-2,
)
COUNTS = public_counts(CELLS, np.random.default_rng(0).beta(2, 2, (400, 1)))
MULTIPLIERS = stage_multipliers(0.4, 3)


@pytest.fixture(scope="module")
def planned():
    return binned_stages(SETTING, COUNTS, MULTIPLIERS)


def test_stages_are_certified_and_each_leaves_less_to_do(planned):
    risks = [stage.strategy.risk for stage in planned]
    assert [stage.noise_multiplier for stage in planned] == list(MULTIPLIERS)
    for stage in planned:
        integers = stage.strategy.B * GRID
        assert (integers == np.rint(integers)).all()
        assert ((integers**2).sum(axis=0) <= GRID**2).all()
        assert integers.shape[1] == 15
        assert 0 <= stage.strategy.avoidable < stage.strategy.gap <= 1e-2
    assert risks[2] < 0.8 * risks[1] < 0.64 * risks[0]


def test_more_records_in_the_same_places_are_predicted_better(planned):
    crowd = COUNTS._replace(mean=100 * COUNTS.mean)
    many = binned_stages(replace(SETTING, n=40_000), crowd, MULTIPLIERS)
    assert all(a.strategy.risk < 0.8 * b.strategy.risk for a, b in zip(many, planned, strict=True))


def test_public_counts_are_exact_and_empty_cells_say_nothing():
    X = np.array([[0.0], [0.01], [0.99], [5.0], [-3.0]])
    counts = public_counts(CELLS, X)
    np.testing.assert_array_equal(counts.mean, [3, *[0] * 13, 2])
    assert not counts.covariance.any()
    state = start(SETTING, counts, np.zeros(0)).states[0]
    k = SETTING.models[0].cells.shape[1]
    np.testing.assert_array_equal(state.covariance.diagonal()[k : k + CELLS.size] > 0, counts.mean > 0)
    assert all(np.isfinite(stage.strategy.B).all() for stage in binned_stages(SETTING, counts, MULTIPLIERS[:2]))


def test_cells_are_finer_than_where_counts_cost():
    assert [cells_of([(0.0, 1.0)] * dim, PER_SIDE).size for dim in (1, 2, 3)] == [90, 400, 512]
    with pytest.raises(ValueError, match="1 to 3 input columns"):
        cells_of([(0.0, 1.0)] * 4, PER_SIDE)

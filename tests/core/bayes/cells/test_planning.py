import numpy as np
import pytest

from dpgp_core.bayes.cells import planning
from dpgp_core.bayes.cells.choosing import intervals
from dpgp_core.bayes.cells.counts import known_counts
from dpgp_core.bayes.cells.grid import CellGrid
from dpgp_core.bayes.cells.known import CellSetting, linearised, start
from dpgp_core.bayes.cells.models import cell_models
from dpgp_core.bayes.cells.planning import Seen, plan_for_mixture, plan_stage
from dpgp_core.bayes.models import auto_models
from dpgp_core.strategies.bayes import risk

BOX, HALF, N = ((0.0, 10.0),), 2.0, 12
CELLS = CellGrid(box=BOX, per_side=8)


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


@pytest.mark.parametrize("plan", [plan_stage, plan_for_mixture])
def test_where_no_best_strategy_can_be_found_every_cell_is_measured_by_itself(plan, monkeypatch):
    """Stages are planned after the charge, from noisy numbers: nothing may fail there."""

    def fails(*_, **__):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(planning, "bayes", fails)
    setting = CellSetting(
        grid=CELLS, models=cell_models(auto_models(BOX, HALF), CELLS), n=N, half_range=HALF, clip=0.75, gap=1e-3
    )
    now = start(setting, known_counts(np.arange(8.0) + 0.5), np.zeros(0))
    linear = linearised(setting, now, intervals(setting, now, np.inf))
    B = plan(Seen(setting.models, now.states, now.weights, linear, now.counts.mean), 1.0, 1e-3).B
    np.testing.assert_array_equal(B, np.eye(8))

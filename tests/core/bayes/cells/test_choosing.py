import math
from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.bayes.cells.choosing import chosen, intervals
from dpgp_core.bayes.cells.counts import known_counts
from dpgp_core.bayes.cells.grid import CellGrid
from dpgp_core.bayes.cells.known import CellSetting, start
from dpgp_core.bayes.cells.models import cell_models
from dpgp_core.bayes.models import auto_models
from dpgp_core.bayes.widths import WIDTHS

BOX, HALF = ((0.0, 10.0),), 2.0
CELLS = CellGrid(box=BOX, per_side=8)


@pytest.fixture
def setting():
    return CellSetting(
        grid=CELLS, models=cell_models(auto_models(BOX, HALF), CELLS), n=400, half_range=HALF, clip=0.75, gap=0.2
    )


def begun(setting, people=400):
    return start(replace(setting, n=people), known_counts(np.full(8, people / 8)), np.zeros(0))


def test_the_first_stage_takes_the_whole_range(setting):
    width, (low, high, g), begin, known = chosen(setting, begun(setting), 1.0, first=True)
    assert width == math.inf
    assert begin is None
    assert known is None
    np.testing.assert_array_equal(g, 0)
    np.testing.assert_allclose([low, high], [np.full(8, -HALF), np.full(8, HALF)])


@pytest.mark.parametrize("clip", [0.1, 0.75, 3.0, math.inf])
def test_intervals_lie_where_outcomes_can(setting, clip):
    low, high, g = intervals(setting, begun(setting), clip)
    least, most = CELLS.extremes(g)
    assert (low + most >= -HALF - 1e-12).all()
    assert (high + least <= HALF + 1e-12).all()
    assert (low < high).all()


def test_it_clips_as_one_of_the_widths_and_brings_what_it_was_chosen_by(setting):
    now = begun(setting)
    found = chosen(setting, now, 1.0, first=False)
    assert found.width in {setting.clip * times for times in WIDTHS}
    for one, other in zip(found.ends, intervals(setting, now, found.width), strict=True):
        np.testing.assert_array_equal(one, other)
    assert found.begin.shape[1] == 8
    assert len(found.known) == len(setting.models)


def test_many_people_are_clipped_no_closer_than_few(setting):
    """Noise asks for narrow intervals, and clipping's bias, which no number of people averages out, for wide ones."""
    widths = [chosen(setting, begun(setting, people), 3.0, first=False).width for people in (8, 80_000)]
    assert widths[0] <= widths[1]

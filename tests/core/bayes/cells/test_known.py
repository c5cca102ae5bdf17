import numpy as np
import pytest

from dpgp_core.bayes.cells.choosing import intervals
from dpgp_core.bayes.cells.counts import known_counts
from dpgp_core.bayes.cells.filter import CellObserved, outlook
from dpgp_core.bayes.cells.grid import CellGrid
from dpgp_core.bayes.cells.known import CellSetting, after, cell_mixture, curve, linearised, mean_square, start
from dpgp_core.bayes.cells.models import cell_models
from dpgp_core.bayes.models import auto_models

BOX, HALF = ((0.0, 10.0),), 2.0
CELLS = CellGrid(box=BOX, per_side=8)
COUNTS = known_counts(np.full(8, 50.0))


@pytest.fixture
def setting():
    return CellSetting(
        grid=CELLS, models=cell_models(auto_models(BOX, HALF), CELLS), n=400, half_range=HALF, clip=0.75, gap=0.2
    )


def test_at_first_the_curve_is_in_the_middle_and_weights_are_the_models_own(setting):
    now = start(setting, COUNTS, np.zeros(0))
    np.testing.assert_array_equal(curve(setting, now), 0)
    assert now.weights.sum() == pytest.approx(1)
    spread = sum(
        weight * (model.noise_variance + (model.cells**2).sum(axis=1))
        for model, weight in zip(setting.models, now.weights, strict=True)
    )
    np.testing.assert_allclose(mean_square(setting, now, curve(setting, now)), spread)


def test_a_stage_of_the_whole_range_brings_the_curve_to_what_was_released(setting):
    now = start(setting, COUNTS, np.zeros(0))
    ends = intervals(setting, now, np.inf)
    linear = linearised(setting, now, ends)
    truth = np.linspace(-1, 1, 8)
    seen = CellObserved(np.eye(8), *ends, 0.1, 50 * truth / (2 * HALF))  # mean places, times 50 people
    later = after(setting, now, linear, seen)
    found = cell_mixture(setting.models, later, CELLS.centres)
    np.testing.assert_allclose((later.weights @ found.means[0]), truth, atol=0.15)
    assert (later.weights @ found.variances[0] < 0.1).all()


def test_what_is_known_of_the_curve_is_the_same_whenever_it_is_computed(setting):
    now = start(setting, COUNTS, np.zeros(0))
    ends = intervals(setting, now, 1.5)
    before = [outlook(model, CELLS, state, ends[2]) for model, state in zip(setting.models, now.states, strict=True)]
    for one, other in zip(linearised(setting, now, ends), linearised(setting, now, ends, before), strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)

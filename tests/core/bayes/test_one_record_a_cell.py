"""The two filters of Bayes cloaking are one where each cell has one record, at its centre, and nothing is clipped."""

from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.bayes.cell_moments import KAPPA
from dpgp_core.bayes.cells import CellGrid, known_counts
from dpgp_core.bayes.engine import Observed
from dpgp_core.bayes.filter_cells import cell_filter
from dpgp_core.bayes.filter_records import record_filter
from dpgp_core.bayes.models import Model
from dpgp_core.kernels import EQ

NOISE_VARIANCE, S = 0.2, 0.3
GRID = CellGrid(box=((0.0, 1.0),), per_side=12)
X_TEST = np.linspace(0, 1, 7)[:, None]


@pytest.fixture(scope="module")
def stages():
    """Strategy and numbers of two stages."""
    rng = np.random.default_rng(4)
    Bs = rng.standard_normal((2, 5, GRID.size))
    return [(B / np.linalg.norm(B, axis=0), z) for B, z in zip(Bs, rng.standard_normal((2, 5)), strict=True)]


def told(filtered, stages, half_width):
    """What a filter says of the curve after the stages: mean, variance and evidence."""
    ends, g = np.full((1, GRID.size), half_width), filtered.zero
    posterior = filtered.read([Observed(B, -ends, ends, S, z[None], g=g) for B, z in stages])
    found = filtered.predict(posterior)
    return found.means[0, 0], found.variances[0, 0], filtered.log_evidence(posterior)[0]


def by_records(stages, half_width):
    model = Model(kernel=EQ(variance=0.5, lengthscale=0.4), noise_variance=NOISE_VARIANCE)
    return told(record_filter([model], GRID.centres, X_TEST), stages, half_width)


def by_cells(stages, half_width):
    # cells count what clipping usually adds as noise of the record, which records do stage by stage
    of_record = Model(kernel=EQ(variance=0.5, lengthscale=0.4), noise_variance=NOISE_VARIANCE / (1 + KAPPA))
    filtered = cell_filter([of_record], GRID, GRID.size, 100.0, biased=False).at(X_TEST)
    [model], along = filtered.models, len(GRID.nodes) // GRID.size
    at_centres = model.at(GRID.centres)
    model = replace(model, cells=at_centres, nodes=np.repeat(at_centres, along, axis=0))  # nobody is off the centre
    filtered = replace(filtered, models=(model,)).given(known_counts(np.ones(GRID.size)))
    return told(filtered, stages, half_width)


def test_with_nothing_clipped_cells_of_one_record_are_records(stages):
    for cells, records in zip(by_cells(stages, 50.0), by_records(stages, 50.0), strict=True):
        np.testing.assert_allclose(cells, records, rtol=1e-5, atol=1e-5)


def test_with_much_clipped_they_say_nearly_the_same(stages):
    """Records learn each noise by itself and clip by what they learnt; cells follow the sum of their noises."""
    half_width = 1.5 * NOISE_VARIANCE**0.5
    (mean, variance, _), (other, other_variance, _) = by_cells(stages, half_width), by_records(stages, half_width)
    assert (np.abs(mean - other) < 0.4 * np.sqrt(other_variance)).all()  # 0.29
    np.testing.assert_allclose(variance, other_variance, rtol=0.2)  # 0.12

"""The two filters of Bayes cloaking are one where each cell has one record, at its centre, and nothing is clipped."""

from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.bayes.cells.counts import known_counts
from dpgp_core.bayes.cells.filter import KAPPA, cell_prior, cell_update, linearise
from dpgp_core.bayes.cells.grid import CellGrid
from dpgp_core.bayes.cells.models import cell_models
from dpgp_core.bayes.models import Model
from dpgp_core.bayes.records.filter import prior, update
from dpgp_core.bayes.records.places import places_of
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


def by_records(stages, half_width):
    model = Model(kernel=EQ(variance=0.5, lengthscale=0.4), noise_variance=NOISE_VARIANCE)
    (places,) = places_of([model], GRID.centres, X_TEST)
    state, ends = prior(places, 1), np.full((1, GRID.size), half_width)
    for B, z in stages:
        state = update(places, state, B, -ends, ends, S, z[None])
    return state.mean[0, places.tests], state.variance[0, places.tests], state.log_evidence[0]


def by_cells(stages, half_width):
    # cells count what clipping usually adds as noise of the record, which records do stage by stage
    of_record = Model(kernel=EQ(variance=0.5, lengthscale=0.4), noise_variance=NOISE_VARIANCE / (1 + KAPPA))
    (model,) = cell_models([of_record], GRID, biased=False)
    at_centres = model.at(GRID.centres)
    along = len(model.nodes) // GRID.size
    model = replace(model, cells=at_centres, nodes=np.repeat(at_centres, along, axis=0))  # nobody is off the centre
    counts, ends = known_counts(np.ones(GRID.size)), np.full(GRID.size, half_width)
    state = cell_prior(model, counts)
    for B, z in stages:
        seen = (-ends, ends, np.zeros(len(model.nodes)))
        state = cell_update(state, linearise(model, GRID, counts, state, seen, 100.0, NOISE_VARIANCE), B, S, z)
    phi = model.at(X_TEST)
    k = phi.shape[1]
    variance = np.einsum("ij,jk,ik->i", phi, state.covariance[:k, :k], phi)
    return phi @ state.mean[:k], variance, state.log_evidence


def test_with_nothing_clipped_cells_of_one_record_are_records(stages):
    for cells, records in zip(by_cells(stages, 50.0), by_records(stages, 50.0), strict=True):
        np.testing.assert_allclose(cells, records, rtol=1e-5, atol=1e-5)


def test_with_much_clipped_they_say_nearly_the_same(stages):
    """Records learn each noise by itself and clip by what they learnt; cells follow the sum of their noises."""
    half_width = 1.5 * NOISE_VARIANCE**0.5
    (mean, variance, _), (other, other_variance, _) = by_cells(stages, half_width), by_records(stages, half_width)
    assert (np.abs(mean - other) < 0.4 * np.sqrt(other_variance)).all()  # 0.29
    np.testing.assert_allclose(variance, other_variance, rtol=0.2)  # 0.12

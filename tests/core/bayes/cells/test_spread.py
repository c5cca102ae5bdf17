"""Scatter over cells is found as it is over records, whether their numbers are public or have to be counted."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.outcomes import GRID, WORLDS
from dpgp_core import BayesCloaking
from dpgp_core.bayes.cells.counts import public_counts
from dpgp_core.bayes.cells.grid import cells_of
from dpgp_core.bayes.cells.spread import distances_setting, plan_distances

X_TEST = GRID[:, None]


def released(kind, n=4000):
    """Outcomes whose scatter is a fifth to three fifths of the mean's range, growing with x."""
    rng = np.random.default_rng(3)
    table = WORLDS["normal"].table(n, rng)
    x = table.X[:, 0]
    data = replace(table, y=np.maximum(20 + (1 + 6 * x) * rng.standard_normal(n), 0.0), y_kind=kind)
    mechanism = BayesCloaking(epsilon=3.0, delta=1e-5, binned=True, gap=0.03)
    return mechanism.release(data, X_TEST, rng)


@pytest.mark.parametrize("kind", ["number", "amount"])
def test_scatter_is_found_at_each_place(kind):
    found = released(kind).scatter[0]
    np.testing.assert_allclose(found, 1 + 6 * GRID, rtol=0.35)
    assert found[-1] > 3 * found[0]


def test_scatter_is_found_where_inputs_are_private():
    mechanism = BayesCloaking(epsilon=3.0, delta=1e-5, protects="inputs and outputs")
    rng = np.random.default_rng(4)
    table = WORLDS["normal"].table(4000, rng)
    data = replace(table, y=20 + (1 + 6 * table.X[:, 0]) * rng.standard_normal(4000))
    found = mechanism.release(data, X_TEST, rng).scatter[0]
    np.testing.assert_allclose(found, 1 + 6 * GRID, rtol=0.35)


def test_a_strategy_has_columns_of_at_most_one():
    grid = cells_of(((0.0, 1.0),), 3000, 4.0)
    setting = distances_setting(grid, 200)
    counts = public_counts(grid, np.linspace(0, 1, 200)[:, None])
    for closely in (False, True):
        B = plan_distances(setting, counts, 0.4, 5.0, closely=closely).B
        assert (np.linalg.norm(B, axis=0) <= 1).all()

"""Inputs that are categories: what a record that changes its level may move, and what is known of each group."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from dpgp_core.accounting.guarantee import guarantee_fields
from dpgp_core.bayes.cells import LocatedGrid
from dpgp_core.bayes.clusters import Clusters
from dpgp_core.kernels import EQ
from dpgp_core.measurement.integers import GRID
from dpgp_core.mechanisms import BayesCloaking
from dpgp_core.mechanisms.catalogue import CATALOGUE, Parameters
from tests.core.tables import changed, table

from .neighbours import allowed, at_the_ends, costs

LEVELS = ("women", "men", "other")
BOUNDS = (0.0, 100.0)


def truth(X):
    """Three curves: two alike, one apart."""
    return 40 + 20 * np.sin(X[:, 0] / 2) + 12 * (X[:, 1] == 2)


def groups(n=60, seed=0, scatter=6.0):
    rng = np.random.default_rng(seed)
    X = np.stack([rng.uniform(0, 10, n), rng.integers(0, 3, n).astype(float)], axis=1)
    public = {"x_names": ("age", "sex"), "x_units": ("years", ""), "x_box": ((0.0, 10.0),), "x_levels": (None, LEVELS)}
    y = truth(X) + scatter * rng.standard_normal(n)
    return table(X, y, **public, y_bounds=BOUNDS, y_scale=12.0)


def mechanism(protects="outputs", **changes):
    return BayesCloaking(**{"epsilon": 2.0, "delta": 1e-5, "protects": protects, "stages": 2, "gap": 1e-2} | changes)


X_TEST = np.array([[x, level] for level in (0.0, 1.0, 2.0) for x in (2.0, 5.0, 8.0)])


@pytest.mark.parametrize(("level", "end"), [(0.0, 0.0), (2.0, 100.0)])
def test_a_changed_category_stays_within_the_noise(level, end):
    one, of = groups(), mechanism("inputs and outputs")
    farthest = max(range(one.n), key=lambda j: abs(one.y[j] - end))
    X, y = one.X.copy(), one.y.copy()
    X[farthest, 1], y[farthest] = level, end
    [moved] = costs(of, one, [replace(one, X=X, y=y)], X_TEST)
    assert 0 < moved <= allowed(of.guarantee)


@pytest.mark.parametrize(("n", "columns"), [(30, Clusters), (150, LocatedGrid)])
def test_an_output_of_any_group_is_protected(n, columns):
    of, data = mechanism(), groups(n)
    assert isinstance(of.plan_for(data, X_TEST).filtered.bins, columns)
    farthest = max(costs(of, *at_the_ends(data, (0, 7)), X_TEST))
    assert 0.2 * allowed(of.guarantee) < farthest <= allowed(of.guarantee)


def test_count_noise_covers_the_two_farthest_cells():
    """By brute force over all pairs of cells, each measured by itself, in integers: reached by any two."""
    of, data = mechanism("inputs and outputs"), groups(400)
    plan = of.plan_for(data, X_TEST)
    cells = plan.filtered.bins
    level = cells.centres[:, 1]
    counts = of.measure(plan, data, X_TEST, np.random.default_rng(0), mean=False).measured[0].counts
    np.testing.assert_array_equal(counts.B, np.eye(cells.size))
    columns = np.rint(counts.B * GRID).astype(object).T
    far = {
        pair: sum((a - b) ** 2 for a, b in zip(columns[pair[0]], columns[pair[1]], strict=True))
        for pair in combinations(range(cells.size), 2)
    }
    most = max(far.values())
    sensitivity = counts.noise.sensitivity
    assert (sensitivity - 1) ** 2 < most <= sensitivity**2
    assert max(square for (a, b), square in far.items() if level[a] != level[b]) == most
    for a, b in ((0, cells.size - 1), (3, 20)):
        moved = [x - y for x, y in zip(counts._exact(np.array([a])), counts._exact(np.array([b])), strict=True)]
        assert sum(x**2 for x in moved) == far[a, b]


@pytest.mark.full
@pytest.mark.parametrize(("protects", "n"), [("outputs", 400), ("inputs and outputs", 3000)])
def test_much_budget_finds_the_curve_of_each_group(protects, n):
    of, data = mechanism(protects, epsilon=30.0, stages=3), groups(n)
    release = of.release(data, X_TEST, np.random.default_rng(0))
    assert np.abs(release.samples[0] - truth(X_TEST)).max() < 4.0
    low, high = release.interval(0.95, of="function")
    assert (high - low).max() < 16


def test_inputs_without_a_category_are_refused():
    of, data = mechanism(), groups(30)
    for bad in (0.5, 3.0, -1.0):
        with pytest.raises(ValueError, match="3 levels"):
            of.release(data, np.array([[2.0, bad]]), np.random.default_rng(0))
    with pytest.raises(ValueError, match="3 levels"):
        mechanism("inputs and outputs").release(data, np.array([[2.0, 0.5]]), np.random.default_rng(0))


def test_plans_for_numbers_and_categories_differ():
    data, of = groups(80), mechanism("inputs and outputs")
    numbers = changed(data, x_levels=None, x_box=((0.0, 10.0), (-0.5, 2.5)))
    with pytest.raises(ValueError, match="another box"):
        of.measure(of.plan_for(numbers, X_TEST), data, X_TEST, np.random.default_rng(0))


def test_people_may_belong_to_several_groups():
    data = replace(groups(60), person=np.arange(60) // 3)
    of = mechanism("inputs and outputs")
    release = of.release(data, X_TEST, np.random.default_rng(0))
    assert "one person" in release.guarantee.neighbours
    assert release.samples.shape == (1, 9)
    assert guarantee_fields(of.guarantee_for(data))["neighbours"] == of.guarantee_for(data).neighbours


@pytest.mark.parametrize(
    "row", [entry for entry in CATALOGUE.values() if not entry.kind.levels], ids=lambda row: row.id
)
def test_every_other_mechanism_says_that_it_takes_numbers(row):
    data = groups(30)
    parameters = Parameters(
        kernel=EQ(lengthscale=(3.0, 1.0)),
        noise_variance=0.3,
        epsilon=1.0,
        delta=0.0 if row.kind.pure else 1e-5,
        x_box=data.x_box,
        n=data.n,
        cells=3,
        inducing=4,
    )
    try:
        of = row.build(parameters)
    except ValueError:
        pytest.skip("is not built from these parameters")
    with pytest.raises(ValueError, match="an input is a category"):
        of.release(data, X_TEST, np.random.default_rng(0))

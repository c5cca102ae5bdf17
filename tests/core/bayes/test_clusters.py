"""Clusters of records with public inputs: boxes that hold them, and means over their records."""

import numpy as np
import pytest

from dpgp_core.bayes import clusters
from dpgp_core.bayes.cells import LocatedGrid
from dpgp_core.bayes.clusters import Clusters, clusters_of, lifted_into, max_clusters, nodes_of, uses_clusters
from dpgp_core.bayes.counts import public_counts
from dpgp_core.bayes.tuning import TUNING
from dpgp_core.levels import side_of
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from tests.core.tables import table

N = 1000
MANY, MOST = TUNING.most_clustered, TUNING.most_clusters
SIDE, GROUP = (-2.0, 3.0), side_of(("a", "b", "c"))


def skewed(rng, n):
    """Most records near the low end of the side, one in five on one value."""
    x = np.minimum(-2 + 0.3 * np.exp(rng.standard_normal(n)), 3.0)
    return np.where(rng.random(n) < 0.2, -1.5, x)


CASES = {
    "a side": (((SIDE),), lambda rng, n: skewed(rng, n)[:, None]),
    "a plane": ((SIDE, (0.0, 1.0)), lambda rng, n: np.column_stack([skewed(rng, n), rng.uniform(0, 1, n)])),
    "a space": ((SIDE,) * 3, lambda rng, n: np.column_stack([skewed(rng, n) for _ in range(3)])),
    "four sides": ((SIDE,) * 4, lambda rng, n: rng.uniform(-2, 3, (n, 4))),
    "groups": (
        (GROUP, SIDE),
        lambda rng, n: np.column_stack([rng.integers(0, 3, n), rng.integers(0, 30, n) / 10]).astype(float),
    ),
}
PERIODIC = ((0.0, 69.0),), (7.0,)


def parabola(x):
    """A polynomial of second degree in every column."""
    return 1.0 + x @ np.linspace(0.3, -0.7, x.shape[1]) + (x**2) @ np.linspace(1.0, 0.5, x.shape[1])


def with_products(x):
    """A polynomial of second degree in every column, products included."""
    return parabola(x) - 2 * x.prod(axis=1) + x.prod(axis=1) ** 2


@pytest.fixture(params=CASES)
def case(request):
    box, draw = CASES[request.param]
    X = draw(np.random.default_rng(0), N)
    return box, X, clusters_of(box, X)


def test_every_record_is_in_exactly_one_box(case):
    _, X, found = case
    low, high = found.ends
    inside = ((low <= X[:, None]) & (X[:, None] <= high)).all(axis=2)
    np.testing.assert_array_equal(inside.sum(axis=1), 1)
    np.testing.assert_array_equal(inside.argmax(axis=1), found.index(X))
    assert inside.any(axis=0).all()


def test_boxes_are_disjoint_and_tight(case):
    _, X, found = case
    low, high = found.ends
    apart = ((low[:, None] > high) | (high[:, None] < low)).any(axis=2)
    np.testing.assert_array_equal(apart, ~np.eye(found.size, dtype=bool))
    for cluster in range(found.size):
        own = X[found.index(X) == cluster]
        np.testing.assert_array_equal([low[cluster], high[cluster]], [own.min(axis=0), own.max(axis=0)])


def test_categories_are_never_mixed(case):
    box, _, found = case
    levels = [d for d, side in enumerate(box) if side == GROUP]
    np.testing.assert_array_equal(found.ends[0][:, levels], found.ends[1][:, levels])
    assert levels or box != CASES["groups"][0]
    assert found.numeric_sides == [d for d in range(len(box)) if d not in levels]


def test_clusters_are_about_equally_many_where_even():
    """Records of a uniform side: the largest cluster is at most twice the smallest, and three times as long."""
    X = np.random.default_rng(1).uniform(0, 1, (20_000, 1))
    found = clusters_of(((0.0, 1.0),), X)
    numbers, lengths = public_counts(found, X).mean, (found.ends[1] - found.ends[0])[:, 0]
    assert numbers.max() <= 2 * numbers.min() + 2
    assert lengths.max() <= 3 * lengths.min()


@pytest.mark.parametrize("people", [False, True])
def test_means_over_clusters_are_means_over_records(case, people):
    """Of polynomials of second degree; with products on up to two sides, where nodes are all products."""
    box, X, empty = case
    rng = np.random.default_rng(2)
    person = rng.integers(0, 250, N) if people else None
    weights = np.ones(N) if person is None else 1 / np.bincount(person)[person]
    found, of = clusters_of(box, X, (), person), with_products if len(empty.numeric_sides) <= 2 else parabola
    at_nodes, at_records, cluster = of(found.nodes), of(X), found.index(X)
    np.testing.assert_allclose(found.at(X)(at_nodes), at_records, rtol=1e-9, atol=1e-9)
    expected = np.bincount(cluster, weights * at_records) / np.bincount(cluster, weights)
    tolerance = 1e-4 if people else 1e-9  # people's shares are multiples of 2^-20
    np.testing.assert_allclose(found.averages(at_nodes), expected, rtol=tolerance, atol=tolerance)
    both = found.averages(np.stack([at_nodes, 2 * at_nodes], axis=1))
    np.testing.assert_allclose(both, np.stack([expected, 2 * expected], axis=1), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(public_counts(found, X, person).mean, np.bincount(cluster, weights), atol=1e-3)
    least, most = found.extremes(at_nodes)
    assert (least <= found.averages(at_nodes)).all()
    assert (found.averages(at_nodes) <= most).all()


def test_star_weights_give_means_of_parabolas(case):
    """At the star's nodes alone: over the records of a cluster, and over its evenly filled box."""
    _, X, found = case
    at_nodes, cluster = parabola(found.nodes), found.index(X)
    of_records = (at_nodes[found.star] * found.star_weights).sum(axis=1)
    np.testing.assert_allclose(of_records, np.bincount(cluster, parabola(X)) / np.bincount(cluster), atol=1e-9)
    if len(found.numeric_sides) <= 2:
        of_even = (at_nodes[found.star] * found.even_star_weights).sum(axis=1)
        np.testing.assert_allclose(of_even, found.even_averages(at_nodes), atol=1e-9)


@pytest.mark.parametrize(("sides", "nodes"), [(1, 3), (2, 9), (3, 7), (4, 9), (6, 13)])
def test_more_than_two_sides_use_a_star(sides, nodes):
    found = nodes_of(sides)
    assert found.shape == (nodes, sides)
    assert len(np.unique(found, axis=0)) == nodes
    if sides > 2:
        assert ((found != 1).sum(axis=1) <= 1).all()


def test_few_places_are_columns():
    rng = np.random.default_rng(3)
    places = np.sort(rng.uniform(-2, 3, (MOST, 1)), axis=0)
    X = places[np.concatenate([np.arange(MOST), rng.integers(0, MOST, 900)])]
    found = clusters_of((SIDE,), X)
    np.testing.assert_array_equal(found.ends, [places, places])
    np.testing.assert_array_equal(found.averages(parabola(found.nodes)), parabola(places))
    np.testing.assert_array_equal(public_counts(found, X).mean, np.bincount(np.searchsorted(places[:, 0], X[:, 0])))


@pytest.mark.parametrize(("n", "most"), [(10, 48), (192, 48), (300, 75), (384, 96), (10**6, 96)])
def test_clusters_grow_with_records_within_limits(n, most):
    assert max_clusters(n) == most
    X = np.random.default_rng(9).uniform(-2, 3, (min(n, 4000), 1))
    assert clusters_of((SIDE,), X).size == min(n, most)


def test_one_more_place_gives_clusters():
    places = np.linspace(-2, 3, MOST + 1)
    found = clusters_of((SIDE,), np.tile(places, 10)[:, None])
    X = places[:, None]
    assert found.size == MOST
    assert sorted(public_counts(found, X).mean) == [1.0] * (MOST - 1) + [2.0]


@pytest.mark.parametrize("heap", [0.5, 0.9, 0.999])
def test_repeated_inputs_become_one_column(heap):
    """Records that all share one value cannot be split any further, and the others still are."""
    rng = np.random.default_rng(4)
    x = np.where(np.arange(N * 10) < heap * N * 10, 1.0, rng.uniform(-2, 3, N * 10))
    found = clusters_of((SIDE,), x[:, None])
    own = found.index(np.array([[1.0]]))[0]
    assert public_counts(found, x[:, None]).mean[own] >= heap * N * 10
    if heap == 0.9:
        np.testing.assert_array_equal(found.ends[:, own, 0], [1.0, 1.0])
    assert found.size == min(MOST, len(np.unique(x)))


def test_other_inputs_take_the_nearest_cluster(case):
    box, _, found = case
    rng = np.random.default_rng(5)
    widths = np.array([high - low for low, high in box])
    X_test = np.column_stack([rng.integers(0, 3, 200) if side == GROUP else rng.uniform(*side, 200) for side in box])
    low, high = found.ends
    between = np.clip(X_test[:, None], low, high) - X_test[:, None]
    distance = ((between / widths) ** 2).sum(axis=2)
    at = found.index(X_test)
    np.testing.assert_allclose(distance[np.arange(200), at], distance.min(axis=1), atol=1e-15)
    values = found.at(X_test)(parabola(found.nodes))
    on_edge = parabola(np.clip(X_test, low[at], high[at]))
    wide = (high > low)[at][:, found.numeric_sides].all(axis=1)
    np.testing.assert_allclose(values[wide], on_edge[wide], rtol=1e-9, atol=1e-9)


def test_inputs_beyond_the_box_count_at_its_edge():
    X = np.linspace(-2, 3, 400)[:, None]
    found = clusters_of((SIDE,), X)
    np.testing.assert_array_equal(found.index(np.array([[-1e300], [1e300]])), [0, MOST - 1])


def test_records_found_in_portions_are_the_same(case, monkeypatch):
    _, X, found = case
    expected = found.index(X)
    monkeypatch.setattr(clusters, "_BLOCK", 7 * found.size)
    np.testing.assert_array_equal(found.index(X), expected)


def test_offsets_within_clusters_are_0_to_1(case):
    _, X, found = case
    t, at = found.offsets(X).T, found.index(X)
    low, high = found.ends
    np.testing.assert_allclose(low[at] + (high - low)[at] * t, X, atol=1e-9)
    assert (t[(high == low)[at]] == 0.5).all()


def test_a_period_is_a_side_of_its_own():
    box, periods = PERIODIC
    X = np.random.default_rng(6).integers(0, 70, (400, 1)).astype(float)
    found = clusters_of(box, X, periods)
    L = lifted_into(found.sides, X, periods)
    assert found.dim == L.shape[1] == 2
    assert found.size == len(np.unique(L, axis=0))
    cluster = found.index(X)
    np.testing.assert_array_equal(found.ends[0][cluster], L)
    np.testing.assert_allclose(found.averages(parabola(found.nodes)), parabola(found.ends[0]), rtol=1e-9)


@pytest.mark.parametrize(
    ("box", "periods", "n", "distinct", "expected"),
    [
        ((SIDE,), (), 10**6, 10**6, True),
        ((SIDE,) * 2, (), MANY, MANY, True),
        ((SIDE,) * 2, (), MANY + 1, MANY + 1, False),
        ((SIDE,) * 2, (), MANY + 1, MOST, True),
        ((SIDE,) * 3, (), MANY + 1, MANY + 1, False),
        ((SIDE,) * 4, (), MANY + 1, MANY + 1, True),
        ((SIDE, GROUP), (), 200, 50, True),
        ((SIDE, GROUP), (), 200, 51, False),
        ((SIDE, GROUP), (), 400, MOST, True),
        ((SIDE, GROUP), (), 400, MOST + 1, False),
        ((0.0, 5000.0), (7.0,), 400, MOST, True),
        ((0.0, 5000.0), (7.0,), 400, MOST + 1, False),
    ],
)
def test_equal_cells_replace_clusters_where_declared(box, periods, n, distinct, expected):
    box = (box,) if periods else box
    rows = np.arange(n) % distinct
    X = np.column_stack([rows % 3 if side == GROUP else side[0] + rows * 5 / distinct for side in box]).astype(float)
    assert uses_clusters(box, X, periods) == expected


@pytest.mark.parametrize(("distinct", "columns"), [(MOST, Clusters), (MOST + 1, LocatedGrid)])
def test_plans_have_clusters_or_cells(distinct, columns):
    X = np.column_stack([np.arange(400) % distinct * 5 / distinct - 2, np.arange(400) % 2]).astype(float)
    data = table(X, np.full(400, 0.5), x_names=("x", "group"), x_box=(SIDE, side_of(("a", "b"))), y_bounds=(0.0, 1.0))
    plan = BayesCloaking(epsilon=1.0, delta=1e-5).plan_for(data, X[:1])
    assert type(plan.filtered.bins) is columns

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import datasets
from dpgp_core.evaluation.errors import rmse
from dpgp_core.evaluation.peers import BinnedMeans, Polynomial, best_by_oracle, held_out, settings
from tests.core.evaluation.toys import FOLDS, TOY

EVERY = [Polynomial(0), Polynomial(1), Polynomial(4), BinnedMeans(1), BinnedMeans(7)]
PLANE = datasets.load("growth_2d").subset(np.arange(40))
QUIET = 1e-9


def replaced(data, record, x, y):
    X, outputs = data.X.copy(), data.y.copy()
    X[record], outputs[record] = x, y
    return replace(data, X=X, y=outputs)


def corners(data):
    low, high = np.array(data.x_box).T
    return [low, high, (low + high) / 2, 0.9 * low + 0.1 * high], (*data.y_bounds, data.midpoint, 1e9)


@pytest.mark.parametrize("data", [TOY, PLANE], ids=["one input", "two inputs"])
@pytest.mark.parametrize("peer", EVERY, ids=lambda peer: peer.title)
def test_a_replaced_record_moves_sums_by_one(peer, data):
    places, outputs = corners(data)
    tables = [peer.sums(replaced(data, 3, x, y)) for x in places for y in outputs]
    tables += [peer.sums(replaced(data, 3, x, data.y[3])) for x in np.array(data.x_box)[:, :1].T + 1e6]
    moved = max(np.linalg.norm(one - other) for one in tables for other in tables)
    assert moved <= 1 + 1e-12
    if isinstance(peer, BinnedMeans):
        assert moved == pytest.approx(1)  # and not less noise than that


@pytest.mark.parametrize("degree", [1, 3])
def test_each_part_moves_by_at_most_a_third(degree):
    places, outputs = corners(TOY)
    tables = [Polynomial(degree).sums(replaced(TOY, 0, x, y)) for x in places for y in outputs]
    triangle = (degree + 1) * (degree + 2) // 2
    differences = np.array([one - other for one in tables for other in tables])
    for part in np.split(differences, [triangle, triangle + 1], axis=1):
        assert np.linalg.norm(part, axis=1).max() ** 2 <= 1 / 3 + 1e-12


@pytest.mark.parametrize(("data", "degree"), [(TOY, 3), (PLANE, 2)], ids=["one input", "two inputs"])
def test_a_noiseless_polynomial_is_least_squares(data, degree):
    powers = [p for p in product(range(degree + 1), repeat=data.X.shape[1]) if sum(p) <= degree]
    products = np.stack([(data.X**p).prod(axis=1) for p in powers], axis=1)
    expected = products @ np.linalg.lstsq(products, data.clipped_y, rcond=None)[0]
    peer = Polynomial(degree)
    found = peer.predict(peer.sums(data)[None], QUIET, data, data.X)[0]
    np.testing.assert_allclose(found, np.clip(expected, *data.y_bounds), rtol=1e-4)


def test_noiseless_bins_are_means_or_the_midpoint():
    (low, high), peer = TOY.x_box[0], BinnedMeans(9)
    edges = np.linspace(low, high, 10)
    where = np.clip(np.digitize(TOY.X[:, 0], edges) - 1, 0, 8)
    middles = (edges[1:] + edges[:-1]) / 2
    found = peer.predict(peer.sums(TOY)[None], QUIET, TOY, middles[:, None])[0]
    for k, value in enumerate(found):
        expected = TOY.clipped_y[where == k].mean() if (where == k).any() else TOY.midpoint
        assert value == pytest.approx(expected)


@pytest.mark.parametrize("peer", EVERY, ids=lambda peer: peer.title)
def test_heavy_noise_stays_within_the_bounds(peer):
    sums = peer.sums(TOY)
    z = sums + 50 * np.random.default_rng(0).standard_normal((20, len(sums)))
    curves = peer.predict(z, 50.0, TOY, TOY.X)
    np.testing.assert_array_equal(curves, np.clip(curves, *TOY.y_bounds))
    assert np.isfinite(curves).all()


def test_held_out_records_are_not_trained_on():
    peer = BinnedMeans(3)
    errors = held_out(peer, TOY, FOLDS, QUIET, 2, 1)
    missed = []
    for test in FOLDS:
        train = TOY.subset(np.delete(np.arange(TOY.n), test))
        missed.append(peer.predict(peer.sums(train)[None], QUIET, train, TOY.X[test])[0] - TOY.clipped_y[test])
    np.testing.assert_allclose(errors, rmse(np.concatenate(missed), np.zeros(1)), rtol=1e-6)


def test_the_oracle_takes_the_least_error():
    polynomials, _ = settings(1)
    _, errors = best_by_oracle(polynomials, TOY, FOLDS, 0.5, 20, 1)
    assert errors.mean() == min(held_out(p, TOY, FOLDS, 0.5, 20, 1).mean() for p in polynomials)


def test_two_inputs_have_at_most_1000_bins():
    assert max(peer.per_side for peer in settings(2)[1]) ** 2 <= 1000 < 32**2

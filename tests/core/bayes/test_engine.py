"""Everything that one budget measures: what is spent, and how far one record moves it."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from dpgp_core.bayes import engine
from dpgp_core.bayes.budget import split_budget
from dpgp_core.bayes.cells import CellGrid
from dpgp_core.bayes.clusters import clusters_of
from dpgp_core.bayes.counts import public_counts
from dpgp_core.bayes.curator import Curator
from dpgp_core.bayes.engine import run, run_stages
from dpgp_core.bayes.filter import filter_of
from dpgp_core.bayes.model import auto_models
from dpgp_core.measurement.measurement import CellCounts, Measurement
from dpgp_core.measurement.noise import ZeroNoise
from tests.core.tables import table

HALF, N, S = 1.0, 60, 1.3
BOX = ((0.0, 1.0),)
X = np.random.default_rng(0).choice(np.linspace(0.02, 0.97, 10), (N, 1))


def data_of(y):
    return table(X, y + 1, x_box=BOX, y_bounds=(0.0, 2.0))


@pytest.fixture(scope="module")
def filtered():
    """Sixty records at ten public places, each place a column, and a few models."""
    return filter_of(auto_models(BOX, HALF)[1::6], clusters_of(BOX, X), N, HALF, gap=0.3)


def queries_of(curator):
    """Each measurement that was made, the public function it is about, and its noisy numbers."""
    found = []
    for stage in curator._stages:
        found += [(each.measurement, each.g, each.z) for each in (stage, stage.squares) if each is not None]
    distances = curator._distances
    found.append((distances.measurement, distances.g, distances.z))
    if distances.above is not None:
        found.append((distances.above.measurement, distances.g, distances.above.z))
    return found


def values_for(measurement, residuals):
    """What a measurement sums: residuals, their squares, distances, or whether they are above 0; known by its ends."""
    low, high = measurement.bounds
    if low < 0:
        return residuals
    if len(measurement.B) > 1:
        return np.abs(residuals)
    return (residuals > 0).astype(float) if high == 1.0 else residuals**2


def moved(curator, columns, y, neighbour):
    """How far two tables lie apart in everything measured, in units of the noise: means of z (2, numbers), and z."""
    at, cells, means, numbers = columns.at(X), columns.index(X), ([], []), []
    for measurement, g, z in queries_of(curator):
        assert measurement.B.shape[1] == columns.size
        for outputs, rows in zip((y, neighbour), means, strict=True):
            values = values_for(measurement, outputs - at(g))
            low, high = measurement.low[cells], measurement.high[cells]
            q = (np.clip(values, low, high) - (low + high) / 2) / (high - low)
            rows.append(measurement.B[:, cells] @ q / measurement.noise_sd)
        numbers.append(z / measurement.noise_sd)
    return np.concatenate(means[0]), np.concatenate(means[1]), np.concatenate(numbers)


@pytest.mark.full
def test_log_likelihood_ratio_has_the_claimed_law(filtered):
    """Simulated end to end with two neighbours: mean mu^2 / 2 and variance mu^2 within 6 standard errors.

    mu is each simulated release's own distance, in units of the noise, between what the two would have measured: at
    most the claim, which assumes that the worst record moves everything by 1. No two outputs do quite that.
    """
    draws, j = 400, 3
    y = np.linspace(-HALF, HALF, N)
    y[j] = -HALF
    neighbour = y.copy()
    neighbour[j] = HALF
    split, counts = split_budget(S, "amount", 5), public_counts(filtered.bins, X)
    rng, ratio, square, spent = np.random.default_rng(2), np.zeros(draws), np.zeros(draws), []
    for draw in range(draws):
        curator = Curator(data_of(y), filtered.bins, rng)
        run(filtered, split, curator, counts, X[:1])
        mine, theirs, z = moved(curator, filtered.bins, y, neighbour)
        ratio[draw] = ((z - theirs) ** 2 - (z - mine) ** 2).sum() / 2
        square[draw] = ((mine - theirs) ** 2).sum()
        spent.append(sum((m.B**2).sum(axis=0) / m.noise_sd**2 for m, *_ in queries_of(curator)).max())
    assert 1 - 1e-4 <= min(spent) * S**2 <= max(spent) * S**2 <= 1 + 1e-12  # 2^-20 is lost in rounding B
    standard = (ratio - square / 2) / np.sqrt(square)
    assert abs(standard.mean()) < 6 / math.sqrt(draws)
    assert abs(standard.var() - 1) < 6 * math.sqrt(2 / draws)
    assert square.max() <= 1 / S**2 * (1 + 1e-12)


def test_strategies_and_widths_can_be_reused(filtered):
    """Without noise about the same records: the same intervals and strategies, whatever would be planned now."""
    data, split, counts = data_of(np.sin(5 * X[:, 0])), split_budget(S, "number", 4), public_counts(filtered.bins, X)
    first, _ = run(filtered, split, Curator(data, filtered.bins, np.random.default_rng(0)), counts, X[:1])
    silent = Curator(data, filtered.bins, ZeroNoise())
    again, _ = run(replace(filtered, gap=1e-6), split, silent, counts, X[:1], like=first)
    for stage, other in zip(again.stages, first.stages, strict=True):
        np.testing.assert_array_equal(stage.B, other.B)
        assert stage.width == other.width
    np.testing.assert_array_equal(again.distances.B, first.distances.B)


def test_the_first_stage_clips_to_the_bounds(filtered, monkeypatch):
    """It has no curve yet. The widths of the others are planned."""
    asked, planned = [], engine.next_stage

    def recorded(filtered, posterior, s, width, B=None):
        asked.append(width)
        return planned(filtered, posterior, s, width, B)

    monkeypatch.setattr(engine, "next_stage", recorded)
    curator = Curator(data_of(np.sin(5 * X[:, 0])), filtered.bins, np.random.default_rng(0))
    known = filtered.with_counts(public_counts(filtered.bins, X))
    (first, *_), _ = run_stages(known, split_budget(S, "number", 3), curator)
    assert asked == [math.inf, None, None]
    assert ((first.low == -HALF) & (first.high == HALF)).all()


def test_squares_of_two_stages_are_planned_for_outliers(filtered, monkeypatch):
    """The others identify the residual variance."""
    asked, planned = [], engine.next_squares

    def recorded(*arguments, excess):
        asked.append(excess)
        return planned(*arguments, excess=excess)

    monkeypatch.setattr(engine, "next_squares", recorded)
    curator = Curator(data_of(np.sin(5 * X[:, 0])), filtered.bins, np.random.default_rng(0))
    known = filtered.with_counts(public_counts(filtered.bins, X))
    run_stages(known, split_budget(S, "number", 6), curator)
    assert asked == [False, False, True, False, True]


# ---- Private inputs: counts and locations are measured too.


CELLS, HALF_OF_TWELVE = CellGrid(box=((0.0, 10.0),), per_side=8), 1.0
SPLIT = split_budget(0.8, "amount", 3, inputs_too=True, locations=True)


@pytest.fixture(scope="module")
def measurements(make_dataset):
    """Every measurement of a real run over private inputs, and the public function it is about."""
    curator = Curator(make_dataset(), CELLS, None)
    filtered = filter_of(auto_models(CELLS.box, HALF_OF_TWELVE), CELLS, 12, HALF_OF_TWELVE, gap=0.2)
    measured, _ = run(filtered, SPLIT, curator, None, CELLS.centres[:1])
    located = (curator._locations.measurement, None)
    return [(measured.counts, None), located, *((m, g) for m, g, _ in queries_of(curator))]


def test_each_part_has_its_own_noise(measurements):
    shares = [SPLIT.counts, SPLIT.locations, SPLIT.sums[0]]
    for sums, squares in zip(SPLIT.sums[1:], SPLIT.squares[1:], strict=True):
        shares += [sums, squares]
    shares += [SPLIT.dispersion, SPLIT.above]
    kinds = [(type(m), m.noise_multiplier) for m, _ in measurements]
    assert kinds == [(CellCounts if i == 0 else Measurement, SPLIT.multiplier(p)) for i, p in enumerate(shares)]
    assert sum(1 / s**2 for _, s in kinds) == pytest.approx(1 / 0.8**2, rel=1e-12)


def test_no_record_exceeds_the_sensitivity(measurements, make_dataset):
    """Exact integers, every pair of records among cell centres and edges and extreme outputs; adversarial search."""
    data = make_dataset()
    rng = np.random.default_rng(0)
    inputs = np.concatenate([CELLS.centres[:, 0], [-1e9, 0, 10, 1e9], rng.uniform(0, 10, 10)])
    outputs = [-1e300, -1.0, 1.0, 3.0, 1e300]
    for number, (measurement, g) in enumerate(measurements):
        exact = []
        for x, y in product(inputs, outputs):
            Z, values = data.X.copy(), data.standardised().copy()
            Z[4], values[4] = x, np.clip((y - data.midpoint) / data.y_scale, -HALF_OF_TWELVE, HALF_OF_TWELVE)
            cells = CELLS.index(Z)
            if number == 0:
                more = ()
            elif g is None:
                more = (CELLS.offsets(Z)[0],)
            else:
                more = (values_for(measurement, values - CELLS.at(Z)(g)),)
            exact.append([int(v) for v in measurement._exact(*more, cells)])
        largest = max(sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) for pair in product(exact, repeat=2))
        assert largest <= measurement.noise.sensitivity**2
        if number == 0:
            assert largest > (measurement.noise.sensitivity - 1) ** 2

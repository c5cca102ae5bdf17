"""The curve is right, and as sure as it says, wherever inputs stand and however rough it is: small cases of each kind.

Numbered draws of worlds with a known mean (``benchmarks.inputs``). Before counts could be rough, the few values and
heaps of the first test were published with .0 to .4 of the curve inside its 95 % intervals, where more than .9 are now.
A curve's errors hang together, and another processor plans other strategies, so that of three repeats .75 is asked for.
"""

import numpy as np
import pytest

import dpgp_core.bayes.cell_moments as cells_filter
import dpgp_core.bayes.cells as counts
from benchmarks.inputs import CURVES, OUTCOMES, PLACES, World, wage
from benchmarks.outcomes import DELTA, PROTECTS, summarised
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking

REPEATS, INSIDE = 3, 0.75
OFTEN = {("five_values", "inputs"), ("one_heap", "inputs"), ("towns", "inputs"), ("people", "outputs")}
CASES = [
    pytest.param(where, which, marks=[] if (where, which) in OFTEN else pytest.mark.full)
    for where in PLACES
    for which in PROTECTS
]


def found(world, n, which, repeats, X=None):
    mechanism = BayesCloaking(epsilon=1.0, delta=DELTA, protects=PROTECTS[which])
    X, releases, fits = world.places.judged if X is None else X, [], []
    for repeat in range(repeats):
        rng = np.random.default_rng([n, repeat])
        data = world.table(n, rng)
        release = mechanism.measure(mechanism.plan_for(data, X), data, X, rng, mean=False)
        releases.append((release.samples[0], *(end[0] for end in release.interval(0.95, "function"))))
        fits.append(release.fit)
    return summarised(*map(np.array, zip(*releases, strict=True)), world.truth(X)), fits


@pytest.mark.parametrize(("where", "which"), CASES)
def test_the_curve_is_right_where_people_are(where, which):
    judged, fits = found(World(PLACES[where], wage, OUTCOMES["normal"]), 30_000, which, REPEATS)
    assert judged.inside >= INSIDE
    assert judged.error < 0.5
    assert all(fit.widened < 2 for fit in fits)


@pytest.mark.full
@pytest.mark.parametrize("of", ["gamma", "yes_no", "counts"])
@pytest.mark.parametrize("where", ["five_values", "even_ages", "one_heap", "towns"])
def test_outcomes_of_every_kind_on_few_values(where, of):
    world = World(PLACES[where], wage, OUTCOMES[of])
    few, _ = found(world, 3000, "inputs", REPEATS)
    many, _ = found(world, 30_000, "inputs", REPEATS)
    assert min(few.inside, many.inside) >= INSIDE
    assert many.error < 0.7 * few.error


def test_counts_on_few_values_are_not_looked_for_where_nobody_is():
    """Was .3: strategies added up the people that noise put into 85 empty cells, and rough curves were believed."""
    judged, _ = found(World(PLACES["five_values"], wage, OUTCOMES["counts"]), 30_000, "inputs", 2)
    assert judged.error < 0.15
    assert judged.inside >= INSIDE


@pytest.mark.parametrize(
    ("where", "most"),
    [("even", 1.0), *(pytest.param(w, 8.0, marks=pytest.mark.full) for w in ("five_values", "towns"))],
)
def test_bounds_that_are_far_wider_than_outcomes_scatter_move_no_curve(where, most):
    """Was 5.7 with none inside: models of more scatter than people have took what nobody reaches for cut off."""
    judged, _ = found(World(PLACES[where], wage, OUTCOMES["wide_bounds"]), 30_000, "inputs", REPEATS)
    assert judged.error < most
    assert judged.inside >= INSIDE


def test_counts_of_groups_are_read_by_models_that_scatter_as_little():
    """Was .7, and widened 2.9 times: groups had no model of so little scatter."""
    judged, fits = found(World(PLACES["groups"], wage, OUTCOMES["counts"]), 3000, "outputs", 2)
    assert judged.error < 0.4
    assert judged.inside >= INSIDE
    assert all(fit.fits for fit in fits)


@pytest.mark.parametrize("curve", ["kink", *(pytest.param(c, marks=pytest.mark.full) for c in ("jump", "peak"))])
def test_a_slope_that_changes_is_covered_and_seen(curve):
    world, X = World(PLACES["even"], CURVES[curve], OUTCOMES["normal"]), np.linspace(0.01, 0.99, 61)[:, None]
    few, _ = found(world, 3000, "inputs", REPEATS, X)
    many, _ = found(world, 30_000, "inputs", REPEATS, X)
    assert many.inside >= INSIDE  # .52 for a kink without rough models
    assert many.error < 0.7 * few.error


@pytest.mark.parametrize("where", ["five_values", "even_ages", "one_heap"])
def test_counts_that_must_be_smooth_are_found_out_and_intervals_widened(where, monkeypatch):
    """As before this could be right: the release itself says that it is not, and its intervals hold."""
    monkeypatch.setattr(counts, "ROUGHNESS", (0.0,))
    monkeypatch.setattr(counts, "PLANNED", 0.0)
    monkeypatch.setattr(cells_filter, "ONE_PLACE", False)
    judged, fits = found(World(PLACES[where], wage, OUTCOMES["normal"]), 30_000, "inputs", REPEATS)
    assert not any(fit.fits for fit in fits)
    assert judged.inside >= 0.9

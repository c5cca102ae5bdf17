"""Cells of round numbers, and the interval that is read off their noisy counts."""

import numpy as np
import pytest

from dpgp_core.bounds.buying import Purchase
from dpgp_core.bounds.cells import FALSE_ALARM, RoundCells, alarm, bounding_cells, least_people, passes_alarm, sides_of
from dpgp_core.table import Outcome

SIDES = ("both signs", "0 or more", "above 0")


@pytest.mark.parametrize(("sides", "count"), [*zip(SIDES, (97, 49, 48), strict=True)])
@pytest.mark.parametrize("unit", [1e-18, 1e-9, 0.01, 1.0, 1000.0])
def test_ends_grow_and_are_round(sides, count, unit):
    cells = RoundCells(unit=unit, sides=sides)
    assert cells.count == count
    assert (np.diff(cells.ends) > 0).all()
    assert cells.ends[-1] == pytest.approx(unit * 1e12, rel=1e-15)
    assert cells.interval(0, count - 1) == (cells.ends[0], cells.ends[-1])
    ends = RoundCells(unit=0.01, sides="0 or more").ends  # the nearest numbers to what is written
    assert ends[:8].tolist() == [0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3]


@pytest.mark.parametrize("sides", SIDES)
def test_an_outcome_lies_in_its_cell(sides):
    rng = np.random.default_rng(0)
    cells = RoundCells(unit=0.01, sides=sides)
    sizes = np.concatenate([10 ** rng.uniform(-2, 10, 500), cells.ends[cells.ends > 0], [0.0]])
    y = sizes if sides != "both signs" else np.concatenate([sizes, -sizes])
    found = cells.of(y)
    low, high = cells.ends[found], cells.ends[found + 1]
    inside = (low <= y) & (y <= high)
    assert (inside | (y <= 0.01)).all()
    assert ((y != high) | (np.abs(y) <= 0.01) | (y > 0)).all()  # the larger size of a cell belongs to it
    assert cells.of(np.array([100.0])) == cells.of(np.array([70.0]))


def test_extreme_outcomes_fall_into_the_end_cells():
    both, positive, logs = (RoundCells(unit=1.0, sides=sides) for sides in SIDES)
    y = np.array([0.0, 0.4, 1.0, 1.5, 2.0, 7.0, 1e11, 1e30])
    np.testing.assert_array_equal(both.of(-y), both.count - 1 - both.of(y))  # mirrored
    far = np.array([1e13, 1e300, -1e13, -1e300])
    assert both.of(far).tolist() == [96, 96, 0, 0]
    assert positive.of(far).tolist() == [48, 48, 0, 0]
    assert logs.of(far).tolist() == [47, 47, 0, 0]
    small = np.array([0.0, 1e-300, 0.5, 1.0])
    assert [set(cells.of(small).tolist()) for cells in (both, positive, logs)] == [{48}, {0}, {0}]
    assert logs.interval(0, 0) == (1.0, 2.0)
    assert positive.interval(20, 30)[0] == 0
    assert [sides_of(kind) for kind in ("number", "amount", "count")] == ["both signs", "0 or more", "0 or more"]
    assert sides_of("amount", log=True) == "above 0"


@pytest.mark.parametrize(
    ("sides", "first", "last", "ends"),
    [
        ("both signs", 1, 95, False),
        ("both signs", 0, 95, True),
        ("both signs", 1, 96, True),
        ("0 or more", 0, 47, False),
        ("0 or more", 0, 48, True),
        ("above 0", 0, 46, False),  # small ones do not matter, as declared
        ("above 0", 0, 47, True),
    ],
)
def test_only_the_largest_cells_end_the_scale(sides, first, last, ends):
    assert RoundCells(unit=1.0, sides=sides).reaches_end(first, last) is ends


# ---- The interval from noisy counts: right for outcomes of every shape and size, and rarely far too wide.


NOISE = Purchase(epsilon=1.0, delta=1e-5, unit=1.0, outcome=Outcome(name="y", bounds=(-1e300, 1e300))).counts.noise_sd
SHAPES = {
    "wages": (0.01, "0 or more", lambda rng, n: np.exp(10.3 + 0.6 * rng.standard_normal(n))),
    "heights": (1.0, "both signs", lambda rng, n: rng.normal(150, 25, n)),
    "counts": (1.0, "0 or more", lambda rng, n: rng.poisson(3.0, n).astype(float)),
    "tiny": (1e-10, "both signs", lambda rng, n: 1e-6 * np.exp(rng.standard_normal(n))),
    "profits": (1000.0, "both signs", lambda rng, n: 1e9 * rng.standard_t(3, n)),
    "all equal": (1.0, "both signs", lambda rng, n: np.full(n, 7.0)),
    "all zero": (1.0, "both signs", lambda rng, n: np.zeros(n)),
    "two values": (1.0, "both signs", lambda rng, n: rng.choice([-20.0, 4000.0], n)),
}


def bought(shape, n, seed, noise=True):
    unit, sides, draw = SHAPES[shape]
    cells, rng = RoundCells(unit=unit, sides=sides), np.random.default_rng([n, seed])
    y, sd = draw(rng, n), NOISE
    counts = np.bincount(cells.of(y), minlength=cells.count) + noise * sd * rng.standard_normal(cells.count)
    low, high = cells.interval(*bounding_cells(counts, sd, n, cells.ends))
    return y, low, high


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("n", "outside", "wide"),
    [(1000, 0.08, 30), (20_000, 0.02, 4), pytest.param(1_000_000, 0.015, 2.01, marks=pytest.mark.full)],
)
def test_few_people_are_outside_tight_bounds(shape, n, outside, wide):
    """Of 20 draws with numbered noise: deterministic. The widest of them counts, in ranges of 99 % of outcomes."""
    for seed in range(20 if n < 10**6 else 3):
        y, low, high = bought(shape, n, seed)
        assert ((y < low) | (y > high)).mean() <= outside
        ends = np.quantile(y, [0.005, 0.995])
        size = 2 * max(abs(ends[0]), abs(ends[1]), SHAPES[shape][0])
        assert high - low <= wide * size


@pytest.mark.parametrize("shape", SHAPES)
def test_without_noise_one_per_cent_is_outside(shape):
    y, low, high = bought(shape, 100_000, 0, noise=False)
    assert ((y < low) | (y > high)).mean() <= 0.01
    cells = RoundCells(unit=SHAPES[shape][0], sides=SHAPES[shape][1])
    assert ((y <= low) | (y > cells.ends[cells.ends < high][-1])).mean() > 0.01
    if cells.sides != "0 or more":  # where the low end is known
        assert ((y <= cells.ends[cells.ends > low][0]) | (y > high)).mean() > 0.01


def test_false_alarms_are_as_rare_as_stated():
    """1000 histograms of nobody: at a rate of 1/1000 more than 9 have a chance below 1e-6."""
    rng = np.random.default_rng(0)
    passed = sum(passes_alarm(5 * rng.standard_normal(97), 5.0) for _ in range(1000))
    assert passed <= 9
    assert FALSE_ALARM == 1e-3


def test_distant_people_need_stronger_evidence():
    ends, sd = RoundCells(unit=1.0).ends, 10.0
    alone, beside = np.zeros(97), np.zeros(97)
    alone[[70, 90]] = 500, 0.8 * alarm(97) * sd
    assert bounding_cells(alone, sd, 500, ends) == (69, 71)
    beside[[70, 71]] = 500, 0.8 * alarm(97) * sd
    assert bounding_cells(beside, sd, 500, ends) == (69, 72)
    alone[90] = 1.2 * alarm(97) * sd
    assert bounding_cells(alone, sd, 500, ends) == (69, 91)


def test_gains_and_losses_are_both_found():
    ends, sd, counts = RoundCells(unit=1.0).ends, 10.0, np.zeros(97)
    counts[70:74] = 100.0
    counts[23:27] = 0.9 * 10.0  # 1.8 standard deviations together: no proof of losses
    assert bounding_cells(counts, sd, 400, ends) == (69, 74)
    counts[23:27] = 1.2 * 10.0
    assert bounding_cells(counts, sd, 400, ends) == (22, 74)
    positive = RoundCells(unit=1.0, sides="0 or more").ends
    assert bounding_cells(counts[48:], sd, 400, positive) == (21, 26)


def test_bounds_widen_by_a_cell_only_under_noise():
    ends, counts = RoundCells(unit=1.0).ends, np.zeros(97)
    counts[60:63] = 1e5
    assert bounding_cells(counts, 1.0, 300_000, ends) == (60, 62)
    assert bounding_cells(counts, 2000.0, 300_000, ends) == (59, 63)
    counts[:] = 0
    counts[[0, 96]] = 1e5  # the last cells are the last
    assert bounding_cells(counts, 2000.0, 200_000, ends) == (0, 96)


def test_without_evidence_the_likeliest_cell_is_used():
    ends, counts = RoundCells(unit=1.0).ends, np.zeros(97)
    counts[[40, 56]] = 30.0  # 3 standard deviations each, 4.2 together
    assert not passes_alarm(counts, 10.0)
    assert bounding_cells(counts, 10.0, 60, ends) == (39, 57)
    counts[40] = 0
    assert bounding_cells(counts, 10.0, 60, ends) == (55, 57)


def test_the_required_number_of_people_follows_from_noise():
    sd = NOISE
    assert 200 <= least_people(sd, 97) <= 240
    assert least_people(2 * sd, 97) == pytest.approx(2 * least_people(sd, 97), abs=2)
    assert least_people(sd, 49) < least_people(sd, 97)
    assert least_people(sd, 97) >= 3 * alarm(97) * sd

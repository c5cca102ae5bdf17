"""Buying bounds: what it costs, what one person moves, and what follows from the counts."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpgp_core import BayesCloaking, Ledger, buy_bounds, noise_multiplier
from dpgp_core.accounting.guarantee import OTHER_ROWS, Budget
from dpgp_core.bounds.buying import Purchase, with_bounds_bought
from dpgp_core.measurement.integers import GRID, person_weights
from dpgp_core.mechanisms import LaplaceBinning
from dpgp_core.table import Outcome
from tests.core import tables
from tests.core.replay import assert_same, gaussian_epsilon, gaussian_mu, taped

BUDGET = {"epsilon": 1.0, "delta": 1e-5}
ENDS = (-1e300, -3.0, 0.0, 0.2, 7.0, 1e9, 1e300)


def table(n=400, seed=0, **changes):
    rng = np.random.default_rng(seed)
    X, y = rng.uniform(20, 60, (n, 1)), np.exp(10 + 0.5 * rng.standard_normal(n))
    return tables.changed(tables.table(X, y, y_bounds=(-1e12, 1e12), x_box=((20.0, 60.0),)), **changes)


def asked(sides="both signs", **changes):
    kind, log = {"both signs": ("number", False), "0 or more": ("amount", False), "above 0": ("amount", True)}[sides]
    outcome = Outcome(name="wage", bounds=(0.0, 1e300) if kind == "amount" else (-1e300, 1e300), kind=kind)
    return Purchase(**BUDGET | {"unit": 1.0, "outcome": outcome, "log": log} | changes)


def exact(purchase, y, person=None):
    weights = None if person is None else person_weights(person)
    return np.array(purchase.counts._exact(purchase.cells.of(y), weights), dtype=object)


def squared(one, other):
    return sum(int(each) ** 2 for each in one - other)


@pytest.mark.parametrize("sides", ["both signs", "0 or more", "above 0"])
def test_neighbours_move_counts_within_the_noise(sides):
    """All pairs of a set of outcomes that has every cell and both infinitely far ends, at each place in turn."""
    purchase = asked(sides)
    values = [*ENDS, *purchase.cells.ends[::3], *(purchase.cells.ends[::5] * 1.5)]
    far, limit = 0, purchase.counts.noise.sensitivity**2
    for j in (0, 2):
        y = np.array([5.0, 70.0, -30.0])
        moved = [exact(purchase, np.where(np.arange(3) == j, value, y)) for value in values]
        far = max(far, max(squared(one, other) for one in moved for other in moved))
    assert far <= limit
    assert far == 2 * GRID**2  # reached


@pytest.mark.parametrize("seed", range(3))
def test_all_rows_of_a_person_stay_within_noise(seed):
    """1, 2, 3, 7 and 50 rows against any number of any others; corners of the hull are reached."""
    rng, purchase = np.random.default_rng(seed), asked(people=True)
    limit = purchase.counts.noise.sensitivity**2
    others = np.array([5.0, 70.0, -30.0, 5.5]), np.array([1, 1, 2, 3])

    def beside(rows):
        y, person = np.concatenate([others[0], rows]), np.concatenate([others[1], np.zeros(len(rows), dtype=int)])
        return exact(purchase, y, person)

    rows = [rng.choice(ENDS, m) for m in (1, 2, 3, 7, 50) for _ in range(4)]
    sums = [beside(each) for each in [*rows, *(np.full(m, end) for m in (1, 50) for end in ENDS)]]
    far = max(squared(one, other) for one in sums for other in sums)
    assert far <= limit
    assert far == 2 * GRID**4
    assert all(sum(each) == 4 * GRID**2 for each in sums)  # everybody counts once


@pytest.mark.parametrize("people", [False, True])
def test_counts_and_rest_divide_the_budget(people):
    """From every integer that noise was added to, counts and stages together, as one person is replaced."""
    data = table(person=np.repeat(np.arange(200), 2) if people else None)
    own = np.arange(400) < (2 if people else 1)
    neighbour = replace(data, y=np.where(own, 1e12, data.y))
    mechanism_at = np.linspace(20, 60, 5)[:, None]

    def both(each):
        bought = buy_bounds(each, 1.0, epsilon=4.0, delta=1e-5)
        mechanism = BayesCloaking(
            epsilon=bought.rest.epsilon, delta=bought.rest.delta, protects="inputs and outputs", stages=2
        )
        return bought, mechanism.release(bought.dataset, mechanism_at)

    with taped() as first:
        before, release = both(data)
    with taped(first) as second:
        after, again = both(neighbour)
    assert_same(before.counts, after.counts)
    assert before.interval == after.interval
    assert_same(release.samples, again.samples)
    assert gaussian_epsilon(gaussian_mu(second), 1e-5) <= 4.0 * (1 + 1e-6)
    counted = first.calls[0]
    moved = [a - b for a, b in zip(counted.exact, second.calls[0].exact, strict=True)]
    mu = math.sqrt(sum(each**2 for each in moved) / counted.parameter)
    assert mu == pytest.approx(math.sqrt(0.1) / noise_multiplier(4.0, 1e-5), rel=1e-5)


def test_counts_and_rest_together_have_the_budget():
    bought = buy_bounds(table(), 0.01, **BUDGET)
    rest = BayesCloaking(epsilon=bought.rest.epsilon, delta=bought.rest.delta)
    both = bought.together(rest.guarantee)
    assert both.budget.epsilon == pytest.approx(1.0, rel=1e-9)
    assert both.loss.mu == pytest.approx(1 / noise_multiplier(1.0, 1e-5), rel=1e-9)
    assert "noisy counts" in both.theorem
    ledger = Ledger(limit=Budget(epsilon=1.0, delta=1e-5))
    ledger.spend([("wages", both)])
    assert ledger.epsilon_left() < 0.01
    with pytest.raises(ValueError, match="Gaussian noise only"):
        bought.together(LaplaceBinning(epsilon=1.0, bins=3).guarantee)


def test_real_noise_is_fresh_each_time():
    data = table()
    one, other = buy_bounds(data, 0.01, **BUDGET), buy_bounds(data, 0.01, **BUDGET)
    assert (one.counts != other.counts).any()
    true = np.bincount(one.purchase.cells.of(data.y), minlength=97)
    noise = (one.counts - true) * GRID
    assert (noise == np.rint(noise)).all()  # whole steps
    # variance of 194 normal numbers: beyond [.5, 1.7] with a chance below 1e-6
    both = np.concatenate([one.counts - true, other.counts - true])
    assert 0.5 <= both.var() / one.purchase.counts.noise_sd**2 <= 1.7


def test_the_data_set_is_ready_for_the_rest():
    data = table(n=2000)
    bought = buy_bounds(data, 0.01, **BUDGET, rng=np.random.default_rng(0))
    low, high = bought.interval
    assert ((data.y < low) | (data.y > high)).mean() < 0.02
    assert high <= 1e6
    assert bought.dataset.y_bounds == bought.interval
    assert bought.dataset.output_range == 4 * bought.dataset.y_scale
    assert "bought" in bought.dataset.bounds_reason
    np.testing.assert_array_equal(bought.dataset.y, data.y)
    assert bought.clear


def test_bought_bounds_respect_kind_and_declared_bounds():
    amounts = table(y_kind="amount", y_bounds=(0.0, 1e12))
    bought = buy_bounds(amounts, 0.01, **BUDGET)
    assert len(bought.counts) == 49
    assert bought.interval[0] == 0
    within = buy_bounds(table(y_bounds=(100.0, 30_000.0)), 0.01, **BUDGET)
    assert within.interval[0] >= 100
    assert within.interval[1] <= 30_000
    nowhere = buy_bounds(table(y_bounds=(-9.0, -8.0)), 0.01, **BUDGET, rng=np.random.default_rng(0))
    assert nowhere.interval == (-9.0, -8.0)
    logs = buy_bounds(table(), 0.01, **BUDGET, log=True)
    assert logs.interval[0] >= 0.01
    assert len(logs.counts) == 48


def test_people_count_and_not_rows():
    """250 people in 500 rows are enough, 150 in 600 are not; a person of many rows does not weigh more."""
    assert buy_bounds(table(500, person=np.repeat(np.arange(250), 2)), 0.01, **BUDGET).dataset.people == 250
    with pytest.raises(ValueError, match="bounds of 150 people are not to be had"):
        buy_bounds(table(600, person=np.repeat(np.arange(150), 4)), 0.01, **BUDGET)
    y, person = np.append(np.full(999, 15.0), np.full(400, 9e9)), np.append(np.arange(999), np.full(400, 1000))
    one = table(len(y), y=y, person=person)
    bought = buy_bounds(one, 1.0, epsilon=5.0, delta=1e-5, rng=np.random.default_rng(0))
    assert bought.interval[1] < 100


# ---- What buying bounds costs: two parts that are exactly the whole, and a rule that depends on public numbers alone.


ASKED = {"epsilon": 1.0, "delta": 1e-5, "unit": 1.0, "outcome": Outcome(name="wage", bounds=(-1e300, 1e300))}


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 8.0, 90.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 1e-3])
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
def test_both_parts_are_exactly_the_whole(epsilon, delta, share):
    purchase = Purchase(**ASKED | {"epsilon": epsilon, "delta": delta, "share": share})
    whole = 1 / noise_multiplier(epsilon, delta)
    rest = 1 / noise_multiplier(purchase.rest.epsilon, delta)
    assert math.hypot(1 / purchase.multiplier, rest) == pytest.approx(whole, rel=1e-9)
    assert 1 / purchase.multiplier**2 == pytest.approx(share * whole**2, rel=1e-12)
    assert purchase.rest.delta == delta
    assert purchase.rest.epsilon < epsilon


def test_noise_covers_the_root_of_two():
    for people in (False, True):
        purchase = Purchase(**ASKED, people=people)
        counts = purchase.counts
        step = 2.0**20 if people else 1.0
        assert counts.noise.sensitivity >= math.sqrt(2) * 2**20 * step
        assert counts.noise.sensitivity <= (math.sqrt(2) * 2**20 + 1) * step
        assert counts.noise_sd == pytest.approx(math.sqrt(2) * purchase.multiplier, rel=1e-5)


def test_too_few_people_are_refused_with_a_number():
    purchase = Purchase(**ASKED)
    purchase.check(purchase.least)
    few = purchase.least - 1
    with pytest.raises(ValueError, match=f"bounds of {few} people are not to be had .* {few + 1} people are needed"):
        purchase.check(few)


def test_counts_are_guaranteed_to_rows_or_people():
    purchase = Purchase(**ASKED)
    card = purchase.guarantee("one person's weight")
    assert card.loss.mu == pytest.approx(1 / purchase.multiplier)
    assert card.unit == "one person's weight"
    assert OTHER_ROWS in card.not_covered
    people = Purchase(**ASKED, people=True).guarantee("one person's weight")
    assert "all rows of one person" in people.neighbours
    assert OTHER_ROWS not in people.not_covered


@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
def test_the_whole_says_where_its_bounds_are_from(protects):
    card = with_bounds_bought(BayesCloaking(epsilon=1.0, delta=1e-5, protects=protects).guarantee)
    assert card.theorem.startswith("noisy counts of outcomes")
    said = "; ".join(card.assumptions)
    assert "bounds that follow from noisy counts" in said
    assert "bounds declared without looking" not in said
    assert "outputs to bounds" not in said
    assert ("inputs are clipped to a box declared" in said) == (protects == "inputs and outputs")

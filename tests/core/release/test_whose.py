"""Whose rows a table holds, from the declaration to the zip: people with several rows, and what never tells of them."""

import io
import json

import numpy as np
import pytest

from dpgp_core.release import CHOICES, expected_half_widths, plan_release, publish, read_table
from tests.core.release.worlds import make_spec, make_zip

YES_NO = {"y_kind": "yes/no", "y_bounds": (0, 1), "y_unit": ""}  # one stage: quick
BUDGETS = {"epsilon": 2.0, "delta": 0.01, "total_epsilon": 4.0} | YES_NO


def rows_of(people, rows, seed=0):
    """A table of so many people with so many rows each; names are marked."""
    rng = np.random.default_rng(seed)
    ages = rng.uniform(0, 90, people * rows)
    written = (f"{age:.2f},MARK{at % people},{rng.integers(2)}\n" for at, age in enumerate(ages))
    return ("age,who,height\n" + "".join(written)).encode()


def planned(spec, table):
    data = read_table(io.BytesIO(table), spec)
    return data, plan_release(spec, data.X, data.person)


@pytest.mark.parametrize("mechanism", [pytest.param("bayes", marks=pytest.mark.full), "bayes_cells"])
def test_the_column_of_persons_is_not_released(mechanism):
    spec = make_spec(mechanism=mechanism, person="who", **BUDGETS)
    files = make_zip(spec, rows_of(30, 3))
    card = json.loads(files["release.json"])
    assert (card["guarantee"]["rows"], card["guarantee"]["person"]) == (None, "who")
    assert "all rows of one person" in card["guarantee"]["neighbours"]
    assert card["public"]["n"] == 30
    page = files["card.html"].decode()
    assert "all rows of any one person" in page
    assert "whether the rows of one person were replaced" in page
    assert "predicted from 30 people" in page
    assert not any(b"MARK" in content for content in files.values())
    assert b"who" not in files["values.csv"]


def test_private_plans_know_only_the_number_of_people():
    """Equal people with 2 rows or 40 each: whatever is made before something is paid for is the same, to the bit."""
    spec = make_spec(mechanism="bayes_cells", person="who", **BUDGETS)
    (few, one), (many, other) = (planned(spec, rows_of(25, rows, seed=rows)) for rows in (2, 40))
    assert (few.n, many.n) == (50, 1000)
    for plan in (one, other):
        assert (plan.X, plan.person, plan.half_width) == (None, None, None)
    assert one.step == other.step
    assert one.plan.counts is other.plan.counts is None
    assert (one.plan.filtered.n, one.plan.people) == (other.plan.filtered.n, other.plan.people) == (25, True)


@pytest.mark.full
def test_outlook_and_card_know_no_more_either():
    spec = make_spec(mechanism="bayes_cells", person="who", **BUDGETS)
    plans = [planned(spec, rows_of(25, rows, seed=rows))[1] for rows in (2, 40)]
    np.testing.assert_array_equal(*(expected_half_widths(plan, [1.0]) for plan in plans))
    cards = [json.loads(make_zip(spec, rows_of(25, rows))["release.json"]) for rows in (2, 40)]
    for card in cards:
        del card["sha256"], card["statistics"], card["fit"]  # of what was paid for
        card["values"].pop("within_tolerance", None)
    assert cards[0] == cards[1]


def test_how_many_rows_people_have_refuses_nothing(monkeypatch):
    """Twenty people of seven rows each, where 20 rows are the limit; one person, of however many rows, is too few."""
    spec = make_spec(mechanism="bayes_cells", person="who", **BUDGETS)
    monkeypatch.setattr(CHOICES["bayes_cells"].kind, "rows_for", lambda *_: 20)
    data, plan = planned(spec, rows_of(20, 7))
    assert publish(plan, data).n == 20
    for people in (21, 22):
        with pytest.raises(ValueError, match=r"more than 20 people|21 different people .*; it needs 2 \.\.\. 20"):
            read_table(io.BytesIO(rows_of(people, 7)), spec)
    for rows in (1, 2, 9):
        with pytest.raises(ValueError, match="has 1 different people below its header; it needs 2"):
            read_table(io.BytesIO(rows_of(1, rows)), spec)


def test_no_message_reveals_the_number_of_rows(monkeypatch):
    spec = make_spec(mechanism="bayes_cells", person="who", **BUDGETS)
    data, plan = planned(spec, rows_of(25, 7))
    few = read_table(io.BytesIO(rows_of(24, 7)), spec)
    with pytest.raises(ValueError, match="another number of records") as wrong:
        publish(plan, few)
    monkeypatch.setattr(CHOICES["bayes_cells"].kind, "rows_for", lambda *_: 10)
    with pytest.raises(ValueError, match="at most 10 people of 1 inputs, got 25; use") as full:
        plan_release(spec, data.X, data.person)
    assert "175" not in f"{wrong.value} {full.value}"


def test_public_plans_belong_to_their_people():
    spec = make_spec(mechanism="bayes", person="who", **BUDGETS)
    data, plan = planned(spec, rows_of(12, 3))
    assert plan.person is not None
    moved = read_table(io.BytesIO(rows_of(12, 3).replace(b"MARK11", b"MARK10")), spec)
    with pytest.raises(ValueError, match="other inputs"):
        publish(plan, moved)
    assert publish(plan, data).n == 12


@pytest.mark.parametrize("mechanism", CHOICES)
def test_noise_for_k_rows(mechanism):
    spec = make_spec(mechanism=mechanism, rows_per_person=4)
    assert spec.guarantee.rows == 4
    assert spec.guarantee.budget == make_spec(mechanism=mechanism).guarantee.budget
    assert spec.guarantee.proven_epsilon <= spec.epsilon
    own, one = spec.built.guarantee.loss, make_spec(mechanism=mechanism).built.guarantee.loss
    ratio = one.pure_epsilon / own.pure_epsilon if spec.choice.kind.pure else one.mu / own.mu
    assert ratio == pytest.approx(4, rel=1e-8)
    assert spec.new_ledger().epsilon_left() == make_spec(mechanism=mechanism).new_ledger().epsilon_left()


def test_k_rows_are_said_in_the_zip():
    spec = make_spec(rows_per_person=4, **YES_NO)
    files = make_zip(spec, rows_of(20, 2))
    card = json.loads(files["release.json"])
    assert (card["guarantee"]["rows"], card["public"]["n"]) == (4, 40)
    told = card["statistics"]["guarantee"]  # not the promise to one row, which the numbers were measured for
    assert (told["epsilon"], told["delta"]) == (spec.epsilon, spec.delta)
    assert "at most 4 rows" in told["neighbours"]
    assert "up to 4 rows of any one person" in files["card.html"].decode()
    assert b"MARK" not in b"".join(files.values())  # a column that nobody named is not read


def test_table_and_declaration_agree_about_people():
    spec = make_spec(mechanism="bayes_cells", person="who", **BUDGETS)
    rows = read_table(io.BytesIO(rows_of(9, 2)), make_spec(mechanism="bayes_cells", **BUDGETS))
    with pytest.raises(ValueError, match="differ in person"):
        publish(plan_release(spec, rows.X), rows)

"""Which rows are complete is public, and the promise says so; nothing else tells neighbours apart.

Neighbours are replayed with the same noisy numbers, from the table to the bytes of the zip.
"""

import io
import json

import numpy as np
import pytest

from dpgp_core.accounting.guarantee import COMPLETE_PEOPLE, COMPLETE_ROWS
from dpgp_core.reading.writing import Writing
from dpgp_core.release import bundle, plan_release, publish, read_table
from dpgp_core.release.check import load
from dpgp_core.release.json_text import ledger_from_json
from tests.core.release.worlds import make_spec, unzipped
from tests.core.replay import taped

WORDS = Writing(missing=[], yes="yes", no="no")
NUMBERS = Writing(missing=[])
BUDGETS = {"epsilon": 2.0, "delta": 0.01, "total_epsilon": 4.0}
YES_NO = {"y_kind": "yes/no", "y_bounds": (0, 1), "y_unit": "", "writing": WORDS} | BUDGETS
PEOPLE = {"person": "who"} | YES_NO
AGES = [float(5 + 3 * (at % 25)) for at in range(60)]


def rows(people=20):
    """Three rows of each person: who, age, answer; one row is incomplete and one names nobody."""
    found = [[f"p{at % people}", f"{AGES[at]}", "yes" if at % 3 else "no"] for at in range(60)]
    found[7][2], found[9][0] = "", ""
    return found


def table(found):
    return ("who,age,height\n" + "".join(",".join(row) + "\n" for row in found)).encode()


def changed(found, line, column, cell):
    return [[cell if (at, i) == (line, column) else each for i, each in enumerate(row)] for at, row in enumerate(found)]


def zipped(spec, found):
    """The zip of a release of some rows."""
    data = read_table(io.BytesIO(table(found)), spec)
    ledger = spec.new_ledger()
    ledger.spend([("a release", spec.guarantee)])
    return bundle(publish(plan_release(spec, data.X, data.person), data), ledger)


def replayed(spec, found, other):
    """Zips of two tables, the second with the noisy numbers of the first."""
    with taped(rng=np.random.default_rng(1)) as tape:
        one = zipped(spec, found)
    with taped(tape):
        return one, zipped(spec, other)


def card_of(content):
    return json.loads(unzipped(content)["release.json"])


BY_ROWS = make_spec(mechanism="bayes_cells", **YES_NO)
TO_PEOPLE = make_spec(mechanism="bayes_cells", **PEOPLE)
PUBLIC_PEOPLE = make_spec(mechanism="bayes", **PEOPLE)


@pytest.mark.parametrize("spec", [BY_ROWS, TO_PEOPLE, PUBLIC_PEOPLE], ids=["rows", "people", "people, public inputs"])
def test_replacing_complete_records_changes_no_byte(spec):
    found = rows()
    one, other = replayed(spec, found, changed(found, 11, 2, "yes" if found[11][2] == "no" else "no"))
    assert one == other


@pytest.mark.parametrize("cell", ["", "inconclusive"])
def test_private_inputs_hide_incomplete_rows_of_people(cell):
    """Another row of the same person is complete, so the person still has one."""
    found = rows()
    one, other = replayed(TO_PEOPLE, found, changed(found, 11, 2, cell))
    assert one == other


def test_public_inputs_reveal_the_stated_incomplete_rows():
    found = rows()
    one, other = (card_of(zipped(PUBLIC_PEOPLE, each)) for each in (found, changed(found, 11, 2, "")))
    assert [each["public"]["rows_left_out"] for each in (one, other)] == [2, 3]
    for each in (one, other):
        assert (each["public"]["n"], each["public"]["left_out"]) == (20, 0)
        assert COMPLETE_ROWS in each["guarantee"]["assumptions"]
    del one["public"]["rows_left_out"], other["public"]["rows_left_out"]
    for each in (one, other):  # of what noise was added to, and of what is planned for the places of complete rows
        for name in ("sha256", "statistics", "fit", "values"):
            del each[name]
    assert one == other


def test_one_missing_outcome_changes_the_stated_number():
    found = rows()
    one, other = (card_of(zipped(BY_ROWS, each)) for each in (found, changed(found, 11, 2, "inconclusive")))
    assert [each["public"]["n"] for each in (one, other)] == [59, 58]
    assert [each["public"]["left_out"] for each in (one, other)] == [1, 2]
    for each in (one, other):
        assert COMPLETE_ROWS in each["guarantee"]["assumptions"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"mechanism": "refined", "writing": NUMBERS}, COMPLETE_ROWS),
        ({"mechanism": "refined", **YES_NO, "writing": Writing(yes="y", no="n")}, COMPLETE_ROWS),
        ({"mechanism": "bayes", "person": "who", "writing": NUMBERS}, COMPLETE_ROWS),
        ({"mechanism": "bayes_cells", "person": "who", "writing": NUMBERS}, COMPLETE_PEOPLE),
        ({"mechanism": "refined", "rows_per_person": 3, "writing": NUMBERS}, COMPLETE_ROWS),
        ({"mechanism": "bayes_cells"}, None),
    ],
)
def test_the_guarantee_states_what_completeness_reveals(changes, sentence):
    found = [each for each in make_spec(**changes).guarantee.assumptions if "complete" in each]
    assert found == ([] if sentence is None else [sentence])


@pytest.mark.parametrize(("spec", "left_out"), [(TO_PEOPLE, 1), (PUBLIC_PEOPLE, 2)], ids=["private", "public"])
def test_card_ledger_and_load_state_incomplete_rows(spec, left_out, tmp_path):
    """Rows that name nobody are counted where others are."""
    content = zipped(spec, rows())
    (tmp_path / "release.zip").write_bytes(content)
    sentence = COMPLETE_PEOPLE if spec is TO_PEOPLE else COMPLETE_ROWS
    files = unzipped(content)
    page, card, release = files["card.html"].decode(), files["release.json"], load(tmp_path / "release.zip")
    assert sentence.replace("'", "&#x27;") in page
    assert f"n = 20 people, {left_out} row{'s' * (left_out > 1)} left out" in page
    [(_, guarantee)] = ledger_from_json(card).entries
    assert sentence in guarantee.assumptions
    assert sentence in release.guarantee.assumptions
    assert (release.left_out, release.rows_left_out) == (0, left_out)


def test_the_card_names_the_notations_that_were_read():
    spec = make_spec(mechanism="refined", writing=Writing(notations=["censored"]))
    content = b"age,height\n" + b"".join(b"%d,%d\n" % (at, 90 + at) for at in range(30)) + b"40,180+\n"
    data = read_table(io.BytesIO(content), spec)
    assert data.y.max() == 180
    ledger = spec.new_ledger()
    ledger.spend([("a release", spec.guarantee)])
    files = unzipped(bundle(publish(plan_release(spec, data.X, data.person), data), ledger))
    assert "censored values, such as &lt;5 or 80+, which count as their limit" in files["card.html"].decode()
    assert json.loads(files["release.json"])["config"]["notations"] == ["censored"]


def test_a_public_part_keeps_no_private_notice():
    spec = make_spec(mechanism="bayes_cells", x_box=((1000.0, 1100.0),))
    data = read_table(io.BytesIO(b"age,height\n1,99\n2,98\n"), spec)
    assert data.notices[0].rows == 2
    assert data.public_part().notices == ()

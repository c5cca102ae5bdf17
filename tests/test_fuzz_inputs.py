"""Bad tables, configurations, ledgers and arguments by the hundred; tests/fuzz_inputs.py runs them by the thousand."""

import pytest

from tests.fuzz_inputs import CONFIGS, KINDS, LOOKED, MAY_SUCCEED, MUTATED, fuzz, report
from tests.fuzz_tables import TABLES

EACH = 33


@pytest.mark.full_for(
    "a thousand to a million columns",
    "a wrong ledger",
    "another ledger",
    "compressed or another format",
    "extreme settings",
    "huge field",
    "mutated files of every kind",
    "outcomes of another kind",
    "too many rows",
)
@pytest.mark.parametrize("kind", KINDS)
def test_every_bad_input_is_refused_with_a_sentence(kind):
    codes, problems, slowest = fuzz(EACH, seed=KINDS.index(kind), kinds=[kind])
    assert problems == [], report(codes, problems, slowest)
    assert codes[kind].total() == EACH
    if kind not in MAY_SUCCEED:
        assert codes[kind][0] == 0


def test_there_are_enough_kinds_and_inputs():
    assert len(TABLES) >= 20
    assert len(CONFIGS) >= 15
    assert EACH * len(KINDS) >= 1500


def test_a_problem_would_be_seen(monkeypatch):
    monkeypatch.setitem(TABLES, "no problem at all", lambda rng: b"age,height\n1,150\n2,160\n")
    _, problems, _ = fuzz(1, seed=0, kinds=["no problem at all"])
    assert "exit code 0" in problems[0][1]


@pytest.mark.full
def test_ten_thousand_mutated_files_leave_no_traceback_and_show_no_cell():
    codes, problems, slowest = fuzz(10_000, seed=22, kinds=[MUTATED, LOOKED])
    assert problems == [], report(codes, problems, slowest)
    assert min(codes[MUTATED][0], codes[MUTATED][3]) > 500  # some are still tables, most are not
    assert max(slowest.values()) < 10

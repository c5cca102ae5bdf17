import threading
import time

import pytest

from dpgp_core.accounting.guarantee import ONE_OUTPUT, Budget, Guarantee
from dpgp_core.accounting.ledger import BudgetExceeded, Ledger
from dpgp_core.accounting.losses import GaussianLoss
from pages._ui.serve.visitors import Visitors
from pages._ui.visitor import well_formed

A, B, C = ("a" * 22, "b" * 32, "c" * 64)
GUARANTEE = Guarantee(
    budget=Budget(epsilon=1.0, delta=0.01),
    loss=GaussianLoss(0.5),
    protects="outputs",
    neighbours=ONE_OUTPUT,
    unit="one value",
    theorem="made up",
    assumptions=(),
    not_covered=(),
)


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def spend(visitors, token):
    with visitors.open(token) as record:
        record.ledger.spend([("a release", GUARANTEE)])


@pytest.mark.parametrize("token", [A, B, C, "-_" * 11])
def test_tokens_of_128_bits_and_more_are_well_formed(token):
    assert well_formed(token)


@pytest.mark.parametrize(
    "token", [None, "", "a" * 21, "a" * 65, "a" * 21 + "\n", "a" * 22 + "\n", "a" * 21 + ";", "é" * 22]
)
def test_anything_else_is_not(token):
    assert not well_formed(token)
    if token is not None:
        with pytest.raises(ValueError, match="22 to 64"), Visitors().open(token):
            pass


def test_issued_tokens_differ_are_well_formed_and_known():
    visitors = Visitors()
    tokens = {visitors.issue() for _ in range(100)}
    assert len(tokens) == 100
    assert all(well_formed(token) and visitors.known(token) for token in tokens)


def test_a_proposal_is_taken_only_if_well_formed():
    visitors = Visitors()
    assert visitors.issue(B) == B
    assert visitors.known(B)
    other = visitors.issue("short")
    assert other != "short"
    assert well_formed(other)
    assert not visitors.known("short")


def test_a_token_from_elsewhere_is_unknown_until_it_is_opened():
    visitors = Visitors()
    assert not visitors.known(A)
    assert not visitors.known(None)
    with visitors.open(A) as record:
        assert record.ledger == Ledger()
    assert visitors.known(A)


def test_the_ledger_is_the_same_next_time_and_nobody_elses():
    visitors = Visitors()
    spend(visitors, A)
    spend(visitors, A)
    with visitors.open(A) as record:
        assert len(record.ledger.entries) == 2
        first_heard = record.since
    with visitors.open(B) as record:
        assert record.ledger.entries == []
        assert record.since >= first_heard


def test_another_process_knows_nothing():
    here, elsewhere = Visitors(), Visitors()
    token = here.issue()
    spend(here, token)
    assert not elsewhere.known(token)


def test_the_idle_are_forgotten_and_use_keeps_a_record():
    clock = Clock()
    visitors = Visitors(idle_seconds=100, clock=clock)
    spend(visitors, A)
    visitors.issue(B)
    clock.now = 60
    with visitors.open(A):
        pass
    clock.now = 120
    assert visitors.known(A)
    assert not visitors.known(B)
    clock.now = 161
    assert not visitors.known(A)
    assert len(visitors) == 0
    with visitors.open(A) as record:
        assert record.ledger.entries == []


def test_the_store_is_bounded_and_drops_the_least_recently_used():
    visitors = Visitors(max_entries=2)
    for token in (A, B):
        spend(visitors, token)
    with visitors.open(A):
        pass
    spend(visitors, C)
    assert [visitors.known(token) for token in (A, B, C)] == [True, False, True]
    assert len(visitors) == 2


def test_page_loads_without_cookies_push_out_no_ledger():
    visitors = Visitors(max_entries=5)
    spend(visitors, A)
    for _ in range(50):
        visitors.issue()
    assert len(visitors) == 5
    with visitors.open(A) as record:
        assert len(record.ledger.entries) == 1


def test_two_tabs_together_cannot_pass_the_limit():
    visitors = Visitors()
    # as many as one release allows: each of them alone would pass
    with visitors.open(A) as record:
        record.ledger.limit = Budget(epsilon=GUARANTEE.loss.epsilon(0.01) * 1.01, delta=0.01)
    refused, start = [], threading.Barrier(8)

    def tab():
        start.wait()
        try:
            with visitors.open(A) as record:
                spent = list(record.ledger.entries)
                time.sleep(0.01)  # another tab would slip in here
                assert record.ledger.entries == spent
                record.ledger.spend([("a release", GUARANTEE)])
        except BudgetExceeded:
            refused.append(1)

    threads = [threading.Thread(target=tab) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with visitors.open(A) as record:
        assert len(record.ledger.entries) == 1
    assert len(refused) == 7


@pytest.mark.parametrize("limits", [{"max_entries": 0}, {"idle_seconds": 0}, {"idle_seconds": float("nan")}])
def test_limits_out_of_range_are_refused(limits):
    with pytest.raises(ValueError, match="must be positive"):
        Visitors(**limits)

"""What every ledger promises: in a file, in SQLite, and in PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from dpgp_core.accounting.guarantee import Budget
from dpgp_core.accounting.ledger import BudgetExceeded, Ledger, MixedProtection, MixedRows
from dpgp_core.accounting.losses import ApproximateLoss, GaussianLoss, PureLoss, compose
from dpgp_core.release import ledger_file
from dpgp_core.release.json_text import MAX_ENTRIES
from pages._ui.ledgers import store as database_store
from tests.ledgers.stores import LIMIT, NO_LIMIT, ONE

MOST = max(n for n in range(1, 50) if compose([ONE.loss] * n, LIMIT.delta) <= LIMIT.epsilon)  # that the total allows


def test_every_privacy_loss_is_read_again_unchanged(store):
    for loss in (GaussianLoss(0.25), PureLoss(0.5), PureLoss(0.5, 0.03, 3), ApproximateLoss(0.4, 1e-6, 2)):
        promise = replace(ONE, loss=loss, budget=Budget(epsilon=loss.epsilon(0.01), delta=0.01))
        now = store.spend(promise, NO_LIMIT)
        assert now == store.ledger()
        assert now.entries[-1][1] == promise
    assert (len(now.entries), now.limit) == (4, NO_LIMIT)


def test_the_total_is_enforced_and_refusals_change_nothing(store, tmp_path):
    with pytest.raises(BudgetExceeded):
        store.spend(limit=Budget(epsilon=0.1, delta=0.01))
    assert store.ledger() == Ledger()
    assert not (tmp_path / "ledger.json").exists()
    for _ in range(MOST):
        store.spend()
    before = store.ledger()
    with pytest.raises(BudgetExceeded, match=r"above the declared 1\.5\. 1\.\d+ is spent and nothing was released"):
        store.spend()
    with pytest.raises(ValueError, match=r"declares another total|the total was declared as 1\.5 and stays so, got 9"):
        store.spend(limit=Budget(epsilon=9.0, delta=0.01))
    assert store.ledger() == before
    assert len(before.entries) == MOST


def test_a_full_ledger_is_refused(store, monkeypatch):
    for module in (ledger_file, database_store):
        monkeypatch.setattr(module, "MAX_ENTRIES", 3)
    for _ in range(3):
        store.spend(limit=NO_LIMIT)
    with pytest.raises(BudgetExceeded, match="is full: it has 3 entries"):
        store.spend(limit=NO_LIMIT)
    assert MAX_ENTRIES == 100


def test_protections_mix_only_after_inputs_are_declared_public(store):
    both = replace(ONE, protects="inputs and outputs")
    store.spend()
    with pytest.raises(MixedProtection):
        store.spend(both)
    store.declare_inputs_public()
    assert store.spend(both).inputs_public
    assert store.ledger().inputs_public
    assert len(store.ledger().entries) == 3


def test_people_are_counted_by_one_column(store):
    named, by_name, by_school = (replace(ONE, rows=None, person=column) for column in ("", "name", "school"))
    store.spend(named, NO_LIMIT)  # before columns had names in files
    store.spend(by_name, NO_LIMIT)
    with pytest.raises(MixedRows, match="'name' and releases in which 'school' identifies the person of each row"):
        store.spend(by_school, NO_LIMIT)
    for rows in (1, 2):
        with pytest.raises(MixedRows, match="would not be a valid guarantee"):
            store.spend(replace(ONE, rows=rows), NO_LIMIT)
    store.begin_anew()
    store.spend(replace(ONE, rows=3), NO_LIMIT)
    with pytest.raises(MixedRows, match="would not be a valid guarantee"):
        store.spend(replace(ONE, rows=2), NO_LIMIT)
    assert len(store.ledger().entries) == 1


def test_releases_at_once_never_count_too_little(store):
    """By two replicas and many browsers, where it is in a database."""
    store.spend()
    spenders = store.spenders()

    def one(number):
        try:
            spenders[number % 8]()
        except BudgetExceeded:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        made = sum(pool.map(one, range(24)))
    assert 1 + made == len(store.ledger().entries) == MOST

"""One ledger as rows of the database: what is read of it, what is written, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace

from dpgp_core.accounting.guarantee import Budget, Guarantee
from dpgp_core.accounting.ledger import BudgetExceeded, Ledger
from dpgp_core.release.json_text import MAX_ENTRIES, entry_to_object, ledger_from_object, ledger_to_object
from pages._ui.ledgers.database import LedgerUnavailable, Run

_LETTERS = 1000  # of an owner's reasons


class TableKnown(ValueError):
    """A release was refused because another ledger counts the same table."""


def head_of(ledger: Ledger) -> str:
    """All of a ledger but its releases."""
    return json.dumps(ledger_to_object(replace(ledger, entries=[])))


def loaded(run: Run, id: str) -> Ledger:
    """A ledger as it was counted. Raises LedgerUnavailable if a part of it is missing or unreadable."""
    [[head]] = run("SELECT head FROM ledgers WHERE id = ?", id)
    rows = run("SELECT number, entry FROM releases WHERE ledger = ? ORDER BY number", id)
    try:
        if [row[0] for row in rows] != list(range(1, len(rows) + 1)):
            raise ValueError("a release is missing")
        return ledger_from_object({**json.loads(head), "entries": [json.loads(row[1]) for row in rows]})
    except ValueError as error:
        raise LedgerUnavailable(
            f"this ledger is damaged ({error}); nothing was released. Ask whoever runs this server for its backup"
        ) from None


def count(run: Run, id: str, number: int, entry: tuple[str, Guarantee]) -> None:
    """Write a release into its ledger."""
    text = json.dumps(entry_to_object(*entry), allow_nan=False)
    run("INSERT INTO releases (ledger, number, entry) VALUES (?, ?, ?)", id, number, text)


def begin_again(ledger: Ledger, because: str) -> None:
    """Record why a table is counted from zero; raise TableKnown without a reason."""
    reason = " ".join(because.split())
    if not reason:
        raise TableKnown(
            "another ledger counts releases of this very table, and beginning again would hide what they cost. Go on "
            "with that ledger, or say why its count does not matter: the reason will be on the release's card"
        )
    said = f"{ledger.begun_again}; {reason}".removeprefix("; ")
    if len(said) > _LETTERS or not said.isprintable():
        raise ValueError(f"all reasons of a ledger must be a line of at most {_LETTERS} letters, got {len(said)}")
    ledger.begun_again = said


def spend(ledger: Ledger, entry: tuple[str, Guarantee], limit: Budget) -> None:
    """Spend under the total that was declared.

    Raises ValueError for another total, BudgetExceeded, MixedProtection, MixedRows.
    """
    if ledger.limit is None or ledger.limit.epsilon != limit.epsilon:
        declared = "none" if ledger.limit is None else f"{ledger.limit.epsilon:g}"
        raise ValueError(f"the total was declared as {declared} and stays so, got {limit.epsilon:g}")
    if len(ledger.entries) >= MAX_ENTRIES:
        raise BudgetExceeded(f"the ledger is full: it has {MAX_ENTRIES} entries")
    ledger.spend([entry])

"""What the ledgers need of a database: tables, and transactions that are on the disk when they have ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

Run = Callable[..., list[Sequence[Any]]]  # a statement with its values for each "?"; answers with rows

SCHEMA = (
    "CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS ledgers (id TEXT PRIMARY KEY, owner TEXT NOT NULL UNIQUE, head TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS releases (ledger TEXT NOT NULL REFERENCES ledgers (id), number INTEGER NOT NULL, "
    "entry TEXT NOT NULL, PRIMARY KEY (ledger, number))",
    "CREATE TABLE IF NOT EXISTS seen (digest TEXT NOT NULL, ledger TEXT NOT NULL REFERENCES ledgers (id), "
    "PRIMARY KEY (digest, ledger))",
    "CREATE TABLE IF NOT EXISTS browsers (browser TEXT NOT NULL, ledger TEXT NOT NULL REFERENCES ledgers (id), "
    "goes_on INTEGER NOT NULL, PRIMARY KEY (browser, ledger))",
    "CREATE TABLE IF NOT EXISTS unmade (ledger TEXT NOT NULL REFERENCES ledgers (id), number INTEGER NOT NULL, "
    "PRIMARY KEY (ledger, number))",  # counted, and not handed out yet or ever
)


class LedgerUnavailable(ValueError):
    """The ledgers cannot be read or written now; nothing was released."""


class Database(Protocol):
    """Where ledgers are kept."""

    def transaction(self, *, writes: bool = True) -> AbstractContextManager[Run]:
        """All or nothing, one writer at a time; on the disk at the end of the block, undone if it raises.

        Raises:
            LedgerUnavailable: the database cannot be reached, is busy or full. What the block did may then count.
        """
        ...

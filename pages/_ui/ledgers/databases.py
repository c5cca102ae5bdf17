"""Databases that keep ledgers: a file of SQLite, or a PostgreSQL server."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Run = Callable[..., list[Sequence[Any]]]  # a function of a statement with values for each "?"; it returns rows

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
    "PRIMARY KEY (ledger, number))",  # counted, but not handed out yet, or never
)


class LedgerUnavailable(ValueError):
    """Raised if the ledgers cannot be read or written; nothing was released."""


WAIT_SECONDS = 10.0  # waiting time for another writer; a transaction takes milliseconds


@dataclass(frozen=True)
class Sqlite:
    """A database in a file. Only ``create`` makes it, because a lost database must not be replaced by an empty one.

    Args:
        path: path of the file; the write-ahead log is in the same folder.
    """

    path: Path

    def create(self) -> None:
        """Make the file and those of its tables that are missing."""
        with closing(self._open("rwc")) as connection:
            # Readers do not wait for the writer; the file keeps this setting
            connection.execute("PRAGMA journal_mode = WAL")
            for statement in SCHEMA:
                connection.execute(statement)
        self.path.chmod(0o600)

    @contextmanager
    def transaction(self, *, writes: bool = True) -> Iterator[Run]:
        """Run a block as one transaction, with one writer at a time.

        Its changes are on the disk at the end of the block, or undone if it raises.

        Raises:
            LedgerUnavailable: the database cannot be reached, is busy or full. The changes may have been made all the
                same.
        """
        try:
            with closing(self._open("rw")) as connection:

                def run(statement: str, *values: object) -> list[Sequence[Any]]:
                    return connection.execute(statement, values).fetchall()

                connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")  # one writer at a time, from here on
                try:
                    yield run
                except BaseException:
                    if connection.in_transaction:  # an error may have ended the transaction
                        connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise LedgerUnavailable(
                f"the ledgers cannot be used now ({error}); nothing was released. Try again, or ask whoever runs this "
                "server to look at its state folder"
            ) from None

    def _open(self, mode: str) -> sqlite3.Connection:
        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(address, timeout=WAIT_SECONDS, isolation_level=None, uri=True)
        connection.execute("PRAGMA synchronous = FULL")  # the count is on the disk before noise is drawn
        connection.execute("PRAGMA foreign_keys = ON")
        return connection


_CONNECT_SECONDS = 5
_WRITERS = 0x64706770  # number of the writers' lock: any number, but always the same
_LIMITS = (
    "SET LOCAL lock_timeout = '10s'",
    "SET LOCAL statement_timeout = '10s'",
    # So that a host that vanishes does not hold the lock for ever
    "SET LOCAL idle_in_transaction_session_timeout = '30s'",
    "SET LOCAL synchronous_commit = 'on'",  # the count is on the disk before noise is drawn
)


@dataclass(frozen=True)
class Postgres:
    """A database at an address.

    Args:
        address: ``postgresql://...``, or ``host=... dbname=...``. It may contain a password, so no message repeats it.
    """

    address: str = field(repr=False)

    def create(self) -> None:
        """Make the tables that are missing."""
        with self.transaction() as run:
            for statement in SCHEMA:
                run(statement)

    @contextmanager
    def transaction(self, *, writes: bool = True) -> Iterator[Run]:
        """Run a block as one transaction; see ``Sqlite``."""
        import psycopg  # an extra

        try:
            with psycopg.connect(self.address, connect_timeout=_CONNECT_SECONDS) as connection:

                def run(statement: str, *values: object) -> list[Sequence[Any]]:
                    cursor = connection.execute(statement.replace("?", "%s").encode(), values)
                    return list(cursor.fetchall()) if cursor.description else []

                for limit in _LIMITS:
                    run(limit)
                if writes:  # one writer at a time, from here on; it sees all earlier ones
                    run("SELECT pg_advisory_xact_lock(?)", _WRITERS)
                yield run
        except psycopg.Error as error:
            # the message may name host and user
            raise LedgerUnavailable(
                f"the ledgers cannot be used now ({type(error).__name__}); nothing was released. Try again, or ask "
                "whoever runs this server to look at its database"
            ) from None

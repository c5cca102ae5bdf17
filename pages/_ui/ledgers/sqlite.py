"""Ledgers in one file, shared by the replicas of a host."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pages._ui.ledgers.database import SCHEMA, LedgerUnavailable, Run

WAIT_SECONDS = 10.0  # for another writer; a transaction takes milliseconds


@dataclass(frozen=True)
class Sqlite:
    """A database in a file, which is made by ``create`` only: a lost one is not an empty one.

    Args:
        path: of the file; its folder holds the write-ahead log beside it.
    """

    path: Path

    def create(self) -> None:
        """Make the file and its tables, or those of them that are missing."""
        with closing(self._open("rwc")) as connection:
            connection.execute("PRAGMA journal_mode = WAL")  # readers do not wait for the writer; stays with the file
            for statement in SCHEMA:
                connection.execute(statement)
        self.path.chmod(0o600)

    @contextmanager
    def transaction(self, *, writes: bool = True) -> Iterator[Run]:
        """See ``Database``."""
        try:
            with closing(self._open("rw")) as connection:

                def run(statement: str, *values: object) -> list[Sequence[Any]]:
                    return connection.execute(statement, values).fetchall()

                connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")  # one writer at a time, from here on
                try:
                    yield run
                except BaseException:
                    if connection.in_transaction:  # an error may have ended it
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
        connection.execute("PRAGMA synchronous = FULL")  # what was counted is on the disk before noise is drawn
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

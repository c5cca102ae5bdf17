"""Ledgers in a PostgreSQL database, shared by several hosts. Needs psycopg (``pip install 'dpgp[postgres]'``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg

from pages._ui.ledgers.database import SCHEMA, LedgerUnavailable, Run

_CONNECT_SECONDS = 5
_WRITERS = 0x64706770  # the number of the lock that writers take: any, but always the same
_LIMITS = (
    "SET LOCAL lock_timeout = '10s'",
    "SET LOCAL statement_timeout = '10s'",
    "SET LOCAL idle_in_transaction_session_timeout = '30s'",  # a host that vanishes does not hold the lock for ever
    "SET LOCAL synchronous_commit = 'on'",  # what was counted is on the disk before noise is drawn
)


@dataclass(frozen=True)
class Postgres:
    """A database by its address.

    Args:
        address: ``postgresql://...``, or ``host=... dbname=...``; may hold a password, so it is shown nowhere.
    """

    address: str = field(repr=False)

    def create(self) -> None:
        """Make the tables that are missing."""
        with self.transaction() as run:
            for statement in SCHEMA:
                run(statement)

    @contextmanager
    def transaction(self, *, writes: bool = True) -> Iterator[Run]:
        """See ``Database``."""
        try:
            with psycopg.connect(self.address, connect_timeout=_CONNECT_SECONDS) as connection:

                def run(statement: str, *values: object) -> list[Sequence[Any]]:
                    cursor = connection.execute(statement.replace("?", "%s").encode(), values)
                    return list(cursor.fetchall()) if cursor.description else []

                for limit in _LIMITS:
                    run(limit)
                if writes:  # one writer at a time, from here on; what follows sees all that earlier ones did
                    run("SELECT pg_advisory_xact_lock(?)", _WRITERS)
                yield run
        except psycopg.Error as error:
            # its message may name host and user
            raise LedgerUnavailable(
                f"the ledgers cannot be used now ({type(error).__name__}); nothing was released. Try again, or ask "
                "whoever runs this server to look at its database"
            ) from None

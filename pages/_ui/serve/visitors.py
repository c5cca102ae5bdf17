"""What this server remembers of a browser: the ledger of its releases, never data. In memory, bounded."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from dpgp_core.accounting.ledger import Ledger
from pages._ui.visitor import well_formed


@dataclass(frozen=True)
class Issued:
    """A release that was made: its name and the zip, which holds nothing but what may be published."""

    name: str
    bundle: bytes = field(repr=False)


@dataclass
class Record:
    """What is remembered of one browser.

    Attributes:
        ledger: what was released from it.
        interrupted: the browser came with a token of which this server knows nothing (it was restarted, or another
            replica served it): what was released before is not in ``ledger``.
        digest: SHA-256 of the table that the ledger is about; None before the first release.
        past: digests of the tables that earlier ledgers of this browser were about.
        last: the latest release.
        since: when this server first heard of it (UTC).
    """

    ledger: Ledger = field(default_factory=Ledger)
    interrupted: bool = False
    digest: str | None = None
    past: set[str] = field(default_factory=set)
    last: Issued | None = None
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    last_used: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Visitors:
    """Records by token, least recently used dropped first; those without a release before those with one.

    Safe to use from many threads.

    Args:
        max_entries: how many browsers are remembered, >= 1.
        idle_seconds: a browser unseen for this long is forgotten, > 0.
        clock: seconds that only move forward.

    Raises:
        ValueError: a limit is out of range.
    """

    def __init__(
        self, max_entries: int = 10_000, idle_seconds: float = 7 * 86_400, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if max_entries < 1 or not idle_seconds > 0:
            raise ValueError(f"max_entries and idle_seconds must be positive, got {max_entries} and {idle_seconds}")
        self._max_entries, self._idle_seconds, self._clock = max_entries, idle_seconds, clock
        self._records: OrderedDict[str, Record] = OrderedDict()  # least recently used first
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """How many browsers are remembered."""
        with self._lock:
            self._forget_idle()
            return len(self._records)

    def issue(self, proposed: str | None = None) -> str:
        """A token for a browser that has none: ``proposed`` if it is well formed, else 192 random bits."""
        token = proposed if proposed is not None and well_formed(proposed) else secrets.token_urlsafe(24)
        self._touch(token, Record())
        return token

    def known(self, token: str | None) -> bool:
        """Whether this server issued or opened the token and still remembers it.

        False for a browser with a cookie means: releases may have been made from it that no ledger here counts
        (the server was restarted, another replica answered, or it was forgotten).
        """
        with self._lock:
            self._forget_idle()
            return token in self._records

    @contextmanager
    def open(self, token: str) -> Iterator[Record]:
        """The record of a token, made if need be, for one thread at a time: check and spend inside the block.

        Raises:
            ValueError: the token is not well formed.
        """
        if not well_formed(token):
            raise ValueError(f"a token is 22 to 64 letters, digits, '-' or '_', got {len(token)} characters")
        record = self._touch(token, Record(interrupted=True))
        with record.lock:
            yield record

    def _touch(self, token: str, new: Record) -> Record:
        with self._lock:
            self._forget_idle()
            record = self._records.get(token) or new
            record.last_used = self._clock()
            self._records[token] = record
            self._records.move_to_end(token)
            self._make_room(token)
            return record

    def _forget_idle(self) -> None:
        oldest_kept = self._clock() - self._idle_seconds
        while self._records and next(iter(self._records.values())).last_used < oldest_kept:
            self._records.popitem(last=False)

    def _make_room(self, newcomer: str) -> None:
        """Drop one record if there is one too many. Page loads without cookies (robots) push out no ledger."""
        if len(self._records) <= self._max_entries:
            return
        others = (token for token in self._records if token != newcomer)
        empty = (token for token in self._records if token != newcomer and not self._records[token].ledger.entries)
        del self._records[next(empty, None) or next(others)]


VISITORS = Visitors()

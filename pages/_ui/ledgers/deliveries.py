"""The latest release of every ledger, to be fetched again: in this process's memory only, bounded."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Issued:
    """A release that was made: its name and the zip, which holds nothing but what may be published."""

    name: str
    bundle: bytes = field(repr=False)


class Deliveries:
    """Releases by ledger, least recently used dropped first. Safe to use from many threads.

    Args:
        most_bytes: of all zips together.
    """

    def __init__(self, most_bytes: int = 64 * 2**20) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[str, Issued] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, ledger: str, issued: Issued) -> None:
        """Remember the latest release of a ledger; the one before is forgotten."""
        with self._lock:
            self._kept[ledger] = issued
            self._kept.move_to_end(ledger)
            while len(self._kept) > 1 and sum(len(each.bundle) for each in self._kept.values()) > self._most_bytes:
                self._kept.popitem(last=False)

    def find(self, ledger: str | None) -> Issued | None:
        """The latest release of a ledger, if it was made here and is still remembered."""
        with self._lock:
            if ledger is None or ledger not in self._kept:
                return None
            self._kept.move_to_end(ledger)
            return self._kept[ledger]


DELIVERIES = Deliveries()

"""A few pages at once are made, the others stand in line: all at once would take turns at one interpreter lock.

Forty threads that share it leave a fortieth of it to whoever sends what is ready: then everybody waits as long as the
last one. A page steps aside while its work runs elsewhere.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

AT_ONCE = 2  # more than one, as pages also wait for files and for numpy


_TURN_SECONDS = 5e-4


def take_short_turns() -> None:
    """From now on a thread keeps the interpreter for half a millisecond at most while another one wants it.

    Numpy lets it go and wants it back at every operation, and whoever sends a page some sixty times. At python's 5 ms a
    page of a thousand operations waits for seconds while others are sent, and holds its place all that time.
    """
    sys.setswitchinterval(_TURN_SECONDS)


class Places:
    """As many places as said; who came first is served first.

    Args:
        free: how many.
    """

    def __init__(self, free: int) -> None:
        self.free = free
        self._line: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    def take(self) -> None:
        """Wait for a place."""
        with self._lock:
            if self.free:
                self.free -= 1
                return
            turn = threading.Event()
            self._line.append(turn)
        turn.wait()

    def give_back(self) -> None:
        """Hand a place on to whoever has waited longest."""
        with self._lock:
            if self._line:
                self._line.popleft().set()
            else:
                self.free += 1


PLACES = Places(AT_ONCE)
_THREAD = threading.local()


@contextmanager
def making() -> Iterator[None]:
    """Make a page in here."""
    PLACES.take()
    _THREAD.makes = True
    try:
        yield
    finally:
        if _THREAD.makes:
            PLACES.give_back()
        _THREAD.makes = False


@contextmanager
def aside() -> Iterator[None]:
    """Wait for something in here, and let others make their pages meanwhile; outside of ``making`` it does nothing."""
    if not getattr(_THREAD, "makes", False):
        yield
        return
    _THREAD.makes = False
    PLACES.give_back()
    try:
        yield
    finally:
        PLACES.take()
        _THREAD.makes = True

"""A few pages at once are made, the others stand in line: all at once would take turns at one interpreter lock.

Forty threads that share it leave a fortieth of it to whoever sends what is ready: then everybody waits as long as the
last one. A page steps aside while its work runs elsewhere.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

AT_ONCE = 2 + (os.cpu_count() or 1)  # more than one, as pages also wait for files and other programs
_PLACES = threading.BoundedSemaphore(AT_ONCE)
_THREAD = threading.local()


@contextmanager
def making() -> Iterator[None]:
    """Make a page in here."""
    _PLACES.acquire()
    _THREAD.makes = True
    try:
        yield
    finally:
        if _THREAD.makes:
            _PLACES.release()
        _THREAD.makes = False


@contextmanager
def aside() -> Iterator[None]:
    """Wait for something in here, and let others make their pages meanwhile; outside of ``making`` it does nothing."""
    if not getattr(_THREAD, "makes", False):
        yield
        return
    _THREAD.makes = False
    _PLACES.release()
    try:
        yield
    finally:
        _PLACES.acquire()
        _THREAD.makes = True

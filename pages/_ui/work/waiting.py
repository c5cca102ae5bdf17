"""The bar that a page shows while its work runs elsewhere; at every update the page may also move on."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._ui import session

AT_ONCE = 2  # more than one, as pages also wait for files and for numpy
_TURN_SECONDS = 5e-4


def take_short_turns() -> None:
    """From now on a thread keeps the interpreter for half a millisecond at most while another one wants it.

    Numpy lets it go and wants it back at every operation, and whoever sends a page some sixty times. At python's 5 ms a
    page of a thousand operations waits for seconds while others are sent, and holds its permit all that time.
    """
    sys.setswitchinterval(_TURN_SECONDS)


class FairSemaphore:
    """A semaphore of ``size`` permits; who came first is served first."""

    def __init__(self, size: int) -> None:
        self.free, self._size = size, size
        self._queue: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    @property
    def idle(self) -> bool:
        """Whether nobody holds a permit."""
        return self.free == self._size

    def acquire(self) -> None:
        """Wait for a permit."""
        with self._lock:
            if self.free:
                self.free -= 1
                return
            turn = threading.Event()
            self._queue.append(turn)
        turn.wait()

    def release(self) -> None:
        """Hand a permit on to whoever has waited longest."""
        with self._lock:
            if self._queue:
                self._queue.popleft().set()
            else:
                self.free += 1


RENDERING = FairSemaphore(AT_ONCE)


class _Page(threading.local):
    """What this thread makes.

    Attributes:
        has_permit: whether it makes a page now, and is not aside.
        container: at the page's top, for bars.
        start: when the page, or its better result, began.
        then: computes a better result once the page is complete.
    """

    has_permit = False
    container: DeltaGenerator | None = None
    start = math.inf
    then: Callable[[], object] | None = None


_PAGE = _Page()


@contextmanager
def making() -> Iterator[None]:
    """Make a page in here."""
    RENDERING.acquire()
    _PAGE.has_permit = True
    try:
        yield
    finally:
        if _PAGE.has_permit:
            RENDERING.release()
        _PAGE.has_permit = False


@contextmanager
def aside() -> Iterator[None]:
    """Wait for something in here, and let others make their pages meanwhile; outside of ``making`` it does nothing."""
    if not _PAGE.has_permit:
        yield
        return
    _PAGE.has_permit = False
    RENDERING.release()
    try:
        yield
    finally:
        RENDERING.acquire()
        _PAGE.has_permit = True


_SHOW_SECONDS = 0.5  # between two updates: with many visitors each costs the others something
_QUIET_SECONDS = 0.3  # below it, showing anything would only flicker
PATIENCE_SECONDS = 12.0  # of a page, for all that it waits for together, while others wait too
_ESTIMATE_SECONDS = 3.0  # above it, say how long the rest will take


class PageEnds(Exception):
    """The page ends with its present content."""


def end_page() -> NoReturn:
    """End the page here; unlike after ``st.stop``, its address is still explained."""
    _PAGE.then = None
    raise PageEnds from None


def reserve() -> None:
    """A page begins: keep a container at its top, always the same one, so that nothing below it jumps."""
    _PAGE.container, _PAGE.start, _PAGE.then = st.empty(), time.monotonic(), None


def afterwards(better: Callable[[], object]) -> None:
    """Have a better result computed once the page is complete, and the page made again."""
    _PAGE.then = better


def is_made_again() -> bool:
    """Whether this page will be made again at once, with a better result."""
    return _PAGE.then is not None


def finish() -> None:
    """The page is complete: compute the better result while its visitor looks at it."""
    if (better := _PAGE.then) is not None:
        _PAGE.then, _PAGE.start = None, time.monotonic()  # its own patience begins
        try:
            better()
        except PageEnds:  # it said why, below a complete page
            return
        st.rerun()


class Bar:
    """Shows a fraction done, measured or expected from the last time; gone when closed.

    Args:
        label: name of the computation, for the reader.
        postpones: ends the page's wait after ``PATIENCE_SECONDS`` while others wait for a process too.
    """

    def __init__(self, label: str, postpones: bool = False) -> None:
        self.label, self.start, self.postpones = label, time.perf_counter(), postpones
        self.container = _PAGE.container
        self.updated = 0.0  # when it was updated the last time

    def __call__(self, fraction: float, expected: float | None, crowded: bool) -> None:
        """Update it; streamlit stops the run here if the visitor has moved on.

        Raises:
            Postponed: the page has waited for too long, and there are others.
        """
        if self.postpones and crowded and time.monotonic() - _PAGE.start > PATIENCE_SECONDS:
            raise Postponed
        moment = time.perf_counter()
        elapsed = moment - self.start
        if self.container is None or elapsed < _QUIET_SECONDS or moment - self.updated < _SHOW_SECONDS:
            session.CARRIED.find()  # a yield point, as every look at the session is
            return
        if fraction <= 0 and expected:
            fraction = min(elapsed / expected, 0.95)
        words = f"{self.label} …"
        if fraction > 0:
            rest = elapsed * (1 - fraction) / fraction
            if elapsed + rest > _ESTIMATE_SECONDS:
                words = f"{self.label} … about {rest:.0f} s to go."
        self.container.progress(min(max(fraction, 0.0), 1.0), f"{words} Change any control to stop it.")
        self.updated = moment

    def close(self) -> None:
        """Take it away."""
        if self.updated and self.container is not None:
            self.container.empty()


class Postponed(RuntimeError):
    """A page has waited long enough; its work goes on for a while, for whoever looks again."""

"""What a page shows while its work runs elsewhere; every look is also the moment at which it may move on."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

import streamlit as st

from pages._ui import session

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
        self.free, self._most = free, free
        self._line: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    @property
    def idle(self) -> bool:
        """Whether nobody has a place."""
        return self.free == self._most

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


_SHOW_SECONDS = 0.5  # between two updates: with many visitors each costs the others something
_QUIET_SECONDS = 0.3  # below it, showing anything would only flicker
PATIENCE_SECONDS = 12.0  # of a page, for all that it waits for together, while others wait too
_ESTIMATE_SECONDS = 3.0  # above it, say how long the rest will take
_RUN = threading.local()


class PageEnds(Exception):
    """What a page has said by now is all that it can say."""


def end_page() -> NoReturn:
    """End the page here, unlike ``st.stop``, after which nothing can be said about the address any more."""
    _RUN.then = None
    raise PageEnds from None


def reserve() -> None:
    """A page begins: keep a place at its top, always the same one, so that nothing below it jumps."""
    _RUN.place, _RUN.start, _RUN.then = st.empty(), time.monotonic(), None


def afterwards(better: Callable[[], object]) -> None:
    """Have something better to show computed once the page stands, and the page made again."""
    _RUN.then = better


def is_made_again() -> bool:
    """Whether the page that was made just now will be made again at once, with something better."""
    return getattr(_RUN, "then", None) is not None


def finish() -> None:
    """The page stands: do what was put off, while its visitor looks at it."""
    if (better := getattr(_RUN, "then", None)) is not None:
        _RUN.then, _RUN.start = None, time.monotonic()  # its own patience begins
        try:
            better()
        except PageEnds:  # it said why, below a page that stands
            return
        st.rerun()


class Bar:
    """Shows a fraction done, measured or expected from the last time; gone when closed.

    Args:
        what: what is being computed, for the reader.
        postpones: ends the page's wait after ``PATIENCE_SECONDS`` while others wait for a process too.
    """

    def __init__(self, what: str, postpones: bool = False) -> None:
        self.what, self.start, self.postpones = what, time.perf_counter(), postpones
        self.place = getattr(_RUN, "place", None)
        self.updated = 0.0  # when it was updated the last time

    def __call__(self, fraction: float, expected: float | None, crowded: bool) -> None:
        """Update it; streamlit stops the run here if the visitor has moved on.

        Raises:
            Postponed: the page has waited for too long, and there are others.
        """
        begun = getattr(_RUN, "start", None)
        if self.postpones and crowded and begun is not None and time.monotonic() - begun > PATIENCE_SECONDS:
            raise Postponed(self.what)
        now = time.perf_counter()
        elapsed = now - self.start
        if self.place is None or elapsed < _QUIET_SECONDS or now - self.updated < _SHOW_SECONDS:
            session.CARRIED.find()  # a yield point, as every look at the session is
            return
        if fraction <= 0 and expected:
            fraction = min(elapsed / expected, 0.95)
        words = f"{self.what} …"
        if fraction > 0:
            rest = elapsed * (1 - fraction) / fraction
            if elapsed + rest > _ESTIMATE_SECONDS:
                words = f"{self.what} … about {rest:.0f} s to go."
        self.place.progress(min(max(fraction, 0.0), 1.0), f"{words} Change any control to stop it.")
        self.updated = now

    def close(self) -> None:
        """Take it away."""
        if self.updated and self.place is not None:
            self.place.empty()


class Postponed(RuntimeError):
    """A page has waited long enough; its work goes on for a while, so that whoever looks again finds it."""

"""Progress bar of a page whose work runs elsewhere; at every update the page may also move on."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import streamlit as st

from pages._ui import session

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

AT_ONCE = 2  # more than one, because pages also wait for files and for numpy
_TURN_SECONDS = 5e-4


def take_short_turns() -> None:
    """Let a thread keep the interpreter for at most half a millisecond while another one waits for it.

    Numpy releases the interpreter and takes it again in every operation, and sending a page does so some sixty times.
    With Python's default of 5 ms, a page with a thousand operations would wait for seconds while other pages are sent.
    """
    sys.setswitchinterval(_TURN_SECONDS)


class FairSemaphore:
    """A semaphore of ``size`` permits that serves waiting threads in the order of their arrival."""

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
        """Pass a permit to the thread that has waited longest."""
        with self._lock:
            if self._queue:
                self._queue.popleft().set()
            else:
                self.free += 1


RENDERING = FairSemaphore(AT_ONCE)


class _Page(threading.local):
    """The page that this thread draws.

    Attributes:
        has_permit: whether it draws a page now and is not waiting.
        container: container at the top of the page for progress bars.
        start: time at which the page began.
        worked: seconds for which processes have worked for it.
        then: function that computes a better result once the page is complete.
        whole: computation of which the present one is a part.
    """

    has_permit = False
    container: DeltaGenerator | None = None
    start = math.inf
    worked = 0.0
    then: Callable[[], object] | None = None
    whole: Whole | None = None


class Whole:
    """A computation in parts, which has one progress bar with one estimate of the remaining time.

    Args:
        shares: expected duration of each part, in any unit. Parts that turn out to be ready do not count.
    """

    def __init__(self, shares: Sequence[float]) -> None:
        self.start = self._moment = time.perf_counter()
        self._left, self._done = list(shares), 0.0
        self._outer = _PAGE.whole

    def part_is_done(self) -> None:
        """Count the next part as done."""
        before, self._moment = self._moment, time.perf_counter()
        share = self._left.pop(0)
        if self._moment - before > _READY_SECONDS:
            self._done += share
        elif not self._done:
            self.start = self._moment

    def progress(self, fraction: float) -> tuple[float, float]:
        """Return the fraction done of the outermost computation, and when it began, given that of the present part."""
        share = self._left[0] if self._left else 0.0
        done = (self._done + fraction * share) / ((self._done + sum(self._left)) or 1.0)
        return (done, self.start) if self._outer is None else self._outer.progress(done)


_PAGE = _Page()


@contextmanager
def making() -> Iterator[None]:
    """Draw a page within this block."""
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
    """Wait for something within this block, and let others draw their pages meanwhile. It has no effect outside
    ``making``.
    """
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


@contextmanager
def whole(shares: Sequence[float]) -> Iterator[Callable[[], None]]:
    """Compute something in parts within this block, under one progress bar (``Whole``).

    Yields:
        Function to call after each part.
    """
    outer = _PAGE.whole
    _PAGE.whole = Whole(shares)
    try:
        yield _PAGE.whole.part_is_done
    finally:
        _PAGE.whole = outer


_READY_SECONDS = 0.05  # seconds below which a part was ready
_SHOW_SECONDS = 0.5  # seconds between two updates, each of which delays other visitors
_QUIET_SECONDS = 0.3  # seconds below which a bar would only flicker
# Weight of a second of work against one of waiting. With a weight of 1, pages with little work wait behind all that
# came before them; with a large weight, pages with much work come last at each of their parts
_WORK_WEIGHT = 2.0
PATIENCE_SECONDS = 12.0  # seconds that a page may wait in total while others wait too
_ESTIMATE_SECONDS = 3.0  # seconds above which the bar says how long the rest will take


class PageEnds(Exception):
    """Raised to end the page with its present content."""


def end_page() -> NoReturn:
    """End the page here. Unlike after ``st.stop``, its address is still explained."""
    _PAGE.then = None
    raise PageEnds from None


def reserve() -> None:
    """Begin a page with a container at its top, always the same one, so that nothing below it jumps."""
    _PAGE.container, _PAGE.start, _PAGE.worked = st.empty(), time.monotonic(), 0.0
    _PAGE.then = _PAGE.whole = None


def waits_since() -> float:
    """Return when the page began, later by several times the seconds for which processes have worked for it; now at the
    latest, and if there is no page.

    Of the pages that wait for a process, the one with the smallest of these times goes first.
    """
    return min(_PAGE.start + _WORK_WEIGHT * _PAGE.worked, time.monotonic())


def count_work(seconds: float) -> None:
    """Count the seconds for which a process has worked for this page."""
    _PAGE.worked += seconds


def afterwards(better: Callable[[], object]) -> None:
    """Compute a better result once the page is complete, and then draw the page again."""
    _PAGE.then = better


def is_made_again() -> bool:
    """Return whether this page will be drawn again at once with a better result."""
    return _PAGE.then is not None


def finish() -> None:
    """Compute the better result of a complete page while its visitor looks at the page."""
    if (better := _PAGE.then) is not None:
        _PAGE.then = None
        try:
            better()
        except PageEnds:  # the reason is shown below the complete page
            return
        st.rerun()


class Bar:
    """Shows the fraction done, measured or expected from the last time; it disappears when closed.

    Args:
        label: name of the computation for the visitor.
        postpones: whether to end the wait after ``PATIENCE_SECONDS`` while others wait for a process too.
    """

    def __init__(self, label: str, postpones: bool = False) -> None:
        self.label, self.start, self.postpones = label, time.perf_counter(), postpones
        self.container = _PAGE.container
        self.updated = 0.0  # when it was updated the last time

    def __call__(self, fraction: float, expected: float | None, crowded: bool) -> None:
        """Update the bar; streamlit stops the run here if the visitor has moved on.

        Raises:
            Postponed: the page has waited too long, and others wait too.
        """
        if self.postpones and crowded and time.monotonic() - _PAGE.start > PATIENCE_SECONDS:
            raise Postponed
        moment = time.perf_counter()
        elapsed = moment - self.start
        if self.container is None or elapsed < _QUIET_SECONDS or moment - self.updated < _SHOW_SECONDS:
            session.CARRIED.find()  # a yield point, like every access to the session
            return
        if fraction <= 0 and expected:
            fraction = min(elapsed / expected, 0.95)
        if _PAGE.whole is not None:
            fraction, start = _PAGE.whole.progress(fraction)
            elapsed = moment - start
        words = f"{self.label} …"
        if fraction > 0:
            rest = elapsed * (1 - fraction) / fraction
            if elapsed + rest > _ESTIMATE_SECONDS:
                words = f"{self.label} … about {rest:.0f} s to go."
        self.container.progress(min(max(fraction, 0.0), 1.0), f"{words} Change any control to stop it.")
        self.updated = moment

    def close(self) -> None:
        """Remove the bar."""
        if self.updated and self.container is not None:
            self.container.empty()


class Postponed(RuntimeError):
    """Raised if a page has waited long enough; its work continues for a while."""

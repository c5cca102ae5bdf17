"""Work that is going on: one task however many ask for it, stopped when nobody waits any more or it takes too much."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any, Protocol

from pebble import ProcessExpired

from pages._ui.work import pace
from pages._ui.work.frames import Frames, Handed, packed
from pages._ui.work.workers import Workers

POLL_SECONDS = 0.1  # how often a waiting page is told how far its work is, and may move on instead

LONGEST_SECONDS = 300.0  # of one task; nothing on a page takes a tenth of it
KEPT_SECONDS = 60.0  # that a postponed task goes on for

_TOO_LONG = f"this setting took longer than {LONGEST_SECONDS:.0f} s and was stopped; choose a coarser one"
_TOO_MUCH = "this setting took too much memory and was stopped; choose a coarser one"
_KILLED = (
    "the process that worked on it {how}, perhaps because the machine ran out of memory; try again, and if that does "
    "not help, choose a coarser setting"
)
_NO_PROCESS = (
    "the server could not start a process for it; try again, and if that does not help, tell whoever runs this server"
)


class WorkStopped(RuntimeError):
    """A computation took too long or too much memory, and was ended."""


class Postponed(RuntimeError):
    """A page has waited long enough; its work goes on for a while, so that whoever looks again finds it."""


class Waiting(Protocol):
    """Called while a page waits; may raise to move on, or ``Postponed`` to have the work go on meanwhile."""

    def __call__(self, fraction: float, expected: float | None, crowded: bool) -> None:
        """Show the fraction done and the seconds expected; ``crowded``: others wait for a process too."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """What is to be done.

    Attributes:
        function: importable by name.
        args: what it takes.
        owner: who asks; see ``Workers.submit``.
        keep: takes a result that nobody waits for; None: then nothing goes on that nobody waits for.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...] | Handed = field(repr=False)
    owner: Hashable | None = None
    keep: Callable[[Frames], object] | None = None


@dataclass(eq=False)
class _Task:
    future: Future[Frames]
    slot: int
    waiting: int = 1
    started: float | None = None

    def took_too_long(self) -> bool:
        """Whether it has run for longer than a task may, by a clock that nobody sets."""
        if self.started is None and self.future.running():
            self.started = time.monotonic()
        return self.started is not None and time.monotonic() - self.started > LONGEST_SECONDS


@dataclass(eq=False)
class _Postponed:
    key: Hashable
    task: _Task
    since: float = field(default_factory=time.monotonic)


@dataclass(eq=False)
class Tasks:
    """The tasks that run or wait for their turn, by what they compute."""

    _going: dict[Hashable, _Task] = field(default_factory=dict, init=False)
    _postponed: dict[Hashable, _Postponed] = field(default_factory=dict, init=False)  # one at most of each owner
    _seconds: dict[str, float] = field(default_factory=dict, init=False)  # that a function took the last time
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def done(self, workers: Workers, key: Hashable, work: Work, waiting: Waiting | None) -> Frames:
        """The result in bytes, of a task that is begun or joined.

        Raises:
            WorkStopped: it was ended; the message says what to do.
        """
        start = time.perf_counter()
        while True:
            try:
                frames = self._shared(workers, key, work, waiting)
            except CancelledError:
                continue  # another session gave this task up just as we joined it
            except MemoryError:
                raise WorkStopped(_TOO_MUCH) from None
            except ProcessExpired as error:
                raise WorkStopped(_KILLED.format(how=_end(error.exitcode))) from None
            except BrokenProcessPool:
                raise WorkStopped(_NO_PROCESS) from None
            self._seconds[work.function.__qualname__] = time.perf_counter() - start
            return frames

    def _shared(self, workers: Workers, key: Hashable, work: Work, waiting: Waiting | None) -> Frames:
        """Join the task of this key, or begin it; wait for its result, and leave it."""
        task = self._joined(workers, key, work)
        self._give_up(work.owner)
        try:
            if not task.future.done():
                with pace.aside():
                    self._wait(workers, task, work, waiting)
            return task.future.result()
        except Postponed:
            self._postpone(key, task, work)
            raise
        finally:
            self._leave(key, task)

    def _wait(self, workers: Workers, task: _Task, work: Work, waiting: Waiting | None) -> None:
        while not wait_for([task.future], POLL_SECONDS).done:
            workers.look()
            if task.took_too_long():
                raise WorkStopped(_TOO_LONG)
            if waiting is not None:
                expected = self._seconds.get(work.function.__qualname__)
                waiting(workers.fraction(task.slot), expected, workers.crowded)

    def _joined(self, workers: Workers, key: Hashable, work: Work) -> _Task:
        with self._lock:
            task = self._going.get(key)
            if task is not None:
                task.waiting += 1
                return task
            self._going[key] = task = _Task(*workers.submit(packed, work.function, work.args, owner=work.owner))
            return task

    def _postpone(self, key: Hashable, task: _Task, work: Work) -> None:
        """Have a task go on without its page, until its owner asks for something else or ``KEPT_SECONDS`` are over."""
        if work.keep is None or work.owner is None:
            return
        keep = work.keep
        with self._lock:
            task.waiting += 1
            self._postponed[work.owner] = _Postponed(key, task)

        def done(future: Future[Frames]) -> None:
            if not future.cancelled() and future.exception() is None:
                keep(future.result())

        task.future.add_done_callback(done)
        timer = threading.Timer(KEPT_SECONDS + 1, self._give_up, (None,))
        timer.daemon = True
        timer.start()

    def _give_up(self, owner: Hashable | None) -> None:
        """Leave what this owner, who asks again, has postponed; and what others have not come back for."""
        now = time.monotonic()
        with self._lock:
            old = [who for who, each in self._postponed.items() if who == owner or now - each.since > KEPT_SECONDS]
            left = [self._postponed.pop(who) for who in old]
        for each in left:
            self._leave(each.key, each.task)

    def _leave(self, key: Hashable, task: _Task) -> None:
        with self._lock:
            task.waiting -= 1
            if task.waiting == 0:
                if self._going.get(key) is task:
                    del self._going[key]
                task.future.cancel()  # does nothing to one that is done


def _end(exitcode: int | None) -> str:
    """How a process ended, to follow its name in a sentence."""
    return f"was killed (signal {-exitcode})" if exitcode and exitcode < 0 else f"ended unexpectedly (code {exitcode})"

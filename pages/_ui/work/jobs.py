"""Results by their settings: computed once however many ask, off the page's thread, and kept while there is room."""

from __future__ import annotations

import pickle
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, cast

from pebble import ProcessExpired

from pages._ui.work.store import Lattice
from pages._ui.work.workers import Workers

POLL_SECONDS = 0.1  # how often a waiting page is told how far its work is, and may move on instead

LONGEST_SECONDS = 300.0  # of one task; nothing on a page takes a tenth of it

Frames = list[bytes]
T = TypeVar("T")

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


class Answer(NamedTuple, Generic[T]):
    """A result, whether this call had to wait for its computation, and for how long."""

    value: T
    computed: bool
    seconds: float


class Waiting(Protocol):
    """Called while a page waits, with the fraction done and the seconds expected; may raise to move on."""

    def __call__(self, fraction: float, expected: float | None) -> None:
        """Show it."""


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
class Jobs:
    """A bounded cache over a pool of processes.

    A key is the function and its settings: small frozen values. Results are shared by all sessions, so their
    arrays are read-only. Work that nobody waits for any more is stopped.

    Attributes:
        room: bytes kept at most; the least recently used results go first.
        workers: where work runs; None: in the caller's thread.
        private: where work runs of which nothing may be left; None: where the other work does.
        lattice: results of earlier starts, on disk; None: there are none.
        owner: who asks in this thread; see ``Workers.submit``.
    """

    room: int
    workers: Workers | None = None
    private: Workers | None = None
    lattice: Lattice | None = None
    owner: Callable[[], Hashable | None] = lambda: None
    _kept: OrderedDict[Hashable, tuple[Any, int]] = field(default_factory=OrderedDict, init=False)
    _tasks: dict[Hashable, _Task] = field(default_factory=dict, init=False)
    _seconds: dict[str, float] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def get(
        self,
        function: Callable[..., T],
        *settings: Hashable,
        given: tuple[Any, ...] = (),
        reports: bool = False,
        waiting: Waiting | None = None,
        here: bool = False,
    ) -> Answer[T]:
        """``function(*given, *settings)``, from the cache if these settings were asked for before.

        Args:
            function: a pure function at the top level of its module.
            settings: what the result depends on.
            given: results of earlier stages, which the settings determine: no part of the key.
            reports: the function takes a keyword ``progress(fraction)``.
            waiting: see ``Waiting``.
            here: compute in the caller's thread: for milliseconds, which a process would only make longer.
        """
        start, key = time.perf_counter(), _key(function, settings)
        if (found := self._find(key)) is not None:
            return Answer(found[0], False, time.perf_counter() - start)
        frames = self._compute(key, function, (*given, *settings), reports, waiting, here)
        value = self._keep(key, unpack(frames), sum(map(len, frames)))
        if self.lattice is not None:
            self.lattice.save(key, value)
        return Answer(value, True, time.perf_counter() - start)

    def find(self, function: Callable[..., T], *settings: Hashable) -> T | None:
        """The result for these settings if it is kept here or on the disk; None if it is not."""
        found = self._find(_key(function, settings))
        return None if found is None else cast(T, found[0])

    def _find(self, key: Hashable) -> tuple[Any] | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return (self._kept[key][0],)
        if self.lattice is not None and (saved := self.lattice.load(key)) is not None:
            return (self._keep(key, *saved),)
        return None

    def once(self, function: Callable[..., T], *args: Any, reports: bool = False, waiting: Waiting | None = None) -> T:
        """``function(*args)`` off the page's thread, kept nowhere: for what belongs to one session."""
        handed = _Handed(args)
        try:
            return cast(T, unpack(self._compute(object(), function, handed, reports, waiting, pool=self.private)))
        finally:
            handed.args = ()  # whoever passed it on and still holds it, holds nothing

    @property
    def held(self) -> int:
        """Bytes in the cache."""
        with self._lock:
            return sum(size for _, size in self._kept.values())

    def clear(self) -> None:
        """Forget every result."""
        with self._lock:
            self._kept.clear()

    def _compute(
        self,
        key: Hashable,
        function: Callable[..., Any],
        args: tuple[Any, ...] | _Handed,
        reports: bool,
        waiting: Waiting | None,
        here: bool = False,
        pool: Workers | None = None,
    ) -> Frames:
        pool = pool or self.workers
        if here or pool is None:
            return _packed(function, args, **({"progress": lambda fraction: None} if reports else {}))
        name, start = function.__qualname__, time.perf_counter()
        while True:
            try:
                frames = self._shared(pool, key, function, args, reports, waiting, self.owner())
            except CancelledError:
                continue  # another session gave this task up just as we joined it
            except MemoryError:
                raise WorkStopped(_TOO_MUCH) from None
            except ProcessExpired as error:
                raise WorkStopped(_KILLED.format(how=_end(error.exitcode))) from None
            except BrokenProcessPool:
                raise WorkStopped(_NO_PROCESS) from None
            self._seconds[name] = time.perf_counter() - start
            return frames

    def _shared(
        self,
        workers: Workers,
        key: Hashable,
        function: Callable[..., Any],
        args: tuple[Any, ...] | _Handed,
        reports: bool,
        waiting: Waiting | None,
        owner: Hashable | None,
    ) -> Frames:
        """Join the task of this key, or begin it; wait for its result, and leave it."""
        with self._lock:
            task = self._tasks.get(key)
            if task is None:
                task = self._tasks[key] = _Task(*workers.submit(_packed, function, args, reports=reports, owner=owner))
            else:
                task.waiting += 1
        try:
            while not wait_for([task.future], POLL_SECONDS, FIRST_COMPLETED).done:
                workers.look()
                if task.took_too_long():
                    raise WorkStopped(_TOO_LONG)
                if waiting is not None:
                    waiting(workers.fraction(task.slot), self._seconds.get(function.__qualname__))
            return task.future.result()
        finally:
            self._leave(key, task)

    def _leave(self, key: Hashable, task: _Task) -> None:
        with self._lock:
            task.waiting -= 1
            if task.waiting == 0:
                if self._tasks.get(key) is task:
                    del self._tasks[key]
                task.future.cancel()  # does nothing to one that is done

    def _keep(self, key: Hashable, value: Any, size: int) -> Any:
        with self._lock:
            if key in self._kept:
                return self._kept[key][0]
            if size <= self.room:
                self._kept[key] = (value, size)
                held = sum(each for _, each in self._kept.values())
                while held > self.room:
                    _, (_, freed) = self._kept.popitem(last=False)
                    held -= freed
        return value


@dataclass(eq=False)
class _Handed:
    """Arguments of one call, that can be taken back from everybody who still holds them."""

    args: tuple[Any, ...] = field(repr=False)


def _packed(function: Callable[..., Any], args: tuple[Any, ...] | _Handed, **options: Any) -> Frames:
    """The result in bytes, arrays apart from the rest, so that they can be shared without a copy."""
    if isinstance(args, _Handed):
        args = args.args
    arrays: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(function(*args, **options), protocol=5, buffer_callback=arrays.append)
    return [rest, *(bytes(array.raw()) for array in arrays)]


def _key(function: Callable[..., Any], settings: tuple[Hashable, ...]) -> Hashable:
    return function.__module__, function.__qualname__, settings


def _end(exitcode: int | None) -> str:
    """How a process ended, to follow its name in a sentence."""
    return f"was killed (signal {-exitcode})" if exitcode and exitcode < 0 else f"ended unexpectedly (code {exitcode})"


def unpack(frames: Frames) -> Any:
    """The value; its arrays look at the frames' own bytes, and so cannot be written to."""
    return pickle.loads(frames[0], buffers=frames[1:])

"""Results that are computed once for everybody, and the tasks that compute them."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar, cast

from pebble import ProcessExpired

from pages._ui.visitor import is_warm_up
from pages._ui.work import waiting as pages_waiting
from pages._ui.work.waiting import Postponed
from pages._ui.work.workers import Frames, Handed, NotStarted, QueuedTask, Workers, packed, unpack

POLL_SECONDS = 0.1  # seconds between updates of a waiting page, at each of which it may move on
LONGEST_SECONDS = 300.0  # largest duration of a task; nothing on a page takes a tenth of it
KEPT_SECONDS = 60.0  # seconds for which a postponed task continues
_LARGE_BYTES = 2**18  # size of results that are dropped before smaller ones

_TOO_LONG = f"this setting took longer than {LONGEST_SECONDS:.0f} s and was stopped; choose a coarser one"
_TOO_MUCH = "this setting took too much memory and was stopped; choose a coarser one"
_KILLED = (
    "the process that worked on it {how}, perhaps because the machine ran out of memory; try again, and if that does "
    "not help, choose a coarser setting"
)
_NO_PROCESS = (
    "the server could not start a process for it; try again, and if that does not help, tell whoever runs this server"
)
_BROKE = "the processes that worked on it broke twice; choose another setting, and tell whoever runs this server"


class WorkStopped(RuntimeError):
    """Raised if a computation took too long or too much memory, and was ended."""


Waiting = Callable[[float, float | None, bool], None]
"""Function called while a page waits, with the fraction done, the seconds expected, and whether others wait for a
process.

It may raise to move on, or raise ``Postponed`` to let the work continue meanwhile.
"""


@dataclass(frozen=True, kw_only=True)
class Work:
    """A task to be done.

    Attributes:
        key: key of its result; a page that asks for the same result joins its task.
        function: importable by name.
        owner: see ``QueuedTask``.
        keep: function that takes a result for which nobody waits; if None, the task ends when nobody waits for it.
    """

    key: Hashable
    function: Callable[..., Any]
    args: tuple[Any, ...] | Handed = field(repr=False)
    owner: Hashable | None = None
    keep: Callable[[Frames], object] | None = None


class Tasks:
    """Tasks that run or wait for their turn, by the keys of their results."""

    def __init__(self) -> None:
        self._going: dict[Hashable, QueuedTask] = {}
        self._postponed: dict[Hashable, tuple[Hashable, QueuedTask, float]] = {}
        """Key of the latest postponed task of each owner, the task, and when it was postponed."""
        self._seconds: dict[str, float] = {}  # seconds for which a function ran the last time
        self._lock = threading.Lock()

    def done(self, workers: Workers, work: Work, waiting: Waiting | None) -> Frames:
        """Return the result of a task, which is begun or joined, in bytes.

        Raises:
            WorkStopped: the task was ended; the message says what to do.
        """
        while True:
            try:
                return self._shared(workers, work, waiting)
            except CancelledError:
                continue  # another session abandoned this task just as it was joined
            except MemoryError:
                raise WorkStopped(_TOO_MUCH) from None
            except ProcessExpired as error:
                raise WorkStopped(_KILLED.format(how=_end(error.exitcode))) from None
            except NotStarted:
                raise WorkStopped(_NO_PROCESS) from None
            except BrokenProcessPool:
                raise WorkStopped(_BROKE) from None

    def _shared(self, workers: Workers, work: Work, waiting: Waiting | None) -> Frames:
        """Join the task with this key or begin it, wait for its result, and leave it."""
        name, began = work.function.__qualname__, time.monotonic()
        task = self._joined(workers, work, self._seconds.get(name, 0.0))
        self._give_up(work.owner)
        try:
            if not task.done():
                with pages_waiting.aside():
                    while not wait_for([task], POLL_SECONDS).done:
                        workers.dispatch()
                        if task.work is not None and time.monotonic() - task.since > LONGEST_SECONDS:
                            raise WorkStopped(_TOO_LONG)
                        if waiting is not None:
                            waiting(workers.fraction(task), task.expected or None, workers.crowded)
            result: Frames = task.result()
            moment = time.monotonic()
            self._seconds[name] = moment - task.since
            pages_waiting.count_work(moment - max(task.since, began))
            return result
        except Postponed:
            self._postpone(task, work)
            raise
        finally:
            self._leave(work.key, task)

    def _joined(self, workers: Workers, work: Work, expected: float) -> QueuedTask:
        since = pages_waiting.waits_since()
        with self._lock:
            task = self._going.get(work.key)
            if task is not None:
                task.pages += 1
                task.waits_since = min(task.waits_since, since)
                return task
            self._going[work.key] = task = workers.submit(
                packed, work.function, work.args, owner=work.owner, expected=expected, waits_since=since
            )
            return task

    def _postpone(self, task: QueuedTask, work: Work) -> None:
        """Let a task continue without its page until its owner asks for something else, or for ``KEPT_SECONDS``."""
        if work.keep is None or work.owner is None:
            return
        keep = work.keep
        with self._lock:
            task.pages += 1
            task.waits_since = time.monotonic()
            self._postponed[work.owner] = work.key, task, time.monotonic()

        def done(future: Future[Frames]) -> None:
            if not future.cancelled() and future.exception() is None:
                keep(future.result())

        task.add_done_callback(done)
        timer = threading.Timer(KEPT_SECONDS + 1, self._give_up, (None,))
        timer.daemon = True
        timer.start()

    def _give_up(self, owner: Hashable | None) -> None:
        """Leave the task that this owner has postponed, and those whose owners did not return."""
        before = time.monotonic() - KEPT_SECONDS
        with self._lock:
            old = [who for who, (_, _, since) in self._postponed.items() if who == owner or since < before]
            left = [self._postponed.pop(who) for who in old]
        for key, task, _ in left:
            self._leave(key, task)

    def _leave(self, key: Hashable, task: QueuedTask) -> None:
        with self._lock:
            task.pages -= 1
            if task.pages == 0:
                if self._going.get(key) is task:
                    del self._going[key]
                task.cancel()  # has no effect on a task that is done


def _end(exitcode: int | None) -> str:
    """Return how a process ended, to follow its name in a sentence."""
    return f"was killed (signal {-exitcode})" if exitcode and exitcode < 0 else f"ended unexpectedly (code {exitcode})"


T = TypeVar("T")
Request = tuple[Callable[..., Any], tuple[Hashable, ...]]
"""A function and its settings, by which a result is kept."""


@dataclass(eq=False)
class _Kept:
    """A result in the cache.

    Attributes:
        arrays: frames of its arrays, which other results may share.
        rest: bytes of everything else.
        last_used: time of the last use by a visitor, in seconds.
    """

    value: Any
    arrays: frozenset[bytes]
    rest: int
    last_used: float

    @property
    def size(self) -> int:
        """Bytes of the result, including arrays that others share."""
        return self.rest + sum(map(len, self.arrays))


class Answer(NamedTuple, Generic[T]):
    """A result, whether this call had to wait for its computation, and for how long."""

    value: T
    computed: bool
    seconds: float


@dataclass(eq=False)
class Jobs:
    """A bounded cache over a pool of processes.

    A key consists of the function and its settings, which are small frozen values. All sessions share results, so
    their arrays are read-only. Work for which nobody waits any more is stopped.

    Attributes:
        room: largest number of bytes; the least recently used large results are dropped first.
        workers: processes that do the work; None for the caller's thread.
        private: processes for private work, which leave nothing behind; None for ``workers``.
        warm_up: processes for the server's own visits; None for ``workers``.
        owner: function that returns the owner of this thread's tasks; see ``Workers.submit``.
        shipped: function of a function and its settings that returns a shipped result; None if it must be computed.
    """

    room: int
    workers: Workers | None = None
    private: Workers | None = None
    warm_up: Workers | None = None
    owner: Callable[[], Hashable | None] = lambda: None
    shipped: Callable[[Callable[..., Any], tuple[Hashable, ...]], Any | None] = lambda function, settings: None
    _kept: OrderedDict[Hashable, _Kept] = field(default_factory=OrderedDict, init=False)
    _uses: Counter[bytes] = field(default_factory=Counter, init=False)  # of frames, by results that are kept
    _frames: dict[bytes, bytes] = field(default_factory=dict, init=False)  # each that is kept, by its content
    _size: int = field(default=0, init=False)
    _tasks: Tasks = field(default_factory=Tasks, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def get(
        self,
        function: Callable[..., T],
        *settings: Hashable,
        given: tuple[Any, ...] = (),
        waiting: Waiting | None = None,
        here: bool = False,
        postponable: bool = False,
    ) -> Answer[T]:
        """Return ``function(*given, *settings)``, from the cache if it is there.

        Args:
            function: a pure function at the top level of its module; if it takes ``progress``, it reports how far it
                is.
            settings: the arguments that determine the result.
            given: results of earlier steps, which the settings determine, so that they are not part of the key.
            waiting: see ``Waiting``.
            here: whether to compute in the caller's thread, for results that take milliseconds.
            postponable: whether a page may postpone it and continue; it then runs next to the page's further tasks.
        """
        start, key, asks = time.perf_counter(), key_of(function, settings), self.owner()
        if (ready := self._ready(function, settings, is_warm_up(asks))) is not None:
            return Answer(cast(T, ready[0]), False, time.perf_counter() - start)

        def keep(frames: Frames) -> T:
            return cast(T, self._keep(key, frames, is_warm_up(asks)))

        # the key includes the workers, so that no visitor waits for the warm-up, which has low priority
        workers = self.warm_up if self.warm_up is not None and is_warm_up(asks) else self.workers
        work = Work(
            key=(workers, key),
            function=function,
            args=(*given, *settings),
            owner=(asks, function.__qualname__) if postponable else asks,
            keep=keep,
        )
        value = keep(self._compute(None if here else workers, work, waiting))
        return Answer(value, True, time.perf_counter() - start)

    def get_together(
        self,
        function: Callable[..., Sequence[Any]],
        requests: Sequence[Request],
        given: tuple[Any, ...] = (),
        waiting: Waiting | None = None,
    ) -> list[Any]:
        """Return several results, each kept by its own function and settings.

        Args:
            function: returns the results for the settings of several requests, in their order. It is called once,
                with ``given`` and the settings of those that are missing.
            requests: the results.
            given, waiting: see ``get``.
        """
        always = is_warm_up(self.owner())
        ready = [self._ready(*each, always) for each in requests]
        missing = [request for request, found in zip(requests, ready, strict=True) if found is None]
        made: dict[Hashable, Any] = {}
        if missing:
            settings = tuple(own for _, own in missing)
            answer = self.get(function, settings, given=given, waiting=waiting)
            for request, value in zip(missing, answer.value, strict=True):
                made[request] = self._keep(key_of(*request), packed(_itself, (value,)), always)
            with self._lock:
                if (key := key_of(function, (settings,))) in self._kept:
                    self._forget(key)  # its parts are kept instead
        return [made[request] if found is None else found[0] for request, found in zip(requests, ready, strict=True)]

    def find(self, function: Callable[..., T], *settings: Hashable) -> T | None:
        """Return the result for these settings if it is kept or shipped; otherwise None."""
        ready = self._ready(function, settings, always=False)
        return None if ready is None else cast(T, ready[0])

    def _ready(self, function: Callable[..., Any], settings: tuple[Hashable, ...], always: bool) -> tuple[Any] | None:
        """Return a result that is kept or shipped, and mark it as used now, or as used for ``always``."""
        key = key_of(function, settings)
        with self._lock:
            if (kept := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                kept.last_used = max(kept.last_used, math.inf if always else time.monotonic())
                return (kept.value,)
        shipped = self.shipped(function, settings)
        return None if shipped is None else (shipped,)

    def once(self, function: Callable[..., T], *args: Any, waiting: Waiting | None = None) -> T:
        """Return ``function(*args)`` for data of one session, computed by another process and not kept."""
        handed = Handed(args)
        work = Work(key=object(), function=function, args=handed, owner=self.owner())
        try:
            return cast(T, unpack(self._compute(self.private or self.workers, work, waiting)))
        finally:
            handed.args = ()  # for everybody who still has it

    @property
    def size(self) -> int:
        """Return the bytes in the cache; shared parts of results count once."""
        with self._lock:
            return self._size

    def give_back(self, seconds: float) -> None:
        """Drop results that no visitor has used for this many seconds, except those of the warm-up."""
        with self._lock:
            before = time.monotonic() - seconds
            for key in [key for key, kept in self._kept.items() if kept.last_used < before]:
                self._forget(key)

    def _compute(self, workers: Workers | None, work: Work, waiting: Waiting | None) -> Frames:
        if workers is None:
            return packed(work.function, work.args)
        return self._tasks.done(workers, work, waiting)

    def _keep(self, key: Hashable, frames: Frames, always: bool) -> Any:
        # A process returns what it was given as a copy: for example each plan for a matrix contains this matrix
        same = [self._frames.get(frame, frame) for frame in frames[1:]]
        value, rest, arrays = unpack([frames[0], *same]), len(frames[0]), frozenset(same)
        with self._lock:
            if key in self._kept:
                return self._kept[key].value
            kept = _Kept(value, arrays, rest, math.inf if always else time.monotonic())
            if kept.size <= self.room:
                self._kept[key] = kept
                self._size += rest + sum(len(frame) for frame in arrays if not self._uses[frame])
                self._uses.update(arrays)
                self._frames |= {frame: frame for frame in arrays if frame not in self._frames}
                while self._size > self.room:
                    self._forget(self._dropped_next())
        return value

    def _dropped_next(self) -> Hashable:
        """Return the least recently used large result besides the latest one; if there is none, the least recently used
        one of all. Small results took as long to compute, and dropping them makes little room.
        """
        *others, _ = self._kept.items()
        return next((key for key, kept in others if kept.size > _LARGE_BYTES), next(iter(self._kept)))

    def _forget(self, key: Hashable) -> None:
        kept = self._kept.pop(key)
        self._size -= kept.rest
        self._uses.subtract(kept.arrays)
        for frame in kept.arrays:
            if not self._uses[frame]:
                self._size -= len(frame)
                del self._uses[frame], self._frames[frame]


def _itself(value: T) -> T:
    return value


def key_of(function: Callable[..., Any], settings: tuple[Hashable, ...]) -> Hashable:
    """Return the key of a result."""
    return function.__module__, function.__qualname__, settings

"""Results by their settings: computed once however many ask, off the page's thread, and kept while there is room."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar, cast

from pages._ui.visitor import is_house
from pages._ui.work.frames import Frames, Handed, packed, unpack
from pages._ui.work.tasks import Tasks, Waiting, Work
from pages._ui.work.workers import Workers

T = TypeVar("T")


class Part(NamedTuple):
    """Bytes that a result takes: an array's frame, which other results may share, or all the rest of it."""

    size: int
    frame: bytes | None = None  # held here too, so that its number is nobody else's while the result is kept


Parts = dict[Hashable, Part]
"""By the frame's number, or the result's key."""


class Answer(NamedTuple, Generic[T]):
    """A result, whether this call had to wait for its computation, and for how long."""

    value: T
    computed: bool
    seconds: float


@dataclass(eq=False)
class Jobs:
    """A bounded cache over a pool of processes.

    A key is the function and its settings: small frozen values. Results are shared by all sessions, so their
    arrays are read-only. Work that nobody waits for any more is stopped.

    Attributes:
        room: bytes kept at most; the least recently used results go first.
        workers: where work runs; None: in the caller's thread.
        private: where work runs of which nothing may be left; None: where the other work does.
        house: where work of the server's own visits runs; None: the same.
        owner: who asks in this thread; see ``Workers.submit``.
    """

    room: int
    workers: Workers | None = None
    private: Workers | None = None
    house: Workers | None = None
    owner: Callable[[], Hashable | None] = lambda: None
    _kept: OrderedDict[Hashable, tuple[Any, Parts]] = field(default_factory=OrderedDict, init=False)
    _uses: Counter[Hashable] = field(default_factory=Counter, init=False)  # of parts, by results that are kept
    _held: int = field(default=0, init=False)
    _asked: dict[Hashable, float] = field(default_factory=dict, init=False)  # for what is kept, when a visitor last did
    _tasks: Tasks = field(default_factory=Tasks, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def get(
        self,
        function: Callable[..., T],
        *settings: Hashable,
        given: tuple[Any, ...] = (),
        waiting: Waiting | None = None,
        here: bool = False,
        beside: bool = False,
    ) -> Answer[T]:
        """``function(*given, *settings)``, from the cache if these settings were asked for before.

        Args:
            function: a pure function at the top level of its module; if it takes ``progress``, it says how far it is.
            settings: what the result depends on.
            given: results of earlier stages, which the settings determine: no part of the key.
            waiting: see ``Waiting``.
            here: compute in the caller's thread: for milliseconds, which a process would only make longer.
            beside: a page may postpone it and go on; it runs beside what the page asks for then.
        """
        start, key, asks = time.perf_counter(), key_of(function, settings), self.owner()
        if (kept := self._find(key, is_house(asks))) is not None:
            return Answer(kept[0], False, time.perf_counter() - start)

        def keep(frames: Frames) -> T:
            parts: Parts = {id(frame): Part(len(frame), frame) for frame in frames[1:]}
            return cast(T, self._keep(key, unpack(frames), {key: Part(len(frames[0])), **parts}, is_house(asks)))

        work = Work(
            function=function,
            args=(*given, *settings),
            owner=(asks, function.__qualname__) if beside else asks,
            keep=keep,
        )
        workers = self.house if self.house is not None and is_house(asks) else self.workers
        value = keep(self._compute(workers, key, work, waiting, here))
        return Answer(value, True, time.perf_counter() - start)

    def find(self, function: Callable[..., T], *settings: Hashable) -> T | None:
        """The result for these settings if it is kept; None if it is not."""
        kept = self._find(key_of(function, settings), always=False)
        return None if kept is None else cast(T, kept[0])

    def _find(self, key: Hashable, always: bool) -> tuple[Any] | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                self._asked[key] = max(self._asked[key], math.inf if always else time.monotonic())
                return (self._kept[key][0],)
        return None

    def once(self, function: Callable[..., T], *args: Any, waiting: Waiting | None = None) -> T:
        """``function(*args)`` off the page's thread, kept nowhere: for what belongs to one session."""
        handed = Handed(args)
        work = Work(function=function, args=handed, owner=self.owner())
        try:
            return cast(T, unpack(self._compute(self.private or self.workers, object(), work, waiting)))
        finally:
            handed.args = ()  # whoever passed it on and still holds it, holds nothing

    @property
    def held(self) -> int:
        """Bytes in the cache; what several results share counts once."""
        with self._lock:
            return self._held

    def clear(self) -> None:
        """Forget every result."""
        with self._lock:
            while self._kept:
                self._drop()

    def give_back(self, seconds: float) -> None:
        """Forget what no visitor has asked for in so many seconds, but for what every first visit shows."""
        with self._lock:
            before = time.monotonic() - seconds
            for key in [key for key, asked in self._asked.items() if asked < before]:
                self._forget(key)

    def _compute(
        self, workers: Workers | None, key: Hashable, work: Work, waiting: Waiting | None, here: bool = False
    ) -> Frames:
        if here or workers is None:
            return packed(work.function, work.args)
        # of the house's processes, which have what others leave, no visitor waits for anything
        return self._tasks.done(workers, (workers, key), work, waiting)

    def _keep(self, key: Hashable, value: Any, parts: Parts, always: bool) -> Any:
        with self._lock:
            if key in self._kept:
                return self._kept[key][0]
            if sum(part.size for part in parts.values()) <= self.room:
                self._kept[key] = (value, parts)
                self._asked[key] = math.inf if always else time.monotonic()
                self._held += sum(part.size for number, part in parts.items() if not self._uses[number])
                self._uses.update(parts.keys())
                while self._held > self.room:
                    self._drop()
        return value

    def _drop(self) -> None:
        """Forget the result that was asked for least recently."""
        self._forget(next(iter(self._kept)))

    def _forget(self, key: Hashable) -> None:
        _, parts = self._kept.pop(key)
        del self._asked[key]
        self._uses.subtract(parts.keys())
        for number, part in parts.items():
            if not self._uses[number]:
                self._held -= part.size
                del self._uses[number]


def key_of(function: Callable[..., Any], settings: tuple[Hashable, ...]) -> Hashable:
    """By what a result is kept."""
    return function.__module__, function.__qualname__, settings

"""Processes for longer tasks: the queue, arguments and results in bytes, and how tasks are stopped."""

from __future__ import annotations

import ctypes
import gc
import inspect
import multiprocessing
import multiprocessing.spawn
import multiprocessing.util
import os
import pickle
import resource
import signal
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, InvalidStateError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import forkserver, resource_tracker
from multiprocessing.context import ForkServerContext
from typing import Any

import numpy as np
from pebble import ProcessPool

from pages._ui import environment

Frames = list[bytes]


@dataclass(eq=False)
class Handed:
    """Arguments of one call that can be taken back from everybody who still has them."""

    args: tuple[Any, ...] = field(repr=False)


Progress = Callable[[float], None]  # function of the fraction done


def called(function: Callable[..., Any], args: tuple[Any, ...], progress: Progress) -> Any:
    """Return ``function(*args)``, called with ``progress`` if it takes that."""
    takes = "progress" in inspect.signature(function).parameters
    return function(*args, progress=progress) if takes else function(*args)


def packed(function: Callable[..., Any], args: tuple[Any, ...] | Handed, progress: Progress = lambda _: None) -> Frames:
    """Return the result of ``called`` in bytes; an array that came from a frame returns as that frame."""
    value = called(function, args.args if isinstance(args, Handed) else args, progress)
    arrays: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    return [rest, *map(_frame, arrays)]


def _frame(array: pickle.PickleBuffer) -> bytes:
    with array.raw() as content:
        owner: Any = content.obj
        while isinstance(owner, np.ndarray):
            owner = owner.base
        # bytes never change, so an array of all of them may share them
        return owner if isinstance(owner, bytes) and len(owner) == content.nbytes else bytes(content)


def unpack(frames: Frames) -> Any:
    """Return the value. Its arrays share the frames' bytes, and are read-only."""
    return pickle.loads(frames[0], buffers=frames[1:])


SLOW_SECONDS = 3.0  # seconds after which a task allows another one next to it


class QueuedTask(Future[Any]):
    """Future of a task that waits for its turn; cancelling it ends its work at once, even while it runs.

    Attributes:
        owner: visitor, of whose tasks one runs at a time; None for nobody.
        work: work of a process with its starting time and slot; None until it may start.
        pages: number of pages that wait for it.
        repeated: whether the processes broke once while it ran, so that it is repeated, at no time together with
            another such task.
        expected: seconds that it is expected to run; 0 if that is unknown.
        waits_since: time since which its page waits, see ``waiting.waits_since``; now if it has none.
    """

    def __init__(
        self,
        owner: Hashable | None,
        function: Callable[..., Any],
        args: tuple[Any, ...] = (),
        expected: float = 0.0,
        waits_since: float | None = None,
    ) -> None:
        super().__init__()
        self.owner, self.function, self.args, self.expected = owner, function, args, expected
        self.waits_since = time.monotonic() if waits_since is None else waits_since
        self.work: Future[Any] | None = None
        self.since, self.slot, self.pages, self.repeated = 0.0, 0, 1, False

    def cancel(self) -> bool:
        """End the task. Whoever waits for it gets a CancelledError."""
        if self.work is not None:
            return self.work.cancel()
        return self._cancelled()

    def take_over(self, work: Future[Any]) -> None:
        """End the task as its work has ended."""
        if work.cancelled():
            self._cancelled()
        elif (error := work.exception()) is not None:
            self.set_exception(error)
        else:
            self.set_result(work.result())

    def _cancelled(self) -> bool:
        done = super().cancel()
        if done:
            self.set_running_or_notify_cancel()
        return done


class NotStarted(BrokenProcessPool):
    """Raised if no process could be started."""


class TaskQueue:
    """Decides which waiting task may start: of the owners of whose tasks none runs, the one whose page has waited
    longest. It is not safe to use from several threads at once.

    Args:
        limit: number of tasks that start at the same time.
        most: number of tasks that run at the same time if some of them are slow.
    """

    def __init__(self, limit: int, most: int) -> None:
        self.limit, self.most = limit, most
        self.waiting: list[QueuedTask] = []
        self.running: list[QueuedTask] = []

    def next(self) -> QueuedTask | None:
        """Return the task to start now, which counts as running from here on; None if none may start."""
        self.waiting = [task for task in self.waiting if not task.done()]
        moment = time.monotonic()
        busy = {task.owner for task in self.running if task.owner is not None}
        able = [task for task in self.waiting if task.owner not in busy]
        if any(task.repeated for task in self.running):  # a task whose processes broke may break them again
            able = [task for task in able if not task.repeated]
        quick = sum(moment - each.since < SLOW_SECONDS for each in self.running)
        if not able or quick >= self.limit or len(self.running) >= self.most:
            return None

        task = min(able, key=lambda task: task.waits_since)  # the first of equal ones
        self.waiting.remove(task)
        task.since, task.slot = moment, min({*range(self.most)} - {each.slot for each in self.running})
        self.running.append(task)
        return task

    @property
    def crowded(self) -> bool:
        """Whether there are more tasks than may start."""
        return len(self.running) > self.limit or bool(self.waiting)

    def clear(self) -> list[QueuedTask]:
        """Remove and return the tasks that run or wait."""
        left = [*self.running, *self.waiting]
        self.running, self.waiting = [], []
        return left

    def end(self, task: QueuedTask) -> None:
        """Count a task as no longer running."""
        if task in self.running:
            self.running.remove(task)


# Loaded once, in the process that workers are forked from: a new worker is then ready at once and shares the memory.
_PRELOADED = [
    "pages._ui.work.deferred",
    "pages._ui.attack",
    "pages._ui.cloaking.results",
    "pages._ui.cloaking.staged",
    "pages._ui.compare.contenders",
    "pages._ui.excursion.bayes",
    "pages._ui.lengthscale.compute",
    "pages._ui.serve.check",
    "pages._ui.sparse.compute",
]
_TASKS_A_WORKER = 200  # then a new process replaces it, so that no leak grows for ever
_MOST_MEGABYTES = environment.whole("DPGP_WORKER_MB")  # bytes of one worker's address space
_NICENESS, _LEAST_URGENT = 5, 19  # drawing pages has priority; the last value gets a twentieth of a shared core
_STOPPED = "the processes are stopped"

_preparation = multiprocessing.spawn.get_preparation_data
_reports: Any = None  # in a worker: fractions done by slot, shared with the server


class Workers:
    """Processes that run picklable functions of small settings; cancelling a future stops its work at once.

    Args:
        tasks_each: number of tasks after which a new process replaces one; 1 leaves nothing of a task in any memory.
        spare: further processes for new visitors while others are slow.
        behind: workers with priority over these.
    """

    def __init__(
        self, count: int, tasks_each: int = _TASKS_A_WORKER, spare: int = 0, behind: Workers | None = None
    ) -> None:
        multiprocessing.spawn.get_preparation_data = _without_main
        self._tasks_each, self._behind = tasks_each, behind
        self._queue = TaskQueue(limit=count, most=count + spare)
        self._fractions = multiprocessing.RawArray("d", count + spare)  # by slot
        self._lock = threading.RLock()  # a task that ends while it is started starts the next one
        self._pool: ProcessPool | None = self._fresh_pool()  # None after stopping

    def submit(
        self,
        function: Callable[..., Any],
        *args: Any,
        owner: Hashable | None = None,
        expected: float = 0.0,
        waits_since: float | None = None,
    ) -> QueuedTask:
        """Run ``function(*args)``, with ``progress=`` a callback if it takes one.

        Args:
            function: importable by name.
            owner, expected, waits_since: see ``QueuedTask``.
        """
        task = QueuedTask(owner, function, args, expected, waits_since)
        with self._lock:
            self._queue.waiting.append(task)
        self.dispatch()
        return task

    def begin(self) -> None:
        """Start the processes now instead of at the first task."""
        with self._lock:
            if self._pool is not None:
                self._started()

    def dispatch(self) -> None:
        """Start the tasks that may start. Call it now and then, because a slow task makes room without notice."""
        with self._lock:
            while (task := self._queue.next()) is not None:
                self._start(task)

    def _start(self, task: QueuedTask) -> None:
        self._fractions[task.slot] = 0.0
        try:
            task.work = self._started().schedule(_call, (task.slot, task.function, task.args))
        except (OSError, BrokenProcessPool) as error:
            self._queue.end(task)
            task.set_exception(NotStarted(str(error)))
            return
        task.work.add_done_callback(lambda work: self._end(task, work))

    def _end(self, task: QueuedTask, work: Future[Any]) -> None:
        with self._lock:
            self._queue.end(task)
            if again := self._is_lost(task, work):
                task.repeated, task.work = True, None
                self._queue.waiting.insert(0, task)
        if not again:
            task.take_over(work)
        self.dispatch()

    def _is_lost(self, task: QueuedTask, work: Future[Any]) -> bool:
        """Return whether a task ended because all processes broke, perhaps by another task, so that it is repeated."""
        if work.cancelled() or task.repeated or self._pool is None:
            return False
        return isinstance(work.exception(), BrokenProcessPool)

    @property
    def crowded(self) -> bool:
        """Whether visitors have more tasks than there are processes."""
        if self._behind is not None:
            return self._behind.crowded
        with self._lock:
            return self._queue.crowded

    @property
    def busy(self) -> bool:
        """Whether any task runs or waits."""
        with self._lock:
            return bool(self._queue.running or self._queue.waiting)

    def fraction(self, task: QueuedTask) -> float:
        """Return how much of a task is done, in [0, 1]; 0 if it does not report."""
        return 0.0 if task.work is None else float(self._fractions[task.slot])

    def has_room(self) -> bool:
        """Whether a task would start at once, next to no slow one."""
        with self._lock:
            return not self._queue.waiting and len(self._queue.running) < self._queue.limit

    def stop(self) -> None:
        """Stop all running tasks; waiting ones are not started, and their futures get an error."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.stop()
            pool.join()
        with self._lock:
            left = self._queue.clear()
        for task in left:  # pebble does not change futures of stopped tasks
            with suppress(InvalidStateError):  # it has ended
                task.set_exception(NotStarted(_STOPPED))

    def _started(self) -> ProcessPool:
        """Return the pool with its processes started; a new one if it broke.

        Raises:
            NotStarted: no process could be started; waiting tasks get an error too.
        """
        if self._pool is None:
            raise NotStarted(_STOPPED)
        with _deaf_to_ctrl_c():
            if not self._pool.active:
                threading.Thread(target=_bury, args=(self._pool,), daemon=True).start()
                self._pool = self._fresh_pool()
                self._pool.active  # noqa: B018 (starts them)
        return self._pool

    def _fresh_pool(self) -> ProcessPool:
        context = ForkServerContext()
        context.set_forkserver_preload(_PRELOADED)
        niceness = _NICENESS if self._behind is None else _LEAST_URGENT
        return ProcessPool(len(self._fractions), self._tasks_each, _begin, (self._fractions, niceness), context)


def _bury(pool: ProcessPool) -> None:
    """End the processes of a pool that broke. They may still compute; a thread of the pool cannot wait for itself."""
    pool.stop()
    pool.join()


def leave_no_folder() -> None:
    """End the process from which others are forked, and remove the folder of its socket.

    Python does this when it exits, but a server that is told to stop ends by the signal itself.
    """
    server: Any = forkserver
    finalizers: Any = multiprocessing.util
    server._forkserver._stop()
    finalizers._run_finalizers()


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Make processes that are started within this block, and theirs, ignore Ctrl-C: it reaches the server too, which
    ends them.

    A process that has just started would write a traceback to the terminal.
    """
    resource_tracker.ensure_running()  # starting it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _without_main(name: str) -> dict[str, Any]:
    # A worker would import ``__main__``, which in a streamlit server is the script of the current page.
    return {key: value for key, value in _preparation(name).items() if not key.startswith("init_main")}


def _begin(fractions: Any, niceness: int) -> None:
    global _reports
    _reports = fractions
    gc.freeze()  # examining what was loaded before the fork would copy it into this process
    os.nice(niceness)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEGABYTES * 2**20,) * 2)
    threading.Thread(target=_end_with_the_server, daemon=True).start()


def _end_with_the_server() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def return_freed_memory() -> None:
    """Return freed memory to the system; the C library would keep it for the next task."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def _call(slot: int, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    def progress(fraction: float) -> None:
        _reports[slot] = fraction

    try:
        return called(function, args, progress)
    except Exception as error:
        raise sendable(error) from None
    finally:
        return_freed_memory()


def sendable(error: Exception) -> Exception:
    """Return an exception that another process can read: itself, or its built-in type with the same sentence.

    One that cannot be read there would break the pool, and with it the work of all visitors.
    """
    try:
        if type(pickle.loads(pickle.dumps(error))) is type(error):
            return error
    except Exception:  # its constructor or its attributes may raise anything
        pass
    kind: Any = next(each for each in type(error).__mro__ if each.__module__ == "builtins")
    try:
        plain: Exception = kind(str(error))
        return plain
    except TypeError:  # a type that needs more than a sentence, such as UnicodeDecodeError
        return RuntimeError(str(error))

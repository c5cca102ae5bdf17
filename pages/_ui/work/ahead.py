"""Idle processes compute what a visitor is likely to ask for next: results stand there before a control is moved."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

from pages._ui.work.jobs import Jobs, key_of

_MOST = 100  # wishes; beyond, those of the page that was left longest ago are dropped

_PAUSE = 0.5  # s between looks whether a process is idle


class Wish(NamedTuple):
    """A result that is likely to be wanted; see ``Jobs.get``.

    Attributes:
        function: a pure function at the top level of its module.
        settings: what the result depends on.
        given: results of earlier stages.
    """

    function: Callable[..., Any]
    settings: tuple[Hashable, ...]
    given: tuple[Any, ...]

    @property
    def key(self) -> Hashable:
        """Equal for equal results."""
        return key_of(self.function, self.settings)


class _GivenUp(Exception):
    """Somebody waits for the process."""


class Ahead:
    """One wish after the other, the latest page's first, while nobody waits for a process; then it gives way at once.

    Args:
        jobs: whose results they become; without workers nothing is done.
    """

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._wishes: OrderedDict[Hashable, Wish] = OrderedDict()  # the next one last
        self._changed = threading.Condition()
        self._ended = False
        threading.Thread(target=self._run, daemon=True).start()

    def wish(self, wishes: Iterable[Wish]) -> None:
        """Put these before all others, the first of them first."""
        with self._changed:
            for wish in reversed([*wishes]):
                self._wishes[wish.key] = wish
                self._wishes.move_to_end(wish.key)
            while len(self._wishes) > _MOST:
                self._wishes.popitem(last=False)
            self._changed.notify()

    def stop(self) -> None:
        """End after the present one."""
        with self._changed:
            self._ended = True
            self._changed.notify()

    def _run(self) -> None:
        while (wish := self._next()) is not None:
            try:
                self._jobs.get(wish.function, *wish.settings, given=wish.given, waiting=self._give_way)
            except _GivenUp:
                with self._changed:
                    self._wishes.setdefault(wish.key, wish)
            except Exception:  # whoever asks for it in earnest is told
                continue

    def _next(self) -> Wish | None:
        with self._changed:
            while not self._ended:
                if self._wishes and self._idle():
                    return self._wishes.popitem()[1]
                self._changed.wait(timeout=_PAUSE if self._wishes else None)
        return None

    def _idle(self) -> bool:
        workers = self._jobs.workers
        return workers is not None and workers.has_room()

    def _give_way(self, fraction: float, expected: float | None, crowded: bool) -> None:
        if self._ended or crowded:
            raise _GivenUp

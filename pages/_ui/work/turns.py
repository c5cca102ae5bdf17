"""Whose work runs next when there is more than there are processes: nobody waits behind one who asks for much.

Everybody has one task running at most; the next to start is of whoever was served longest ago; and a task that has run
for some seconds makes room for a newcomer's beside it, as far as there are processes: it only gets less of the machine.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

SLOW_SECONDS = 3.0  # after which a task makes room beside it
_REMEMBERED = 1000  # owners, and when they were served


class Turn(Future[Any]):
    """The future of a task that waits for its turn; cancelling it ends its work at once, also when it runs."""

    def __init__(self, owner: Hashable | None, start: Callable[[], Future[Any]]) -> None:
        super().__init__()
        self.owner, self.start = owner, start
        self.work: Future[Any] | None = None
        self.since = 0.0

    def cancel(self) -> bool:
        """End it. Whoever waits for it gets a CancelledError."""
        if self.work is not None:
            return self.work.cancel()
        return self._cancelled()

    def running(self) -> bool:
        """Whether a process is at it."""
        return self.work is not None and self.work.running()

    def take_over(self, work: Future[Any]) -> None:
        """End as the work has ended."""
        if work.cancelled():
            self._cancelled()
        elif (error := work.exception()) is not None:
            self.set_exception(error)
        else:
            self.set_result(work.result())

    def give_up(self, error: Exception) -> None:
        """End with an error unless it has ended."""
        with suppress(InvalidStateError):
            self.set_exception(error)

    def _cancelled(self) -> bool:
        done = super().cancel()
        if done:
            self.set_running_or_notify_cancel()
        return done


@dataclass(eq=False)
class Turns:
    """Which of the waiting tasks may start. Not safe to use from several threads at once.

    Attributes:
        places: how many tasks start side by side.
        most: how many run side by side when some of them are slow.
        clock: seconds that only move forward.
    """

    places: int
    most: int
    clock: Callable[[], float] = time.monotonic
    waiting: list[Turn] = field(default_factory=list)
    running: list[Turn] = field(default_factory=list)
    _served: OrderedDict[Hashable, int] = field(default_factory=OrderedDict)
    _count: int = 0

    def next(self) -> Turn | None:
        """The task to start now, counted as running from here on; None if none may start."""
        self.waiting = [turn for turn in self.waiting if not turn.done()]
        now = self.clock()
        busy = {turn.owner for turn in self.running if turn.owner is not None}
        able = [turn for turn in self.waiting if turn.owner not in busy]
        if not able or not self._has_room(now):
            return None
        turn = min(able, key=lambda turn: self._served.get(turn.owner, 0))  # the first of equals
        self.waiting.remove(turn)
        self.running.append(turn)
        turn.since = now
        self._remember(turn.owner)
        return turn

    @property
    def crowded(self) -> bool:
        """Whether there is more to do than there are places for it."""
        return len(self.running) > self.places or bool(self.waiting)

    def _has_room(self, now: float) -> bool:
        quick = sum(now - each.since < SLOW_SECONDS for each in self.running)
        return quick < self.places and len(self.running) < self.most

    def clear(self) -> list[Turn]:
        """Forget the tasks that run or wait, and return them."""
        left = [*self.running, *self.waiting]
        self.running, self.waiting = [], []
        return left

    def end(self, turn: Turn) -> None:
        """Count a task as running no more."""
        if turn in self.running:
            self.running.remove(turn)

    def _remember(self, owner: Hashable | None) -> None:
        self._count += 1
        if owner is not None:
            self._served[owner] = self._count
            self._served.move_to_end(owner)
            if len(self._served) > _REMEMBERED:
                self._served.popitem(last=False)

"""A walk of many visitors through all pages: random settings, uploads, disconnects; and what it leaves behind."""

from __future__ import annotations

import asyncio
import math
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from benchmarks.server.client import Answer, Session
from benchmarks.server.report import Phase, resident_megabytes
from pages._ui import menu

PAGES = tuple("" if page == menu.PAGES[0] else page.file for page in menu.PAGES)
SEED = 1
LONGEST_SECONDS = 7200
MOST_REQUESTS = 100_000
_UPLOADS, _LEAVES = 0.5, 0.15  # shares of visits to the page of own tables, and of all


class Load(NamedTuple):
    """How much is asked of a server.

    Attributes:
        address: address of the server.
        sessions: number of sessions at once, >= 1.
        seconds: no visit begins later than this.
        think: mean pause before a move, in seconds.
    """

    address: str
    sessions: int
    seconds: float
    think: float


class State(NamedTuple):
    """MB of a server and its processes, and descriptors that the server holds open."""

    megabytes: float
    descriptors: int


@dataclass
class Walk:
    """What happened.

    Attributes:
        opened, moved, uploaded: times until the page was complete.
        first: of all of them, until its first answer.
        left: visitors that were gone before they were answered.
        postponed: pages that asked to look again.
        memory: (seconds since the beginning, MB) pairs.
        states: of the server before, at the end, and after idling.
    """

    opened: Phase = field(default_factory=lambda: Phase("pages opened"))
    moved: Phase = field(default_factory=lambda: Phase("sliders moved"))
    uploaded: Phase = field(default_factory=lambda: Phase("tables uploaded"))
    first: Phase = field(default_factory=lambda: Phase("all of these: until the first answer"))
    left: int = 0
    postponed: int = 0
    memory: list[tuple[float, float]] = field(default_factory=list)
    states: list[State] = field(default_factory=list)

    @property
    def phases(self) -> list[Phase]:
        """What is printed."""
        return [self.opened, self.moved, self.uploaded, self.first]

    @property
    def complete(self) -> list[float]:
        """Times until a page was complete."""
        return [*self.opened.seconds, *self.moved.seconds, *self.uploaded.seconds]

    @property
    def errors(self) -> list[str]:
        """What went wrong."""
        return [error for phase in self.phases for error in phase.errors]

    @property
    def requests(self) -> int:
        """How many were answered."""
        return len(self.first.seconds)


async def walked(load: Load, pid: int | None, idle: float) -> Walk:
    """Walk for ``load.seconds``, then idle."""
    walk = Walk(states=[_state(pid)])
    start, deadline = time.monotonic(), time.monotonic() + load.seconds
    sampling = asyncio.create_task(_sample(walk, pid, start, max(1.0, load.seconds / 200)))
    await asyncio.gather(*(_visitor(load, walk, number, deadline) for number in range(load.sessions)))
    sampling.cancel()
    walk.states.append(_state(pid))
    await asyncio.sleep(idle)
    walk.states.append(_state(pid))
    return walk


async def _visitor(load: Load, walk: Walk, number: int, deadline: float) -> None:
    rng = random.Random(SEED + number)
    while time.monotonic() < deadline and walk.requests < MOST_REQUESTS:
        await asyncio.sleep(rng.uniform(0, 2 * load.think) + 0.01)
        with walk.opened.noting_failures():
            await _visit(load, walk, rng, deadline)


async def _visit(load: Load, walk: Walk, rng: random.Random, deadline: float) -> None:
    """One page: opened, moved some times, perhaps given a table, closed or left in the middle of an answer."""

    def note(phase: Phase, answer: Answer) -> None:
        phase.seconds.append(answer.seconds)
        phase.errors += answer.exceptions
        walk.first.seconds.append(answer.first)
        walk.postponed += answer.postponed

    page = rng.choice(PAGES)
    async with Session(load.address, page) as tab:
        note(walk.opened, await tab.open())
        if page == "your_data" and rng.random() < _UPLOADS:
            note(walk.uploaded, await tab.upload("table.csv", _table(rng)))
        for _ in range(rng.randrange(5)):
            await asyncio.sleep(rng.uniform(0, 2 * load.think))
            movable = sorted(key for key, options in tab.offers.items() if len(options) > 1)
            if not movable or time.monotonic() > deadline:
                break
            key = rng.choice(movable)
            note(walk.moved, await tab.move(**{key: rng.choice(tab.offers[key])}))
        if rng.random() < _LEAVES:
            await tab.leave()
            walk.left += 1


def _table(rng: random.Random) -> bytes:
    rows = (f"{rng.uniform(0, 90):.2f},{rng.uniform(50, 200):.2f}\n" for _ in range(rng.choice((50, 500, 50_000))))
    return ("age,height\n" + "".join(rows)).encode()


async def _sample(walk: Walk, pid: int | None, start: float, pause: float) -> None:
    while pid is not None:
        megabytes = await asyncio.to_thread(resident_megabytes, pid)
        walk.memory.append((time.monotonic() - start, megabytes))
        await asyncio.sleep(pause)


def _state(pid: int | None) -> State:
    if pid is None:
        return State(math.nan, 0)
    return State(resident_megabytes(pid), sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir()))

"""A walk of many visitors through all pages: random settings, uploads, disconnects; and what it leaves behind."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.load_phases import PAGES, SEED, Load, noting_failures
from benchmarks.load_report import Phase, quantile, resident_megabytes
from benchmarks.streamlit_client import Answer, Session

LONGEST_SECONDS = 7200
MOST_REQUESTS = 100_000
BLOCKS = 20  # of samples, for the error of a slope: neighbours move together, blocks hardly
_UPLOADS, _LEAVES = 0.5, 0.15  # shares of visits to the page of own tables, and of all


@dataclass
class Walk:
    """What happened.

    Attributes:
        opened, moved, uploaded: times until the page was complete.
        first: of all of them, until its first element.
        left: visitors that were gone before they were answered.
        memory: (seconds since the beginning, MB) pairs.
    """

    opened: Phase = field(default_factory=lambda: Phase("pages opened"))
    moved: Phase = field(default_factory=lambda: Phase("sliders moved"))
    uploaded: Phase = field(default_factory=lambda: Phase("tables uploaded"))
    first: Phase = field(default_factory=lambda: Phase("all of these: until the first element"))
    left: int = 0
    memory: list[tuple[float, float]] = field(default_factory=list)

    @property
    def phases(self) -> list[Phase]:
        """What is printed."""
        return [self.opened, self.moved, self.uploaded, self.first]

    @property
    def requests(self) -> int:
        """How many were answered."""
        return len(self.first.seconds)


async def walked(load: Load, pid: int | None, idle: float) -> tuple[list[Phase], list[str]]:
    """Walk for ``load.seconds``, idle, and say what was measured beside its targets."""
    walk, before = Walk(), _state(pid)
    start, deadline = time.monotonic(), time.monotonic() + load.seconds
    sampling = asyncio.create_task(_sample(walk, pid, start, max(1.0, load.seconds / 200)))
    await asyncio.gather(*(_visitor(load, walk, number, deadline) for number in range(load.sessions)))
    sampling.cancel()
    at_end = _state(pid)
    await asyncio.sleep(idle)
    return walk.phases, _rows(walk, before, at_end, _state(pid), idle)


async def _visitor(load: Load, walk: Walk, number: int, deadline: float) -> None:
    rng = random.Random(SEED + number)
    while time.monotonic() < deadline and walk.requests < MOST_REQUESTS:
        await asyncio.sleep(rng.uniform(0, 2 * load.think) + 0.01)
        with noting_failures(walk.opened):
            await _visit(load, walk, rng, deadline)


async def _visit(load: Load, walk: Walk, rng: random.Random, deadline: float) -> None:
    """One page: opened, moved some times, perhaps given a table, closed or left in the middle of an answer."""

    def note(phase: Phase, answer: Answer) -> None:
        phase.note(answer)
        walk.first.seconds.append(answer.first)

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


def _state(pid: int | None) -> tuple[float, int]:
    """MB of the server and its processes, and descriptors that the server holds open."""
    if pid is None:
        return float("nan"), 0
    return resident_megabytes(pid), sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def growth(samples: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Slope of memory in time and its standard error, in MB an hour; nan for too little.

    The first sixth is left out. Means over ``BLOCKS`` blocks of samples are fitted by least squares, y = a + b t; the
    error is s / sqrt(sum (t - mean t)^2) with s^2 the squared residuals over BLOCKS - 2.
    """
    found = np.array(samples).reshape(-1, 2)
    found = found[found[:, 0] > found[-1, 0] / 6] if len(found) else found
    if len(found) < 2 * BLOCKS:
        return float("nan"), float("nan")
    t, y = np.array([block.mean(axis=0) for block in np.array_split(found, BLOCKS)]).T
    spread = ((t - t.mean()) ** 2).sum()
    slope = ((t - t.mean()) * y).sum() / spread
    residual = y - y.mean() - slope * (t - t.mean())
    error = np.sqrt((residual**2).sum() / (BLOCKS - 2) / spread)
    return float(3600 * slope), float(3600 * error)


def _rows(
    walk: Walk, before: tuple[float, int], at_end: tuple[float, int], after: tuple[float, int], idle: float
) -> list[str]:
    errors = [error for phase in walk.phases for error in phase.errors]
    slope, uncertain = growth(walk.memory)
    longest = max((second for phase in walk.phases for second in phase.seconds), default=float("nan"))
    table = [
        ("answered, left in the middle", f"{walk.requests}, {walk.left}", ""),
        ("p95 to the first element", f"{quantile(walk.first.seconds, 0.95):.2f} s", "40 sessions: 3 s; 6: 0.8 s"),
        ("longest answer", f"{longest:.1f} s", "20 s"),
        ("errors and exceptions", f"{len(errors)} {errors[:3] if errors else ''}", "0"),
        (
            f"memory before, at the end, {idle:g} s later",
            _three(before[0], at_end[0], after[0], "MB"),
            "cache + 150 MB",
        ),
        ("descriptors, the same", _three(before[1], at_end[1], after[1], ""), "60"),
        ("memory grew by", f"{slope:.1f} ± {uncertain:.1f} MB/h", "5 MB/h"),
    ]
    return [f"{what:<44} {found:<32} {target}" for what, found, target in [("measured", "", "at most"), *table]]


def _three(before: float, at_end: float, after: float, unit: str) -> str:
    return f"{before:.0f}, {at_end:.0f}, {after:.0f} {unit}".strip()

"""What walks measured beside their targets: one walk's lines, and the table of several."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

import numpy as np

from benchmarks.server.report import quantile
from benchmarks.server.walk import Load, Walk, walked

BLOCKS = 20  # of samples, for the error of a slope: neighbours move together, blocks hardly
SOAK_CACHE_MB = 16  # full from the beginning, so that what grows is no cache
MEMORY = 750  # MB of all processes that may be held once visitors are gone

Serve = Callable[[dict[str, str]], AbstractContextManager[tuple[str, int]]]


Row = dict[str, object]


def table(serve: Serve, share: float) -> Iterator[Row]:
    """The load table; fifteen minutes times ``share``, one walk after the other.

    Args:
        serve: a fresh server with these settings: (address, process number).
        share: of every time, in (0, 1].
    """
    with serve({}) as (address, pid):
        many = asyncio.run(walked(Load(address, 40, 180 * share, 2.0), pid, 180 * share))
        yield from crowd(many, 180 * share)
        few = asyncio.run(walked(Load(address, 6, 150 * share, 2.0), pid, 0.0))
        yield _times(f"6 sessions, {150 * share:.0f} s: first answer", few.first.seconds, "p95 <= 0.8 s")
        yield _times("the same, complete", few.complete, "")
        yield _line("the same: answered, look again, errors", _counts(few), "0 errors")
    with serve({"DPGP_CACHE_MB": str(SOAK_CACHE_MB)}) as (address, pid):
        soak = asyncio.run(walked(Load(address, 6, 270 * share, 5.0), pid, 0.0))
    yield _soak(soak, 270 * share)


def crowd(walk: Walk, seconds: float) -> Iterator[Row]:
    """Forty sessions, and what is left of them after as long a pause."""
    yield _times(f"40 sessions, {seconds:.0f} s: first answer", walk.first.seconds, "p95 <= 3 s")
    yield _times("the same, complete", walk.complete, "max <= 20 s")
    yield _line("the same: answered, look again, errors", _counts(walk), "0 errors")
    held = [f"{state.megabytes:.0f}" for state in walk.states]
    yield _line(f"memory before, at the end, {seconds:.0f} s later", f"{', '.join(held)} MB", f"<= {MEMORY} MB at last")
    open_files = [str(state.descriptors) for state in walk.states]
    yield _line("descriptors, the same", ", ".join(open_files), "<= 60 at last")


def rows(walk: Walk, idle: float) -> Iterator[Row]:
    """One walk, beside no target."""
    yield _line("answered, look again, errors", _counts(walk))
    yield _line("left in the middle", str(walk.left))
    for phase in walk.phases:
        yield _line(phase.title, _quantiles(phase.seconds))
    yield _line("complete", _quantiles(walk.complete))
    megabytes, open_files = ([f"{number:.0f}" for number in each] for each in zip(*walk.states, strict=True))
    yield _line(f"memory before, at the end, {idle:g} s later", f"{', '.join(megabytes)} MB")
    yield _line("descriptors, the same", ", ".join(open_files))
    yield _line("memory grew by", "{:.1f} ± {:.1f} MB/h".format(*growth(walk.memory)))


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


def _soak(walk: Walk, seconds: float) -> Row:
    slope, uncertain = growth(walk.memory)
    what = f"{seconds:.0f} s, 6 sessions, 5 s between moves, cache {SOAK_CACHE_MB} MB: memory grows by"
    return _line(what, f"{slope:.0f} ± {uncertain:.0f} MB/h, {len(walk.errors)} errors", "<= 5 MB/h, 0 errors")


def _counts(walk: Walk) -> str:
    shown = f" {sorted(set(walk.errors))[:3]}" if walk.errors else ""
    return f"{walk.requests}, {walk.postponed}, {len(walk.errors)}{shown}"


def _times(what: str, seconds: Sequence[float], target: str) -> Row:
    return _line(what, _quantiles(seconds), target)


def _quantiles(seconds: Sequence[float]) -> str:
    p50, p95, longest = (quantile(seconds, share) for share in (0.5, 0.95, 1.0))
    return f"p50 {p50:.2f}, p95 {p95:.2f}, max {longest:.1f} s"


def _line(what: str, measured: str, target: str = "") -> Row:
    return {"": what, "measured": measured, "target": target}

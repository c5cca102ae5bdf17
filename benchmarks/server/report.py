"""What the load benchmark notes and prints: times, sizes, errors, memory."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.server.client import Answer


@dataclass
class Phase:
    """What was measured in one phase."""

    title: str
    seconds: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    wrong: int = 0

    def note(self, answer: Answer, epsilon: float | None = None) -> None:
        """Count an answer; with epsilon, whether it is the one asked for."""
        self.seconds.append(answer.seconds)
        self.sizes.append(answer.size)
        self.errors += answer.exceptions
        self.wrong += epsilon is not None and f"At epsilon = {epsilon:g} " not in f"{answer.text} "

    def row(self) -> str:
        """A line of the table."""
        shown = [f"{1000 * quantile(self.seconds, q):8.0f}" for q in (0.5, 0.95, 1.0)]
        size = sum(self.sizes) / max(len(self.sizes), 1) / 1000
        cells = f"{self.title:<44} {len(self.seconds):>6} {' '.join(shown)} {size:8.0f}"
        return f"{cells} {len(self.errors):>7} {self.wrong:>6}"


_COLUMNS = ("p50 [ms]", "p95 [ms]", "max [ms]", "kB a run")
HEAD = f"{'phase':<44} {'runs':>6} {' '.join(_COLUMNS)} {'errors':>7} {'wrong':>6}"


def quantile(values: Sequence[float], share: float) -> float:
    """Smallest value that at least this share of the values do not exceed; nan for none."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)] if ordered else float("nan")


def resident_megabytes(pid: int, *, started: bool = True) -> float:
    """Memory of a process and of all it has ``started``, in MB, shared pages counted once; nan where no /proc is."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            parents[int(status.parent.name)] = int(status.read_text().rsplit(")", 1)[1].split()[1])
    family = {pid}
    while started and (grown := {child for child, parent in parents.items() if parent in family} - family):
        family |= grown
    total = 0
    for member in family:
        with contextlib.suppress(OSError):
            rollup = Path(f"/proc/{member}/smaps_rollup").read_text()
            total += sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return total * 1024 / 1e6 if pid in parents else float("nan")

"""What the walks of the load benchmark note: times, errors, memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from websockets.exceptions import WebSocketException


@dataclass
class Phase:
    """What was measured of one kind of request."""

    title: str
    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @contextlib.contextmanager
    def noting_failures(self) -> Iterator[None]:
        """Count a session that is cut off, refused or not answered as an error, which does not end the benchmark."""
        try:
            yield
        except (OSError, TimeoutError, WebSocketException) as failure:
            self.errors.append(repr(failure))


def quantile(values: Sequence[float], share: float) -> float:
    """Smallest value that at least this share of the values do not exceed; nan for none."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)] if ordered else float("nan")


def resident_megabytes(pid: int) -> float:
    """Memory of a process and of all that it has started, in MB, shared pages counted once; nan where no /proc is."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            parents[int(status.parent.name)] = int(status.read_text().rsplit(")", 1)[1].split()[1])
    family = {pid}
    while grown := {child for child, parent in parents.items() if parent in family} - family:
        family |= grown
    total = 0
    for member in family:
        with contextlib.suppress(OSError):
            rollup = Path(f"/proc/{member}/smaps_rollup").read_text()
            total += sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return total * 1024 / 1e6 if pid in parents else float("nan")

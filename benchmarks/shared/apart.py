"""One row of a table in a process of its own: its peak memory is its own, too."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def apart(name: str, *options: str) -> str:
    """What a benchmark prints when it is run with these options."""
    command = [sys.executable, "-m", "benchmarks", name, *options]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.rstrip()


def peak_gigabytes() -> float:
    """Largest memory of this process so far."""
    unit = 2**30 if sys.platform == "darwin" else 2**20  # bytes there, kilobytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit

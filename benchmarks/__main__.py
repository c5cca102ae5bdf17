"""The runner: `python -m benchmarks` lists the benchmarks, `python -m benchmarks NAME [options]` prints one's table.

`python -m benchmarks all` prints every table, `python -m benchmarks NAME --help` says what a table holds.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module

from benchmarks.catalogue import BY_NAME, CATALOGUE, Benchmark
from benchmarks.shared.apart import ROOT


def listing() -> str:
    """One line a benchmark."""
    widest = max(map(len, BY_NAME))
    lines = [f"{each.name:<{widest}}  {_minutes(each.minutes):>8}  {each.says}" for each in CATALOGUE]
    hours = sum(each.minutes for each in CATALOGUE) / 60
    return "\n".join(["python -m benchmarks NAME [options]    (--help: what it prints)", "", *lines]) + (
        f"\n{'all':<{widest}}  {f'{hours:.0f} h':>8}  every table"
    )


def _minutes(minutes: float) -> str:
    return f"{minutes:.0f} min" if minutes >= 1 else f"{60 * minutes:.0f} s"


def _apart(each: Benchmark) -> bool:
    """Print one table from a process of its own; whether it came to its end."""
    print(f"\n{each.name}: {each.says}\n", flush=True)
    return subprocess.run([sys.executable, "-m", "benchmarks", each.name], cwd=ROOT).returncode == 0


def main(arguments: Sequence[str]) -> None:
    """List the benchmarks, run one, or all one after the other."""
    if not arguments:
        print(listing())
        return
    name, *options = arguments
    if arguments == ["all"]:
        failed = [each.name for each in CATALOGUE if not _apart(each)]
        if failed:
            raise SystemExit(f"these failed: {', '.join(failed)}")
        return
    if name not in BY_NAME:
        raise SystemExit(f"no benchmark is called {name!r}; `python -m benchmarks` lists them")
    import_module(f"benchmarks.{BY_NAME[name].module}").main(options)


if __name__ == "__main__":
    main(sys.argv[1:])

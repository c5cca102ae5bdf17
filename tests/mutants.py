"""Privacy-breaking edits, applied one by one to a copy of the project: tests must notice each of them.

``python -m tests.mutants`` prints a table and fails if an edit survives, or no longer fits the code. It takes about an
hour of one core, so it is no part of ``make test``; ``--only WORD`` runs those whose file or reason holds the word.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.mutant_list import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", ".lattice", "screenshots", ".hypothesis")
LONGEST_SECONDS = 900


class Verdict(NamedTuple):
    """What became of one edit: the test that failed, or why none did."""

    mutant: Mutant
    killed_by: str | None
    seconds: float


def applied(mutant: Mutant, folder: Path) -> None:
    """Make the edit in a copy of the project. Raises ValueError unless its text stands there exactly once."""
    file = folder / mutant.file
    text = file.read_text(encoding="utf-8")
    if text.count(mutant.before) != 1:
        raise ValueError(f"{mutant.file} holds {mutant.before!r} {text.count(mutant.before)} times; it must be once")
    file.write_text(text.replace(mutant.before, mutant.after), encoding="utf-8")


def judge(mutant: Mutant) -> Verdict:
    """Apply the edit and run the tests that should notice it."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant") as temporary:
        folder = Path(temporary) / "project"
        shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
        applied(mutant, folder)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", *mutant.tests]
        environment = {**os.environ, "PYTHONPATH": ".", "OPENBLAS_NUM_THREADS": "1"}
        try:
            ran = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LONGEST_SECONDS
            )
        except subprocess.TimeoutExpired:
            return Verdict(mutant, f"no end within {LONGEST_SECONDS} s", time.monotonic() - start)
    failed = [line for line in ran.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    killed_by = failed[0].split(" - ")[0].removeprefix("FAILED ") if ran.returncode == 1 and failed else None
    if ran.returncode not in (0, 1):
        raise RuntimeError(f"pytest ended with {ran.returncode} for {mutant.file}:\n{ran.stdout[-2000:]}")
    return Verdict(mutant, killed_by, time.monotonic() - start)


def main() -> int:
    """Judge all edits, print the table; the exit code says whether one survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a word in the file's name or the reason")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if arguments.only in mutant.file + " " + mutant.breaks]
    survivors = 0
    print("| file | what the edit breaks | killed by | seconds |\n|---|---|---|---|")
    with ThreadPoolExecutor(arguments.processes) as pool:
        for mutant, killed_by, seconds in pool.map(judge, chosen):
            survivors += killed_by is None
            name = "**survived**" if killed_by is None else f"`{killed_by.removeprefix('tests/')}`"
            print(f"| {mutant.file} | {mutant.breaks} | {name} | {seconds:.0f} |", flush=True)
    print(f"\n{len(chosen)} edits, {survivors} survived")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())

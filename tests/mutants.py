"""Privacy-breaking edits, applied one by one to a copy of the project: tests must notice each of them.

``python -m tests.mutants`` runs, for each edit, the few tests that should notice it, and fails if an edit survives, no
longer fits the code, or its tests fail without it. That takes about half an hour of one core, so it is no part of
``make test``. ``--only WORD`` runs the edits whose file or reason holds the word; ``--write`` puts the table of all
edits into docs/mutants.md.
"""

from __future__ import annotations

import argparse
import compileall
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from py_compile import PycInvalidationMode
from queue import SimpleQueue
from typing import NamedTuple

from tests.mutant_list import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "mutants.md"
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", ".lattice", "screenshots", ".hypothesis")
LONGEST_SECONDS = 300
HEAD = """# Edits that break privacy, and the tests that notice

Written by `python -m tests.mutants --write`, which makes each edit in a copy of the project and runs a few tests: the
one named failed with the edit, and all of them pass without it. The edits: `tests/mutant_list.py`.

| file | what the edit breaks | noticed by |
|---|---|---|
"""


class Verdict(NamedTuple):
    """What became of one edit: the first test that failed, or None if the edit survived or its tests did not end."""

    mutant: Mutant
    noticed_by: str | None
    remark: str
    seconds: float


class Ran(NamedTuple):
    """One run of pytest: the first test that failed, if any; a remark where it came to no verdict."""

    failed: str | None
    remark: str = ""


@contextmanager
def edited(mutant: Mutant, folder: Path) -> Iterator[None]:
    """The edit in a copy of the project, undone afterwards.

    Raises:
        ValueError: its text does not stand there exactly once.
    """
    file = folder / mutant.file
    text = file.read_text(encoding="utf-8")
    if text.count(mutant.before) != 1:
        raise ValueError(f"{mutant.file} holds {mutant.before!r} {text.count(mutant.before)} times; it must be once")
    file.write_text(text.replace(mutant.before, mutant.after), encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(text, encoding="utf-8")


def copied(folder: Path) -> Path:
    """A copy of the project, compiled: bytecode is checked by content, as edits come faster than file times tell."""
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
    compileall.compile_dir(folder, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    return folder


def run(tests: Sequence[str], folder: Path, seconds: float = LONGEST_SECONDS) -> Ran:
    """Run tests in a copy until one fails."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", *tests]
    environment = {**os.environ, "PYTHONPATH": ".", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return Ran(None, f"no end within {seconds:g} s")
    failed = [line for line in ran.stdout.splitlines() if line.startswith("FAILED")]
    if ran.returncode == 1 and failed:
        return Ran(failed[0].split(" - ")[0].removeprefix("FAILED "))
    # an error before any test ran says nothing about the tests
    return Ran(None) if ran.returncode == 0 else Ran(None, f"pytest ended with {ran.returncode}: {ran.stdout[-1500:]}")


def judge(mutant: Mutant, folder: Path) -> Verdict:
    """Apply the edit and run the tests that should notice it."""
    start = time.monotonic()
    with edited(mutant, folder):
        failed, remark = run(mutant.tests, folder)
    return Verdict(mutant, failed, remark or "survived", time.monotonic() - start)


def judge_all(mutants: Sequence[Mutant], processes: int) -> Iterator[Verdict]:
    """Verdicts in order. Tests that fail without any edit end everything: they prove nothing."""
    with tempfile.TemporaryDirectory(prefix="mutants") as temporary, ThreadPoolExecutor(processes) as pool:
        free: SimpleQueue[Path] = SimpleQueue()
        for number in range(processes):
            free.put(copied(Path(temporary) / str(number)))

        def borrowed(mutant: Mutant) -> Verdict:
            folder = free.get()
            try:
                return judge(mutant, folder)
            finally:
                free.put(folder)

        folder = free.get()
        without = run(sorted({test for mutant in mutants for test in mutant.tests}), folder, 12 * LONGEST_SECONDS)
        if without != Ran(None):
            raise SystemExit(f"fails without any edit: {without.failed or without.remark}")
        free.put(folder)
        yield from pool.map(borrowed, mutants)


def row(mutant: Mutant, noticed_by: str) -> str:
    """One line of the table."""
    test = noticed_by.removeprefix("tests/").replace("|", "\\|")
    return f"| {mutant.file} | {mutant.breaks} | `{test}` |"


def main() -> int:
    """Judge all edits, print what became of each; the exit code says whether one was not noticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a word in the file's name or the reason")
    parser.add_argument("--processes", type=int, default=1, help="copies of the project to work in side by side")
    parser.add_argument("--write", action="store_true", help="write the table, if all edits were noticed")
    arguments = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if arguments.only in mutant.file + " " + mutant.breaks]
    rows, missed = [], 0
    for mutant, noticed_by, remark, seconds in judge_all(chosen, arguments.processes):
        missed += noticed_by is None
        rows.append(row(mutant, noticed_by or f"**{remark}**"))
        print(f"{rows[-1]} {seconds:.0f} s", flush=True)
    print(f"\n{len(chosen)} edits, {missed} not noticed")
    if arguments.write and not missed and len(chosen) == len(MUTANTS):
        TABLE.write_text(HEAD + "".join(f"{line}\n" for line in rows), encoding="utf-8")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

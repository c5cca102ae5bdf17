"""Edits that break a promise, applied one by one to a copy of the project: a test must notice each of them.

``python -m tests.mutants`` runs, for each edit of tests/edits/, the test that should notice it, and fails if an edit
survives, no longer fits the code, or its test fails without it. That takes an hour and more of one core, so it is no
part of ``make test``. ``--only PATTERN`` runs the edits whose file or reason matches.
"""

from __future__ import annotations

import argparse
import compileall
import importlib
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import NamedTuple

import pytest

from tests.mutant_list import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", "screenshots", ".hypothesis")
LONGEST_SECONDS = 300
PRELOADED = ("numpy", "scipy.integrate", "scipy.linalg", "scipy.optimize", "scipy.special", "scipy.stats")
OURS = ("benchmarks", "datasets", "dpgp_core", "pages", "tests")


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
    """Run tests in a copy until one fails: in a fork of this process, which has what takes long to import."""
    output = folder.with_suffix(".txt")
    child = os.fork()
    if child == 0:
        _test(tests, folder, output)
    end = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return Ran(None, f"no end within {seconds:g} s")
        time.sleep(0.05)
    code, said = os.waitstatus_to_exitcode(status), output.read_text(encoding="utf-8", errors="replace")
    failed = [line for line in said.splitlines() if line.startswith("FAILED")]
    if code == 1 and failed:
        return Ran(failed[0].split(" - ")[0].removeprefix("FAILED "))
    # an error before any test ran says nothing about the tests
    return Ran(None) if code == 0 else Ran(None, f"pytest ended with {code}: {said[-1500:]}")


def _test(tests: Sequence[str], folder: Path, output: Path) -> None:
    """Become pytest in a copy of the project, and end."""
    code = 99
    try:
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
        os.chdir(folder)
        sys.dont_write_bytecode = True
        sys.path[:] = [str(folder), *(each for each in sys.path if Path(each).resolve() != ROOT)]
        for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
            del sys.modules[name]
        importlib.invalidate_caches()
        code = int(
            pytest.main(["-x", "-q", "-m", "", "-p", "no:cacheprovider", "--no-header", f"--rootdir={folder}", *tests])
        )
        sys.stdout.flush()
    finally:
        os._exit(code)


def judge(mutant: Mutant) -> Verdict:
    """Apply the edit in this process's copy and run the test that should notice it."""
    start, folder = time.monotonic(), _copies[0]
    with edited(mutant, folder):
        failed, remark = run([mutant.test], folder)
    return Verdict(mutant, failed, remark or "survived", time.monotonic() - start)


_copies: list[Path] = []  # of this process, one


def _settle(temporary: str) -> None:
    _copies.append(copied(Path(temporary) / str(os.getpid())))


def _without_edits(tests: Sequence[str]) -> Ran:
    return run(tests, _copies[0], 10 * LONGEST_SECONDS)


def judge_all(mutants: Sequence[Mutant], processes: int) -> Iterator[Verdict]:
    """Verdicts in order; at the end the tests that noticed run without any edit, and failures there end everything."""
    for name in PRELOADED:
        importlib.import_module(name)
    forked, noticed = multiprocessing.get_context("fork"), list[str]()
    with (
        tempfile.TemporaryDirectory(prefix="mutants") as temporary,
        ProcessPoolExecutor(processes, forked, _settle, (temporary,)) as pool,
    ):
        for verdict in pool.map(judge, mutants):
            noticed += [verdict.noticed_by] if verdict.noticed_by else []
            yield verdict
        without = pool.submit(_without_edits, sorted(set(noticed))).result() if noticed else Ran(None)
        if without != Ran(None):  # such a test proves nothing
            raise SystemExit(f"fails without any edit: {without.failed or without.remark}")


def main() -> int:
    """Judge all edits, print what became of each; the exit code says whether one was not noticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a regular expression for file and reason")
    parser.add_argument("--processes", type=int, default=1, help="copies of the project to work in side by side")
    arguments = parser.parse_args()
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    chosen = [mutant for mutant in MUTANTS if re.search(arguments.only, f"{mutant.file} {mutant.breaks}")]
    missed = 0
    for mutant, noticed_by, remark, seconds in judge_all(chosen, arguments.processes):
        missed += noticed_by is None
        print(f"{mutant.file}: {mutant.breaks}: {noticed_by or remark} {seconds:.0f} s", flush=True)
    print(f"\n{len(chosen)} edits, {missed} not noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

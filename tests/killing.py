"""Processes that are killed at a chosen line of the code: what a power cut or an impatient operator does."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

MARKS = "released"


def mark(folder: Path) -> None:
    """Say that a release was made: one byte on the disk."""
    with (folder / MARKS).open("ab") as stream:
        stream.write(b".")
        stream.flush()
        os.fsync(stream.fileno())


def marks(folder: Path) -> int:
    """How many releases were made."""
    return (folder / MARKS).stat().st_size if (folder / MARKS).exists() else 0


def lines(action: Callable[[Path], Any], folder: Path, modules: Sequence[ModuleType]) -> int:
    """How many lines of these modules an action runs through."""
    folder.mkdir()
    count = 0

    def note(_: int) -> None:
        nonlocal count
        count += 1

    traced(action, folder, modules, note)
    return count


def at_line(number: int, action: Callable[[Path], Any], folder: Path, modules: Sequence[ModuleType]) -> None:
    """Run an action in a process of its own, which is killed (SIGKILL) at the so many-th line of these modules."""

    def kill(at: int) -> None:
        if at == number:
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        code = 1
        try:
            traced(action, folder, modules, kill)
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0


def traced(
    action: Callable[[Path], Any], folder: Path, modules: Sequence[ModuleType], reached: Callable[[int], None]
) -> None:
    """Run an action, and call ``reached`` with the number of each line of these modules before it is run."""
    files, count = {module.__file__ for module in modules}, 0

    def step(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        if frame.f_code.co_filename not in files:
            return None
        if event == "line":
            count += 1
            reached(count)
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        action(folder)
    finally:
        sys.settrace(before)

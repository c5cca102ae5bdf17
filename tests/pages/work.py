"""Work for the tests of jobs: at the top level of a module, as everything that runs in a process must be."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from pathlib import Path

import numpy as np
import plotly.graph_objects as go

from tests.waiting import wait_until


class MovedOn(BaseException):
    """What streamlit raises in a page whose visitor has moved on."""


P, S = ctypes.c_void_p, ctypes.c_size_t


def tell(folder: str, name: str) -> np.ndarray:
    """Leave a mark that this ran, then return something with an array in it."""
    (Path(folder) / f"{name}-{os.getpid()}-{time.monotonic_ns()}").touch()
    time.sleep(0.3)
    return np.arange(1000.0)


def beat(folder: str, seconds: float, progress=None) -> str:
    """Write down which process this is, and again and again how much is done."""
    part = Path(folder) / "part"
    part.write_text(str(os.getpid()))
    part.replace(Path(folder) / "process")  # whole as soon as it is there, for whoever waits for it
    start = time.monotonic()
    while (gone := time.monotonic() - start) < seconds:
        if progress is not None:
            progress(gone / seconds)
        time.sleep(0.02)
    return "done"


def until_told(folder: str) -> str:
    """Wait for a file called "go"."""
    wait_until((Path(folder) / "go").exists, "the test's word")
    return "done"


def niceness(_number: int) -> int:
    return os.nice(0)


def refuse(value: float) -> None:
    raise ValueError(f"value must be positive, got {value}")


def die() -> None:
    os._exit(3)


def scaled(array: np.ndarray, factor: float) -> np.ndarray:
    return array * factor


def each_scaled(array: np.ndarray, settings: tuple[tuple[float], ...]) -> list[np.ndarray]:
    return [scaled(array, *each) for each in settings]


def unused(settings: object) -> None:
    raise AssertionError(f"{settings} are there")


def line(width: float, values: np.ndarray) -> go.Figure:
    return go.Figure().add_scatter(y=values, line={"width": width})


def beside(array: np.ndarray, factor: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What was given, as it is, a part of it, and something new."""
    return array, array[:10], factor * array[:5]


def fill(gigabytes: float) -> int:
    return len(np.zeros(int(gigabytes * 2**27)))


def use_and_free(megabytes: int) -> None:
    """Take blocks, and free them below one that stays in use, as a long computation leaves them."""
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes, library.free.argtypes = P, [S], [P]
    blocks = [library.malloc(100_000) for _ in range(10 * megabytes + 1)]
    for block in blocks:
        ctypes.memset(block, 1, 100_000)
    for block in blocks[:-1]:
        library.free(block)


def resident() -> float:
    """Memory of this process [MB]."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1000


def number_of_process() -> int:
    return os.getpid()


def refuse_ahead(value: float, progress=None) -> None:
    refuse(value)


def tell_of_interrupts(there):
    """Whether Ctrl-C would be noticed by this process."""
    there.send(signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, []))


class Unreadable(ValueError):
    """Its constructor takes more than it hands to ``pickle``."""

    def __init__(self, sentence: str, row: int) -> None:
        super().__init__(sentence)
        self.row = row


def raise_unreadable() -> None:
    raise Unreadable("row 3 has 2 fields, the header 3", 3)


class _Breaks:
    def __reduce__(self):
        return int, ("no", "such", "number")  # a TypeError for whoever reads it


def break_processes() -> object:
    """Return what breaks the pool: its thread that reads results ends."""
    return _Breaks()

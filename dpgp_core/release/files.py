"""The only module of the core that touches files: reads within limits, writes whole files or none."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..accounting.guarantee import Guarantee
from ..accounting.ledger import BudgetExceeded, Ledger
from .ledger_json import MAX_ENTRIES, MAX_LEDGER_BYTES, ledger_from_json, ledger_to_json
from .strict_json import MAX_BYTES, read_object


class CannotWrite(ValueError):
    """A file could not be written; nothing was left half done."""


def read_text_file(path: str) -> bytes:
    """The bytes of a small file, of which one more than ``strict_json.MAX_BYTES`` are read at most.

    Raises:
        ValueError: it cannot be read.
    """
    with open_file(path) as stream:
        return stream.read(MAX_BYTES + 1)


def check_different(name: str, path: str, other_name: str, other: str | None) -> None:
    """Raise ValueError if two arguments name the same file, or a name cannot be one."""
    if "\0" in path or "\0" in (other or ""):
        raise ValueError(f"{name} or {other_name} holds a NUL character; check the path")
    if other is not None and os.path.realpath(path) == os.path.realpath(other):
        raise ValueError(f"{name} and {other_name} are the same file; name another file for {name}")


@contextmanager
def open_file(path: str) -> Iterator[BinaryIO]:
    """A regular file opened for reading.

    Raises:
        ValueError: it cannot be opened, or is a pipe, a device, or made up by the system.
    """
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(open(path, "rb", opener=_without_waiting))
            _check_regular(os.fstat(stream.fileno()))
        except (OSError, ValueError) as error:
            raise ValueError(f"cannot open {path!r}: {_reason(error)}; check the path") from None
        yield stream


@contextmanager
def output_file(path: str, *, overwrite: bool) -> Iterator[Callable[[bytes], None]]:
    """Claim a path for a file to be written: yields the function that writes it whole.

    Whether it can be written is found out on entering, before anything is spent on its content. A failure in
    between leaves nothing behind, and an old file as it was.

    Raises:
        CannotWrite: the path is taken and ``overwrite`` is False, or cannot be written, or is no regular file.
    """
    target, part = Path(path), Path(f"{path}.part{os.getpid()}")
    with _writing(path):
        _check_replaceable(target)
        if not overwrite:
            open(target, "xb").close()  # exclusive: of two who claim it, one is refused
        try:
            part.touch(exist_ok=False)
        except OSError:
            if not overwrite:
                target.unlink()
            raise
    written = False

    def write(content: bytes) -> None:
        nonlocal written
        with _writing(path):
            _replace(part, target, content)
        written = True

    try:
        yield write
    finally:
        if not written:
            part.unlink(missing_ok=True)
            if not overwrite:
                target.unlink(missing_ok=True)


def spend_in_file(path: str, start: Ledger, spent: tuple[str, Guarantee]) -> Ledger:
    """Count a release in a ledger file before it is made: a crash after this counts too much, never too little.

    Args:
        path: of the ledger; made if missing.
        start: what a missing file starts from; its limit must be that of a file that is there, and its declaration that
            inputs are public holds for either.
        spent: (what, guarantee).

    Returns:
        The ledger, ``spent`` included, as it is now in the file.

    Raises:
        ValueError: the file is no ledger, or declares another limit.
        BudgetExceeded: the limit would be passed; the file is as it was.
        CannotWrite: the file cannot be written, or another release holds it.
    """
    target = Path(path)
    with _writing(path):
        _check_replaceable(target)
    with _locked(path):
        ledger = _read_ledger(path) if target.exists() else start
        if ledger.limit != start.limit:
            raise ValueError(
                f"the ledger {path!r} declares another total than the configuration; set total_epsilon and "
                "total_delta to those of the ledger"
            )
        if len(ledger.entries) >= MAX_ENTRIES:
            raise BudgetExceeded(f"the ledger {path!r} is full: it has {MAX_ENTRIES} entries")
        ledger.inputs_public = ledger.inputs_public or start.inputs_public
        ledger.spend([spent])
        content = ledger_to_json(ledger).encode()
        if len(content) > MAX_LEDGER_BYTES:
            raise BudgetExceeded(f"the ledger {path!r} is full: it would have more than {MAX_LEDGER_BYTES} bytes")
        with _writing(path):
            _replace(Path(f"{path}.part{os.getpid()}"), target, content)
    return ledger


def _read_ledger(path: str) -> Ledger:
    """The ledger in a file that holds nothing else, since the file is about to be replaced."""
    content = read_text_file(path)
    ledger = ledger_from_json(content)
    if read_object(content, "the ledger").keys() != {"schema", "ledger"}:
        raise ValueError(f"{path!r} holds more than a ledger; name a new file, and give this one as --config")
    return ledger


@contextmanager
def _locked(path: str) -> Iterator[None]:
    """Hold ``path``.lock, so that two releases at once cannot both spend what is left."""
    lock = Path(f"{path}.lock")
    try:
        with _writing(path):
            lock.touch(exist_ok=False)
    except CannotWrite:
        if not lock.exists():
            raise
        raise CannotWrite(
            f"another release holds {str(lock)!r}; wait for it, or remove that file if none is running"
        ) from None
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _replace(part: Path, target: Path, content: bytes) -> None:
    """Write beside the target, force it to the disk, then swap: readers see the old file or the new one."""
    try:
        with open(part, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, target)
    except OSError:
        part.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # not every system can force a folder to the disk
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def _writing(path: str) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        problem = f"{path!r} exists already; name another file, or add --force"
    except CannotWrite:
        raise
    except (OSError, ValueError) as error:
        problem = f"cannot write {path!r}: {_reason(error)}; name another file"
    else:
        return
    raise CannotWrite(problem)


def _without_waiting(path: str, flags: int) -> int:
    """Open as ``open`` does, but do not wait for somebody to write into a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _check_regular(status: os.stat_result) -> None:
    """Raise OSError unless it is a file of a disk: no pipe, no device, and none that the system makes up."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(21, "Is a directory")
    if not stat.S_ISREG(status.st_mode) or status.st_dev in _made_up():
        raise OSError(0, "it is a pipe, a device, or made up by the system, and only a regular file is used")


def _check_replaceable(target: Path) -> None:
    """Raise OSError if writing at a path would replace anything but a regular file, or put one where none belongs."""
    if os.stat(target.parent).st_dev in _made_up():
        raise OSError(0, "the folder is made up by the system")
    with suppress(FileNotFoundError):
        _check_regular(os.stat(target))


def _made_up() -> set[int]:
    """Devices of the file systems that hold no files of anybody's."""
    return {os.stat(folder).st_dev for folder in ("/proc", "/sys") if os.path.ismount(folder)}


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or "the path is not valid"

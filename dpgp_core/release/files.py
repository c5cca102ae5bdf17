"""Read files within limits, and write files either completely or not at all."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .json_text import MAX_BYTES

if sys.platform != "win32":
    import fcntl

_UNFINISHED = ".unfinished-"


class CannotWrite(ValueError):
    """Raised if a file could not be written. An existing file is left as it was."""


def read_text_file(path: str) -> bytes:
    """Return the bytes of a small file; at most ``json_text.MAX_BYTES`` + 1 bytes are read.

    Raises:
        ValueError: the file cannot be read.
    """
    with open_file(path) as stream:
        return stream.read(MAX_BYTES + 1)


def check_different(out: str, name: str, other: str | None) -> None:
    """Raise ValueError if --out names the same file as another argument, or if a name cannot be that of a file."""
    if "\0" in out or "\0" in (other or ""):
        raise ValueError(f"--out or {name} holds a NUL character; check the path")
    if other is not None and os.path.realpath(out) == os.path.realpath(other):
        raise ValueError(f"--out and {name} are the same file; name another file for --out")


@contextmanager
def open_file(path: str) -> Iterator[BinaryIO]:
    """Open a regular file for reading.

    Raises:
        ValueError: the file cannot be opened, or is a pipe, a device, or a file that the system generates.
    """
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(open(path, "rb", opener=_without_waiting))
            check_regular(os.fstat(stream.fileno()))
        except (OSError, ValueError) as error:
            raise ValueError(f"cannot open {path!r}: {_reason(error)}; check the path") from None
        yield stream


@contextmanager
def output_file(path: str, *, overwrite: bool) -> Iterator[Callable[[bytes], None]]:
    """Claim a path for a file to be written; yield the function that writes the whole file.

    Whether the file can be written is checked on entry, before any budget is spent on its content. A failure leaves
    nothing behind, and an old file as it was. Leftovers of killed processes at this path are removed on entry.

    Args:
        path: path of the file.
        overwrite: whether an existing file may be replaced.

    Raises:
        CannotWrite: the path is taken and ``overwrite`` is False, or it cannot be written, or it is not a regular file.
    """
    target, written = Path(path), False
    with ExitStack() as stack:
        with writing(path):
            check_replaceable(target)
            _clear(target)
            part = stack.enter_context(_unfinished(target))
            if not overwrite:
                open(target, "xb").close()  # exclusive, so that only one of two processes can claim the path

        def write(content: bytes) -> None:
            nonlocal written
            with writing(path):
                _replace(part, target, content)
            written = True

        try:
            yield write
        finally:
            if not (written or overwrite):
                target.unlink(missing_ok=True)


@contextmanager
def _unfinished(target: Path) -> Iterator[Path]:
    """Yield a new file next to the target, locked until this process ends. The file is removed afterwards."""
    part = target.with_name(f"{target.name}{_UNFINISHED}{secrets.token_hex(6)}")
    try:
        with open(part, "xb") as stream:
            if sys.platform == "win32":
                stream.close()  # some systems cannot move an open file
            else:
                fcntl.flock(stream, fcntl.LOCK_EX)
            yield part
    finally:
        part.unlink(missing_ok=True)


def _clear(target: Path) -> None:
    """Remove leftovers of killed processes: unfinished files without a lock, and the empty file that claimed a path."""
    with suppress(OSError):
        unfinished = [part for part in target.parent.iterdir() if part.name.startswith(f"{target.name}{_UNFINISHED}")]
        unheld = [part for part in unfinished if _unheld(part)]
        for part in unheld:
            part.unlink(missing_ok=True)
        if unheld == unfinished != [] and target.stat().st_size == 0:
            target.unlink()


def _unheld(part: Path) -> bool:
    """Return whether the process that began an unfinished file has ended; False on systems without locks."""
    if sys.platform == "win32":
        return False
    with suppress(OSError), open(part, "rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _replace(part: Path, target: Path, content: bytes) -> None:
    """Write a new file, force it to the disk, then replace the target: readers see the old file or the new one."""
    try:
        with open(part, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, target)
    except OSError:
        part.unlink(missing_ok=True)
        raise
    force_folder(target.parent)


def force_folder(folder: Path) -> None:
    """Force the names in a folder to the disk, on systems that can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Turn errors within the block into ``CannotWrite``, with a sentence that names the path."""
    try:
        yield
    except CannotWrite:
        raise
    except FileExistsError:
        raise CannotWrite(f"{path!r} exists already; name another file, or add --force") from None
    except (OSError, ValueError) as error:
        raise CannotWrite(f"cannot write {path!r}: {_reason(error)}; name another file") from None


def _without_waiting(path: str, flags: int) -> int:
    """Open a file as ``open`` does, but without waiting for a writer if it is a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def check_regular(status: os.stat_result) -> None:
    """Raise OSError unless it is a regular file on a disk: no pipe or device, and no file generated by the system."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(21, "Is a directory")
    if not stat.S_ISREG(status.st_mode) or status.st_dev in _generated_by_system():
        raise OSError(0, "it is a pipe, a device, or a file that the system generates, and only a regular file is used")


def check_replaceable(target: Path) -> None:
    """Raise OSError if a path leads to anything but a regular file, or into a folder that the system generates."""
    if os.stat(target.parent).st_dev in _generated_by_system():
        raise OSError(0, "the system generates the files of this folder")
    with suppress(FileNotFoundError):
        check_regular(os.stat(target))


def _generated_by_system() -> set[int]:
    """Return the devices of file systems whose files the system generates."""
    return {os.stat(folder).st_dev for folder in ("/proc", "/sys") if os.path.ismount(folder)}


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or "the path is not valid"

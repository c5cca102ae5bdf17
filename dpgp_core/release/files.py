"""Files by their paths: reads within limits, writes whole files or none."""

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
    """A file could not be written; nothing was left half done."""


def read_text_file(path: str) -> bytes:
    """The bytes of a small file, of which one more than ``json_text.MAX_BYTES`` are read at most.

    Raises:
        ValueError: it cannot be read.
    """
    with open_file(path) as stream:
        return stream.read(MAX_BYTES + 1)


def check_different(out: str, name: str, other: str | None) -> None:
    """Raise ValueError if --out names the same file as another argument, or a name cannot be one."""
    if "\0" in out or "\0" in (other or ""):
        raise ValueError(f"--out or {name} holds a NUL character; check the path")
    if other is not None and os.path.realpath(out) == os.path.realpath(other):
        raise ValueError(f"--out and {name} are the same file; name another file for --out")


@contextmanager
def open_file(path: str) -> Iterator[BinaryIO]:
    """A regular file opened for reading.

    Raises:
        ValueError: it cannot be opened, or is a pipe, a device, or made up by the system.
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
    """Claim a path for a file to be written: yields the function that writes it whole.

    Whether it can be written is checked on entering, before anything is spent on its content. A failure in
    between leaves nothing behind, and an old file as it was. Leftovers of killed processes at this path are
    removed on entering.

    Raises:
        CannotWrite: the path is taken and ``overwrite`` is False, or cannot be written, or is no regular file.
    """
    target, written = Path(path), False
    with ExitStack() as stack:
        with writing(path):
            check_replaceable(target)
            _clear(target)
            part = stack.enter_context(_unfinished(target))
            if not overwrite:
                open(target, "xb").close()  # exclusive: of two who claim it, one is refused

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
    """A new file beside the target, held by a lock of the kernel, which ends with the process; gone afterwards."""
    part = target.with_name(f"{target.name}{_UNFINISHED}{secrets.token_hex(6)}")
    try:
        with open(part, "xb") as stream:
            if sys.platform == "win32":
                stream.close()  # an open file could not be moved
            else:
                fcntl.flock(stream, fcntl.LOCK_EX)
            yield part
    finally:
        part.unlink(missing_ok=True)


def _clear(target: Path) -> None:
    """Remove leftovers of killed processes: unfinished files that nobody holds, and the empty file one had claimed."""
    with suppress(OSError):
        unfinished = [part for part in target.parent.iterdir() if part.name.startswith(f"{target.name}{_UNFINISHED}")]
        unheld = [part for part in unfinished if _unheld(part)]
        for part in unheld:
            part.unlink(missing_ok=True)
        if unheld == unfinished != [] and target.stat().st_size == 0:
            target.unlink()


def _unheld(part: Path) -> bool:
    """Whether the process that began an unfinished file has ended; not known where there are no locks."""
    if sys.platform == "win32":
        return False
    with suppress(OSError), open(part, "rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


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
    force_folder(target.parent)


def force_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Turn errors inside into ``CannotWrite``, with a sentence that names the path."""
    try:
        yield
    except CannotWrite:
        raise
    except FileExistsError:
        raise CannotWrite(f"{path!r} exists already; name another file, or add --force") from None
    except (OSError, ValueError) as error:
        raise CannotWrite(f"cannot write {path!r}: {_reason(error)}; name another file") from None


def _without_waiting(path: str, flags: int) -> int:
    """Open as ``open`` does, but do not wait for somebody to write into a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def check_regular(status: os.stat_result) -> None:
    """Raise OSError unless it is a file of a disk: no pipe, no device, and none that the system makes up."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(21, "Is a directory")
    if not stat.S_ISREG(status.st_mode) or status.st_dev in _made_up():
        raise OSError(0, "it is a pipe, a device, or made up by the system, and only a regular file is used")


def check_replaceable(target: Path) -> None:
    """Raise OSError if writing at a path would replace anything but a regular file, or put one where none belongs."""
    if os.stat(target.parent).st_dev in _made_up():
        raise OSError(0, "the folder is made up by the system")
    with suppress(FileNotFoundError):
        check_regular(os.stat(target))


def _made_up() -> set[int]:
    """Devices of the file systems that hold no files of anybody's."""
    return {os.stat(folder).st_dev for folder in ("/proc", "/sys") if os.path.ismount(folder)}


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or "the path is not valid"

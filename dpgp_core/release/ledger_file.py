"""A ledger in a file that only grows: entries are never rewritten.

The file begins with a ledger as ``ledger_to_json`` writes it; every later release adds a line. A process that spends
locks the file; the system releases the lock when the process ends. The line is forced to the disk before any noise is
drawn. A line without an end belongs to a release that was never made, because its process was stopped while writing the
line.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .. import checks
from ..accounting.guarantee import Guarantee
from ..accounting.ledger import BudgetExceeded, Ledger
from .files import CannotWrite, check_regular, check_replaceable, force_folder, read_text_file, writing
from .json_text import (
    MAX_ENTRIES,
    MAX_LEDGER_BYTES,
    entry_from_object,
    entry_to_object,
    ledger_from_json,
    ledger_to_json,
    read_object,
    write_object,
)

if sys.platform != "win32":
    import fcntl

WAIT_SECONDS = 10.0  # waiting time for other processes that have locked the file; spending takes milliseconds
_LOOK_SECONDS = 0.02
_END = b"\n}\n"  # end of the ledger with which a file begins


def spend_in_file(
    path: str, start: Ledger, spent: tuple[str, Guarantee], *, new: bool = False, dry: bool = False
) -> Ledger:
    """Count a release in a ledger file before it is made, so that a crash counts too much and never too little.

    Args:
        path: path of the ledger; links are followed.
        start: ledger of a new file. If the file exists, it must have the same limit and count all releases of
            ``start``; if either declares that inputs are public, this holds for both.
        spent: name and guarantee of the release.
        new: whether to make the file. Otherwise a missing file is refused, because its entries would be forgotten.
        dry: whether only to check that the release can be counted, and to leave the file unchanged.

    Returns:
        The ledger in the file, including ``spent``; with ``dry``, the ledger as it would be.

    Raises:
        ValueError: the file is missing, exists although it should be new, is not a ledger, declares another limit, or
            lacks a release that ``start`` counts.
        BudgetExceeded: the limit would be exceeded; the file is unchanged.
        CannotWrite: the file cannot be written, or another release has locked it.
    """
    with writing(path):
        target = Path(os.path.realpath(path))
        check_replaceable(target)
    with _held(path, target, new) as descriptor:
        content = os.pread(descriptor, MAX_LEDGER_BYTES + 1, 0)
        _check_new(path, content, new)
        ledger, whole = _read(path, content) if content else (start, 0)
        if ledger.limit != start.limit:
            raise ValueError(
                f"the ledger {path!r} declares another total than the configuration; set total_epsilon and "
                "total_delta to those of the ledger"
            )
        _check_counted(path, start, ledger)
        if len(ledger.entries) >= MAX_ENTRIES:
            raise BudgetExceeded(f"the ledger {path!r} is full: it has {MAX_ENTRIES} entries")
        head = b"" if content else ledger_to_json(start).encode()
        ledger.inputs_public = ledger.inputs_public or start.inputs_public
        ledger.spend([spent])
        entry = entry_to_object(*spent) | {"inputs_public": ledger.inputs_public}
        line = write_object(entry, indent=None).encode()
        if whole + len(head + line) > MAX_LEDGER_BYTES:
            raise BudgetExceeded(f"the ledger {path!r} is full: it would have more than {MAX_LEDGER_BYTES} bytes")
        if dry:
            return ledger
        with writing(path):
            _append(descriptor, whole, content, head + line)
            force_folder(target.parent)
    return ledger


def read_ledger_file(path: str) -> Ledger:
    """Return the ledger in a file.

    Raises:
        ValueError: the file cannot be read, or is not a ledger.
    """
    return _read(path, read_text_file(path))[0]


def _check_new(path: str, content: bytes, new: bool) -> None:
    if new and content:
        raise ValueError(f"there is a ledger at {path!r} already; leave out --new-ledger, and it goes on")
    if not new and not content:
        raise ValueError(
            f"the ledger {path!r} is empty. Restore it from a backup, or add --new-ledger if nothing was released "
            "from this table before"
        )


def _check_counted(path: str, start: Ledger, ledger: Ledger) -> None:
    """Raise ValueError if a ledger lacks releases that another one counts."""
    listed, counted = (Counter(json.dumps(entry_to_object(*each)) for each in one.entries) for one in (start, ledger))
    if lacking := (listed - counted).total():
        raise ValueError(
            f"the configuration lists {len(start.entries)} earlier release{'s' * (len(start.entries) != 1)}, and the "
            f"ledger {path!r} lacks {lacking} of them. Name the ledger that counts them, or take the list out of the "
            "configuration if they were of another table"
        )


def _read(path: str, content: bytes) -> tuple[Ledger, int]:
    """Return the ledger in the content of a file, and the number of bytes up to its last complete line."""
    ended = content + b"\n"
    head = b"".join(ended.partition(_END if _END in ended else b"\n")[:2])[: len(content)]
    ledger = ledger_from_json(head)
    if read_object(head, "the ledger").keys() != {"schema", "ledger"}:
        raise ValueError(f"{path!r} holds more than a ledger; name a new file, and give this one as --config")
    if len(content) > MAX_LEDGER_BYTES:
        raise ValueError(f"the ledger is larger than {MAX_LEDGER_BYTES} bytes, the limit; is it the right file?")
    whole = len(head)
    for number, line in enumerate(content[whole:].splitlines(keepends=True), 1):
        try:
            entry = read_object(line, f"line {number} after the beginning of the ledger")
        except ValueError:
            if line.endswith(b"\n"):
                raise
            break
        name = f"inputs_public of line {number} after the beginning of the ledger"
        public = checks.switch(name, entry.pop("inputs_public", None))
        ledger.inputs_public = ledger.inputs_public or public
        ledger.entries.append(entry_from_object(entry))
        whole += len(line)
    return ledger, whole


def _append(descriptor: int, whole: int, content: bytes, added: bytes) -> None:
    """Write after the complete lines and force the file to the disk; if this fails, restore the file."""
    if whole < len(content):
        os.ftruncate(descriptor, whole)
    if whole and not content[:whole].endswith(b"\n"):
        added = b"\n" + added
    try:
        ahead = added
        while ahead:
            ahead = ahead[os.write(descriptor, ahead) :]
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, whole)
        raise


@contextmanager
def _held(path: str, target: Path, new: bool) -> Iterator[int]:
    """Yield the file, open and locked, so that two releases cannot both spend the remaining budget."""
    descriptor = _opened(path, target, new)
    try:
        with writing(path):
            check_regular(os.fstat(descriptor))
            _lock(path, descriptor)
        try:
            if not _is_at(descriptor, target):
                raise CannotWrite(f"the ledger {path!r} was replaced meanwhile; try again")
            yield descriptor
        finally:
            if new and os.fstat(descriptor).st_size == 0 and _is_at(descriptor, target):
                target.unlink()
    finally:
        os.close(descriptor)


def _opened(path: str, target: Path, new: bool) -> int:
    flags = os.O_RDWR | os.O_APPEND | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    with writing(path), suppress(FileNotFoundError):
        return os.open(target, flags | (os.O_CREAT if new else 0), 0o644)
    raise ValueError(
        f"there is no ledger at {path!r}. Name the one that counts this table, or add --new-ledger if nothing was "
        "released from it before"
    )


def _lock(path: str, descriptor: int) -> None:
    """Lock a file, or raise CannotWrite after some waiting."""
    if sys.platform == "win32":
        raise CannotWrite("this system has no locks that end with a process; keep ledgers on Linux or macOS")
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise CannotWrite(f"another release holds the ledger {path!r}; wait until it has ended") from None
            time.sleep(_LOOK_SECONDS)


def _is_at(descriptor: int, target: Path) -> bool:
    """Return whether an open file is still the one at the path."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), os.stat(target))
    return False

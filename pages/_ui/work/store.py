"""Results of the pages' default settings, on disk between starts: the first visitor need not wait for them.

A folder of files, one a result, named by the digest of its settings, under the digest of the code that
computed them: a changed line of code starts afresh. Only the program that warms the lattice writes, and
only results of shipped data: nothing that a visitor does or uploads gets here. Removed is only what has a name of
ours, in a folder that carries our mark: DPGP_LATTICE may name any folder of anybody's disk. Believed is only what this
user or root wrote and nobody else could have, and what is whole; anything else counts as absent, and is computed anew.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import re
import stat
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from pages._ui import environment
from pages._ui.work.encoding import Unreadable, from_bytes, intact, to_bytes

ROOT = Path(__file__).resolve().parents[3]
MARK = "dpgp-lattice"  # a file with this name says that a folder was made here
_VERSION = re.compile(r"[0-9a-f]{16}")
_RESULT = re.compile(r"[0-9a-f]{64}(\.\d+)?")
_BESIDE = (MARK, "complete", "lock")
_SOURCES = ("dpgp_core/**/*.py", "datasets/**/*", "pages/**/*.py")


class Saved(NamedTuple):
    """A result and the bytes that it takes."""

    value: Any
    size: int


@dataclass(frozen=True)
class Lattice:
    """Results of one version of the code.

    Args:
        folder: where; the version's own folder.
        writable: whether ``save`` does anything.
    """

    folder: Path
    writable: bool = False

    @classmethod
    def of_this_code(cls, writable: bool = False) -> Lattice:
        """The lattice of the code as it is now, in DPGP_LATTICE or the project's ``.lattice`` folder."""
        home = Path(environment.lattice() or ROOT / ".lattice")
        return cls(home / _digest_of_code(), writable)

    @property
    def complete(self) -> bool:
        """Whether the warming program reached its end."""
        return (self.folder / "complete").exists()

    def load(self, key: Hashable) -> Saved | None:
        """What was saved for these settings; None if nothing was that can be believed."""
        file = self._file(key)
        try:
            content = _content(file)
            return None if content is None else Saved(from_bytes(content, self._text(key)), len(content))
        except FileNotFoundError:
            return None
        except (OSError, Unreadable, MemoryError):
            self._discard(file)
            return None

    def save(self, key: Hashable, value: Any) -> None:
        """Keep a result: on the disk before it gets its name, so that no reader ever sees half of it."""
        if not self.writable:
            return
        self.claim()
        file = self._file(key)
        aside = file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):  # a file that cannot be replaced is in the way of the result only
            aside.unlink(missing_ok=True)
        try:
            with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as stream:
                stream.write(to_bytes(value, self._text(key)))
                stream.flush()
                os.fsync(stream.fileno())
            aside.replace(file)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise

    def check(self) -> None:
        """Read every result, so that what is damaged is gone, and with it the word that the lattice is complete."""
        for file in self._results():
            try:
                whole = (content := _content(file)) is not None and intact(content)
            except OSError:
                whole = False
            if not whole:
                self._discard(file)

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Whether no other process is filling it; while inside, none will. Raises as ``claim`` does."""
        self.claim()
        with (self.folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True

    def claim(self) -> None:
        """Make the folder, or make sure that it is ours.

        Raises:
            ValueError: the folder around it holds anything but results; the message says what and what to do.
            OSError: nothing can be written.
        """
        home = self.folder.parent
        if home.exists():
            for path in home.iterdir():
                if not (_VERSION.fullmatch(path.name) and _is_folder(path)):
                    raise ValueError(
                        f"the folder {str(home)!r} holds {path.name!r}, which is no warmed result; set DPGP_LATTICE to "
                        "an empty folder, or to one that is yet to be made"
                    )
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o755)
        if not _only_we_write(self.folder.lstat()):
            raise ValueError(
                f"somebody else owns {str(self.folder)!r} or may write to it, so its results are not believed; remove "
                "it, or set DPGP_LATTICE to another folder"
            )
        (self.folder / MARK).touch(mode=0o644)

    def finish(self) -> None:
        """Say that it is complete, and remove what other versions of the code left."""
        self.claim()
        for file in self._results():
            if file.suffix:  # of a program that was killed while it wrote
                file.unlink()
        (self.folder / "complete").touch(mode=0o644)
        _force(self.folder)
        for other in self.folder.parent.iterdir():
            if other != self.folder and _holds_results_only(other):
                with Lattice(other).alone() as alone:
                    if alone:
                        _remove(other)

    def _text(self, key: Hashable) -> str:
        return f"{self.folder.name} {key!r}"

    def _file(self, key: Hashable) -> Path:
        return self.folder / hashlib.sha256(repr(key).encode()).hexdigest()

    def _results(self) -> list[Path]:
        return [path for path in self.folder.iterdir() if _RESULT.fullmatch(path.name)] if self.folder.is_dir() else []

    def _discard(self, file: Path) -> None:
        """Remove a file that is no result, so that the warming program makes it anew at the next start."""
        with suppress(OSError):
            if _is_folder(self.folder) and (self.folder / MARK).is_file():
                (self.folder / "complete").unlink(missing_ok=True)
                file.rmdir() if _is_folder(file) else file.unlink()


def _digest_of_code() -> str:
    digest = hashlib.sha256(f"{platform.python_version()} {version('numpy')} {version('scipy')}".encode())
    for pattern in _SOURCES:
        for path in sorted(ROOT.glob(pattern)):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _content(file: Path) -> bytes | None:
    """The bytes of a regular file; None if somebody else may have written it. Raises OSError."""
    with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:
        own = os.fstat(stream.fileno())
        if not (stat.S_ISREG(own.st_mode) and _only_we_write(own) and _only_we_write(file.parent.lstat())):
            return None
        return stream.read()


def _only_we_write(status: os.stat_result) -> bool:
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _force(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _holds_results_only(folder: Path) -> bool:
    """Whether it is a version's folder with our mark, and nothing in it but files with names of ours."""
    if not (_VERSION.fullmatch(folder.name) and _is_folder(folder) and (folder / MARK).is_file()):
        return False
    return all(
        path.is_file() and not path.is_symlink() and (path.name in _BESIDE or _RESULT.fullmatch(path.name))
        for path in folder.iterdir()
    )


def _remove(folder: Path) -> None:
    """Remove a version: file by file, its mark last. What has come between stays, and the folder with it."""
    with suppress(OSError):
        for path in folder.iterdir():
            if _RESULT.fullmatch(path.name):
                path.unlink()
        for name in reversed(_BESIDE):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()

"""Results of the pages' default settings, on disk between starts: the first visitor need not wait for them.

A folder of files, one a result, named by the digest of its settings, under the digest of the code that
computed them: a changed line of code starts afresh. Only the program that warms the lattice writes, and
only results of shipped data: nothing that a visitor does or uploads gets here. Removed is only what has a name of
ours, in a folder that carries our mark: DPGP_LATTICE may name any folder of anybody's disk.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import pickle
import platform
import re
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MARK = "dpgp-lattice"  # a file with this name says that a folder was made here
_VERSION = re.compile(r"[0-9a-f]{16}")
_RESULT = re.compile(r"[0-9a-f]{64}(\.\d+)?")
_BESIDE = (MARK, "complete", "lock")
_SOURCES = ("dpgp_core/**/*.py", "datasets/**/*", "pages/**/*.py")


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
        home = Path(os.environ.get("DPGP_LATTICE") or ROOT / ".lattice")
        return cls(home / _digest_of_code(), writable)

    @property
    def complete(self) -> bool:
        """Whether the warming program reached its end."""
        return (self.folder / "complete").exists()

    def load(self, key: Hashable) -> list[bytes] | None:
        """What was saved for these settings; None if nothing was."""
        try:
            frames: list[bytes] = pickle.loads(self._file(key).read_bytes())
        except OSError:
            return None
        return frames

    def save(self, key: Hashable, frames: list[bytes]) -> None:
        """Keep a result; written aside and renamed, so that no reader sees half of it."""
        if not self.writable:
            return
        self.claim()
        file = self._file(key)
        aside = file.with_suffix(f".{os.getpid()}")
        aside.write_bytes(pickle.dumps(frames, protocol=5))
        aside.replace(file)

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
        (self.folder / MARK).touch(mode=0o644)

    def finish(self) -> None:
        """Say that it is complete, and remove what other versions of the code left."""
        self.claim()
        (self.folder / "complete").touch(mode=0o644)
        for other in self.folder.parent.iterdir():
            if other != self.folder and _holds_results_only(other):
                with Lattice(other).alone() as alone:
                    if alone:
                        _remove(other)

    def _file(self, key: Hashable) -> Path:
        return self.folder / hashlib.sha256(repr(key).encode()).hexdigest()


def _digest_of_code() -> str:
    digest = hashlib.sha256(f"{platform.python_version()} {version('numpy')} {version('scipy')}".encode())
    for pattern in _SOURCES:
        for path in sorted(ROOT.glob(pattern)):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


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

"""Results of the pages' default settings, on disk between starts: the first visitor need not wait for them.

A folder of files, one a result, named by the digest of its settings, under the digest of the code that
computed them: a changed line of code starts afresh. Only the program that warms the lattice writes, and
only results of shipped data: nothing that a visitor does or uploads gets here.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import pickle
import platform
import shutil
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
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
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = self._file(key)
        aside = file.with_suffix(f".{os.getpid()}")
        aside.write_bytes(pickle.dumps(frames, protocol=5))
        aside.replace(file)

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Whether no other process is filling it; while inside, none will. Raises OSError if nothing can be written."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True

    def finish(self) -> None:
        """Say that it is complete, and remove what other versions of the code left."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (self.folder / "complete").touch()
        for other in self.folder.parent.iterdir():
            if other != self.folder and other.is_dir():
                shutil.rmtree(other, ignore_errors=True)

    def _file(self, key: Hashable) -> Path:
        return self.folder / hashlib.sha256(repr(key).encode()).hexdigest()


def _digest_of_code() -> str:
    digest = hashlib.sha256(f"{platform.python_version()} {version('numpy')} {version('scipy')}".encode())
    for pattern in _SOURCES:
        for path in sorted(ROOT.glob(pattern)):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]

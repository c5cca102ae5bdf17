"""The part of a server's state that outlasts it: a folder with keys and ledgers; and its latest releases in memory."""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from dpgp_core.release.files import force_folder
from pages._ui import environment
from pages._ui.ledgers.databases import LedgerUnavailable, Postgres, Sqlite
from pages._ui.ledgers.store import Key, Ledgers

MARK = "dpgp-state"
KEY, LEDGERS = "key", "ledgers.sqlite"
_LOCK = "lock"
_OURS = (MARK, KEY, LEDGERS, _LOCK, f"{LEDGERS}-wal", f"{LEDGERS}-shm", f"{LEDGERS}-journal", f"{KEY}.part")


class StateLost(ValueError):
    """Raised if the state folder cannot be used, or has lost a file."""


@dataclass(frozen=True)
class State:
    """A state folder.

    Args:
        folder: path of the folder, which is made when it is first needed.
    """

    folder: Path

    def key(self) -> Key:
        """Return the key in the folder; make it if there never was one.

        Raises:
            StateLost: the folder cannot be used, or has lost the key.
        """
        with self._held() as listed:
            path = self.folder / KEY
            self._ensure(listed, KEY, lambda: self._write(path, secrets.token_hex(32)))
            try:
                return Key.read(path.read_text())
            except (OSError, ValueError):
                raise StateLost(f"{str(path)!r} is no key; restore it from a backup") from None

    def database(self) -> Sqlite:
        """Return the ledgers in the folder; make them if there never were any.

        Raises:
            StateLost: the folder cannot be used, or has lost the ledgers.
        """
        with self._held() as listed:
            sqlite = Sqlite(self.folder / LEDGERS)
            self._ensure(listed, LEDGERS, sqlite.create)
            return sqlite

    @contextmanager
    def _held(self) -> Iterator[list[str]]:
        """Yield the files that the folder's mark lists, while other servers wait."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._check()
            with open(os.open(self.folder / _LOCK, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600), "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                mark = self.folder / MARK
                yield mark.read_text().split() if mark.exists() else []
        except OSError as error:
            raise StateLost(
                f"the state folder {str(self.folder)!r} cannot be used ({error.strerror}), and ledgers would not last. "
                "Set DPGP_STATE to a folder that this server may write to"
            ) from None

    def _check(self) -> None:
        """Check that the folder contains nothing else, and that nobody else may read it."""
        empty = not any(self.folder.iterdir())
        # Check again later, because another server may begin here too; it closes the folder, then fills it
        status = self.folder.stat()
        if status.st_uid != os.geteuid():
            raise StateLost(
                f"the state folder {str(self.folder)!r} belongs to another user. Set DPGP_STATE to a folder of "
                "this server's user, or to one that is yet to be made"
            )
        is_closed = not stat.S_IMODE(status.st_mode) & 0o077 or (empty and self._close(status.st_mode))
        for path in self.folder.iterdir():
            if path.name not in _OURS:
                raise StateLost(
                    f"the state folder {str(self.folder)!r} holds {path.name!r}, which is none of its files. Set "
                    "DPGP_STATE to an empty folder, or to one that is yet to be made"
                )
        if not is_closed:
            raise StateLost(
                f"the state folder {str(self.folder)!r} is open to other users, who could read or replace what lasts "
                f"there. Close it to them (chmod 700 {str(self.folder)!r}), or set DPGP_STATE to another folder"
            )

    def _close(self, mode: int) -> bool:
        """Close an empty folder, as ``mkdir`` makes it, to other users; return whether this was done.

        If others have put something there meanwhile, or if the folder is for everybody, as /tmp is, it is left as it
        is.
        """
        if mode & stat.S_ISVTX:
            return False
        self.folder.chmod(0o700)
        if all(path.lstat().st_uid == os.geteuid() for path in self.folder.iterdir()):
            return True
        self.folder.chmod(stat.S_IMODE(mode))
        return False

    def _ensure(self, listed: list[str], name: str, make: Callable[[], None]) -> None:
        """Make a file unless it exists. If the mark lists the file, it must exist."""
        if name in listed:
            if not (self.folder / name).is_file():
                raise StateLost(
                    f"the state folder {str(self.folder)!r} has lost {name!r}, and with it what was spent or by whom. "
                    f"Restore it from a backup, or name another folder in DPGP_STATE to begin with nothing"
                )
            return
        make()
        self._write(self.folder / MARK, "".join(f"{each}\n" for each in [*listed, name]))

    def _write(self, path: Path, text: str) -> None:
        """Write a whole file or nothing, and force it to the disk."""
        part = self.folder / f"{KEY}.part"
        with suppress(FileNotFoundError):
            part.unlink()
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
        force_folder(self.folder)


def problems() -> list[str]:
    """Return what is wrong with the state folder, in sentences. A database elsewhere may be unreachable for a while."""
    try:
        of_this_server()
    except LedgerUnavailable as error:
        return [] if environment.ledger_dsn() else [f"{error}."]
    except StateLost as error:
        return [f"{error}."]
    return []


@cache
def of_this_server() -> Ledgers:
    """Return the ledgers that the environment names, by default in a folder of the user's state directory.

    Raises:
        StateLost: the folder cannot be used.
        LedgerUnavailable: the database cannot be used, or belongs to another key.
        ValueError: a variable cannot be used.
    """
    state, address, digits = State(environment.state()), environment.ledger_dsn(), environment.ledger_key()
    key = state.key() if digits is None else Key.read(digits)
    database = state.database() if address is None else Postgres(address)
    if address is not None:
        database.create()
    ledgers = Ledgers(database, key)
    ledgers.prepare()
    return ledgers


@dataclass(frozen=True)
class Issued:
    """A release that was made: its name and its zip, both of which may be published."""

    name: str
    bundle: bytes = field(repr=False)


class Deliveries:
    """Latest release of each ledger; the least recently used are dropped first. Safe to use from many threads.

    Args:
        most_bytes: largest size of all zips together.
    """

    def __init__(self, most_bytes: int = 64 * 2**20) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[str, Issued] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, ledger: str, issued: Issued) -> None:
        """Remember the latest release of a ledger instead of the previous one."""
        with self._lock:
            self._kept[ledger] = issued
            self._kept.move_to_end(ledger)
            while len(self._kept) > 1 and sum(len(each.bundle) for each in self._kept.values()) > self._most_bytes:
                self._kept.popitem(last=False)

    def find(self, ledger: str | None) -> Issued | None:
        """Return the latest release of a ledger if it was made here and is still remembered."""
        with self._lock:
            if ledger is None or ledger not in self._kept:
                return None
            self._kept.move_to_end(ledger)
            return self._kept[ledger]


DELIVERIES = Deliveries()

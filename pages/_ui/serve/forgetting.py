"""Forget visitors' data, and give downloads only to the browsers that were offered them."""

from __future__ import annotations

import asyncio
import asyncio.selector_events
import ctypes
import gc
import multiprocessing.connection
import os
import resource
import threading
import time
from contextlib import suppress
from functools import wraps
from pathlib import PurePosixPath
from typing import Any

from starlette.formparsers import MultiPartParser
from streamlit import config
from streamlit.runtime import Runtime
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages._ui.visitor import known_by
from pages._ui.work import cached
from pages._ui.work.workers import return_freed_memory

PATH = "/media/"


class Owners:
    """Record of the browsers to which each file was offered."""

    def __init__(self) -> None:
        self._of: dict[str, set[str | None]] = {}  # tokens of browsers by file; None for a browser without cookies
        self._lock = threading.Lock()

    def note(self, file: str, browsers: set[str | None]) -> None:
        """Record the browsers whose pages offer this file; the set is empty if the browser has gone meanwhile."""
        with self._lock:
            self._of.setdefault(file, set()).update(browsers)

    def forget(self, file: str) -> None:
        """Forget a file that no longer exists."""
        with self._lock:
            self._of.pop(file, None)

    def may_have(self, path: str, token: str | None) -> bool:
        """Return whether a browser may have the file of a path; everybody may have files that belong to nobody, such as
        icons.
        """
        with self._lock:
            owners = self._of.get(PurePosixPath(path).stem)
        return owners is None or token in owners or None in owners


OWNERS = Owners()


def bind_to_browsers() -> None:
    """Note from now on whose page offers a download, wherever streamlit keeps one."""
    keep, delete = MemoryMediaFileStorage.load_and_get_id, MemoryMediaFileStorage.delete_file

    @wraps(keep)
    def noting(self: Any, path_or_data: Any, mimetype: str, kind: MediaFileKind, filename: str | None = None) -> str:
        file = keep(self, path_or_data, mimetype, kind, filename)
        if kind is MediaFileKind.DOWNLOADABLE:
            OWNERS.note(file, _asking())
        return file

    @wraps(delete)
    def forgetting(self: Any, file_id: str) -> None:
        delete(self, file_id)
        OWNERS.forget(file_id)

    storage: Any = MemoryMediaFileStorage  # streamlit has no hook; the class is changed so that every instance is bound
    storage.load_and_get_id, storage.delete_file = noting, forgetting


def _asking() -> set[str | None]:
    """Return the browser for which a page runs now; an empty set if it has gone."""
    context = get_script_run_ctx()
    client = None if context is None else Runtime.instance().get_client(context.session_id)
    spoken = None if client is None else client.client_context
    return set() if spoken is None else {known_by(spoken.cookies)}


LOOK_SECONDS = 5.0  # seconds between searches for sessions that have ended
# Seconds between garbage collections; streamlit would stop all pages for it at the end of each run
COLLECT_SECONDS = 30.0
_BLOCK_BYTES = 64 * 1024
_MMAP_THRESHOLD = -3  # parameters of glibc's mallopt
_TRIM_THRESHOLD = -1
_PERTURB = -6
_FORGOTTEN = threading.Event()


def keep_off_the_disk() -> None:
    """Ensure that neither an upload below the limit nor a crash of this process or its children writes a file."""
    MultiPartParser.spool_max_size = (config.get_option("server.maxUploadSize") + 1) * 2**20
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def give_back_large_blocks() -> None:
    """Overwrite every freed block of memory, and return large ones to the system at once.

    The C library then fills new blocks too, so that no code may allocate much more than it uses. A pipe between
    processes allocates all that is left of a message at every read of 64 kB, which for 20 MB would fill 3 GB.
    """
    _read_at_most(_BLOCK_BYTES)
    with suppress(OSError, AttributeError):  # another C library
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, _BLOCK_BYTES)
        library.mallopt(_TRIM_THRESHOLD, _BLOCK_BYTES)
        library.mallopt(_PERTURB, 255)


def _read_at_most(size: int) -> None:
    pipes: Any = multiprocessing.connection.Connection
    pipes._recv.__defaults__ = (lambda handle, wanted: os.read(handle, min(wanted, size)),)
    sockets: Any = asyncio.selector_events
    sockets._SelectorSocketTransport.max_size = size


def give_back() -> None:
    """Drop unused results, collect garbage, and return freed memory to the system."""
    cached.give_back()
    gc.collect()
    return_freed_memory()


def drop_uploads() -> None:
    """Remove the files of the session whose page runs now; streamlit would keep them as long as the session."""
    context = get_script_run_ctx()
    if context is not None:
        context.uploaded_file_mgr.remove_session_files(context.session_id)
    _FORGOTTEN.set()


async def forget_ended_sessions() -> None:
    """End sessions whose browser has been gone for as long as streamlit was told to wait, until this is cancelled.

    Streamlit itself searches for them only when the next visitor comes or goes.
    """
    again, collected = False, time.monotonic()
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if Runtime.exists() and _end_expired():
            _FORGOTTEN.set()
        forgotten = _FORGOTTEN.is_set()
        _FORGOTTEN.clear()
        if forgotten or again or time.monotonic() > collected + COLLECT_SECONDS:
            await asyncio.to_thread(give_back)
            collected = time.monotonic()
        again = forgotten  # once more when the threads of a session have ended


def _end_expired() -> int:
    manager: Any = Runtime.instance()._session_mgr  # a session manager that keeps its sessions in memory
    stored = manager._session_storage._cache
    before = dict(stored._data)
    stored.expire()
    ended = [info for key, info in before.items() if key not in stored._data]
    for info in ended:
        info.session.shutdown()
        info.session.session_state.clear()  # the runtime's loop holds the session that it examined last
    return len(ended)

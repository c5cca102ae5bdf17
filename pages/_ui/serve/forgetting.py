"""That a table which was forgotten is gone: no copy in a file, none in memory that was given back, none in a core file.

What cannot be promised: memory that the system has moved to its swap space, and what is left of freed memory in pages
that also hold something else; large blocks are given back to the system, which clears them before anybody gets them.
"""

from __future__ import annotations

import asyncio
import asyncio.selector_events
import ctypes
import gc
import multiprocessing.connection
import os
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from starlette.formparsers import MultiPartParser
from streamlit import config
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages._ui.work import cached
from pages._ui.work.workers import return_freed_memory

if sys.platform != "win32":
    import resource

LOOK_SECONDS = 5.0  # how often sessions that have ended are looked for
COLLECT_SECONDS = 30.0  # how often garbage is collected: streamlit would stop all pages for it at the end of each run
_BLOCK_BYTES = 64 * 1024
_MMAP_THRESHOLD = -3  # of glibc's mallopt
_TRIM_THRESHOLD = -1
_PERTURB = -6
_FORGOTTEN = threading.Event()


def keep_off_the_disk() -> None:
    """From now on neither an upload below the limit nor a crash of this process or its children writes a file."""
    MultiPartParser.spool_max_size = (config.get_option("server.maxUploadSize") + 1) * 2**20
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def give_back_large_blocks() -> None:
    """Have every freed block overwritten, and those of some size returned to the system at once.

    The C library then fills new blocks too, so nobody may ask for much more than arrives: a pipe between processes asks
    for all that is left of a message at every read of 64 kB, which for 20 MB would fill 3 GB.
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
    """Drop unused results, collect garbage, and return to the system what no longer holds anything."""
    cached.give_back()
    gc.collect()
    return_freed_memory()


def drop_uploads() -> None:
    """Remove the files of the session whose page runs now: streamlit keeps them for as long as the session lasts."""
    context = get_script_run_ctx()
    if context is not None:
        context.uploaded_file_mgr.remove_session_files(context.session_id)
    _FORGOTTEN.set()


async def forget_ended_sessions() -> None:
    """Until cancelled: end sessions whose browser has been gone for as long as streamlit was told to wait.

    Streamlit itself looks for them only when the next visitor comes or goes.
    """
    again, collected = False, time.monotonic()
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if Runtime.exists() and _end_expired():
            _FORGOTTEN.set()
        now = _FORGOTTEN.is_set()
        _FORGOTTEN.clear()
        if now or again or time.monotonic() > collected + COLLECT_SECONDS:
            await asyncio.to_thread(give_back)
            collected = time.monotonic()
        again = now  # once more when the threads of a session have ended


def _end_expired() -> int:
    manager: Any = Runtime.instance()._session_mgr  # of the kind that keeps its sessions in memory
    stored = manager._session_storage._cache
    before = dict(stored._data)
    stored.expire()
    ended = [info for key, info in before.items() if key not in stored._data]
    for info in ended:
        info.session.shutdown()
        info.session.session_state.clear()  # the runtime's loop holds the session that it looked at last
    return len(ended)

"""A download belongs to the browsers whose pages offer it: its address alone opens nothing for another one.

Streamlit serves what a page offers to whoever has its address, which is a digest of the content: hard to guess, but
it stands in histories and in logs of proxies. A file is noted with the cookie of the browser whose page made it, until
streamlit deletes it: when no page offers it any more. A browser without cookies is held by the address alone.
"""

from __future__ import annotations

import threading
from functools import wraps
from pathlib import PurePosixPath
from typing import Any

from streamlit.runtime import Runtime
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages._ui.visitor import known_by

PATH = "/media/"


class Owners:
    """Which browsers were offered which file."""

    def __init__(self) -> None:
        self._of: dict[str, set[str | None]] = {}  # file -> tokens; None: a browser without cookies
        self._lock = threading.Lock()

    def note(self, file: str, browsers: set[str | None]) -> None:
        """Pages of these browsers offer this file; of none, if the browser has gone meanwhile."""
        with self._lock:
            self._of.setdefault(file, set()).update(browsers)

    def forget(self, file: str) -> None:
        """The file is gone."""
        with self._lock:
            self._of.pop(file, None)

    def may_have(self, path: str, token: str | None) -> bool:
        """Whether a browser may have what stands under a path: also what belongs to nobody, as a page's icon."""
        with self._lock:
            owners = self._of.get(PurePosixPath(path).stem)
        return owners is None or token in owners or None in owners


OWNERS = Owners()


def bind_to_browsers(owners: Owners = OWNERS) -> None:
    """From now on note whose page offers a download, wherever streamlit keeps one."""
    keep, delete = MemoryMediaFileStorage.load_and_get_id, MemoryMediaFileStorage.delete_file

    @wraps(keep)
    def noting(self: Any, path_or_data: Any, mimetype: str, kind: MediaFileKind, filename: str | None = None) -> str:
        file = keep(self, path_or_data, mimetype, kind, filename)
        if kind is MediaFileKind.DOWNLOADABLE:
            owners.note(file, _asking())
        return file

    @wraps(delete)
    def forgetting(self: Any, file_id: str) -> None:
        delete(self, file_id)
        owners.forget(file_id)

    storage: Any = MemoryMediaFileStorage  # streamlit has no hook: the class itself, so that every instance is bound
    storage.load_and_get_id, storage.delete_file = noting, forgetting


def _asking() -> set[str | None]:
    """The browser for which a page runs now; nobody if it has gone."""
    context = get_script_run_ctx()
    client = None if context is None else Runtime.instance().get_client(context.session_id)
    spoken = None if client is None else client.client_context
    return set() if spoken is None else {known_by(spoken.cookies)}

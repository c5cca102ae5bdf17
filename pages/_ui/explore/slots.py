"""A release that a visitor explores: what is kept of it in this session's memory, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pages._ui.session import Slot


@dataclass(frozen=True, eq=False)
class Taken:
    """A published release as files.

    Attributes:
        name: shown to who explores it only.
        files: content by name.
        digest: tells whether it is another one.
    """

    name: str
    files: Mapping[str, bytes] = field(repr=False)
    digest: str


EXPLORED: Slot[Taken] = Slot("own_explored")
EXPLORED_REFIT: Slot[tuple[tuple[str, Any], Any]] = Slot("own_explored_refit")
EXPLORED_FILES: Slot[int] = Slot("own_explored_files")  # a new number empties the uploader
EXPLORED_SETTINGS: Slot[frozenset[str]] = Slot("own_explored_settings")  # all that were looked at

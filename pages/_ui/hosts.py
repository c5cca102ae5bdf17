"""The name of a host as it stands in an address."""

from __future__ import annotations

import re
from typing import NamedTuple

_LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|::1", re.ASCII)
_NAME = re.compile(r"\[([0-9a-f:]+)\](?::(\d{1,5}))?|([a-z0-9_.-]+)(?::(\d{1,5}))?", re.ASCII)


class Host(NamedTuple):
    """A host as an address names it; the port is None where none is named."""

    name: str
    port: int | None

    @classmethod
    def read(cls, text: str) -> Host:
        """Read ``name``, ``name:port`` or ``[IPv6]:port``. Raises ValueError for anything else."""
        found = _NAME.fullmatch(text.lower())
        if found is None:
            raise ValueError(f"a host is a name or a name and a port, as in example.org:8501, got {text!r}")
        name, port = found[1] or found[3].removesuffix("."), found[2] or found[4]
        return cls(name, int(port) if port else None)

    @property
    def is_this_machine(self) -> bool:
        """Whether it is a name that leads nowhere but to the browser's own machine."""
        return _LOOPBACK.fullmatch(self.name) is not None

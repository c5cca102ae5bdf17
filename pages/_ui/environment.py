"""Settings of the server in ``DPGP_...`` variables: read here only; each invalid one is refused with a sentence."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

_KEY = re.compile(r"[0-9a-f]{64,256}")
_LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|::1", re.ASCII)
_NAME = re.compile(r"\[([0-9a-f:]+)\](?::(\d{1,5}))?|([a-z0-9_.-]+)(?::(\d{1,5}))?", re.ASCII)
_FOOTPRINT_MB = 1024  # a worker uses 0.52 GB of address space before its first task


@dataclass(frozen=True, kw_only=True)
class Whole:
    """A whole number within limits.

    Attributes:
        least, most: the limits.
        default: value if the variable is not set or empty.
        why: reason for the lower limit.
    """

    least: int
    most: int
    default: int
    why: str


class Host(NamedTuple):
    """A host in an address, with its port, or None if the address names no port."""

    name: str
    port: int | None

    @classmethod
    def read(cls, text: str) -> Host:
        """Read ``name``, ``name:port`` or ``[IPv6]:port``.

        Raises:
            ValueError: the text is anything else.
        """
        written = _NAME.fullmatch(text.lower())
        if written is None:
            raise ValueError(f"a host is a name or a name and a port, as in example.org:8501, got {text!r}")
        name, port = written[1] or written[3].removesuffix("."), written[2] or written[4]
        return cls(name, int(port) if port else None)

    @property
    def is_this_machine(self) -> bool:
        """Whether the name always means the browser's own machine."""
        return _LOOPBACK.fullmatch(self.name) is not None


WHOLE = {
    "DPGP_WORKERS": Whole(least=1, most=64, default=os.cpu_count() or 1, why="without a process nothing is computed"),
    "DPGP_CACHE_MB": Whole(least=16, most=1_000_000, default=80, why="a single result takes a few"),
    "DPGP_WORKER_MB": Whole(
        least=_FOOTPRINT_MB, most=1_000_000, default=4096, why="a process takes half of that before its first task"
    ),
}
_SWITCHES = ("DPGP_WARM", "DPGP_UPLOADS")  # on unless set to 0


def whole(name: str) -> int:
    """Return a number of ``WHOLE``, or its default.

    Raises:
        ValueError: it is not a whole number within its limits.
    """
    rule, text = WHOLE[name], os.environ.get(name, "").strip()
    if not text:
        return rule.default
    if text.isascii() and text.isdigit() and len(text) < 10 and rule.least <= int(text) <= rule.most:
        return int(text)
    raise ValueError(
        f"{name} must be a whole number from {rule.least} to {rule.most}, got {text!r}: {rule.why}; "
        f"leave it unset for {rule.default}"
    )


def switched_on(name: str) -> bool:
    """Return whether a switch is on, because it is 1 or not set.

    Raises:
        ValueError: it is neither 0 nor 1.
    """
    text = os.environ.get(name, "").strip()
    if text not in ("", "0", "1"):
        raise ValueError(f"{name} must be 0 (off) or 1 (on), got {text!r}; leave it unset for 1")
    return text != "0"


def hosts() -> tuple[Host, ...] | None:
    """Return the names in DPGP_HOSTS; None if it is not set.

    Raises:
        ValueError: one of them is not a host.
    """
    named = os.environ.get("DPGP_HOSTS", "")
    try:
        return tuple(Host.read(name.strip()) for name in named.split(",")) if named.strip() else None
    except ValueError as error:
        raise ValueError(f"DPGP_HOSTS must be hosts with commas between them: {error}") from None


def state() -> Path:
    """Return the state folder.

    Raises:
        ValueError: the path exists and is not a folder.
    """
    text = os.environ.get("DPGP_STATE", "")
    if "\0" in text or (os.path.exists(text) and not os.path.isdir(text)):
        raise ValueError(
            f"DPGP_STATE must name a folder, and {text!r} is none; leave it unset for one of the user's own"
        )
    if text:
        return Path(text)
    home = os.environ.get("XDG_STATE_HOME", "")  # the standard ignores relative paths
    return (Path(home) if os.path.isabs(home) else Path.home() / ".local/state") / "dpgp"


def ledger_key() -> str | None:
    """Return the key in DPGP_LEDGER_KEY; None if it is not set.

    Raises:
        ValueError: it is not a key. The message does not repeat it.
    """
    text = os.environ.get("DPGP_LEDGER_KEY", "").strip().lower()
    if text and not _KEY.fullmatch(text):
        raise ValueError(
            f"DPGP_LEDGER_KEY must be 64 to 256 hexadecimal digits, got {len(text)} characters. Make it with "
            "'openssl rand -hex 32', or leave it unset for one in the state folder"
        )
    return text or None


def ledger_dsn() -> str | None:
    """Return the PostgreSQL database in DPGP_LEDGER_DSN; None if it is not set.

    Raises:
        ValueError: it is not an address of a database. The message does not repeat it.
    """
    text = os.environ.get("DPGP_LEDGER_DSN", "").strip()
    if not text:
        return None
    if find_spec("psycopg") is None:
        raise ValueError("DPGP_LEDGER_DSN needs psycopg, which is not installed; pip install 'dpgp[postgres]'")
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        conninfo_to_dict(text)
    except ProgrammingError:
        raise ValueError(
            "DPGP_LEDGER_DSN must be the address of a PostgreSQL database, as in postgresql://user@host/name. Leave it "
            "unset for a file in the state folder"
        ) from None
    return text


def problems() -> list[str]:
    """Return a sentence for each variable that cannot be used."""
    sentences = []
    checks: list[Callable[[], object]] = [partial(whole, name) for name in WHOLE]
    checks += [partial(switched_on, name) for name in _SWITCHES]
    for check in (*checks, hosts, state, ledger_key, ledger_dsn):
        try:
            check()
        except ValueError as error:
            sentences.append(f"{error}.")
    return sentences

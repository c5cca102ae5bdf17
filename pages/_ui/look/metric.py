"""One figure in data units, with its change against something named."""

from __future__ import annotations

from typing import NamedTuple


class Metric(NamedTuple):
    """One figure in data units, with its change against something named."""

    label: str
    value: str
    change: str | None = None
    help: str | None = None

"""Waiting for what happens in another process: as short as possible, and patient beside other work."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 120.0  # seconds that only a fault takes


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Return as soon as the condition holds.

    Raises:
        AssertionError: it did not within ``PATIENCE`` seconds; says what was waited for.
    """
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"waited {PATIENCE:g} s for {what}"
        time.sleep(0.02)

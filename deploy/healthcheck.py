"""Ask a replica whether it is ready; end it when it has not been for two minutes, so that it is started again.

    python healthcheck.py http://127.0.0.1:8501/readyz

An engine restarts containers that end, not those that are unhealthy. One that steps down in peace is left alone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import urllib.error
import urllib.request
from pathlib import Path

PATIENCE = 12  # failures in a row, ten seconds apart


def problem(address: str) -> str | None:
    """What is wrong with a replica; None if nothing is."""
    try:
        with urllib.request.urlopen(address, timeout=4):
            return None
    except urllib.error.HTTPError as refused:
        with refused:
            try:
                return str(json.loads(refused.read())["reason"])
            except (ValueError, KeyError):
                return str(refused)
    except OSError as error:
        return str(error)


def main(address: str, count: Path, server: int = 1) -> int:
    """Exit code of the check: 0 if the replica is ready.

    Args:
        address: of ``/readyz``.
        count: a file in which failures in a row are counted.
        server: number of the process to end.
    """
    wrong = problem(address)
    if wrong is None:
        count.unlink(missing_ok=True)
        return 0
    print(wrong)
    if wrong != "draining":
        failures = len(count.read_bytes()) + 1 if count.exists() else 1
        count.write_bytes(b"." * failures)
        if failures >= PATIENCE:
            count.unlink()
            os.kill(server, signal.SIGTERM)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path("/tmp/unready")))

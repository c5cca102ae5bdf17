"""Many sessions at once against a running dashboard: how long they wait, what fails, how much memory it takes.

    python -m benchmarks load                                  (starts a server of its own)
    python -m benchmarks load --sessions 40 --seconds 180 --idle 180 --address http://127.0.0.1:8501
    python -m benchmarks load --sessions 6 --seconds 3600 --think 5               (a soak)
    python -m benchmarks load --table                          (the walks of docs/benchmarks.md: 15 minutes)

Sessions speak Streamlit's WebSocket protocol; a time runs from the request to "script finished". Between two moves
a session thinks for a random time, uniform in [0, 2 x think]. Every session opens pages at random, moves their sliders
at random, uploads tables and now and then is gone before it is answered. The table has times, memory and descriptors
after idling, and how memory grew after the first sixth of the time, in MB an hour with its standard error. It is for a
server on this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.server.report import Phase
from benchmarks.server.table import rows, table
from benchmarks.server.walk import LONGEST_SECONDS, Load, walked
from benchmarks.shared.options import parser_of
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine
from deploy import local


@contextlib.contextmanager
def own_server(more: Mapping[str, str] | None = None) -> Iterator[tuple[str, int]]:
    """(address, process number) of a fresh server with ``more`` settings."""
    with tempfile.TemporaryDirectory() as folder:
        # nothing is warmed beside what is measured, and no ledger lasts
        settings = {"DPGP_WARM": "0", "DPGP_STATE": str(Path(folder) / "state"), **(more or {})}
        [port], log = local.free_ports(1), Path(folder) / "server.log"
        with local.replica(port, log, secrets.token_hex(32), settings) as server:
            local.wait_until_ready(server, log)
            yield f"http://127.0.0.1:{port}", server.process.pid


def main(arguments: Sequence[str] | None = None) -> list[Phase]:
    """Command line; returns what was measured."""
    numbers = {"sessions": 20, "seconds": 60.0, "think": 2.0, "idle": 30.0}
    parser = parser_of(__doc__, **numbers, address=None)
    parser.add_argument("--table", nargs="?", const=1.0, type=float, metavar="SHARE", help="of a quarter of an hour")
    chosen = parser.parse_args(arguments)
    if chosen.sessions < 1:
        parser.error(f"--sessions must be at least 1, got {chosen.sessions}")
    if chosen.think < 0 or chosen.seconds <= 0:
        parser.error(f"--think must be >= 0 and --seconds > 0, got {chosen.think:g} and {chosen.seconds:g}")
    if chosen.address and urlsplit(chosen.address).hostname not in ("localhost", "127.0.0.1", "::1"):
        parser.error(f"--address must be that of a server on this machine, got {chosen.address}")
    if chosen.idle < 0 or chosen.seconds + chosen.idle > LONGEST_SECONDS:
        parser.error(f"--idle must be >= 0, and with --seconds at most {LONGEST_SECONDS}, got {chosen.idle:g}")
    if chosen.table is not None and not (0 < chosen.table <= 1 and not chosen.address):
        parser.error(f"--table must be in (0, 1] and starts servers of its own, got {chosen.table:g}")
    print(machine())
    print(f"think {chosen.think:g} s")
    if chosen.table is not None:
        show(table(own_server, chosen.table))
        return []
    server = contextlib.nullcontext((chosen.address, None)) if chosen.address else own_server()
    with server as (address, pid):
        walk = asyncio.run(walked(Load(address, chosen.sessions, chosen.seconds, chosen.think), pid, chosen.idle))
    show(rows(walk, chosen.idle))
    return walk.phases

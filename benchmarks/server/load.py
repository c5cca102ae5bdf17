"""Many sessions at once against a running dashboard: how long they wait, what fails, how much memory it takes.

    python -m benchmarks load                                  (starts a server of its own)
    python -m benchmarks load --sessions 50 --think 0 --address http://127.0.0.1:8501
    python -m benchmarks load --walk --sessions 40 --seconds 180 --idle 180
    python -m benchmarks load --walk --sessions 6 --seconds 3600 --think 5        (a soak)
    python -m benchmarks load --table                          (the walks of docs/benchmarks.md: 15 minutes)

Sessions speak Streamlit's WebSocket protocol; a time runs from the request to "script finished". Between two moves
a session thinks for a random time, uniform in [0, 2 x think]. Phases: every page once on a fresh server; sessions
opening all pages at their defaults; epsilon moves on !Kung curves (only the last stage depends on epsilon);
settings nobody has asked for yet, on !Kung curves and the London map, while other visitors move epsilon on the
start page. An answer is wrong if the page does not say the epsilon that was asked for.

A walk is a mixture instead: every session opens pages at random, moves their sliders at random, uploads tables and now
and then is gone before it is answered. It ends with times, memory and descriptors after idling, and how memory grew
after the first sixth of the time, in MB an hour with its standard error. It is for a server on this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.server.phases import Load, cold, first_visits, openings, warm
from benchmarks.server.report import HEAD, Phase, resident_megabytes
from benchmarks.server.table import rows, table
from benchmarks.server.walk import LONGEST_SECONDS, walked
from benchmarks.shared.options import parser_of
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine
from deploy import local


async def measure(load: Load, pid: int | None) -> list[Phase]:
    """Every phase, printed as it ends."""
    print(HEAD)
    done: list[Phase] = []

    def show(*phases: Phase) -> None:
        done.extend(phases)
        memory = f"   {resident_megabytes(pid):.0f} MB" if pid else ""
        for phase in phases:
            print(phase.row() + memory, flush=True)

    show(await first_visits(load))
    show(await openings(load))
    show(await warm(load))
    show(*await cold(load))
    return done


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
    numbers = {"sessions": 20, "moves": 10, "seconds": 60.0, "think": 2.0, "idle": 30.0}
    parser = parser_of(__doc__, **numbers, walk=False, address=None)
    parser.add_argument("--table", nargs="?", const=1.0, type=float, metavar="SHARE", help="of a quarter of an hour")
    chosen = parser.parse_args(arguments)
    if chosen.sessions < 1 or chosen.moves < 1:
        parser.error(f"--sessions and --moves must be at least 1, got {chosen.sessions} and {chosen.moves}")
    if chosen.think < 0 or chosen.seconds <= 0:
        parser.error(f"--think must be >= 0 and --seconds > 0, got {chosen.think:g} and {chosen.seconds:g}")
    if chosen.walk and chosen.address and urlsplit(chosen.address).hostname not in ("localhost", "127.0.0.1", "::1"):
        parser.error(f"--walk is for a server on this machine, got {chosen.address}")
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
        load = Load(address, chosen.sessions, chosen.moves, chosen.seconds, chosen.think)
        if pid:
            print(f"server before: {resident_megabytes(pid):.0f} MB")
        if chosen.walk:
            walk = asyncio.run(walked(load, pid, chosen.idle))
            print("\n".join([HEAD, *(phase.row() for phase in walk.phases), ""]))
            show(rows(walk, chosen.idle))
            return walk.phases
        return asyncio.run(measure(load, pid))

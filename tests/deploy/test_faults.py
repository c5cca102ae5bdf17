"""A real server to which things happen: its programs end, its processes are killed, strangers write to it."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

import pytest

from pages._ui.serve.startup import Probe
from tests.deploy.conftest import Asked
from tests.e2e import browser as tool
from tests.e2e.test_forgetting import command, processes
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="NO /proc: processes cannot be looked at"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """(address, process, log) of a server."""
    folder = tmp_path_factory.mktemp("faults")
    before = processes(os.getpid())
    with (folder / "log").open("wb") as log, tool.serve(log, DPGP_WORKERS="1") as address:
        number = min(pid for pid in processes(os.getpid()) - before if "streamlit" in command(pid))
        yield Asked(address), number, folder / "log"


def below(of):
    """(number, state, parent) of every process below one; the state Z is a zombie's."""
    for pid in processes(of) - {of}:
        with contextlib.suppress(OSError):  # it has ended
            state, parent, *_ = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            yield pid, state, int(parent)


def ready(server):
    return server.ask("/readyz").status == 200


def test_a_server_recovers_after_its_processes_are_killed(server):
    asked, number, _ = server
    wait_until(lambda: ready(asked), "the server to be ready")
    workers = [pid for pid, _, parent in below(number) if parent != number]  # forked for work
    assert workers
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    killed = time.monotonic()
    wait_until(lambda: time.monotonic() > killed + Probe.FRESH_SECONDS, "answers of before to count no more")
    wait_until(lambda: ready(asked), "the server to be ready again")
    wait_until(lambda: all(state != "Z" for _, state, _ in below(number)), "processes to end without a zombie")


def test_requests_of_strangers_are_not_logged(server):
    asked, _, log = server
    assert asked.ask("/strangepath%0Aline?strangequery", origin="http://strange.example").status == 403
    assert asked.ask("/strangepath").status == 200
    assert "strange" not in log.read_text()

"""A real server to which things happen: its programs end, its processes are killed, strangers write to it."""

from __future__ import annotations

import os
import signal
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from pages._ui.serve.startup import Probe
from tests.e2e import browser as tool
from tests.e2e.test_forgetting import command, processes
from tests.waiting import PATIENCE, wait_until

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
        yield address, number, folder / "log"


def states(of):
    """The state of every process below one, by its number: Z is a zombie."""
    found = {}
    for pid in processes(of) - {of}:
        try:
            found[pid] = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
    return found


def workers(of):
    """Processes that a server's process has forked for work."""
    found = []
    for pid in processes(of) - {of}:
        try:
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent != of:
            found.append(pid)
    assert found
    return found


def ready(address):
    try:
        with urllib.request.urlopen(f"{address}/readyz", timeout=PATIENCE) as answer:
            return answer.status == 200
    except urllib.error.HTTPError as error:
        error.close()
        return False


def test_after_its_processes_were_killed_it_is_ready_again_and_has_no_zombies(server):
    address, number, _ = server
    wait_until(lambda: ready(address), "the server to be ready")
    for pid in workers(number):
        os.kill(pid, signal.SIGKILL)
    killed = time.monotonic()
    wait_until(lambda: time.monotonic() > killed + Probe.FRESH_SECONDS, "answers of before to count no more")
    wait_until(lambda: ready(address), "the server to be ready again")
    wait_until(lambda: "Z" not in states(number).values(), "processes to end without a zombie")


def test_what_a_stranger_writes_is_not_in_the_log(server):
    address, _, log = server
    request = urllib.request.Request(
        f"{address}/strangepath%0Aline?strangequery", headers={"Origin": "http://strange.example"}
    )
    with pytest.raises(urllib.error.HTTPError, match="403") as refusal:
        urllib.request.urlopen(request, timeout=PATIENCE)
    refusal.value.close()
    with urllib.request.urlopen(f"{address}/strangepath", timeout=PATIENCE) as answer:
        assert answer.status == 200
    assert "strange" not in log.read_text()

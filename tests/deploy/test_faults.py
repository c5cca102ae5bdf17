"""A server to which things happen, that is ended when it is not ready, and that many pages share."""

from __future__ import annotations

import asyncio
import asyncio.selector_events
import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import tomllib
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from deploy import healthcheck, local
from pages._ui.serve import forgetting
from pages._ui.serve.startup import Probe
from pages._ui.work import waiting
from tests.e2e import browser as tool
from tests.e2e.test_forgetting import command, processes
from tests.waiting import PATIENCE, wait_until


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


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="NO /proc: processes cannot be looked at")
def test_after_its_processes_were_killed_it_is_ready_again_and_has_no_zombies(server):
    address, number, _ = server
    wait_until(lambda: ready(address), "the server to be ready")
    for pid in workers(number):
        os.kill(pid, signal.SIGKILL)
    killed = time.monotonic()
    wait_until(lambda: time.monotonic() > killed + Probe.FRESH_SECONDS, "answers of before to count no more")
    wait_until(lambda: ready(address), "the server to be ready again")
    wait_until(lambda: "Z" not in states(number).values(), "processes to end without a zombie")


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="NO /proc: processes cannot be looked at")
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


# ---- A replica that is not ready for long is ended; one that steps down in peace is not.


@pytest.fixture
def replica():
    """(address, answers): what a made-up replica answers next."""
    answers = {"status": 200, "body": b"{}"}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(answers["status"])
            self.send_header("Content-Length", str(len(answers["body"])))
            self.end_headers()
            self.wfile.write(answers["body"])

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as stand_in:
        thread = threading.Thread(target=stand_in.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{stand_in.server_port}/readyz", answers
        finally:
            stand_in.shutdown()
            thread.join()


@pytest.fixture
def stand_in():
    """A process to be ended."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        yield process
        with contextlib.suppress(ProcessLookupError):
            process.kill()


def test_a_replica_that_is_not_ready_for_two_minutes_is_ended(replica, stand_in, tmp_path, capsys):
    address, answers = replica
    answers |= {"status": 503, "body": b'{"reason": "the processes compute nothing"}'}
    for _ in range(healthcheck.PATIENCE - 1):
        assert healthcheck.main(address, tmp_path / "count", stand_in.pid) == 1
    assert stand_in.poll() is None
    assert healthcheck.main(address, tmp_path / "count", stand_in.pid) == 1
    assert stand_in.wait(PATIENCE) == -15
    assert "the processes compute nothing" in capsys.readouterr().out
    assert not (tmp_path / "count").exists()


def test_one_good_answer_forgives_all(replica, stand_in, tmp_path):
    address, answers = replica
    answers["status"] = 500
    for _ in range(3):
        for _ in range(healthcheck.PATIENCE - 1):
            assert healthcheck.main(address, tmp_path / "count", stand_in.pid) == 1
        answers["status"] = 200
        assert healthcheck.main(address, tmp_path / "count", stand_in.pid) == 0
        answers["status"] = 500
    assert stand_in.poll() is None


def test_one_that_steps_down_is_left_alone(replica, stand_in, tmp_path):
    address, answers = replica
    answers |= {"status": 503, "body": b'{"reason": "draining"}'}
    for _ in range(3 * healthcheck.PATIENCE):
        assert healthcheck.main(address, tmp_path / "count", stand_in.pid) == 1
    assert stand_in.poll() is None


def test_nobody_there_is_a_failure(stand_in, tmp_path):
    [port] = local.free_ports(1)
    assert healthcheck.main(f"http://127.0.0.1:{port}/readyz", tmp_path / "count", stand_in.pid) == 1
    assert (tmp_path / "count").read_bytes() == b"."


# ---- What lets many pages share one process: short turns at the interpreter, and reads no larger than what arrives.


CONFIG = Path(__file__).resolve().parents[2] / ".streamlit/config.toml"


@pytest.fixture
def as_before():
    pipes, sockets = multiprocessing.connection.Connection, asyncio.selector_events._SelectorSocketTransport
    reads, size, turn = pipes._recv.__defaults__, sockets.max_size, sys.getswitchinterval()
    yield
    pipes._recv.__defaults__, sockets.max_size = reads, size
    sys.setswitchinterval(turn)


@pytest.mark.full
def test_a_message_between_processes_is_read_in_pieces_that_fit_a_pipe(as_before, monkeypatch):
    asked, read = [], os.read

    def noted(handle, size):
        asked.append(size)
        return read(handle, size)

    forgetting._read_at_most(1 << 16)
    monkeypatch.setattr(os, "read", noted)
    receiver, sender = multiprocessing.Pipe(duplex=False)
    message = os.urandom(3_000_000)
    sending = threading.Thread(target=sender.send_bytes, args=(message,))
    sending.start()
    assert receiver.recv_bytes() == message
    sending.join()
    assert len(asked) > 40
    assert max(asked) == 1 << 16
    assert asyncio.selector_events._SelectorSocketTransport.max_size == 1 << 16


@pytest.mark.full
def test_turns_are_shorter_than_pythons_own(as_before):
    waiting.take_short_turns()
    assert sys.getswitchinterval() == pytest.approx(5e-4)


@pytest.mark.full
def test_a_server_reads_in_pieces():
    """In a process of its own: what it sets up stays set up. Turns it takes when it starts: see ``test_startup``."""
    says = "import app, asyncio.selector_events as events; print(events._SelectorSocketTransport.max_size)"
    ran = subprocess.run(
        [sys.executable, "-c", says], cwd=CONFIG.parents[1], capture_output=True, text=True, check=True
    )
    assert int(ran.stdout.split()[-1]) == 1 << 16


@pytest.mark.full
def test_garbage_is_not_collected_at_the_end_of_every_run():
    """Streamlit's own default: all pages stand still for it."""
    assert tomllib.loads(CONFIG.read_text())["runner"]["postScriptGC"] is False


@pytest.mark.full
def test_garbage_is_collected_now_and_then_without_any_visitor(monkeypatch):
    collected = []
    monkeypatch.setattr(forgetting, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(forgetting, "COLLECT_SECONDS", 0.03)
    monkeypatch.setattr(forgetting, "give_back", lambda: collected.append(1))

    async def until_twice():
        looking = asyncio.create_task(forgetting.forget_ended_sessions())
        while len(collected) < 2:
            await asyncio.sleep(0.01)
        looking.cancel()

    asyncio.run(asyncio.wait_for(until_twice(), PATIENCE))
    assert len(collected) >= 2

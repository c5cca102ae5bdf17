"""A replica that is not ready for long is ended; one that steps down in peace is not."""

import contextlib
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from deploy import healthcheck, local
from tests.waiting import PATIENCE


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

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/readyz", answers
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def server():
    """A process to be ended."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        yield process
        with contextlib.suppress(ProcessLookupError):
            process.kill()


def test_a_replica_that_is_not_ready_for_two_minutes_is_ended(replica, server, tmp_path, capsys):
    address, answers = replica
    answers |= {"status": 503, "body": b'{"reason": "the processes compute nothing"}'}
    for _ in range(healthcheck.PATIENCE - 1):
        assert healthcheck.main(address, tmp_path / "count", server.pid) == 1
    assert server.poll() is None
    assert healthcheck.main(address, tmp_path / "count", server.pid) == 1
    assert server.wait(PATIENCE) == -15
    assert "the processes compute nothing" in capsys.readouterr().out
    assert not (tmp_path / "count").exists()


def test_one_good_answer_forgives_all(replica, server, tmp_path):
    address, answers = replica
    answers["status"] = 500
    for _ in range(3):
        for _ in range(healthcheck.PATIENCE - 1):
            assert healthcheck.main(address, tmp_path / "count", server.pid) == 1
        answers["status"] = 200
        assert healthcheck.main(address, tmp_path / "count", server.pid) == 0
        answers["status"] = 500
    assert server.poll() is None


def test_one_that_steps_down_is_left_alone(replica, server, tmp_path):
    address, answers = replica
    answers |= {"status": 503, "body": b'{"reason": "draining"}'}
    for _ in range(3 * healthcheck.PATIENCE):
        assert healthcheck.main(address, tmp_path / "count", server.pid) == 1
    assert server.poll() is None


def test_nobody_there_is_a_failure(server, tmp_path):
    [port] = local.free_ports(1)
    assert healthcheck.main(f"http://127.0.0.1:{port}/readyz", tmp_path / "count", server.pid) == 1
    assert (tmp_path / "count").read_bytes() == b"."

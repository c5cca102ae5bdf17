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
def server():
    """A process to be ended."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        yield process
        with contextlib.suppress(ProcessLookupError):
            process.kill()


@pytest.fixture
def check(server, tmp_path):
    """What checks of a made-up replica come to, one after another, that answers all of them the same."""
    said = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(said["status"])
            self.send_header("Content-Length", str(len(said["body"])))
            self.end_headers()
            self.wfile.write(said["body"])

        def log_message(self, *_):
            pass

    def times(count, status, body=b"{}"):
        said.update(status=status, body=body)
        return {healthcheck.main(address, tmp_path / "count", server.pid) for _ in range(count)}

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as replica:
        address = f"http://127.0.0.1:{replica.server_port}/readyz"
        thread = threading.Thread(target=replica.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield times
        finally:
            replica.shutdown()
            thread.join()


def test_a_replica_unready_for_two_minutes_is_ended(check, server, tmp_path, capsys):
    why = b'{"reason": "the processes compute nothing"}'
    assert check(healthcheck.PATIENCE - 1, 503, why) == {1}
    assert server.poll() is None
    assert check(1, 503, why) == {1}
    assert server.wait(PATIENCE) == -15
    assert "the processes compute nothing" in capsys.readouterr().out
    assert not (tmp_path / "count").exists()


def test_one_good_answer_forgives_all(check, server):
    for _ in range(3):
        assert check(healthcheck.PATIENCE - 1, 500) == {1}
        assert check(1, 200) == {0}
    assert server.poll() is None


def test_one_that_steps_down_is_left_alone(check, server):
    assert check(3 * healthcheck.PATIENCE, 503, b'{"reason": "draining"}') == {1}
    assert server.poll() is None


def test_nobody_there_is_a_failure(server, tmp_path):
    [port] = local.free_ports(1)
    assert healthcheck.main(f"http://127.0.0.1:{port}/readyz", tmp_path / "count", server.pid) == 1
    assert (tmp_path / "count").read_bytes() == b"."

import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

from deploy import local
from tests.e2e.browser import serve
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.full


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(local.NGINX is None, reason="NO NGINX: nginx is not installed")
def test_the_command_serves_until_it_is_interrupted_and_leaves_nothing_behind():
    [port] = local.free_ports(1)
    command = [sys.executable, str(local.HERE / "local.py"), "--replicas", "1", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        address, folder = re.match(
            r"(http\S+) is served by nginx; logs are in (\S+)", process.stdout.readline()
        ).groups()
        replica = int(re.search(r"process (\d+)", process.stdout.readline())[1])
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=PATIENCE) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE) == 0
    assert not alive(replica)
    assert not os.path.exists(folder)
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"{address}/_stcore/health", timeout=PATIENCE)


def test_a_server_that_is_told_to_stop_leaves_no_folder(tmp_path):
    with serve(TMPDIR=str(tmp_path)):
        wait_until(lambda: list(tmp_path.glob("pymp-*")), "its processes")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", ["0", "-1"])
def test_no_replica_is_refused(number):
    command = [sys.executable, str(local.HERE / "local.py"), "--replicas", number]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert f"--replicas must be at least 1, got {number}" in refused.stderr

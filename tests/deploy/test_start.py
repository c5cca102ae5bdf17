"""How a server starts: its settings, the line with the address, this machine alone."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from unittest import mock

import pytest
from streamlit import config

from deploy import local
from pages._ui import environment
from pages._ui.serve import startup
from tests.e2e import browser as tool
from tests.waiting import PATIENCE, wait_until

ROOT = Path(__file__).resolve().parents[2]


def problems(variables: dict[str, str]) -> list[str]:
    """What is said of these variables, where no others are set."""
    with mock.patch.dict(os.environ, variables, clear=True):
        return environment.problems()


@pytest.mark.parametrize("name", environment.WHOLE)
@pytest.mark.parametrize("text", ["0", "-3", "ten", "1.5", "1e3", "٣", "9" * 40, "0x10", "nan", "+4_0"])
def test_an_invalid_number_is_explained_with_a_remedy(name, text):
    [sentence] = problems({name: text})
    assert sentence.startswith(f"{name} must be a whole number from ")
    assert f"got {text!r}" in sentence
    assert sentence.endswith(f"leave it unset for {environment.WHOLE[name].default}.")
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("DPGP_WORKER_MB", "500", "a process takes half of that before its first task"),
        ("DPGP_WARM", "yes", "must be 0 (off) or 1 (on), got 'yes'"),
        ("DPGP_UPLOADS", "off", "must be 0 (off) or 1 (on), got 'off'"),
        ("DPGP_HOSTS", "https://example.org", "got 'https://example.org'"),
        ("DPGP_HOSTS", "a.example,,b.example", "got ''"),
        ("DPGP_STATE", str(Path(__file__)), "must name a folder"),
        ("DPGP_LEDGER_KEY", "ab" * 31, "64 to 256 hexadecimal digits, got 62 characters. Make it with 'openssl rand"),
        ("DPGP_LEDGER_KEY", "secret" * 20, "got 120 characters"),
        ("DPGP_LEDGER_DSN", "mysql://somebody:hidden@host/x", "must be the address of a PostgreSQL database"),
    ],
)
def test_so_are_the_others(name, text, said):
    [sentence] = problems({name: text})
    assert sentence.startswith(name)
    assert said in sentence
    assert not {"hidden", "secretsecret"} & set(re.findall(r"\w+", sentence))  # keys and passwords are not repeated


def test_what_can_be_used_is_said_nothing_about():
    assert problems({}) == []
    good = {"DPGP_WORKERS": "3", "DPGP_CACHE_MB": "16", "DPGP_WORKER_MB": " 1024 ", "DPGP_WARM": "0"}
    good |= {"DPGP_STATE": "/nowhere/yet", "DPGP_LEDGER_KEY": "AB" * 32}
    good |= {"DPGP_LEDGER_DSN": "postgresql://u:p@host/name"}
    assert problems(good | {"DPGP_UPLOADS": "1", "DPGP_HOSTS": "example.org:8501, [::1]", "DPGP_OTHER": "x"}) == []
    with mock.patch.dict(os.environ, good | {"DPGP_CACHE_MB": " "}, clear=True):
        assert environment.whole("DPGP_WORKER_MB") == 1024
        assert environment.whole("DPGP_CACHE_MB") == 80
        assert not environment.switched_on("DPGP_WARM")
        assert environment.switched_on("DPGP_UPLOADS")


def refused(**settings):
    """What a server says that must not start."""
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", "0"]  # as `make app` runs it
    env = {**os.environ, "PYTHONPATH": str(ROOT), "STREAMLIT_SERVER_ADDRESS": "127.0.0.1", **settings}
    started = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert started.returncode != 0
    assert started.stdout == ""  # no address of a server that there is not
    assert "Traceback" not in started.stderr
    return started.stderr


@pytest.mark.full
def test_a_server_without_lasting_ledgers_does_not_start(tmp_path):
    (tmp_path / "thesis.tex").touch()
    tmp_path.chmod(0o700)
    said = refused(DPGP_STATE=str(tmp_path))
    assert "holds 'thesis.tex', which is none of its files. Set DPGP_STATE to an empty folder" in said
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.full
def test_all_wrong_settings_are_reported_at_once():
    wrong = {"DPGP_WORKERS": "0", "DPGP_CACHE_MB": "ten", "DPGP_HOSTS": "a b"}
    said = refused(**wrong)
    assert all(f"\n{name} must be " in f"\n{said}" for name in wrong)


# ---- The line with the address.


@pytest.fixture
def options(monkeypatch):
    """Streamlit's settings, for one test."""
    named = {"server.port": 8501, "server.sslCertFile": None, "server.baseUrlPath": "", "browser.serverAddress": "name"}
    known = config.get_option
    monkeypatch.setattr(config, "get_option", lambda name: named[name] if name in named else known(name))
    monkeypatch.setattr(config, "is_manually_set", lambda name: name == "browser.serverAddress" and "set" in named)
    return named


@pytest.mark.parametrize(
    ("settings", "address"),
    [
        ({"server.address": "localhost"}, "http://localhost:8501"),
        ({"server.address": "::1"}, "http://[::1]:8501"),
        ({"server.address": "0.0.0.0"}, "http://name:8501"),
        ({"server.address": None, "server.baseUrlPath": "/dpgp/"}, "http://name:8501/dpgp"),
        ({"server.address": "localhost", "set": True, "server.sslCertFile": "x"}, "https://name:8501"),
    ],
)
def test_it_is_where_a_browser_finds_the_server(options, settings, address):
    options |= settings
    assert startup.address() == address


@pytest.mark.full
@pytest.mark.skipif(local.NGINX is None, reason="NO NGINX: nginx is not installed")
def test_an_interrupted_server_leaves_nothing_behind():
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
    with pytest.raises(ProcessLookupError):
        os.kill(replica, 0)
    assert not os.path.exists(folder)
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"{address}/_stcore/health", timeout=PATIENCE)


@pytest.mark.full
def test_a_stopped_server_leaves_no_folder(tmp_path):
    with tool.serve(TMPDIR=str(tmp_path)):
        wait_until(lambda: list(tmp_path.glob("pymp-*")), "its processes")
    assert list(tmp_path.iterdir()) == []

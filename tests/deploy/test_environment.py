"""Wrong settings: each is one sentence at the start, and no server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pages._ui import environment
from pages._ui.environment import problems
from tests.e2e import browser as tool
from tests.waiting import PATIENCE, wait_until

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", environment.WHOLE)
@pytest.mark.parametrize("text", ["0", "-3", "ten", "1.5", "1e3", "٣", "9" * 40, "0x10", "nan", "+4_0"])
def test_a_number_that_cannot_be_meant_is_one_sentence_with_name_value_and_remedy(name, text):
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
    assert environment.whole("DPGP_WORKER_MB", good) == 1024
    assert environment.whole("DPGP_CACHE_MB", {"DPGP_CACHE_MB": " "}) == 300
    assert not environment.switched_on("DPGP_WARM", good)
    assert environment.switched_on("DPGP_UPLOADS", good)


def refused(**settings):
    """What a server says that must not start."""
    started = subprocess.run(  # as `make app` runs it
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", "0"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "STREAMLIT_SERVER_ADDRESS": "127.0.0.1", **settings},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert started.returncode != 0
    assert started.stdout == ""  # no address of a server that there is not
    return started


@pytest.mark.full
def test_a_server_whose_ledgers_would_not_last_says_so_and_does_not_start(tmp_path):
    (tmp_path / "thesis.tex").touch()
    tmp_path.chmod(0o700)
    said = refused(DPGP_STATE=str(tmp_path)).stderr
    assert "holds 'thesis.tex', which is none of its files. Set DPGP_STATE to an empty folder" in said
    assert "Traceback" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_server_with_wrong_settings_says_all_of_them_and_does_not_start():
    wrong = {"DPGP_WORKERS": "0", "DPGP_CACHE_MB": "ten", "DPGP_HOSTS": "a b"}
    started = refused(**wrong)
    for name in wrong:
        assert f"\n{name} must be " in f"\n{started.stderr}"
    assert "Traceback" not in started.stderr


@pytest.mark.full
def test_a_server_takes_an_empty_folder_as_mkdir_makes_it_and_says_one_line(tmp_path):
    tmp_path.chmod(0o755)
    log = tmp_path.parent / "log"
    with log.open("wb") as stream, tool.serve(stream, DPGP_STATE=str(tmp_path)) as address:
        wait_until(lambda: address in log.read_text(), "the line with the address")
    assert log.read_text().splitlines()[0] == f"Dashboard URL: {address}"
    assert (tmp_path / "key").is_file()

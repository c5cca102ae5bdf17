"""What a newcomer's terminal may show; test_every_page reads one, of `make app` in a clean clone, to its end."""

from __future__ import annotations

import subprocess

import pytest

from tests.e2e import browser as tool
from tests.e2e import newcomer

ADDRESS = "Dashboard URL: http://localhost:8501\n"


def test_the_address_and_the_end_are_known():
    assert newcomer.unknown(ADDRESS + "\n  Stopping...\n\nAborted!\nmake: *** [Makefile:11: app] Interrupt\n") == []


@pytest.mark.parametrize(
    "line", ["Traceback (most recent call last):", "2026-01-01 missing ScriptRunContext!", "warmed 3 states"]
)
def test_anything_else_is_noticed(line):
    assert newcomer.unknown(ADDRESS + line) == [line]


@pytest.mark.parametrize("goal", ["app", "test"])
def test_the_first_command_says_what_takes_so_long_before_it_begins(tmp_path, goal):
    command = ["make", "--dry-run", goal, f"VENV={tmp_path / 'none'}"]
    lines = subprocess.run(command, cwd=tool.ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    [said] = [at for at, line in enumerate(lines) if line.startswith('echo "Installing the dashboard')]
    assert newcomer.INSTALLING.fullmatch(lines[said].split('"')[1])
    assert "pip install" in lines[said + 1]

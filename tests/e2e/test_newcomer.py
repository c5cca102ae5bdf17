"""What a newcomer's terminal may show; test_every_page reads one, of `make app` in a clean clone, to its end."""

from __future__ import annotations

import pytest

from tests.e2e import newcomer

ADDRESS = "Dashboard URL: http://localhost:8501\n"


def test_the_address_and_the_end_are_known():
    assert newcomer.unknown(ADDRESS + "\n  Stopping...\n\nAborted!\nmake: *** [Makefile:11: app] Interrupt\n") == []


@pytest.mark.parametrize(
    "line", ["Traceback (most recent call last):", "2026-01-01 missing ScriptRunContext!", "warmed 3 states"]
)
def test_anything_else_is_noticed(line):
    assert newcomer.unknown(ADDRESS + line) == [line]

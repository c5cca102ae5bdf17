from __future__ import annotations

import asyncio
import gc
import sys

import pytest

from pages._ui.serve import startup


@pytest.fixture
def quiet(monkeypatch):
    """Neither processes nor visits are started; what was exempted from collection comes back."""
    started = []
    monkeypatch.setattr(startup.cached, "start", lambda: started.append("workers"))
    monkeypatch.setattr(startup.cached, "work_ahead", lambda: started.append("working ahead"))
    monkeypatch.setattr(startup.cached, "begin", lambda: None)
    monkeypatch.setattr(startup.cached, "stop", lambda: started.append("no workers"))

    async def open_pages():
        started.append("visits")
        try:
            await asyncio.Event().wait()
        finally:
            started.append("no visits")

    monkeypatch.setattr(startup, "open_pages", open_pages)
    interval = sys.getswitchinterval()
    yield started
    sys.setswitchinterval(interval)
    gc.unfreeze()


async def serve_briefly():
    async with startup.lifespan(None):
        assert sys.getswitchinterval() < 0.001
        assert gc.get_freeze_count() > 50_000  # what is loaded is not gone through after every run of a page
        await asyncio.sleep(0)
    await asyncio.sleep(0)


@pytest.mark.parametrize(("asked", "warming"), [("1", True), ("0", False)])
def test_a_server_starts_workers_and_visits_says_where_it_is_and_stops_both(quiet, monkeypatch, capsys, asked, warming):
    monkeypatch.setenv("DPGP_WARM", asked)
    before = gc.get_freeze_count()
    asyncio.run(serve_briefly())
    assert before == 0
    assert capsys.readouterr().out == f"Dashboard URL: {startup.address()}\n"
    assert quiet == (
        ["workers", "working ahead", "visits", "no workers", "no visits"] if warming else ["workers", "no workers"]
    )

"""What lets many pages share one process: short turns at the interpreter, and reads no larger than what arrives."""

import asyncio
import asyncio.selector_events
import multiprocessing
import os
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import pytest

from pages._ui.serve import forgetting
from tests.waiting import PATIENCE

pytestmark = pytest.mark.full

CONFIG = Path(__file__).resolve().parents[2] / ".streamlit/config.toml"


@pytest.fixture
def as_before():
    pipes, sockets = multiprocessing.connection.Connection, asyncio.selector_events._SelectorSocketTransport
    reads, size, turn = pipes._recv.__defaults__, sockets.max_size, sys.getswitchinterval()
    yield
    pipes._recv.__defaults__, sockets.max_size = reads, size
    sys.setswitchinterval(turn)


def test_messages_between_processes_are_read_in_pieces(as_before, monkeypatch):
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


def test_a_server_reads_in_pieces():
    """In a process of its own: what it sets up stays set up. Turns it takes when it starts: see ``test_startup``."""
    says = "import app, asyncio.selector_events as events; print(events._SelectorSocketTransport.max_size)"
    ran = subprocess.run(
        [sys.executable, "-c", says], cwd=CONFIG.parents[1], capture_output=True, text=True, check=True
    )
    assert int(ran.stdout.split()[-1]) == 1 << 16


def test_garbage_is_not_collected_after_every_run():
    """Streamlit's own default: all pages stand still for it."""
    assert tomllib.loads(CONFIG.read_text())["runner"]["postScriptGC"] is False


def test_garbage_is_collected_regularly_without_visitors(monkeypatch):
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

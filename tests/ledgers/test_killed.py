"""kill -9 at every step of a release: never less is counted than was released."""

import os
import signal

import pytest

from dpgp_core.release import json_text, ledger_file
from pages._ui.ledgers import state
from pages._ui.ledgers import store as database_store
from pages._ui.ledgers.store import Ledgers
from tests import killing
from tests.ledgers.stores import NO_LIMIT, InDatabase, InFile, counted, spend
from tests.waiting import wait_until

pytestmark = pytest.mark.full

KILLS = 200


@pytest.fixture
def release(store, monkeypatch):
    """What a release does: count it, then draw; the mark stands for the draw."""
    for module in (json_text, ledger_file, database_store):
        monkeypatch.setattr(module, "MAX_ENTRIES", 10**6)

    def make(folder):
        store.spend(limit=NO_LIMIT)
        killing.mark(folder)

    return make


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "killed"
    found.mkdir()
    return found


def entries(store):
    return len(store.ledger().entries)


def test_at_any_line_of_the_transaction(store, release, folder, tmp_path):
    """Also of one that begins a ledger; then the next release goes on, and nothing of the dead is in the way."""
    lines = killing.lines(release, tmp_path / "whole", store.modules)
    assert lines > 40
    killed = 0
    for kill in range(KILLS):
        if kill % 2:
            store.begin_anew()
        before, made = entries(store), killing.marks(folder)
        killing.at_line(1 + kill * lines // KILLS, release, folder, store.modules)
        found = entries(store)
        assert killing.marks(folder) - made <= found - before <= 1
        killed += found == before
        release(folder)
        assert entries(store) == found + 1
        assert not isinstance(store, InFile) or {path.name for path in tmp_path.iterdir()} == {
            "killed",
            "ledger.json",
            "whole",
        }
    assert killed  # some were killed before the end of the transaction


def releases_until_killed(release, folder, least):
    """One release after another in a process that is killed once it has made so many, or some more.

    It is looked at every 20 ms, in which it makes several: each kill comes at another moment of one.
    """
    child = os.fork()
    if child == 0:
        try:
            while True:
                release(folder)
        finally:
            os._exit(1)
    try:
        wait_until(lambda: killing.marks(folder) >= least, "releases of the process that is killed")
    finally:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)


def test_at_any_moment(store, release, tmp_path):
    """Also inside the database's own code, which no line of ours marks."""
    for kill in range(KILLS):
        folder = tmp_path / str(kill)
        folder.mkdir()
        releases_until_killed(release, folder, 1 + kill % 5)
        assert entries(store) in (killing.marks(folder), killing.marks(folder) + 1)
        release(folder)  # nothing that the dead held is in the way
        store.begin_anew()


def _begin(folder):
    found = state.State(folder / "state")
    ledgers = Ledgers(found.database(), found.key())
    ledgers.prepare()
    spend(ledgers, limit=NO_LIMIT)
    killing.mark(folder)


def test_while_the_state_folder_is_made(tmp_path):
    modules = [state, *InDatabase(None).modules]
    lines = killing.lines(_begin, tmp_path / "whole", modules)
    for kill in range(KILLS):
        folder = tmp_path / str(kill)
        folder.mkdir()
        killing.at_line(1 + kill * lines // KILLS, _begin, folder, modules)
        found = state.State(folder / "state")
        ledgers = Ledgers(found.database(), found.key())
        ledgers.prepare()
        assert counted(ledgers) >= killing.marks(folder)

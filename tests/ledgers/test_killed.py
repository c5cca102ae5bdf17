"""kill -9 at every step of a release: never less is counted than was released."""

import os
import signal

import pytest

from pages._ui.ledgers import databases as database_module
from pages._ui.ledgers import state, store
from pages._ui.ledgers.store import Ledgers
from tests import killing
from tests.ledgers.test_store import NO_LIMIT, A, counted, spend
from tests.waiting import wait_until

pytestmark = pytest.mark.full

MODULES = [store, store, database_module, database_module, state, database_module]


@pytest.fixture
def release(ledgers):
    """What a release does: count it, then draw; the mark stands for the draw."""

    def make(folder):
        spend(ledgers, limit=NO_LIMIT, because="a new ledger for the next kill")
        killing.mark(folder)

    return make


@pytest.mark.parametrize("kills", [16, 200])
def test_at_any_line_of_the_transaction(ledgers, release, tmp_path, kills, monkeypatch):
    monkeypatch.setattr(store, "MAX_ENTRIES", 10**6)
    monkeypatch.setattr("dpgp_core.release.json_text.MAX_ENTRIES", 10**6)
    lines = killing.lines(release, tmp_path / "whole", MODULES)
    assert lines > 60
    folder = tmp_path / "killed"
    folder.mkdir()
    killed = 0
    for kill in range(kills):
        before, made = counted(ledgers), killing.marks(folder)
        killing.at_line(1 + kill * lines // kills, release, folder, MODULES)
        assert counted(ledgers) - before in (0, 1)
        assert counted(ledgers) - before >= killing.marks(folder) - made
        killed += counted(ledgers) == before
        if kill % 5 == 4:  # a new ledger: its beginning is part of the transaction
            ledgers.begin_anew(A)
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


@pytest.mark.parametrize("kills", [4, 200])
def test_at_any_moment(ledgers, release, tmp_path, kills, monkeypatch):
    """Also inside the database's own code, which no line of ours marks."""
    monkeypatch.setattr(store, "MAX_ENTRIES", 10**6)
    monkeypatch.setattr("dpgp_core.release.json_text.MAX_ENTRIES", 10**6)
    for kill in range(kills):
        folder = tmp_path / str(kill)
        folder.mkdir()
        releases_until_killed(release, folder, 1 + kill % 5)
        assert counted(ledgers) in (killing.marks(folder), killing.marks(folder) + 1)
        release(folder)  # nothing that the dead held is in the way
        ledgers.begin_anew(A)


def _begin(folder):
    found = state.State(folder / "state")
    ledgers = Ledgers(found.database(), found.key())
    ledgers.prepare()
    spend(ledgers, limit=NO_LIMIT)
    killing.mark(folder)


@pytest.mark.parametrize("kills", [16, 200])
def test_while_the_state_folder_is_made(tmp_path, kills):
    modules = [state, *MODULES]
    lines = killing.lines(_begin, tmp_path / "whole", modules)
    for kill in range(kills):
        folder = tmp_path / str(kill)
        folder.mkdir()
        killing.at_line(1 + kill * lines // kills, _begin, folder, modules)
        found = state.State(folder / "state")
        ledgers = Ledgers(found.database(), found.key())
        ledgers.prepare()
        assert counted(ledgers) >= killing.marks(folder)

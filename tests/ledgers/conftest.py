from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dpgp_core.release import ledger_file
from pages._ui.ledgers import databases
from pages._ui.ledgers.databases import Postgres, Sqlite
from pages._ui.ledgers.store import Ledgers
from tests.ledgers import server
from tests.ledgers.stores import KEY, InDatabase, InFile
from tests.waiting import PATIENCE


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    if server.INITDB is None:
        pytest.skip("NO POSTGRESQL: it is not installed, so ledgers shared by several hosts were not tested")
    with server.postgres() as address:
        yield address


@contextmanager
def kept(request, tmp_path, monkeypatch):
    """A database of each kind, with its tables and nothing in them."""
    if request.param == "sqlite":
        monkeypatch.setattr(databases, "WAIT_SECONDS", PATIENCE)  # writers at once, however busy the machine is
        found = Sqlite(tmp_path / "ledgers.sqlite")
        found.create()
        yield found
        return
    with server.database(request.getfixturevalue("postgres"), f"test_{secrets.token_hex(4)}") as address:
        found = Postgres(address)
        found.create()
        yield found


POSTGRES = pytest.param("postgres", marks=pytest.mark.full)


@pytest.fixture(params=["sqlite", POSTGRES])
def database(request, tmp_path, monkeypatch):
    with kept(request, tmp_path, monkeypatch) as found:
        yield found


@pytest.fixture(params=["file", "sqlite", POSTGRES])
def store(request, tmp_path, monkeypatch):
    """A ledger of each kind, which has not begun."""
    if request.param == "file":
        monkeypatch.setattr(ledger_file, "WAIT_SECONDS", PATIENCE)
        yield InFile(tmp_path / "ledger.json")
        return
    with kept(request, tmp_path, monkeypatch) as found:
        yield InDatabase(found)


@pytest.fixture
def ledgers(database) -> Ledgers:
    found = Ledgers(database, KEY)
    found.prepare()
    return found

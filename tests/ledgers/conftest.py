from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from pages._ui.ledgers import databases
from pages._ui.ledgers.databases import Postgres, Sqlite
from pages._ui.ledgers.store import Key, Ledgers
from tests.ledgers import server
from tests.waiting import PATIENCE

KEY = Key(b"k" * 32)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    if server.INITDB is None:
        pytest.skip("NO POSTGRESQL: it is not installed, so ledgers shared by several hosts were not tested")
    with server.postgres() as address:
        yield address


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.full)])
def database(request, tmp_path, monkeypatch):
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


@pytest.fixture
def ledgers(database) -> Ledgers:
    found = Ledgers(database, KEY)
    found.prepare()
    return found

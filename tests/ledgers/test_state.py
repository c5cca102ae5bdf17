"""The state folder: keys, signed cards, and deliveries."""

import os
import stat
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

from pages._ui import environment
from pages._ui.ledgers import state
from pages._ui.ledgers.state import Deliveries, Issued, State, StateLost
from pages._ui.ledgers.store import Key


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "a" / "state"


def use(folder):
    return State(folder).key(), State(folder).database()


def test_a_new_folder_is_readable_by_its_owner(folder):
    key, database = use(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert sorted(path.name for path in folder.iterdir() if not path.name.endswith(("-wal", "-shm"))) == [
        "dpgp-state",
        "key",
        "ledgers.sqlite",
        "lock",
    ]
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in (folder / "key", database.path))
    assert len(key.secret) == 32
    assert "secret" not in repr(key)


def test_key_and_ledgers_stay(folder):
    key, database = use(folder)
    with database.transaction() as run:
        run("INSERT INTO about (name, value) VALUES ('x', 'y')")
    again, found = use(folder)
    assert again == key
    with found.transaction() as run:
        assert run("SELECT value FROM about") == [("y",)]


def test_a_key_survives_a_power_cut(folder, forced):
    State(folder).key()
    key, mark, here = (path.stat().st_ino for path in (folder / "key", folder / state.MARK, folder))
    assert [each.st_ino for each in forced] == [key, here, mark, here]
    assert forced[0].st_size == (folder / "key").stat().st_size == 64


@pytest.mark.parametrize("name", ["key", "ledgers.sqlite"])
def test_what_was_lost_is_not_made_anew(folder, name):
    use(folder)
    (folder / name).unlink()
    with pytest.raises(StateLost, match=f"has lost '{name}', .*Restore it from a backup, or name another folder"):
        use(folder)
    assert not (folder / name).exists()


def test_a_folder_of_anything_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    tmp_path.chmod(0o700)
    with pytest.raises(StateLost, match=r"holds 'thesis.tex', which is none of its files. Set DPGP_STATE to an empty"):
        use(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o775, 0o777])
def test_an_empty_folder_is_accepted_and_closed(tmp_path, mode):
    tmp_path.chmod(mode)
    assert use(tmp_path)[0] == use(tmp_path)[0]
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


def test_an_open_folder_with_files_is_refused_unchanged(folder):
    use(folder)
    folder.chmod(0o750)
    with pytest.raises(StateLost, match=r"is open to other users, .* Close it to them \(chmod 700 '.*state'\)"):
        use(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o750


def test_an_empty_shared_folder_stays_unchanged(tmp_path):
    tmp_path.chmod(0o1777)
    with pytest.raises(StateLost, match="is open to other users"):
        use(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o1777
    assert not any(tmp_path.iterdir())


def test_files_added_before_closing_are_not_accepted(tmp_path, monkeypatch):
    tmp_path.chmod(0o777)
    close = Path.chmod

    def planted(path, mode):  # in the moment between the look and the closing
        (path / "key").write_text("ab" * 32)
        close(path, mode)

    monkeypatch.setattr(Path, "chmod", planted)
    monkeypatch.setattr(Path, "lstat", lambda path: SimpleNamespace(st_uid=os.geteuid() + 1))
    for _ in range(2):  # nor at the next start
        with pytest.raises(StateLost, match="could read or replace"):
            use(tmp_path)
    assert (tmp_path / "key").read_text() == "ab" * 32


def test_a_folder_of_another_user_is_refused(folder, monkeypatch):
    use(folder)
    monkeypatch.setattr("os.geteuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(StateLost, match=r"belongs to another user\. Set DPGP_STATE to a folder of this server's user"):
        use(folder)


def test_a_folder_that_cannot_be_made_is_explained(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StateLost, match=r"cannot be used \(Not a directory\), and ledgers would not last"):
        use(tmp_path / "file" / "state")


@pytest.mark.parametrize("content", [b"", b"xyz", b"00" * 31, b"\xff" * 64])
def test_a_damaged_key_is_a_sentence(folder, content):
    use(folder)
    (folder / "key").write_bytes(content)
    with pytest.raises(StateLost, match="is no key; restore it from a backup"):
        use(folder)


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({}, "/home/somebody/.local/state/dpgp"),
        ({"XDG_STATE_HOME": "/x"}, "/x/dpgp"),
        ({"XDG_STATE_HOME": "relative"}, "/home/somebody/.local/state/dpgp"),
        ({"DPGP_STATE": "/y", "XDG_STATE_HOME": "/x"}, "/y"),
    ],
)
def test_the_default_is_the_users_state_directory(variables, folder):
    with mock.patch.dict(os.environ, {"HOME": "/home/somebody"} | variables, clear=True):
        assert str(environment.state()) == folder


@pytest.fixture
def fresh(monkeypatch, folder):
    monkeypatch.setenv("DPGP_STATE", str(folder))
    state.of_this_server.cache_clear()
    yield
    state.of_this_server.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_a_key_of_the_environment_is_not_stored(monkeypatch, folder):
    monkeypatch.setenv("DPGP_LEDGER_KEY", "ab" * 32)
    assert state.of_this_server().key == Key(b"\xab" * 32)
    assert not (folder / "key").exists()
    assert state.problems() == []


@pytest.mark.usefixtures("fresh")
def test_a_key_unknown_to_ledgers_stops_the_start(monkeypatch):
    assert state.problems() == []
    state.of_this_server.cache_clear()
    monkeypatch.setenv("DPGP_LEDGER_KEY", "ab" * 32)
    [sentence] = state.problems()
    assert "these ledgers were made with another key" in sentence


@pytest.mark.usefixtures("fresh")
def test_a_lost_file_stops_the_start(monkeypatch, folder, tmp_path):
    assert state.problems() == []
    state.of_this_server.cache_clear()
    (folder / "ledgers.sqlite").unlink()
    [sentence] = state.problems()
    assert "has lost 'ledgers.sqlite'" in sentence
    monkeypatch.setenv("DPGP_LEDGER_DSN", f"host={tmp_path} dbname=x")
    assert state.problems() == []


@pytest.mark.usefixtures("fresh")
@pytest.mark.full
def test_several_hosts_share_a_database_and_a_key(monkeypatch, postgres, tmp_path):
    monkeypatch.setenv("DPGP_LEDGER_DSN", postgres)
    monkeypatch.setenv("DPGP_LEDGER_KEY", "cd" * 32)
    assert state.of_this_server().find("a" * 32).id is None
    assert not os.path.exists(os.environ["DPGP_STATE"])
    state.of_this_server.cache_clear()
    monkeypatch.delenv("DPGP_LEDGER_KEY")  # the second host has made a key of its own
    with pytest.raises(ValueError, match="made with another key"):
        state.of_this_server()


def test_the_latest_release_is_found_by_its_ledger():
    kept = Deliveries()
    kept.keep("a", Issued("one", b"1"))
    kept.keep("a", Issued("two", b"2"))
    assert kept.find("a") == Issued("two", b"2")
    assert kept.find("b") is None
    assert kept.find(None) is None


def test_memory_is_bounded_by_dropping_the_least_used():
    kept = Deliveries(most_bytes=10)
    kept.keep("a", Issued("a", b"1234"))
    kept.keep("b", Issued("b", b"1234"))
    kept.find("a")
    kept.keep("c", Issued("c", b"1234"))
    assert [kept.find(name) is not None for name in "abc"] == [True, False, True]
    kept.keep("d", Issued("d", b"x" * 100))  # the latest can always be fetched
    assert [kept.find(name) is not None for name in "abcd"] == [False, False, False, True]

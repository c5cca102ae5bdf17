"""Attacks on the folder of warmed results: it is the user's disk, and anybody may have written there."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pandas as pd
import pytest

from pages._ui.serve import warm
from pages._ui.work.encoding import Unreadable, from_bytes, to_bytes
from pages._ui.work.jobs import Jobs
from pages._ui.work.store import MARK, Lattice
from tests.pages.work import scaled

OURS, OTHER = "0123456789abcdef", "fedcba9876543210"


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "thesis").mkdir()
    (folder / "thesis" / "chapter.txt").write_text("years of work")
    return folder


def everything(folder):
    return {path.relative_to(folder): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def test_a_users_folder_is_refused_with_a_sentence_and_left_as_it_was(home, monkeypatch, capsys):
    monkeypatch.setenv("DPGP_LATTICE", str(home))
    before = everything(home)
    lattice = Lattice.of_this_code(writable=True)
    with pytest.raises(ValueError, match=r"holds 'thesis', which is no warmed result; set DPGP_LATTICE to an empty"):
        lattice.claim()
    assert everything(home) == before
    monkeypatch.setattr(warm.os, "nice", lambda _: 0)
    monkeypatch.setattr(warm, "warm_states", lambda: [])
    assert warm.main() == 1
    assert "set DPGP_LATTICE to an empty folder" in capsys.readouterr().err
    assert everything(home) == before


@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("stranger", ["notes.txt", "folder", "link"])
def test_what_is_not_ours_survives_in_a_folder_that_looks_like_ours(tmp_path, stranger, marked):
    other, kept = tmp_path / "lattice" / OTHER, tmp_path / "kept"
    kept.mkdir()
    (kept / "a").write_text("a")
    other.mkdir(parents=True)
    if marked:
        (other / MARK).touch()
    (other / ("a" * 64)).write_text("ours by its name")
    if stranger == "folder":
        (other / stranger).mkdir()
        (other / stranger / "b").write_text("b")
    elif stranger == "link":
        (other / ("b" * 64)).symlink_to(kept / "a")
    else:
        (other / stranger).write_text("b")
    before = everything(tmp_path)
    lattice = Lattice(tmp_path / "lattice" / OURS, writable=True)
    lattice.finish()
    assert {path: content for path, content in everything(tmp_path).items() if path in before} == before


def test_a_link_with_a_name_of_ours_is_not_followed(tmp_path):
    elsewhere = Lattice(tmp_path / "elsewhere" / OTHER, writable=True)
    elsewhere.save("key", 1.0)
    elsewhere.finish()
    before = everything(tmp_path / "elsewhere")
    (tmp_path / "lattice").mkdir()
    (tmp_path / "lattice" / OTHER).symlink_to(elsewhere.folder)
    with pytest.raises(ValueError, match=OTHER):
        Lattice(tmp_path / "lattice" / OURS, writable=True).finish()
    assert everything(tmp_path / "elsewhere") == before


def test_results_of_other_code_go_unless_a_program_is_still_writing_them(tmp_path):
    old, new = (Lattice(tmp_path / name, writable=True) for name in (OTHER, OURS))
    old.save("key", 1.0)
    with old.alone():
        new.finish()
        assert old.folder.exists()
    new.finish()
    assert [path.name for path in tmp_path.iterdir()] == [OURS]


class Trap:
    """A pickle that leaves a mark where it is opened."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder / "code ran"),)


def cut(content, _):
    return content[: len(content) // 2]


def flipped(content, _):
    return content[:-9] + bytes([content[-9] ^ 1]) + content[-8:]


def nothing(*_):
    return b""


def noise(*_):
    return np.random.default_rng(1).bytes(5000)


def pickled(_, folder):
    return pickle.dumps([pickle.dumps(Trap(folder))])


def pickled_in_an_array(_, folder):
    return to_bytes(np.zeros(1), "key")[:78] + pickle.dumps(Trap(folder))


def of_other_settings(*_):
    return to_bytes(np.array([6.0, 6.0]), "other")


@pytest.mark.parametrize(
    "damage",
    [cut, flipped, nothing, noise, pickled, pickled_in_an_array, of_other_settings],
    ids=lambda made: made.__name__,
)
def test_a_damaged_or_planted_file_is_absent_and_replaced(tmp_path, monkeypatch, damage):
    monkeypatch.setattr(warm.os, "nice", lambda _: 0)
    lattice, ones = Lattice(tmp_path / "lattice" / OURS, writable=True), np.ones(2)
    asked = scaled, 3.0
    Jobs(room=10**6, lattice=lattice).get(*asked, given=(ones,))
    lattice.finish()
    [file] = [path for path in lattice.folder.iterdir() if len(path.name) == 64]
    whole = file.read_bytes()
    file.write_bytes(damage(whole, tmp_path))
    server = Jobs(room=10**6, lattice=Lattice(lattice.folder))
    answer = server.get(*asked, given=(ones,))
    assert answer.computed
    assert answer.value.tolist() == [3, 3]
    assert not (tmp_path / "code ran").exists()
    assert not lattice.complete  # the next start warms
    Jobs(room=10**6, lattice=lattice).get(*asked, given=(ones,))
    assert file.read_bytes() == whole


@pytest.mark.parametrize("stranger", ["folder", "link", "fifo", "others may write", "folder others may write to"])
def test_what_somebody_else_could_have_made_is_not_believed(tmp_path, stranger):
    lattice, ones = Lattice(tmp_path / "lattice" / OURS, writable=True), np.ones(2)
    lattice.save("key", ones)
    assert lattice.load("key").value.tolist() == [1, 1]
    [file] = [path for path in lattice.folder.iterdir() if len(path.name) == 64]
    if stranger == "folder":
        file.unlink()
        file.mkdir()
    elif stranger == "link":
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")
    elif stranger == "fifo":
        file.unlink()
        os.mkfifo(file)
    else:
        (file if stranger.startswith("others") else file.parent).chmod(0o777)
    assert lattice.load("key") is None
    if stranger == "folder others may write to":
        with pytest.raises(ValueError, match=r"somebody else owns .* or may write to it"):
            lattice.save("key", ones)
        file.parent.chmod(0o755)
    lattice.save("key", ones)
    assert lattice.load("key").value.tolist() == [1, 1]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_another_user_owns_is_not_believed(tmp_path):
    lattice = Lattice(tmp_path / "lattice" / OURS, writable=True)
    lattice.save("key", 1.0)
    [file] = [path for path in lattice.folder.iterdir() if len(path.name) == 64]
    os.chown(file, 12345, -1)
    assert lattice.load("key") is None
    os.chown(file, 0, -1)
    assert lattice.load("key").value == 1
    os.chown(lattice.folder, 12345, -1)
    assert lattice.load("key") is None


def test_the_warming_program_finds_damage_that_nobody_has_met_yet(tmp_path):
    lattice = Lattice(tmp_path / "lattice" / OURS, writable=True)
    lattice.save("a", 1.0)
    lattice.save("b", 2.0)
    lattice.finish()
    lattice.check()
    assert lattice.complete
    file = next(path for path in lattice.folder.iterdir() if len(path.name) == 64)
    file.write_bytes(file.read_bytes()[:-1])
    lattice.check()
    assert not lattice.complete
    assert not file.exists()


def test_a_full_disk_leaves_no_half_of_a_result(tmp_path, monkeypatch):
    lattice = Lattice(tmp_path / "lattice" / OURS, writable=True)
    lattice.save("key", 1.0)

    def full(_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("pages._ui.work.store.os.fsync", full)
        with pytest.raises(OSError, match="No space"):
            lattice.save("key", 2.0)
    assert lattice.load("key").value == 1
    assert len([path for path in lattice.folder.iterdir() if path.name.startswith(lattice._file("key").name)]) == 1


def test_values_come_back_as_they_were():
    table = pd.DataFrame({"cell": ["a", "b"], "count": [1, 2], "share": [0.5, np.nan]})
    value = {
        1: (None, True, "\u00e9", [1.5, float("inf"), float("-inf"), float("nan")]),
        "n": np.float64(0.1),
        "t": table,
    }
    value["arrays"] = [np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.array(["x", "yz"]), np.zeros((0, 2), bool)]
    back = from_bytes(to_bytes(value, "key"), "key")
    pd.testing.assert_frame_equal(back.pop("t"), value.pop("t"))
    for one, other in zip(back.pop("arrays"), value.pop("arrays"), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
        assert one.flags.f_contiguous == other.flags.f_contiguous
        assert not one.flags.writeable
    assert repr(back) == repr(value)


@pytest.mark.parametrize("value", [{1, 2}, len, Trap(None), np.array([None]), pd.DataFrame({"a": [1]}, index=[5])])
def test_what_is_no_plain_value_is_not_kept(value):
    with pytest.raises(TypeError):
        to_bytes(value, "key")


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("pages.start", "x"),
        ("dpgp_core.__main__", "main"),
        ("dpgp_core.data", "np"),
        ("pages._ui.work.frames", "unpack"),
    ],
)
def test_only_dataclasses_of_this_project_are_made(monkeypatch, module, name):
    monkeypatch.setattr("pages._ui.work.encoding._encoded", lambda *_: {"object": [module, name, {}]})
    with pytest.raises(Unreadable):
        from_bytes(to_bytes(None, "key"), "key")

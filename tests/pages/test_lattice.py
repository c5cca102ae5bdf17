"""Attacks on the folder of warmed results: it is the user's disk, and anybody may have written there."""

from __future__ import annotations

import pytest

from pages._ui import warm
from pages._ui.lattice import MARK, Lattice

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
    monkeypatch.setattr(warm, "states", lambda: [])
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

"""A ledger in a file that only grows; tests/ledgers/ asks what every ledger promises."""

import fcntl
import json
import subprocess
import sys

import pytest

from dpgp_core.accounting.ledger import BudgetExceeded
from dpgp_core.release import ledger_file, ledger_to_json
from dpgp_core.release.files import CannotWrite
from dpgp_core.release.ledger_file import read_ledger_file, spend_in_file
from dpgp_core.release.specification import EXAMPLE
from tests.core.release.worlds import names

ONE = ("a release", EXAMPLE.guarantee)  # epsilon 1 of 3; the total takes 7 of them


@pytest.fixture
def path(tmp_path):
    return tmp_path / "l.json"


@pytest.fixture
def begun(path):
    """A ledger of one release."""
    begin(path)
    return path


def spend(path, new=False):
    return spend_in_file(str(path), EXAMPLE.new_ledger(), ONE, new=new)


def begin(path, count=1):
    for number in range(count):
        spend(path, new=number == 0)


def counted(path):
    return len(read_ledger_file(str(path)).entries)


def test_a_ledger_grows_in_its_file(tmp_path, path):
    before = b""
    for count in (1, 2, 3):
        ledger = spend(path, new=count == 1)
        assert ledger == read_ledger_file(str(path))
        assert len(ledger.entries) == count
        assert path.read_bytes().startswith(before)  # appended
        before = path.read_bytes()
    assert names(tmp_path) == ["l.json"]


def test_what_was_counted_survives_a_power_cut(tmp_path, path, forced):
    """The whole line, and then the name of a file that may be new, are on the disk before any noise is drawn."""
    for count in (1, 2):
        forced.clear()
        spend(path, new=count == 1)
        assert [each.st_ino for each in forced] == [path.stat().st_ino, tmp_path.stat().st_ino]
        assert forced[0].st_size == path.stat().st_size


def test_a_missing_ledger_is_made_only_on_request(path):
    with pytest.raises(ValueError, match=r"there is no ledger at .*l.json'. Name the one .* or add --new-ledger"):
        spend(path)
    path.touch()
    with pytest.raises(ValueError, match=r"l.json' is empty. Restore it from a backup"):
        spend(path)
    begin(path)  # an empty file has never counted anything
    with pytest.raises(ValueError, match=r"there is a ledger at .* already; leave out --new-ledger"):
        begin(path)
    assert counted(path) == 1


def test_a_link_leads_to_one_ledger(tmp_path):
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    link.symlink_to("real.json")
    begin(link)
    spend(real)
    spend(link)
    assert link.is_symlink()
    assert counted(real) == counted(link) == 3


def test_a_ledger_never_grows_beyond_what_is_read(begun, monkeypatch):
    before = begun.read_bytes()
    monkeypatch.setattr(ledger_file, "MAX_LEDGER_BYTES", len(before) + 100)
    with pytest.raises(BudgetExceeded, match=r"is full: it would have more than"):
        spend(begun)
    assert begun.read_bytes() == before


def test_missing_earlier_releases_are_refused(begun):
    """A card that counts what this file does not was made with another ledger."""
    before = begun.read_bytes()
    for others in ([("another", EXAMPLE.guarantee)], [ONE, ONE]):
        start = EXAMPLE.new_ledger()
        start.entries = others
        with pytest.raises(ValueError, match=rf"lists {len(others)} earlier releases?, and the ledger .* lacks 1 of"):
            spend_in_file(str(begun), start, ONE)
    assert begun.read_bytes() == before
    start.entries = [ONE]
    assert len(spend_in_file(str(begun), start, ONE).entries) == 2


def test_a_ledger_of_one_object_continues(path):
    ledger = EXAMPLE.new_ledger()
    ledger.spend([ONE])
    whole = ledger_to_json(ledger)
    for text in (whole, whole.rstrip(), json.dumps(json.loads(whole))):
        path.write_text(text)
        spend(path)
        assert counted(path) == 2


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_an_unfinished_line_does_not_count(path, share):
    begin(path, 2)
    whole = path.read_bytes()
    line = whole[whole.rstrip().rindex(b"\n") + 1 :]
    path.write_bytes(whole + line[: 1 + int(share * (len(line) - 2))])
    assert counted(path) == 2
    spend(path)
    assert path.read_bytes() == whole + line


def test_a_whole_line_without_its_end_counts(path):
    begin(path, 3)
    path.write_bytes(path.read_bytes().rstrip())
    assert counted(path) == 3
    spend(path)
    assert counted(path) == 4


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (lambda text: text.replace(b'{"what"', b'{"whom"', 1), "unknown key 'whom'"),
        (lambda text: text + b"oops\n", "line 3 after the beginning of the ledger is not valid JSON"),
        (
            lambda text: text.replace(b'"inputs_public":false', b'"inputs_public":0', 1),
            "of line 1 after the beginning",
        ),
        (lambda text: b"{}", "schema"),
        (lambda text: text + b" " * 200_000, "larger than 200000 bytes"),
    ],
)
def test_a_damaged_ledger_is_refused_and_stays(path, edit, sentence):
    begin(path, 2)
    path.write_bytes(edit(path.read_bytes()))
    before = path.read_bytes()
    with pytest.raises(ValueError, match=sentence):
        spend(path)
    assert path.read_bytes() == before


def test_a_full_disk_leaves_the_old_ledger(begun, monkeypatch):
    before = begun.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ledger_file.os, "fsync", full)
    with pytest.raises(CannotWrite, match=r"cannot write .*No space left on device"):
        spend(begun)
    assert begun.read_bytes() == before


def test_a_release_waits_for_a_lock_briefly(begun, monkeypatch):
    monkeypatch.setattr(ledger_file, "WAIT_SECONDS", 0.1)
    with begun.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(CannotWrite, match=r"another release holds the ledger .*; wait until it has ended"):
            spend(begun)
    assert counted(begun) == 1
    spend(begun)


def test_while_one_release_spends_nobody_else_may(begun, monkeypatch):
    append = ledger_file._append

    def watched(*written):
        with begun.open() as other, pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
        append(*written)

    monkeypatch.setattr(ledger_file, "_append", watched)
    spend(begun)
    assert counted(begun) == 2


def test_a_lock_ends_with_its_process(tmp_path, begun):
    code = "import fcntl, os\nf = open('l.json')\nfcntl.flock(f, fcntl.LOCK_EX)\nos.kill(os.getpid(), 9)"
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False).returncode == -9
    spend(begun)
    assert names(tmp_path) == ["l.json"]


def test_a_ledger_replaced_while_waiting_is_refused(tmp_path, path, monkeypatch):
    begin(path)
    lock = ledger_file._lock

    def replaced(name, descriptor):
        path.rename(tmp_path / "old.json")
        begin(path) if name == str(path) and not path.exists() else None
        lock(name, descriptor)

    monkeypatch.setattr(ledger_file, "_lock", lambda *held: monkeypatch.undo() or replaced(*held))
    with pytest.raises(CannotWrite, match="was replaced meanwhile; try again"):
        spend(path)
    assert counted(path) == counted(tmp_path / "old.json") == 1

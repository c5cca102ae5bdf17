import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from dpgp_core.accounting.ledger import BudgetExceeded
from dpgp_core.release import files, ledger_from_json, ledger_to_json
from dpgp_core.release.files import CannotWrite, check_different, open_file, output_file, read_text_file, spend_in_file
from dpgp_core.release.ledger_json import MAX_ENTRIES
from dpgp_core.release.specification_json import EXAMPLE

ONE = ("a release", EXAMPLE.guarantee)  # epsilon 1 of 3; the total takes 7 of them


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_output_appears_whole(tmp_path):
    path = tmp_path / "o.zip"
    with output_file(str(path), overwrite=False) as write:
        assert path.read_bytes() == b""  # claimed
        write(b"content")
    assert path.read_bytes() == b"content"
    assert names(tmp_path) == ["o.zip"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_failure_in_between_leaves_things_as_they_were(tmp_path, overwrite):
    path = tmp_path / "o.zip"
    if overwrite:
        path.write_bytes(b"old")
    with pytest.raises(RuntimeError), output_file(str(path), overwrite=overwrite):
        raise RuntimeError
    assert names(tmp_path) == (["o.zip"] if overwrite else [])
    assert not overwrite or path.read_bytes() == b"old"


def test_an_existing_file_is_kept_unless_told_otherwise(tmp_path):
    path = tmp_path / "o.zip"
    path.write_bytes(b"old")
    with (
        pytest.raises(CannotWrite, match=r"exists already; name another file, or add --force"),
        output_file(str(path), overwrite=False),
    ):
        pytest.fail("must not be reached")
    assert path.read_bytes() == b"old"
    with output_file(str(path), overwrite=True) as write:
        write(b"new")
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("name", ["", "none/o.zip", "x" * 300, "a\0b"])
def test_a_path_that_cannot_be_written_is_found_out_before(tmp_path, name, overwrite):
    with pytest.raises(CannotWrite), output_file(f"{tmp_path}/{name}", overwrite=overwrite):
        pytest.fail("must not be reached")
    assert names(tmp_path) == []


def test_a_ledger_grows_in_its_file(tmp_path):
    path = tmp_path / "l.json"
    for count in (1, 2):
        ledger = spend_in_file(str(path), EXAMPLE.new_ledger(), ONE)
        assert ledger == ledger_from_json(path.read_bytes())
        assert len(ledger.entries) == count
    assert names(tmp_path) == ["l.json"]


def test_the_total_is_enforced_and_the_file_stays(tmp_path):
    path = tmp_path / "l.json"
    for _ in range(7):
        spend_in_file(str(path), EXAMPLE.new_ledger(), ONE)
    before = path.read_bytes()
    with pytest.raises(BudgetExceeded, match=r"above the declared 3; 2.96 is spent and nothing was released"):
        spend_in_file(str(path), EXAMPLE.new_ledger(), ONE)
    assert path.read_bytes() == before
    assert names(tmp_path) == ["l.json"]


def test_a_full_ledger_is_refused(tmp_path):
    path = tmp_path / "l.json"
    ledger = EXAMPLE.new_ledger()
    ledger.entries = [ONE] * MAX_ENTRIES
    path.write_text(ledger_to_json(ledger))
    with pytest.raises(BudgetExceeded, match=r"is full: it has 100 entries"):
        spend_in_file(str(path), EXAMPLE.new_ledger(), ONE)


def test_a_ledger_never_grows_beyond_what_is_read(tmp_path, monkeypatch):
    path = tmp_path / "l.json"
    spend_in_file(str(path), EXAMPLE.new_ledger(), ONE)
    before = path.read_bytes()
    monkeypatch.setattr(files, "MAX_LEDGER_BYTES", len(before) + 100)
    with pytest.raises(BudgetExceeded, match=r"is full: it would have more than"):
        spend_in_file(str(path), EXAMPLE.new_ledger(), ONE)
    assert path.read_bytes() == before


def test_another_total_is_refused(tmp_path):
    path = tmp_path / "l.json"
    spend_in_file(str(path), EXAMPLE.new_ledger(), ONE)
    other = EXAMPLE.new_ledger()
    other.limit = None
    with pytest.raises(ValueError, match=r"declares another total than the configuration; set total_epsilon"):
        spend_in_file(str(path), other, ONE)


def test_a_crash_while_writing_keeps_the_old_ledger_and_releases_nothing(tmp_path, monkeypatch):
    path = tmp_path / "l.json"
    spend_in_file(str(path), EXAMPLE.new_ledger(), ONE)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(CannotWrite, match=r"cannot write .*No space left on device"):
        spend_in_file(str(path), EXAMPLE.new_ledger(), ONE)
    assert path.read_bytes() == before
    assert names(tmp_path) == ["l.json"]


def test_a_lock_of_another_release_is_named(tmp_path):
    (tmp_path / "l.json.lock").touch()
    with pytest.raises(CannotWrite, match=r"another release holds .*l.json.lock.*; wait for it, or remove"):
        spend_in_file(str(tmp_path / "l.json"), EXAMPLE.new_ledger(), ONE)
    assert names(tmp_path) == ["l.json.lock"]


def test_a_ledger_in_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(CannotWrite, match=r"cannot write .*No such file"):
        spend_in_file(f"{tmp_path}/none/l.json", EXAMPLE.new_ledger(), ONE)


def test_releases_at_once_never_count_too_little(tmp_path):
    path = tmp_path / "l.json"

    def spend(_):
        try:
            spend_in_file(str(path), EXAMPLE.new_ledger(), ONE)
        except ValueError:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        succeeded = sum(pool.map(spend, range(60)))
    assert 1 <= succeeded <= 7
    assert len(ledger_from_json(path.read_bytes()).entries) == succeeded


def test_killed_between_spending_and_releasing_the_spending_counts(tmp_path):
    code = (
        "import os\nfrom dpgp_core.release import files\nfrom dpgp_core.release.specification_json import EXAMPLE\n"
        "files.spend_in_file('l.json', EXAMPLE.new_ledger(), ('a', EXAMPLE.guarantee))\nos._exit(9)\n"
    )
    root = os.path.dirname(os.path.dirname(os.path.dirname(files.__file__)))
    killed = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": root}, check=False
    )
    assert killed.returncode == 9
    assert len(ledger_from_json((tmp_path / "l.json").read_bytes()).entries) == 1


def test_one_file_under_two_names_is_found_out(tmp_path):
    path, link = tmp_path / "a", tmp_path / "b"
    path.touch()
    link.symlink_to(path)
    with pytest.raises(ValueError, match=r"--out and --csv are the same file; name another file for --out"):
        check_different("--out", str(link), "--csv", f"{tmp_path}/./a")
    check_different("--out", str(link), "--csv", f"{tmp_path}/c")
    check_different("--out", str(link), "--ledger", None)


def test_what_goes_wrong_inside_is_not_called_a_wrong_path(tmp_path):
    (tmp_path / "a").touch()
    with pytest.raises(OSError, match="mine"), open_file(str(tmp_path / "a")):
        raise OSError("mine")
    with pytest.raises(ValueError, match=r"cannot open .*: Is a directory; check the path"), open_file(str(tmp_path)):
        pytest.fail("must not be reached")


@pytest.fixture(params=["fifo", "device", "proc", "socket", "link to a fifo"])
def odd(request, tmp_path):
    """A path that is no regular file; nobody writes into it, and reading it would never end or mean nothing."""
    path = tmp_path / "odd"
    if request.param == "device":
        return "/dev/zero"
    if request.param == "proc":
        return "/proc/self/status"
    if request.param == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    else:
        os.mkfifo(path)
    if request.param.startswith("link"):
        (tmp_path / "link").symlink_to(path)
        return str(tmp_path / "link")
    return str(path)


def claim(path, overwrite):
    with output_file(path, overwrite=overwrite):
        pytest.fail("must not be reached")


USES = {
    "read": read_text_file,
    "write": lambda path: claim(path, False),
    "replace": lambda path: claim(path, True),
    "spend": lambda path: spend_in_file(path, EXAMPLE.new_ledger(), ONE),
}


@pytest.mark.parametrize("use", USES)
def test_only_regular_files_are_read_or_replaced(odd, use):
    kind = os.lstat(odd).st_mode
    with pytest.raises(ValueError, match=r"cannot (open|write) .*; (check the path|name another file)"):
        USES[use](odd)
    assert os.lstat(odd).st_mode == kind
    assert not os.path.exists(f"{odd}.lock")

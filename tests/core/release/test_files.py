import os
import socket
import subprocess
import sys

import pytest

from dpgp_core.release.files import CannotWrite, open_file, output_file, read_text_file
from dpgp_core.release.ledger_file import read_ledger_file, spend_in_file
from dpgp_core.release.specification import EXAMPLE
from tests.core.release.worlds import names

ONE = ("a release", EXAMPLE.guarantee)


def test_output_is_complete_and_survives_power_cuts(tmp_path, forced):
    path = tmp_path / "o.zip"
    with output_file(str(path), overwrite=False) as write:
        assert path.read_bytes() == b""  # claimed
        write(b"content")
    assert path.read_bytes() == b"content"
    assert names(tmp_path) == ["o.zip"]
    assert [(each.st_ino, each.st_size) for each in forced[:1]] == [(path.stat().st_ino, 7)]
    assert [each.st_ino for each in forced[1:]] == [tmp_path.stat().st_ino]


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_failure_leaves_files_unchanged(tmp_path, overwrite):
    path = tmp_path / "o.zip"
    if overwrite:
        path.write_bytes(b"old")
    with pytest.raises(RuntimeError), output_file(str(path), overwrite=overwrite):
        raise RuntimeError
    assert names(tmp_path) == (["o.zip"] if overwrite else [])
    assert not overwrite or path.read_bytes() == b"old"


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("name", ["", "none/o.zip", "x" * 300, "a\0b"])
def test_an_unwritable_path_is_found_early(tmp_path, name, overwrite):
    with pytest.raises(CannotWrite), output_file(f"{tmp_path}/{name}", overwrite=overwrite):
        pytest.fail("must not be reached")
    assert names(tmp_path) == []


KILLED = """
import os, sys
from dpgp_core.release.files import output_file
with output_file(sys.argv[1], overwrite=sys.argv[2] == "True"):
    os.kill(os.getpid(), 9)
"""


@pytest.mark.full
@pytest.mark.parametrize("overwrite", [False, True])
def test_leftovers_of_killed_releases_are_removed(tmp_path, overwrite):
    path = tmp_path / "o.zip"
    if overwrite:
        path.write_bytes(b"old")
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path), str(overwrite)], check=False)
    assert killed.returncode == -9
    assert len(names(tmp_path)) == 2
    assert path.read_bytes() == b"old" * overwrite
    with output_file(str(path), overwrite=overwrite) as write:
        write(b"new")
    assert names(tmp_path) == ["o.zip"]
    assert path.read_bytes() == b"new"


def test_files_of_running_releases_are_kept(tmp_path):
    path = tmp_path / "o.zip"
    with output_file(str(path), overwrite=False) as write:
        with pytest.raises(CannotWrite, match="exists already"), output_file(str(path), overwrite=False):
            pytest.fail("must not be reached")
        with output_file(str(path), overwrite=True) as write_again:
            write_again(b"second")
        write(b"first")
    assert path.read_bytes() == b"first"
    assert names(tmp_path) == ["o.zip"]


def test_other_errors_are_not_blamed_on_paths(tmp_path):
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
    "begin a ledger": lambda path: spend_in_file(path, EXAMPLE.new_ledger(), ONE, new=True),
    "read a ledger": read_ledger_file,
}


@pytest.mark.parametrize("use", USES)
def test_only_regular_files_are_read_or_replaced(odd, use):
    kind = os.lstat(odd).st_mode
    with pytest.raises(ValueError, match=r"cannot (open|write) .*; (check the path|name another file)"):
        USES[use](odd)
    assert os.lstat(odd).st_mode == kind

"""The promise about an uploaded table, tried where it could be broken: in files, and in the memory of every process."""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path

import pytest

from tests.e2e import browser as tool
from tests.e2e.own_table import choose, declare, fill, release, upload

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="NO /proc: memory cannot be searched here"),
]

TEXT, DIGITS, VALUE = b"mark" + b"QZX", b"91739174", 117.91739174
NAME = b"name-" + b"of-QXJ"
ROWS = 45_000  # 1.9 MB: above what a form parser holds in memory unless told to
TABLE = b"age,height,note\n" + b"".join(
    b"%d.%04d,117.%s,%s%06d-%s\n" % (row % 80, row % 9999, DIGITS, TEXT, row, b"x" * 10) for row in range(ROWS)
)
MARKS = (TEXT, DIGITS, struct.pack("<d", VALUE), NAME)
# Loaded by python before anything else, in the server and all it starts: notes every file that is opened for writing.
NOTE_WRITES = """
import os, sys, tempfile

tempfile.gettempdir()  # python tries once whether it can write there
noted = os.open(os.environ["NOTED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def note(event, args):
    if event == "open":
        path, mode, flags = args
        to_write = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)
        if to_write and not isinstance(path, int) and path not in ("/dev/null", b"/dev/null"):
            os.write(noted, f"{path!r}\\n".encode())

sys.addaudithook(note)
"""


def processes(of):
    """A process and everything below it."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, grown = {of}, True
    while grown:
        new = {pid for pid, parent in parents.items() if parent in found} - found
        found, grown = found | new, bool(new)
    return found


def copies(of):
    """How often each mark stands in the memory of a process and of what it started."""
    count = dict.fromkeys(MARKS, 0)
    for pid in processes(of):
        try:
            lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
            memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
        except OSError:  # it has ended
            continue
        for line in lines:
            span, rights = line.split()[:2]
            if not rights.startswith("rw"):
                continue
            start, end = (int(bound, 16) for bound in span.split("-"))
            try:
                content = os.pread(memory, end - start, start)
            except OSError:
                continue
            for mark in MARKS:
                count[mark] += content.count(mark)
        os.close(memory)
    return count


def said(when, count):
    """Print a row of what was found; run with -s to see it."""
    text, digits, number, name = count.values()
    print(f"\n| {when} | {text} | {digits} | {number} | {name} |")


def gone(of, seconds=60.0):
    """Copies left when none are, or after some seconds of grace."""
    deadline = time.monotonic() + seconds
    while any((left := copies(of)).values()) and time.monotonic() < deadline:
        time.sleep(1)
    return left


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """(address, process, file with the names of files opened for writing) of a server that waits 3 s for a browser."""
    folder = tmp_path_factory.mktemp("watched")
    (folder / "sitecustomize.py").write_text(NOTE_WRITES)
    noted = folder / "noted"
    settings = {
        "PYTHONPATH": f"{folder}{os.pathsep}{tool.ROOT}",
        "NOTED": str(noted),
        "DPGP_WORKERS": "1",
        "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "3",
    }
    before = processes(os.getpid())
    with tool.serve(**settings) as address:
        server = min(pid for pid in processes(os.getpid()) - before if "streamlit" in command(pid))
        yield address, server, noted


def command(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode()


@pytest.fixture
def page(chromium, watched):
    context = tool.new_context(chromium, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(f"{watched[0]}/your_data")
    tool.settle(page)
    yield page
    context.close()


def use(page, table=TABLE):
    upload(page, f"{NAME.decode()}.csv", table)
    declare(page, "age", "height")
    choose(page, "mechanism", "Refined cloaking")  # the default takes fewer rows
    fill(page, "length_age", "20")
    release(page, 1)


def test_forgotten_tables_are_in_no_file_or_memory(page, watched):
    _, server, noted = watched
    assert copies(server) == dict.fromkeys(MARKS, 0)
    noted.write_text("")
    use(page)
    assert noted.read_text() == ""
    held = copies(server)
    said("while the session holds it", held)
    assert held[TEXT] >= ROWS  # the search finds what is there
    assert held[NAME] == 0  # it has never left the browser
    page.get_by_role("button", name="Forget the table").click()
    page.get_by_text("Practise with").wait_for()
    left = gone(server)
    said("forgotten", left)
    assert left == dict.fromkeys(MARKS, 0)
    assert noted.read_text() == ""


def test_a_table_is_removed_after_its_visitor_left(page, watched):
    _, server, _ = watched
    use(page, TABLE + b"1,117.5,another table\n")  # the same one would ask why its ledger does not go on
    page.context.close()
    left = gone(server)
    said("its visitor gone", left)
    assert left == dict.fromkeys(MARKS, 0)


def test_no_process_leaves_a_core_file(watched):
    _, server, _ = watched
    limits = [Path(f"/proc/{pid}/limits").read_text() for pid in processes(server)]
    assert len(limits) > 2
    for each in limits:
        [line] = [line for line in each.splitlines() if line.startswith("Max core file size")]
        assert line.split()[4:6] == ["0", "0"]

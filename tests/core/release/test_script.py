"""The script in the zip as a program: with this folder's core, and in a clean environment with numpy and scipy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpgp_core.release import ledger_from_json
from dpgp_core.release.page import SCRIPT
from tests.core.release.worlds import make_table, unzipped, written, zip_of

ROOT = Path(__file__).parents[3]
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def call(*command, cwd, **settings):
    return subprocess.run(command, cwd=cwd, env=CLEAN | settings, capture_output=True, text=True, check=False)


@pytest.fixture
def files(tmp_path):
    """A table and a release of it, in the folder."""
    written({"table.csv": make_table()} | zip_of(), tmp_path)
    return zip_of()


def check_another_release(python, files, tmp_path, **settings):
    """Run the script in the folder: a zip like the first, with other values and one more entry in its ledger."""
    done = call(python, "reproduce.py", "table.csv", "--ledger", "l.json", "--new-ledger", cwd=tmp_path, **settings)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "Running this is another release of the table: it spends its epsilon again.\n"
    assert "2 releases" in done.stdout
    again = unzipped((tmp_path / "again.zip").read_bytes())
    assert again["values.csv"] != files["values.csv"]  # fresh noise
    assert again["values.csv"].splitlines()[0] == files["values.csv"].splitlines()[0]
    assert again["reproduce.py"] == files["reproduce.py"]
    assert len(ledger_from_json(again["release.json"]).entries) == 2


def test_it_makes_another_release(files, tmp_path):
    check_another_release(sys.executable, files, tmp_path, PYTHONPATH=str(ROOT))


@pytest.mark.full
def test_it_states_that_values_follow_from_measurements(files, tmp_path):
    assert "THIS IS ANOTHER RELEASE OF THE SAME TABLE" in SCRIPT
    assert "seed" not in SCRIPT
    done = call(sys.executable, "reproduce.py", cwd=tmp_path, PYTHONPATH=str(ROOT))
    assert (done.returncode, done.stderr) == (0, "")
    assert "all 9 values follow from the measured numbers" in done.stdout
    done = call(sys.executable, "reproduce.py", "nowhere.csv", cwd=tmp_path, PYTHONPATH=str(ROOT))
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 2


def test_without_the_library_it_is_a_sentence(files, tmp_path):
    done = call(sys.executable, "-S", "reproduce.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "This needs numpy, scipy and dpgp in Python 3.11 or newer" in done.stderr
    assert "Traceback" not in done.stderr

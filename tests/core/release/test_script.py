"""The script in the zip as a program: with this folder's core, and in a clean environment with numpy and scipy."""

import os
import re
import shutil
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


@pytest.fixture(scope="module")
def clean_python(tmp_path_factory):
    """Python of a new virtual environment: numpy and scipy as the lock file pins them, dpgp without extras."""
    folder = tmp_path_factory.mktemp("clean")
    source = folder / "source"  # building leaves files beside the sources
    source.mkdir()
    shutil.copytree(ROOT / "dpgp_core", source / "dpgp_core", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    assert call(sys.executable, "-m", "venv", "venv", cwd=folder).returncode == 0
    python = str(folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python")
    lock = (ROOT / "requirements.lock").read_text()
    pins = re.findall(r"^((?:numpy|scipy)==[^\\]+(?:\\\n    --hash=\S+ ?)+)", lock, re.M)
    assert {pin.split("==")[0] for pin in pins} == {"numpy", "scipy"}
    (folder / "pins.txt").write_text("\n".join(pins))
    quiet = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "15")
    wheels = call(python, *quiet, "--only-binary", ":all:", "--require-hashes", "-r", "pins.txt", cwd=folder)
    if wheels.returncode:
        pytest.skip(f"numpy and scipy cannot be installed in a clean environment here: {wheels.stderr.strip()[-300:]}")
    built = call(python, *quiet, "--no-deps", str(source), cwd=folder)
    assert built.returncode == 0, built.stderr
    return python


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
def test_it_runs_in_a_clean_environment(clean_python, files, tmp_path):
    listed = call(clean_python, "-m", "pip", "list", "--disable-pip-version-check", "--format", "freeze", cwd=tmp_path)
    assert {line.split("==")[0] for line in listed.stdout.split()} <= {"dpgp", "numpy", "scipy", "pip", "setuptools"}
    check_another_release(clean_python, files, tmp_path)
    # the installed package, not the folder of these tests
    where = call(clean_python, "-c", "import dpgp_core; print(dpgp_core.__file__, dpgp_core.__version__)", cwd=tmp_path)
    assert "site-packages" in where.stdout


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

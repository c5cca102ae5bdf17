"""The script in the zip as a program: with this folder's core, and in a clean environment with numpy and scipy."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from dpgp_core.release import ledger_from_json
from dpgp_core.release.script import SCRIPT

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
def files(tmp_path, make_spec, make_table, make_zip):
    """A table and a release of it, in the folder."""
    table = make_table()
    (tmp_path / "table.csv").write_bytes(table)
    files = make_zip(make_spec(), table)
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    return files


def check_another_release(python, files, tmp_path, **settings):
    """Run the script in the folder: a zip like the first, with other values and one more entry in its ledger."""
    done = call(python, "reproduce.py", "table.csv", "--ledger", "l.json", cwd=tmp_path, **settings)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "Running this is another release of the table: it spends its epsilon again.\n"
    assert "2 releases" in done.stdout
    with zipfile.ZipFile(tmp_path / "again.zip") as archive:
        again = {name: archive.read(name) for name in archive.namelist()}
    assert again["values.csv"] != files["values.csv"]  # fresh noise
    assert again["values.csv"].splitlines()[0] == files["values.csv"].splitlines()[0]
    assert again["reproduce.py"] == files["reproduce.py"]
    assert len(ledger_from_json(again["release.json"]).entries) == 2


def test_it_makes_another_release(files, tmp_path):
    check_another_release(sys.executable, files, tmp_path, PYTHONPATH=str(ROOT))


@pytest.mark.slow
def test_it_runs_in_a_clean_environment(clean_python, files, tmp_path):
    listed = call(clean_python, "-m", "pip", "list", "--disable-pip-version-check", "--format", "freeze", cwd=tmp_path)
    assert {line.split("==")[0] for line in listed.stdout.split()} <= {"dpgp", "numpy", "scipy", "pip", "setuptools"}
    check_another_release(clean_python, files, tmp_path)
    # the installed package, not the folder of these tests
    where = call(clean_python, "-c", "import dpgp_core; print(dpgp_core.__file__, dpgp_core.__version__)", cwd=tmp_path)
    assert "site-packages" in where.stdout


def test_it_says_what_it_is_and_contains_no_seed():
    assert "THIS IS ANOTHER RELEASE OF THE SAME TABLE" in SCRIPT
    assert "seed" not in SCRIPT
    compile(SCRIPT, "reproduce.py", "exec")


def test_a_wrong_table_is_a_sentence(tmp_path, make_spec, make_zip):
    for name, content in make_zip(make_spec()).items():
        (tmp_path / name).write_bytes(content)
    for arguments, code in (([], 2), (["nowhere.csv"], 3)):
        done = call(sys.executable, "reproduce.py", *arguments, cwd=tmp_path, PYTHONPATH=str(ROOT))
        assert done.returncode == code
        assert "Traceback" not in done.stderr
        assert done.stderr.count("\n") == 2

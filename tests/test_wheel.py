"""The package as others install it: what its wheel holds; that it works alone, beside another package `datasets`."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import dpgp_core

ROOT = Path(__file__).parents[1]
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
OFFLINE = ("--no-index", "--no-deps")


def call(*command, cwd):
    done = subprocess.run(command, cwd=cwd, env=CLEAN, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built without a network from what a checkout holds: building leaves files beside the sources."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in ("dpgp_core", "datasets", "tests/core"):  # what must be left out lies there too
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    call(*PIP, "wheel", *OFFLINE, "--no-build-isolation", "--wheel-dir", str(folder), str(source), cwd=folder)
    [path] = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Python of a clean environment with the wheel, another package `datasets`, and this machine's numpy and scipy."""
    folder = tmp_path_factory.mktemp("installed")
    call(sys.executable, "-m", "venv", "--without-pip", "venv", cwd=folder)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    site = Path(call(str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    (site / "datasets").mkdir()
    (site / "datasets" / "__init__.py").write_text("OWNER = 'another project'\n")
    (site / "numbers.pth").write_text(sysconfig.get_path("purelib") + "\n")
    call(*PIP, "--python", str(python), "install", *OFFLINE, str(wheel), cwd=folder)
    return str(python)


@pytest.mark.full
def test_it_contains_the_core_alone(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    ours = {name for name in names if ".dist-info/" not in name}
    assert {name.split("/")[0] for name in ours} == {"dpgp_core"}
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "dpgp_core").rglob("*.py*") if path.suffix != ".pyc"}
    assert ours == there | {"dpgp_core/py.typed"}
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert wheel.stat().st_size < 500_000


@pytest.mark.full
def test_its_description_is_the_projects(wheel):
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("/METADATA")]
        description = archive.read(name).decode()
    fields = re.findall(r"^(Version|Requires-Dist|Provides-Extra): (.*)$", description.split("\n\n")[0], re.M)
    assert ("Version", dpgp_core.__version__) in fields
    needed = [value for key, value in fields if key == "Requires-Dist" and "extra ==" not in value]
    assert sorted(re.split(r"[<>=]", value)[0] for value in needed) == ["numpy", "scipy"]
    assert {value for key, value in fields if key == "Provides-Extra"} == {
        "app",
        "figures",
        "files",
        "cluster",
        "postgres",
        "test",
        "check",
    }


@pytest.mark.full
def test_the_readmes_example_runs_from_it(installed, tmp_path):
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "example.py").write_text(code)
    table = tmp_path / "datasets" / "data" / "kung.csv"
    table.parent.mkdir(parents=True)
    shutil.copy(ROOT / "datasets/data/kung.csv", table)
    assert "Guarantee(" in call(installed, "programs/example.py", cwd=tmp_path)


@pytest.mark.full
def test_it_leaves_another_package_alone(installed, tmp_path):
    code = "import dpgp_core, datasets; print(datasets.OWNER, dpgp_core.__version__, dpgp_core.__file__)"
    owner, version, path = call(installed, "-c", code, cwd=tmp_path).strip().rsplit(" ", 2)
    assert (owner, version) == ("another project", dpgp_core.__version__)
    assert "site-packages" in path
    assert str(ROOT) not in path


@pytest.mark.full
def test_its_command_line_runs(installed, tmp_path):
    assert "y_bounds" in call(installed, "-m", "dpgp_core", "template", cwd=tmp_path)

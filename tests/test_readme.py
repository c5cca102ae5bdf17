from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", README, re.S), ids=["five-lines"])
def test_code_in_the_readme_runs(code, capsys):
    exec(compile(code, "README.md", "exec"), {})
    assert "Guarantee(" in capsys.readouterr().out


def test_every_link_and_path_in_the_readme_exists():
    linked = set(re.findall(r"\]\((?!http)([^)#]+)\)", README))
    named = {
        path
        for path in re.findall(r"`((?:app|pages|datasets|dpgp_core|benchmarks|tests|docs)[\w./]*)`", README)
        if "/" in path or path.endswith(".py")
    }
    assert linked
    assert len(named) > 15
    assert [path for path in sorted(linked | named) if not (ROOT / path).exists()] == []


def test_the_map_names_every_module_of_the_core():
    architecture = README.split("## Architecture")[1].split("## Notation")[0]
    modules = [path.name for path in (ROOT / "dpgp_core").glob("*.py") if path.name != "__init__.py"]
    assert [name for name in modules if name not in architecture] == []


def test_every_runtime_dependency_has_a_row():
    project = (ROOT / "pyproject.toml").read_text()
    wanted = re.findall(r'"([a-z0-9]+)>=', project.split("[project]")[1].split("cluster = [")[0])
    table = README.split("## Dependencies and why")[1].split("Test and check only")[0]
    assert {"numpy", "streamlit"} <= set(wanted)
    assert [name for name in wanted if name not in table and name != "setuptools"] == []


def test_nothing_names_this_machine_or_a_registry_host():
    for path in ROOT.rglob("*"):
        hidden = {".venv", ".git", ".ruff_cache", ".mypy_cache", ".pytest_cache", ".hypothesis", "__pycache__"}
        if path.is_file() and not hidden & set(path.parts) and path.suffix in {".py", ".md", ".toml", ".lock", ".sh"}:
            text = path.read_text()
            assert not re.search(r"(?<![\w.])/wo" + "rk/", text), f"{path} names a folder of this machine"
            for word in ("pypi" + ".org", "file" + ":///", "files.python" + "hosted"):
                assert word not in text, f"{path} mentions {word}"

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()


def test_the_readme_and_its_code_are_short():
    [code] = re.findall(r"```python\n(.*?)```", README, re.S)  # run in tests/test_wheel.py
    assert len([line for line in code.splitlines() if line]) <= 10
    assert len(README.splitlines()) <= 130


def test_every_page_has_a_row_with_one_picture():
    rows = re.findall(r"^\| [^|]+ \| [^|]+ \| \[picture\]\(docs/screenshots/(\w+)-light\.webp\) \|$", README, re.M)
    assert sorted(rows) == sorted(path.stem for path in (ROOT / "pages").glob("*.py"))


def test_every_runtime_dependency_has_a_row():
    project = (ROOT / "pyproject.toml").read_text()
    wanted = re.findall(r'"([a-z0-9]+)>=', project.split("[project]")[1].split("cluster = [")[0])
    document = (ROOT / "docs/architecture.md").read_text()
    table = document.split("## Dependencies and why")[1].split("Test and check only")[0]
    assert {"numpy", "streamlit"} <= set(wanted)
    assert [name for name in wanted if name not in table and name != "setuptools"] == []


def test_nothing_names_this_machine_or_a_registry_host():
    for path in ROOT.rglob("*"):
        hidden = {".venv", ".git", ".ruff_cache", ".mypy_cache", ".pytest_cache", ".hypothesis", "__pycache__"}
        if (
            path.is_file()
            and not hidden & set(path.parts)
            and path.suffix in {".py", ".pyi", ".md", ".cff", ".toml", ".lock", ".sh"}
        ):
            text = path.read_text()
            assert not re.search(r"(?<![\w.])/wo" + "rk/", text), f"{path} names a folder of this machine"
            for word in ("pypi" + ".org", "file" + ":///", "files.python" + "hosted"):
                assert word not in text, f"{path} mentions {word}"

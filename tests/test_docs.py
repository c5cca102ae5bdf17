"""The documents are true: links lead somewhere, code runs, the picture is that of the imports, figures are small."""

from __future__ import annotations

import math
import re
from dataclasses import fields, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import dpgp_core
from dpgp_core.accounting.guarantee import Protects
from dpgp_core.bayes.budget import split_budget
from dpgp_core.bayes.tuning import TUNING
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import CATALOGUE
from dpgp_core.mechanisms.catalogue import Parameters
from tests import architecture

ROOT = Path(__file__).resolve().parents[1]
HIDDEN = {".venv", ".git", ".ruff_cache", ".mypy_cache", ".pytest_cache", ".hypothesis", "__pycache__"}
TEXTS = {".py", ".pyi", ".md", ".cff", ".toml", ".lock", ".sh"}
README = (ROOT / "README.md").read_text()
BAYES = architecture.BAYES.read_text(encoding="utf-8")
OUTSIDE = {"architecture", "bayes_inputs", "benchmarks", "m", "py", "seconds", "tables"}  # words of commands and paths
DOCUMENTS = sorted(
    path for path in ROOT.rglob("*.md") if not {*HIDDEN, "build"} & set(path.relative_to(ROOT).parts[:-1])
)


def name(path):
    return str(path.relative_to(ROOT))


def code_of(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.S)


def anchors(path):
    """What a link to a heading of the document may say."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_link_leads_somewhere(document):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", document.read_text(encoding="utf-8")):
        path = (document.parent / target).resolve() if target else document
        assert path.exists(), target
        assert path.is_relative_to(ROOT), target
        assert not anchor or anchor in anchors(path), anchor


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_path_named_in_a_document_exists(document):
    """Including documents and settings of the top folder, and paths within a package, such as `release/check.py`."""
    text, folders = (
        document.read_text(encoding="utf-8"),
        [ROOT, ROOT / "dpgp_core", ROOT / "pages/_ui", document.parent],
    )
    named = set(re.findall(r"`((?:[\w.][\w.-]*/)+(?:[\w.-]+)?|[\w-]+\.(?:md|cff|toml|lock))`", text))
    assert len(named) > 50 or document.name not in ("CONTRIBUTING.md", "architecture.md")
    assert [path for path in sorted(named) if not any((each / path).exists() for each in folders)] == []


def test_every_symbol_of_the_notation_exists():
    text = architecture.DOCUMENT.read_text(encoding="utf-8").split("## Notation and terms")[1].split("\n## ")[0]
    named = {word for name in re.findall(r"`([^`]+)`", text) for word in re.findall(r"[A-Za-z_]\w*", name)}
    code = [path for folder in ("dpgp_core", "datasets", "pages") for path in (ROOT / folder).rglob("*.py")]
    known = set(re.findall(r"\w+", "\n".join(path.read_text(encoding="utf-8") for path in code)))
    assert len(named) > 50
    assert sorted(named - known) == []


def test_every_threat_has_tests_that_exist():
    text = (ROOT / "docs/security_tests.md").read_text(encoding="utf-8")
    known = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    rows = [row for row in re.findall(r"^\| (.*) \|$", text, re.M) if not row.startswith("threat |")]
    named = set()
    for row in rows:
        threat, _, tests = row.split(" | ")
        assert re.fullmatch(r"`test_\w+`(, `test_\w+`)*", tests), threat
        named |= set(re.findall(r"\w+", tests))
    assert len(named) > 50
    assert [test for test in sorted(named) if f"def {test}(" not in known] == []


@pytest.mark.full
def test_every_cited_document_exists():
    cited = re.compile(r"(?<![\w./-])((?:[\w-]+/)*[\w-]+\.md)\b")
    for path in [*ROOT.rglob("*.py"), *DOCUMENTS]:
        if not HIDDEN & set(path.relative_to(ROOT).parts):
            for target in cited.findall(path.read_text(encoding="utf-8")):
                assert (ROOT / target).exists() or (path.parent / target).exists(), f"{name(path)} cites {target}"


def test_every_file_that_the_core_names_exists():
    """On cards, too: a promise names the file of its proof. Of a zip, reproduce.py is the script."""
    for path in (ROOT / "dpgp_core").rglob("*.py"):
        for file in set(re.findall(r"\b[a-z_]\w*(?:/\w+)*\.py\b", path.read_text(encoding="utf-8"))) - {"reproduce.py"}:
            places = [ROOT / file, ROOT / "dpgp_core" / file, path.parent / file]
            assert any(each.is_file() for each in places), f"{name(path)} names {file}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_module_that_a_command_runs_exists(document):
    for module in re.findall(r"python3? -m ([\w.]+)", document.read_text(encoding="utf-8")):
        if module.split(".")[0] in {"benchmarks", "tests", "pages", "dpgp_core"}:
            path = ROOT / module.replace(".", "/")
            assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module


AIR = "AirQualityUCI.csv"


def air():
    """A file of the form of a real one, which is not shipped: its names, its ways of writing, its empty tail."""
    rng = np.random.default_rng(6)
    gases = "CO(GT);PT08.S1(CO);NMHC(GT);C6H6(GT);PT08.S2(NMHC);NOx(GT);PT08.S3(NOx);NO2(GT);PT08.S4(NO2);PT08.S5(O3)"
    lines = [f"Date;Time;{gases};T;RH;AH;;"]
    for hour in range(0, 9357, 6):
        at = datetime(2004, 3, 10, 18) + timedelta(hours=hour)
        values = [-200.0 if rng.random() < 0.18 else value for value in rng.gamma(2.5, 0.9, 13).round(1)]
        written = ";".join(f"{value:g}".replace(".", ",") for value in values)
        lines.append(f"{at:%d/%m/%Y;%H.%M.%S};{written};;")
    return "\r\n".join([*lines, *[";" * 16] * 114, ""]).encode()


@pytest.mark.full_for(
    "ask-again", "bought-bounds", "compare", "curve", "first-release", "groups", "people", "read-back"
)
@pytest.mark.parametrize(
    "code",
    [*code_of(ROOT / "docs/examples.md"), *code_of(ROOT / "docs/library.md")],
    ids=[
        "first-release",
        "as-it-comes",
        "people",
        "ask-again",
        "compare",
        "curve",
        "rate",
        "bought-bounds",
        "groups",
        "read-back",
    ],
)
def test_programs_run(code, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    if AIR in code:
        (tmp_path / AIR).write_bytes(air())
        monkeypatch.chdir(tmp_path)
    exec(compile(code, "docs", "exec"), {})
    assert capsys.readouterr().out.count("\n") >= 1


@pytest.mark.parametrize("document", architecture.RENEWED, ids=name)
def test_pictures_are_made_from_the_code(document):
    """Imports of the core and the dashboard, and the budget of Bayes cloaking."""
    text = document.read_text(encoding="utf-8")
    assert architecture.RENEWED[document](text) == text, "run: python -m tests.architecture"


def test_a_budget_is_drawn_with_all_its_shares():
    split = split_budget(2.0, "amount", 2, inputs_too=True)
    assert architecture.budget_picture(split) == (
        'flowchart LR\n    budget["1 / s²<br>100 %"]\n    budget --> curve["curve<br>92.00 %"]\n'
        '    budget --> distances["distances<br>5.00 %"]\n    budget --> above["above<br>3.00 %"]\n'
        '    curve --> counts["counts<br>13.80 %"]\n    curve --> stage1["stage 1: sums<br>26.07 %"]\n'
        '    curve --> stage2["stage 2: sums 46.92 %, squares 5.21 %<br>52.13 %"]\n'
    )
    assert "| stage 2: sums + squares | 46.92 + 5.21 |\n" in architecture.budget_table({"amount": split})


def test_documented_constants_equal_the_code():
    section = BAYES.split("## Constants\n")[1]
    rows = re.findall(r"^\| (`.*) \| (.*) \| .* \|$", section, re.M)
    assert len(rows) > 10
    for names, values in rows:
        found = [getattr(TUNING, constant) for constant in re.findall(r"`(\w+)`", names)]
        expected = eval(f"({values},)", {"inf": math.inf})
        assert len(found) == len(expected), names
        for own, value in zip(found, expected, strict=True):
            assert np.array_equal(own, value), names


def test_every_tuning_constant_is_read_and_explained():
    """By some module; and the comment above it says in brackets how it was chosen."""
    code = [path.read_text(encoding="utf-8") for path in (ROOT / "dpgp_core").rglob("*.py")]
    names = [each.name for each in fields(TUNING)]
    assert sorted(names) == sorted(set(re.findall(r"\bTUNING\.(\w+)", "\n".join(code))))
    lines = (ROOT / "dpgp_core/bayes/tuning.py").read_text(encoding="utf-8").split("class Tuning:")[1]
    explained = re.findall(r"((?:^    # (?!----).*\n)+)    (\w+): ", lines, re.M)
    assert len(explained) > len(names) / 2
    assert [name for comment, name in explained if not re.search(r"\[.+\]", comment, re.S)] == []


def test_documented_names_of_bayes_cloaking_exist():
    named = {word for code in re.findall(r"`([^`\n]+)`", BAYES) for word in re.findall(r"[A-Za-z_]\w*", code)}
    modules = set(re.findall(r"`(\w+)\.py`", BAYES))
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "dpgp_core").rglob("*.py"))
    assert len(modules) > 10
    assert [each for each in sorted(modules) if not (ROOT / f"dpgp_core/bayes/{each}.py").is_file()] == []
    assert sorted(named - modules - set(re.findall(r"\w+", code)) - OUTSIDE) == []


def test_a_diagram_omits_edges_that_paths_replace():
    graph = {"attic": {"cellar", "hall"}, "hall": {"cellar"}, "cellar": set()}
    assert architecture.picture(graph) == "flowchart TD\n    attic --> hall\n    hall --> cellar\n"


def test_the_map_says_where_things_are():
    text = architecture.DOCUMENT.read_text(encoding="utf-8")
    section = text.partition("### Where to look")[2].partition("More questions")[0]
    found = re.findall(r"`([\w.]+)` in `([\w/]+\.py)`", section)
    assert len(found) > 5
    for name, path in found:
        code = (ROOT / path if path.startswith("pages/") else ROOT / "dpgp_core" / path).read_text(encoding="utf-8")
        assert re.search(rf"\b(?:def|class) {name.split('.')[-1]}\b", code), (name, path)


@pytest.mark.full
def test_the_map_names_every_room():
    text = architecture.DOCUMENT.read_text(encoding="utf-8")
    core = [f"dpgp_core/{room}" for room in architecture.core()]
    shared = [f"pages/_ui/{path.name}/" for path in (ROOT / "pages/_ui").iterdir() if any(path.glob("*.py"))]
    assert [room for room in core + shared if f"`{room}" not in text] == []


def test_the_table_of_neighbours_lists_every_mechanism():
    parameters = Parameters(
        kernel=EQ(lengthscale=2.0), noise_variance=0.3, epsilon=1.0, delta=0.01, x_box=((0.0, 1.0),), n=12, cells=4
    )
    built = [entry.build(parameters) for entry in CATALOGUE.values()]
    built += [
        replace(each, protects=kind) for each in built if hasattr(each, "protects") for kind in get_args(Protects)
    ]
    offered = {
        (each.label, each.guarantee.protects, "inputs and n fixed" in each.guarantee.neighbours) for each in built
    }
    rows = re.findall(r"^\| (one record.*) \| (.*) \| (.*) \|$", (ROOT / "docs/guarantees.md").read_text(), re.M)
    assert offered == {
        (label, protects, "inputs and n fixed" in neighbours)
        for neighbours, protects, labels in rows
        for label in re.sub(r" \([^)]*\)", "", labels).split("; ")
    }


def test_every_public_name_is_in_the_list():
    text = (ROOT / "docs/library.md").read_text(encoding="utf-8")
    public = [key for key in dpgp_core.__all__ if not key.startswith("_") and key != "Release"]
    assert [key for key in public if not re.search(rf"`{key}\b", text)] == []


def test_every_server_setting_is_documented():
    text = (ROOT / "docs/deploy.md").read_text(encoding="utf-8")
    files = [ROOT / "app.py", *(ROOT / "pages").rglob("*.py"), *filter(Path.is_file, (ROOT / "deploy").iterdir())]
    read = set().union(*(re.findall(r"\bDPGP_[A-Z_]+\b", path.read_text(encoding="utf-8")) for path in files))
    assert len(read) > 5
    assert [setting for setting in sorted(read) if setting not in text] == []


def test_the_version_is_said_once_and_the_same():
    project = (ROOT / "pyproject.toml").read_text()
    assert 'version = { attr = "dpgp_core.__version__" }' in project
    assert not re.search(r'^version = "', project, re.M)
    assert f"version: {dpgp_core.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    versions = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert next(each for each in versions if each != "Unreleased") == dpgp_core.__version__


def test_pictures_are_small_and_all_shown():
    pictures = [path for path in (ROOT / "docs").rglob("*") if path.suffix in {".png", ".webp", ".jpg", ".gif"}]
    assert sum(path.stat().st_size for path in pictures) <= 3_000_000
    shown = "".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
    assert [path.name for path in pictures if path.name not in shown] == []


# ---- The readme.


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


@pytest.mark.full
def test_nothing_names_this_machine_or_a_registry_host():
    for path in ROOT.rglob("*"):
        if path.is_file() and not HIDDEN & set(path.relative_to(ROOT).parts) and path.suffix in TEXTS:
            text = path.read_text()
            assert not re.search(r"(?<![\w.])/wo" + "rk/", text), f"{path} names a folder of this machine"
            for word in ("pypi" + ".org", "file" + ":///", "files.python" + "hosted"):
                assert word not in text, f"{path} mentions {word}"

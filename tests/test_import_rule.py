"""pages -> datasets, dpgp_core; datasets -> dpgp_core; dpgp_core -> numpy, scipy. Nothing else, nothing back."""

import ast
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests import structure

ROOT = Path(__file__).parents[1]
ALLOWED = {
    "dpgp_core": {"dpgp_core", "numpy", "scipy"},
    "datasets": {"dpgp_core", "datasets", "numpy", "pandas", "h3"},
}
READERS = {"dpgp_core/reading/conversion.py": {"pyarrow", "pyreadstat", "python_calamine"}}  # in a process of its own
LAZILY = {"dpgp_core/figures/": {"matplotlib"}}  # imported within functions alone, where something is drawn
# what numpy.random offers besides the functions on its hidden global state
GENERATORS = {"Generator", "default_rng", "SeedSequence", "BitGenerator", "PCG64", "PCG64DXSM", "Philox"}


def sources(*folders):
    found = list(structure.modules(packages=folders).values())
    assert found
    return found


def name(path):
    return str(path.relative_to(ROOT))


def imported(nodes):
    """Top-level packages imported anywhere in the file, relative imports aside."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


def dotted(node):
    """'np.random.seed' for that attribute expression, '' for anything but a chain of names."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""


def uses_of_global_state(nodes):
    for node in nodes:
        if isinstance(node, ast.Attribute):
            chain = dotted(node)
            if chain.startswith(("np.random.", "numpy.random.")) and chain.split(".")[2] not in GENERATORS:
                yield chain
        elif isinstance(node, ast.ImportFrom) and node.module == "numpy.random":
            yield from (alias.name for alias in node.names if alias.name not in GENERATORS)


def caching(nodes):
    for node in nodes:
        found = getattr(node, "attr", None) or getattr(node, "id", None) or getattr(node, "name", None)
        if found in {"cache_data", "cache_resource", "lru_cache"} or dotted(node) == "functools.cache":
            yield found
        elif isinstance(node, ast.Call) and dotted(node.func) == "Jobs":  # a store of results
            yield "Jobs"


@pytest.mark.full_for("dpgp_core")
@pytest.mark.parametrize("package", ALLOWED)
def test_package_imports_only_what_it_may(package):
    for path in sources(package):
        foreign = set(imported(structure.nodes(path))) - ALLOWED[package] - set(sys.stdlib_module_names)
        foreign -= READERS.get(name(path), set())
        lazy = next((found for folder, found in LAZILY.items() if name(path).startswith(folder)), set())
        assert foreign <= lazy, f"{name(path)} imports {foreign}"
        assert not foreign & set(imported(structure.parsed(path).body)), f"{name(path)} imports {foreign} at once"


TOUCHES = {  # one module opens a table by its path; the command line needs one for files, and a zip made in memory
    "dpgp_core/reading/csv_file.py": {"pathlib", "open"},
    "dpgp_core/reading/rows.py": {"io"},
    "dpgp_core/reading/conversion.py": {"io", "os"},
    "dpgp_core/reading/kinds.py": {"io"},
    "dpgp_core/release/files.py": {"os", "pathlib", "open"},
    "dpgp_core/release/ledger_file.py": {"os", "pathlib"},
    "dpgp_core/release/bundle.py": {"io"},
    "dpgp_core/figures/export.py": {"io", "urllib"},
    "dpgp_core/release/check.py": {"io", "pathlib"},
    "dpgp_core/release/measured_files.py": {"io"},
    "dpgp_core/measurement/described_arrays.py": {"io"},
}


def test_core_touches_neither_files_nor_network():
    forbidden = {"pathlib", "os", "io", "urllib", "http", "socket", "requests", "shutil", "tempfile", "open"}
    for path in sources("dpgp_core"):
        opening = {node.id for node in structure.nodes(path) if isinstance(node, ast.Name)} & {"open"}
        found = forbidden & (set(imported(structure.nodes(path))) | opening)
        assert found == TOUCHES.get(name(path), set()), name(path)


@pytest.mark.full
def test_pages_import_nothing_from_tests_or_benchmarks():
    for path in [*sources("pages"), ROOT / "app.py"]:
        assert not {"tests", "benchmarks"} & set(imported(structure.nodes(path))), name(path)


@pytest.mark.full
def test_only_compute_caches():
    for path in [*sources("pages", "dpgp_core", "datasets"), ROOT / "app.py"]:
        if name(path) != "pages/_ui/work/cached.py":
            assert not list(caching(structure.nodes(path))), name(path)


def test_only_one_module_touches_the_session():
    users = [name(path) for path in sources("pages") if "st.session_state" in path.read_text(encoding="utf-8")]
    assert users == ["pages/_ui/session.py"]


@pytest.mark.full
def test_no_file_uses_numpys_global_random_state():
    worth_reading = re.compile(rf"\brandom\b(?!\.({'|'.join(GENERATORS)})\b)")
    for path in sources("dpgp_core", "datasets", "pages", "benchmarks", "tests"):
        if worth_reading.search(path.read_text(encoding="utf-8")):
            assert not list(uses_of_global_state(structure.nodes(path))), name(path)


@pytest.mark.parametrize(
    ("check", "code"),
    [
        (imported, "import pandas.core"),
        (imported, "def f():\n    from streamlit import cache"),
        (uses_of_global_state, "import numpy as np\nnp.random.seed(1)"),
        (uses_of_global_state, "import numpy\nx = numpy.random.normal(size=3)"),
        (uses_of_global_state, "from numpy.random import rand"),
        (caching, "import streamlit as st\n@st.cache_data\ndef f(): ..."),
        (caching, "from streamlit import cache_resource"),
        (caching, "from functools import lru_cache"),
        (caching, "results = Jobs(1)"),
        (caching, "@functools.cache\ndef f(): ..."),
    ],
)
def test_the_checks_find_forbidden_imports(check, code):
    assert list(check(ast.walk(ast.parse(code))))


@pytest.mark.parametrize("code", ["np.random.default_rng(1)", "rng: np.random.Generator", "rng.normal()"])
def test_the_checks_allow_generators(code):
    assert not list(uses_of_global_state(ast.walk(ast.parse(code))))


STOREYS = (  # of the core, from the ground up: a room imports from its own storey and from those below
    {"linalg", "checks", "arrays", "dpgp_core"},  # the package itself has the version, and names loaded when asked for
    {"table", "kernels", "levels", "seasons", "dates"},
    {"gp", "accounting"},
    {"figures"},
    {"strategies", "measurement", "bayes", "bounds", "sparse"},
    {"mechanisms"},
    {"release", "selection", "attack", "excursion", "evaluation", "reading", "estimator"},
    {"__main__"},
)


def test_packages_import_only_packages_below():
    storey = {room: height for height, rooms in enumerate(STOREYS) for room in rooms}
    rooms = structure.by_room(structure.graph(packages=("dpgp_core",)), structure.core_room)
    assert set(rooms) == set(storey)
    for room, others in rooms.items():
        assert [other for other in others if storey[other] > storey[room]] == [], room


SHARED = {"look", "work", "model", "session", "environment", "hosts", "visitor", "serve", "ledgers"}
SHARED |= {"datasets", "dpgp_core"}
HUBS = {"menu", "main", "page", "tour"}  # they know the rooms of pages


def test_what_pages_share_knows_no_page():
    rooms = structure.by_room(structure.graph(), structure.page_room)
    reached = {room: rooms[room] - SHARED for room in rooms}
    # the server warms what the menu lists
    assert {room: others for room, others in reached.items() if room in SHARED and others} == {"serve": {"menu"}}
    for room in set(rooms) - SHARED - HUBS:  # one page's
        assert not reached[room] & HUBS, room


@pytest.mark.parametrize(
    ("packages", "room"),
    [(("dpgp_core",), structure.core_room), (("dpgp_core", "datasets", "pages"), structure.page_room)],
    ids=["core", "pages"],
)
def test_imports_go_round_in_no_circle(packages, room):
    found = structure.graph(packages=packages, types=True)
    assert structure.circles(found) == []
    assert structure.circles(structure.by_room(found, room)) == []


def test_no_folder_has_too_many_modules():
    counts = structure.folders(packages=(*structure.PACKAGES, "benchmarks"))
    assert {folder: count for folder, count in counts.items() if count > 24} == {}


# Of pages, by what benchmarks and deploy import
MEASURED = {
    "cloaking.results",
    "environment",
    "look.offers",
    "look.redrawn",
    "menu",
    "model",
    "opening",
    "work.beforehand",
    "work.engine",
    "work.workers",
}


def test_benchmarks_and_deploy_import_nothing_private_of_pages():
    for path in sources("benchmarks", "deploy"):
        for node in structure.nodes(path):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pages"):
                module = node.module.removeprefix("pages._ui").removeprefix(".")
                names = [alias.name for alias in node.names]
                modules = {module} if module in MEASURED else {f"{module}.{each}".strip(".") for each in names}
                assert modules <= MEASURED, name(path)
                assert not [each for each in names if each.startswith("_")], name(path)


def test_the_graph_includes_every_kind_of_import(tmp_path):
    files = {
        "a/__init__.py": "from .one import x",
        "a/one.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import three\n",
        "a/two/__init__.py": "",
        "a/two/inner.py": "def f():\n    from ..one import x\n    import a.three\n",
        "a/three.py": "from . import two\nfrom .two import inner",
    }
    for where, text in files.items():
        (tmp_path / where).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / where).write_text(text)
    found = structure.graph(tmp_path, ("a",))
    assert found == {
        "a": {"a.one"},
        "a.one": set(),
        "a.two": set(),
        "a.two.inner": {"a.one", "a.three"},
        "a.three": {"a.two", "a.two.inner"},
    }
    assert structure.circles(found) == [["a.three", "a.two.inner"]]
    assert structure.graph(tmp_path, ("a",), types=True)["a.one"] == {"a.three"}
    assert structure.folders(tmp_path, ("a",)) == {"a": 2, "a/two": 1}


def defined(tree):
    """Names of functions, classes and methods, and of constants of the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
    for node in tree.body:
        if isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


@pytest.mark.full
def test_names_used_only_by_tests_are_documented():
    code = [*sources("dpgp_core", "datasets", "pages", "benchmarks"), ROOT / "app.py"]
    words = Counter(word for path in code for word in re.findall(r"\w+", path.read_text(encoding="utf-8")))
    listed = set(re.findall(r"\w+", (ROOT / "docs/library.md").read_text(encoding="utf-8")))
    for path in sources("dpgp_core", "datasets", "pages"):
        unused = {each for each in defined(structure.parsed(path)) if words[each] == 1 and not each.startswith("__")}
        assert unused <= listed, f"{name(path)}: use, list or delete {sorted(unused - listed)}"

"""A page, a dataset of two inputs and a kernel are added to a copy of the project: a file and a row each."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from pages._ui import menu
from tests.pages.reading import ROOT

pytestmark = pytest.mark.full

PAGE = """
from pages._ui.look import layout, settings, sidebar

chosen = settings.chosen(sidebar.Promise)
layout.heading("Does a new page need more than a row?", f"No, at epsilon = {chosen.epsilon:g}.")
layout.lessons("toy_page", [("More privacy.", {"epsilon": 0.1})])
layout.state_link()
"""
DATASET = '''
"""Nobody's data, on two inputs."""

import numpy as np

from datasets.exhibits import Exhibit, SparseDefaults
from dpgp_core.table import Column, Dataset, Outcome

NAME, TITLE, FAMILY = "toy_plane", "Toy plane (simulated)", "toy_plane"
Y_BOUNDS = (-2.0, 2.0)


def load(*, n: int = 40) -> Dataset:
    X = np.random.default_rng(1).uniform(0, (10, 100), (n, 2))
    return Dataset(
        name=NAME, X=X, y=np.sin(X[:, 0] / 3) + X[:, 1] / 100, outcome=Outcome(name="y", unit="V", bounds=Y_BOUNDS),
        columns=(Column(name="a", unit="m", box=(0.0, 10.0)), Column(name="b", unit="kg", box=(0.0, 100.0))),
        privacy_unit="nobody's value",
        source="made up", licence="none", bounds_reason="made up", simulated=True,
    )


EXHIBITS = (
    Exhibit(
        name=NAME, title=TITLE, load=load, unit="m", lengthscales=(2.0, 4.0), lengthscale=4.0, ratios=(1.0, 10.0),
        sparse=SparseDefaults(inducing=(2, 3), start=3, noise=0.3), simulated=True,
    ),
)
'''
KERNEL = '''
@dataclass(frozen=True, kw_only=True)
class Cauchy(Stationary):
    """1 / (1 + r^2)."""

    def profile(self, r: FloatArray) -> FloatArray:
        """1 / (1 + r^2)."""
        return 1 / (1 + r * r)


KERNELS: '''
DRIVER = """
import json, sys
from unittest import mock
from streamlit.testing.v1 import AppTest
from dpgp_core.mechanisms.catalogue import KERNEL_NAMES
from pages._ui import menu
from pages._ui.compare import contenders
from pages._ui.serve import startup

mock.patch.object(contenders, "DATA_SETS", 2).start()  # a name that is not there is an error
startup.pages_compile()
startup.datasets_load()
wanted = [("toy_page", {}), ("kung_curves", {"dataset": "toy_1d", "kernel": "Cauchy"})]
for page in menu.PAGES:
    for control in page.controls():
        if "toy_plane" in getattr(control, "titles", ()):
            wanted.append((page.file, {control.key: "toy_plane", "epsilon": "2"}))
opened = []
for page, address in wanted:
    app = AppTest.from_file("pages/_ui/main.py", default_timeout=300)
    for key, value in address.items():
        app.query_params[key] = value
    app.switch_page(f"../{page}.py").run()
    shown = [each.value for kind in ("title", "exception", "error", "warning") for each in getattr(app, kind)]
    chosen = {key: app.session_state[key] for key in address}
    opened.append([page, shown, chosen])
warm = [page.file for page in menu.shared()]
print(json.dumps({"opened": opened, "warm": warm, "kernels": list(KERNEL_NAMES)}))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """What a copy of the project with the three additions says of itself; the rows that were added."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("dpgp_core", "datasets", "pages", ".streamlit"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pages/toy_page.py").write_text(PAGE)
    (folder / "datasets/toy_plane.py").write_text(DATASET)
    row = '    Page(file="toy_page", title="Toy page", icon="toys", section="Explore"),\n)\n'
    edit(folder / "pages/_ui/menu.py", ")\n# Parameter", f"{row}# Parameter")
    edit(folder / "datasets/__init__.py", "    toy_1d,\n)\n", "    toy_1d,\n    toy_plane,\n)\n")
    edit(folder / "datasets/__init__.py", "    growth_visits,\n)\n", "    growth_visits,\n    toy_plane,\n)\n")
    edit(folder / "dpgp_core/kernels.py", "KERNELS: ", KERNEL)
    edit(folder / "dpgp_core/kernels.py", "RationalQuadratic)\n", "RationalQuadratic, Cauchy)\n")
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-W", "ignore", "-c", DRIVER]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def edit(path, before, after):
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1, (path, before)
    path.write_text(text.replace(before, after), encoding="utf-8")


def test_a_page_is_a_file_and_a_row(copy):
    page, shown, _ = copy["opened"][0]
    assert (page, shown) == ("toy_page", ["Does a new page need more than a row?"])
    assert "toy_page" in copy["warm"]
    assert len(copy["warm"]) > len(menu.shared())


def test_a_kernel_is_a_class_and_a_row(copy):
    _, shown, chosen = copy["opened"][1]
    assert len(shown) == 1
    assert chosen["kernel"] == "Cauchy"
    assert "Cauchy" in copy["kernels"]


def test_a_data_set_needs_one_file(copy):
    offering = copy["opened"][2:]
    assert {page for page, _, _ in offering} == {"compare", "sparse_dp_gp", "start"}
    for page, shown, chosen in offering:
        assert len(shown) == 1, (page, shown)
        assert "Toy plane (simulated)" in chosen.values()

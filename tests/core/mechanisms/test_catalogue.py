"""A new mechanism is one file and one row: shown on a copy of the tree."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from dpgp_core.kernels import KERNELS
from dpgp_core.mechanisms import CATALOGUE
from dpgp_core.mechanisms.base import ANY_ROWS, EXACT_ROWS, FACTORED_ROWS
from dpgp_core.mechanisms.catalogue import KERNEL_NAMES

ROOT = Path(__file__).parents[3]
FILE = '''
"""Made for a test: cloaking with a quarter of the gap."""

from dataclasses import dataclass
from typing import ClassVar

from .cloaking import Cloaking


@dataclass(frozen=True, kw_only=True)
class Toy(Cloaking):
    """Cloaking with another default."""

    gap: float = 1e-2
    label: ClassVar[str] = "Toy"
    reference: ClassVar[str] = "made for a test"
'''
ROW = """    Entry(
        id="toy",
        kind=Toy,
        title="Toy mechanism",
        build=lambda p: Toy(kernel=p.kernel, noise_variance=p.noise_variance, epsilon=p.epsilon, delta=p.delta),
        released=True,
        compared=True,
        drawn=True,
    ),
)

CATALOGUE = {"""
USE = "test_toy.py"
USED = """
import io
from dataclasses import replace

import numpy as np

from dpgp_core.release import bundle, plan_release, publish, read_table
from dpgp_core.release.specification import EXAMPLE
from pages._ui.compare import contenders
from pages._ui.look.offers import MECHANISM
from pages._ui.model import Model, load_dataset


def test_toy_is_compared_offered_and_released(monkeypatch):
    contest = contenders.Contest(Model("toy_1d", "EQ", 1.0, 0.3), 0.01, 6, 5)
    monkeypatch.setattr(contenders, "CURVE_EPSILONS", (1.0,))
    found = contenders.curve(load_dataset("toy_1d"), contest, "toy")
    assert np.isfinite(found.mean).all() and np.isfinite(found.half_width).all()
    assert MECHANISM.titles["toy"] == "Toy mechanism"
    spec = replace(EXAMPLE, mechanism="toy")
    ledger = spec.new_ledger()
    ledger.spend([("toy", spec.guarantee)])
    table = "age,height\\n" + "".join(f"{age},150\\n" for age in range(5, 60))
    data = read_table(io.BytesIO(table.encode()), spec)
    assert bundle(publish(plan_release(spec, data.X), data), ledger)
"""


def test_every_row_is_tested_compared_and_offered(tmp_path):
    """On a copy of the project with one file and one row more, by a Python that sees no other tree."""
    for name in ("dpgp_core", "datasets", "pages", "tests"):
        # with what is compiled, which fits files of the same time, but not what another process just writes
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("*.pyc.*"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    folder = tmp_path / "dpgp_core" / "mechanisms"
    (folder / "toy.py").write_text(FILE)
    catalogue = (folder / "catalogue.py").read_text()
    catalogue = catalogue.replace("\n)\n\nCATALOGUE = {", "\n" + ROW)
    (folder / "catalogue.py").write_text(catalogue.replace("from .sparse_", "from .toy import Toy\nfrom .sparse_"))
    (tmp_path / "tests" / USE).write_text(USED)
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    options = f"-m pytest -q -p no:cacheprovider -k toy tests/core/mechanisms/test_contract.py tests/{USE}"
    done = subprocess.run(
        [sys.executable, *options.split()],
        cwd=tmp_path,
        env=settings | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert int(done.stdout.split(" passed")[0].split()[-1]) > 20


def test_names_of_kernels_make_them():
    assert tuple(KERNEL_NAMES.values()) == KERNELS
    for name, kernel in KERNEL_NAMES.items():
        assert kernel.__name__ == name


def test_bayes_cloaking_takes_millions_of_rows():
    bayes = CATALOGUE["bayes"]
    assert [bayes.kind.rows_for(inputs) for inputs in (1, 3, 4)] == [ANY_ROWS, ANY_ROWS, EXACT_ROWS]
    assert CATALOGUE["inducing"].kind.rows_for(1) == CATALOGUE["inducing"].kind.rows_for(10) == EXACT_ROWS


def test_ids_fit_addresses_and_row_limits_are_known():
    for name, entry in CATALOGUE.items():
        assert re.fullmatch("[a-z_]+", name)
        assert entry.kind.max_rows in (EXACT_ROWS, FACTORED_ROWS, ANY_ROWS)
        assert set(entry.kind.kernel_names) <= set(KERNEL_NAMES)
        assert not (entry.kind.uses_cells and entry.kind.automatic)

"""Can this process serve every page? What ``/readyz`` asks. No streamlit of its own."""

from __future__ import annotations

import importlib
import logging
import math
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from datasets import DATASETS
from dpgp_core.data import Dataset
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking

PAGES = Path(__file__).resolve().parents[2]
_LOG = logging.getLogger(__name__)


def shared_modules() -> list[str]:
    """Dotted names of the modules that pages share; ``main`` is a script that draws, ``warm`` a program."""
    files = sorted((PAGES / "_ui").rglob("*.py"))
    names = ["pages." + ".".join(file.relative_to(PAGES).with_suffix("").parts) for file in files]
    return [name for name in names if name not in ("pages._ui.main", "pages._ui.serve.warm")]


def pages_compile() -> None:
    """Every page is there and is Python; every module the pages share can be imported, with what it imports."""
    for script in sorted(PAGES.glob("*.py")):
        compile(script.read_text(encoding="utf-8"), script.name, "exec")
    for name in shared_modules():
        importlib.import_module(name)


def datasets_load() -> None:
    """Every shipped dataset can be read."""
    for dataset in DATASETS:
        dataset.load()


def release_is_right() -> None:
    """A release whose noise is known in closed form comes out right.

    Raises:
        ArithmeticError: it does not.
    """
    one = Dataset(
        name="one_record",
        X=np.zeros((1, 1)),
        y=np.zeros(1),
        x_names=("x",),
        x_units=("",),
        y_name="y",
        y_unit="",
        y_bounds=(-1.0, 1.0),
        x_box=((-1.0, 1.0),),
        unit="nobody",
        source="made up",
        licence="none",
        bounds_reason="made up",
    )
    kernel = EQ(variance=1.0, lengthscale=1.0)
    cloaking = Cloaking(kernel=kernel, noise_variance=0.3, epsilon=1.0, delta=0.01, calibration="hall")
    found = cloaking.release(one, one.X, np.random.default_rng(1)).noise_sd[0]
    # one record tested where it lies: c = k / (k + s^2), M = c^2, noise sd = d s' c
    known = 2.0 * math.sqrt(2 * math.log(2 / 0.01)) / (1 + 0.3)
    if not math.isclose(found, known, rel_tol=1e-6):
        raise ArithmeticError("the noise of a release is wrong")


Checks = Sequence[tuple[str, Callable[[], None]]]
CHECKS: Checks = (
    ("the pages cannot be imported", pages_compile),
    ("a dataset cannot be loaded", datasets_load),
    ("the numeric core computes a wrong release", release_is_right),
)


class Readiness:
    """Runs its checks until they pass once; after that it answers at once.

    Args:
        checks: (what is wrong if it fails, check that raises) pairs.
    """

    def __init__(self, checks: Checks = CHECKS) -> None:
        self._checks, self._passed, self._lock = checks, False, threading.Lock()

    def problem(self) -> str | None:
        """What is wrong, in words fit for strangers (no paths, no values); None if nothing is."""
        with self._lock:
            if self._passed:
                return None
            for wrong, check in self._checks:
                try:
                    check()
                except Exception as error:  # whatever it is, the server is not ready
                    _LOG.exception("not ready: %s", wrong)
                    return f"{wrong} ({type(error).__name__})"
            self._passed = True
            return None

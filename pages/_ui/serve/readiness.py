"""Can this process serve every page? What ``/readyz`` asks. No streamlit of its own."""

from __future__ import annotations

import importlib
import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path

import numpy as np

from datasets import DATASETS
from dpgp_core.data import Dataset
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking

PAGES = Path(__file__).resolve().parents[2]
_LOG = logging.getLogger(__name__)


def shared_modules() -> list[str]:
    """Dotted names of the modules that pages share; ``main`` is a script that draws."""
    files = sorted((PAGES / "_ui").rglob("*.py"))
    names = ["pages." + ".".join(file.relative_to(PAGES).with_suffix("").parts) for file in files]
    return [name for name in names if name != "pages._ui.main"]


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
        privacy_unit="nobody",
        source="made up",
        licence="none",
        bounds_reason="made up",
    )
    kernel = EQ(variance=1.0, lengthscale=1.0)
    cloaking = Cloaking(kernel=kernel, noise_variance=0.3, epsilon=1.0, delta=0.01, calibration="hall")
    noise = cloaking.release(one, one.X, np.random.default_rng(1)).noise_sd[0]
    # one record tested where it lies: c = k / (k + s^2), M = c^2, noise sd = d s' c
    known = 2.0 * math.sqrt(2 * math.log(2 / 0.01)) / (1 + 0.3)
    if not math.isclose(noise, known, rel_tol=1e-6):
        raise ArithmeticError("the noise of a release is wrong")


Checks = Sequence[tuple[str, Callable[[], None]]]
CHECKS: Checks = (
    ("the pages cannot be imported", pages_compile),
    ("a dataset cannot be loaded", datasets_load),
    ("the numeric core computes a wrong release", release_is_right),
)


class Probe:
    """Whether the processes that compute still do: sends one a task whose answer is known, at most one at a time.

    A task that waits behind others is no sign of anything: they may take long, and are stopped if they take too long.

    Args:
        submit: sends a function to a process; may raise.
        clock: seconds that only move forward.
    """

    FRESH_SECONDS = 10.0  # an answer counts for so long
    ANSWER_SECONDS = 3.0  # so long this waits for one
    PATIENCE_SECONDS = 330.0  # longer than any task may take

    def __init__(
        self, submit: Callable[[Callable[[], None]], Future[None]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._submit, self._clock = submit, clock
        self._asked: Future[None] | None = None
        self._since, self._answered = 0.0, False

    def problem(self) -> str | None:
        """What is wrong, in words fit for strangers; None if nothing is."""
        now = self._clock()
        old = now - self._since > self.FRESH_SECONDS
        if self._asked is not None and self._asked.done() and self._asked.exception() is None and old:
            self._asked = None
        try:
            if self._asked is None:
                self._since, self._asked = now, self._submit(release_is_right)
            self._asked.result(self.ANSWER_SECONDS)
        except TimeoutError:
            if self._answered and now - self._since < self.PATIENCE_SECONDS:
                return None
            return "no process has computed anything yet" if not self._answered else "the processes compute nothing"
        except Exception as error:  # whatever it is, nothing can be computed
            _LOG.warning("not ready: a process does not compute (%s)", type(error).__name__)
            self._asked = None
            return f"a process cannot compute ({type(error).__name__})"
        self._answered = True
        return None


class Readiness:
    """Runs its checks until they pass once; after that it only asks the probe.

    Args:
        checks: (what is wrong if it fails, check that raises) pairs.
        probe: what is asked every time; None: nothing is.
    """

    def __init__(self, checks: Checks = CHECKS, probe: Probe | None = None) -> None:
        self._checks, self._passed, self._lock = checks, False, threading.Lock()
        self._probe = probe

    def problem(self) -> str | None:
        """What is wrong, in words fit for strangers (no paths, no values); None if nothing is."""
        with self._lock:
            return self._check() or (self._probe.problem() if self._probe is not None else None)

    def _check(self) -> str | None:
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

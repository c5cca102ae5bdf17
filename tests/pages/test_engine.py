"""The same numbers here, on threads and on a Dask cluster: Compare and the excursion search (Citi Bike has its own)."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from pages._ui.compare import contenders
from pages._ui.model import Model, load_dataset
from pages._ui.work.engine import THREAD_CAPS, VARIABLE, engine
from tests.pages.reading import ROOT

CONTEST = contenders.Contest(Model("toy_1d", "EQ", 1.0, 0.3), 0.01, 6, 5)
CONTENDERS = ("refined", "laplace_bins", "sparse")
DEAD = "tcp://127.0.0.1:9"  # the discard port, where nothing listens


def with_dask(test):
    """Dask is optional, and warns of itself."""
    quiet = pytest.mark.filterwarnings("ignore::Warning:(distributed|dask|tornado).*")(test)
    there = importlib.util.find_spec("distributed") is not None
    return pytest.mark.skipif(not there, reason="Dask is optional: pip install -e '.[cluster]'")(quiet)


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    for variable in THREAD_CAPS:
        monkeypatch.setenv(variable, "1")


@pytest.fixture(scope="module")
def cluster():
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as running:
        yield running.scheduler_address


def test_work_runs_here_or_in_processes():
    for workers, kind in ((1, type(None)), (2, ProcessPoolExecutor)):
        with engine(workers=workers) as executor:
            assert isinstance(executor, kind)
            assert executor is None or executor.submit(max, 3, 7).result() == 7


@pytest.mark.full
@with_dask
def test_a_cluster_compares_mechanisms_with_the_same_numbers(cluster, monkeypatch):
    data = load_dataset("toy_1d")
    here = {name: contenders.curve(data, CONTEST, name) for name in CONTENDERS}
    monkeypatch.setenv(VARIABLE, cluster)
    for name in CONTENDERS:
        there = contenders.curve(data, CONTEST, name)
        np.testing.assert_allclose(there.errors, here[name].errors, rtol=1e-10, atol=0)
        assert there.seconds > 0


def refused(sentence, address=None):
    with pytest.raises(ValueError, match=sentence), engine(address):
        pass


@with_dask
def test_a_cluster_that_cannot_work_is_a_sentence(cluster, monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr("pages._ui.work.engine.SECONDS", 1)
    refused(f"cannot reach a Dask scheduler at {DEAD} .*; is it running", DEAD)
    with LocalCluster(n_workers=0, processes=False, dashboard_address=None) as empty:
        start = "start them in the project's folder with: PYTHONPATH=. dask worker"
        refused(f"has no workers; {start}", empty.scheduler_address)
    with monkeypatch.context() as several:
        for variable in THREAD_CAPS:
            several.setenv(variable, "4")
        refused("use several BLAS threads; set OPENBLAS_NUM_THREADS=1 and start", cluster)
    # the workers are threads of this process, which can no longer import it
    monkeypatch.setitem(sys.modules, "pages._ui.work.engine", None)
    refused(r"some workers of .* cannot import this project; start", cluster)


def test_without_dask_there_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setenv(VARIABLE, DEAD)
    refused(r"needs Dask; install it with: pip install -e '.\[cluster\]'")


@pytest.mark.parametrize(
    ("loaded", "caps", "printed"),
    [
        ("", {}, "True set()"),  # neither streamlit nor numpy
        ("import numpy; ", {}, "False {'numpy'}"),
        ("import numpy; ", {"OPENBLAS_NUM_THREADS": "1"}, "True {'numpy'}"),
    ],
)
def test_the_engine_loads_no_numpy(loaded, caps, printed):
    code = f"import sys; {loaded}import pages._ui.work.engine as e; print(e.cap_threads(), "
    code += "{'streamlit', 'numpy'} & set(sys.modules))"
    clean = {"PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=clean | caps)
    assert done.stdout.strip() == printed

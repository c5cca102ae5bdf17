"""Where sweeps run: in this process, in several processes, or on a Dask cluster, for the app and the benchmarks.

The core takes any ``concurrent.futures.Executor`` and gives the same numbers on each, as every piece of work has its
own seed. A cluster is named by ``--scheduler tcp://host:port`` (benchmarks) or by the environment variable
``DPGP_SCHEDULER`` (the app too). Neither streamlit nor numpy is imported here, so that a worker that loads this module
first can still cap its BLAS threads.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

VARIABLE = "DPGP_SCHEDULER"
THREAD_CAPS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
SECONDS = 10  # seconds to reach the scheduler


class ClusterUnavailable(ValueError):
    """Raised if the configured cluster cannot be used; the message says what to do."""


def elsewhere() -> bool:
    """Return whether the environment names a cluster."""
    return bool(os.environ.get(VARIABLE))


@contextmanager
def engine(scheduler: str | None = None, workers: int = 1) -> Iterator[Executor | None]:
    """Yield the executor on which sweeps run; None stands for this thread.

    Args:
        scheduler: address of a Dask scheduler, tcp://host:port; None for ``DPGP_SCHEDULER``, if that is set.
        workers: number of processes of this machine if there is no scheduler; 1 for this process alone.

    Raises:
        ClusterUnavailable: Dask is not installed, the scheduler cannot be reached, it has no workers, or they are not
            ready for this project; the message says what to do.
    """
    address = scheduler or os.environ.get(VARIABLE)
    if address:
        with _cluster(address) as executor:
            yield executor
    elif workers > 1:
        with ProcessPoolExecutor(workers) as pool:
            yield pool
    else:
        yield None


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client
    except ImportError:
        raise ClusterUnavailable(
            f"the scheduler {address} needs Dask; install it with: pip install -e '.[cluster]'"
        ) from None
    try:
        client = Client(address, timeout=SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterUnavailable(
            f"cannot reach a Dask scheduler at {address} ({type(error).__name__}); is it running?"
        ) from None
    with client:
        _check_workers(client, address)
        yield client.get_executor(pure=False)


def _check_workers(client: Any, address: str) -> None:
    def ready() -> bool | None:  # an inner function is sent as code, so that a worker without the project can report it
        try:
            from pages._ui.work.engine import cap_threads
        except ImportError:
            return None
        return cap_threads()

    start = f"start them in the project's folder with: PYTHONPATH=. dask worker {address}"
    answers = set(client.run(ready).values())
    if not answers:
        raise ClusterUnavailable(f"the scheduler {address} has no workers; {start}")
    if None in answers:
        raise ClusterUnavailable(f"some workers of {address} cannot import this project; {start}")
    if False in answers:
        raise ClusterUnavailable(
            f"some workers of {address} use several BLAS threads; set {THREAD_CAPS[0]}=1 and {start}"
        )


def cap_threads() -> bool:
    """Limit BLAS to one thread in this process; return False if numpy has already been loaded with more."""
    late = "numpy" in sys.modules and not any(os.environ.get(variable) == "1" for variable in THREAD_CAPS)
    for variable in THREAD_CAPS:
        os.environ.setdefault(variable, "1")
    return not late

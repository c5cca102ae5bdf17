"""Run tests as other processors would round them: ``python tests/machines.py [pytest arguments]``.

Linear algebra takes the kernels of another processor family by OPENBLAS_CORETYPE, numpy's elementary functions by
NPY_DISABLE_CPU_FEATURES, and two BLAS threads add in another order than one. Each machine is one run of pytest; all
are run, and the exit code is 1 if one of them failed. What a processor here cannot imitate is left out, and said.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from typing import NamedTuple

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__  # numpy has no public list

_AVX512 = ("AVX512", "X86_V4")  # prefixes of features, in the names of numpy


class Machine(NamedTuple):
    """A processor family in OpenBLAS's names, the numpy features it lacks, and BLAS threads."""

    coretype: str
    lacks: tuple[str, ...]
    threads: int


# AVX-512 sums in blocks of 8, Haswell (AVX2) of 4, Nehalem (SSE) of 2
MACHINES = (
    Machine("SkylakeX", (), 2),
    Machine("Haswell", _AVX512, 1),
    Machine("Nehalem", ("",), 1),
)


def possible(machine: Machine, features: Mapping[str, bool] = __cpu_features__) -> bool:
    """Whether this processor has the instructions: an older one cannot imitate a newer one."""
    needed = {"SkylakeX": "AVX512F", "Haswell": "AVX2", "Nehalem": "SSE42"}[machine.coretype]
    return features.get(needed, False)


def environment(machine: Machine) -> dict[str, str]:
    """The variables that OpenBLAS and numpy read when they are loaded."""
    off = [name for name in __cpu_dispatch__ if name.startswith(machine.lacks) and __cpu_features__.get(name)]
    threads = str(machine.threads)
    settings = {"OPENBLAS_CORETYPE": machine.coretype, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
    return {**os.environ, **settings, "NPY_DISABLE_CPU_FEATURES": " ".join(off)}


def main(arguments: list[str]) -> int:
    """Run pytest once for each machine; 1 if one of the runs failed."""
    failed = 0
    for machine in MACHINES:
        said = f"{machine.coretype}, {machine.threads} BLAS thread{'s' * (machine.threads > 1)}"
        if not possible(machine):
            print(f"==== {said}: left out, this processor has not its instructions", flush=True)
            continue
        print(f"==== {said}", flush=True)
        command = [sys.executable, "-m", "pytest", *arguments]
        if machine.threads > 1:  # BLAS threads that wait for one another must not wait for a processor too
            command += ["--numprocesses", str(max(1, (os.cpu_count() or 1) // machine.threads))]
        run = subprocess.run(command, env=environment(machine), check=False)
        failed |= run.returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

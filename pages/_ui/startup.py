"""What the server starts beside itself, and stops when it stops: worker processes, and the warming of the lattice."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from streamlit import App

from pages._ui import compute
from pages._ui.lattice import ROOT


@asynccontextmanager
async def lifespan(_: App) -> AsyncIterator[None]:
    """Workers while the server lives; the lattice is warmed in the background unless DPGP_WARM is 0."""
    compute.start()
    warming = None
    if os.environ.get("DPGP_WARM", "1") != "0":
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        command = [sys.executable, "-m", "pages._ui.warm"]
        warming = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path})
    try:
        yield
    finally:
        if warming is not None:
            warming.terminate()
        compute.stop()

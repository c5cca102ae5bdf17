"""The dashboard as a newcomer starts it: `make app`, in a clean clone, and what its terminal says."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.e2e import browser as tool
from tests.waiting import PATIENCE

# What a terminal may show: where the dashboard is, and, once it is interrupted, that it ends.
ADDRESS = re.compile(r"Dashboard URL: http://localhost:\d+")
INSTALLING = re.compile(r"Installing the dashboard .*, and only this once \.\.\.")
END = re.compile(r"\s*(\^C)?\s*(Stopping\.\.\.|Aborted!|make: \*\*\* \[.*app\] .*)\s*")

NOT_A_NEWCOMERS = ("DPGP_", "STREAMLIT_", "PYTHONPATH", "MAKE", "MFLAGS")


def unknown(terminal: str) -> list[str]:
    """The lines that no newcomer should see."""
    lines = filter(str.strip, terminal.splitlines())
    return [line for line in lines if not any(known.fullmatch(line) for known in (ADDRESS, INSTALLING, END))]


def clone(folder: Path) -> Path:
    """The project's files as they are now, without anything that was made from them; with the environment of now."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=tool.ROOT, capture_output=True
    )
    files = listed.stdout.decode().split("\0")[:-1] if listed.returncode == 0 else _sources()
    for name in filter(lambda name: (tool.ROOT / name).is_file(), files):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(tool.ROOT / name, folder / name)  # with its time, by which make knows what is up to date
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


def _sources() -> list[str]:
    paths = (path.relative_to(tool.ROOT) for path in tool.ROOT.rglob("*") if path.is_file())
    return [str(path) for path in paths if not {".venv", ".git", "__pycache__"} & set(path.parts)]


class Dashboard:
    """One run of `make app`.

    Attributes:
        address: where it is.
    """

    def __init__(self, folder: Path, port: int, log: Path, settings: Mapping[str, str]) -> None:
        self.address, self._log = f"http://localhost:{port}", log
        # The settings of tests, or of a make that runs them, are not a newcomer's; what is released here is forgotten.
        ours = {name: value for name, value in os.environ.items() if not name.startswith(NOT_A_NEWCOMERS)}
        with log.open("wb") as stream:
            self._process = subprocess.Popen(
                ["make", "app", f"PORT={port}"],
                cwd=folder,
                env=ours | {"XDG_STATE_HOME": str(folder.parent / "state")} | settings,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        tool.wait_for(f"{self.address}/_stcore/health", self._process)

    def stop(self) -> str:
        """Interrupt it as Ctrl-C does; return what its terminal said from the first line to the last."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGINT)
        self._process.wait(timeout=PATIENCE)
        return self._log.read_text()


@contextmanager
def started(folder: Path, **settings: str) -> Iterator[Dashboard]:
    """Run `make app` in a clean clone below a folder, with these settings beside a newcomer's."""
    (folder / "clone").mkdir()
    dashboard = Dashboard(clone(folder / "clone"), tool.free_port(), folder / "terminal", settings)
    try:
        yield dashboard
    finally:
        dashboard.stop()

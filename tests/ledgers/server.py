"""A PostgreSQL server of its own, in a temporary folder, reached by a socket in it: no port, no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from tests.waiting import PATIENCE, wait_until

FOLDERS = [*map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"))), *os.environ.get("PATH", os.defpath).split(":")]
INITDB = shutil.which("initdb", path=":".join(FOLDERS))
USER = "ledgers"


@contextmanager
def postgres() -> Iterator[str]:
    """Start a server; yields its address."""
    assert INITDB is not None
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    account = "postgres" if os.geteuid() == 0 else None  # the server refuses to run as root
    if account is not None:
        shutil.chown(folder, account)
    data, log = folder / "data", folder / "log"
    options = {"user": account, "cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.STDOUT}
    make = [INITDB, "--auth=trust", f"--username={USER}", "--no-sync", "--encoding=UTF8", "--locale=C", str(data)]
    subprocess.run(make, check=True, **options)
    serve = [str(Path(INITDB).with_name("postgres")), "-D", str(data), "-k", str(folder), "-c", "listen_addresses="]
    with log.open("wb") as stream:
        process = subprocess.Popen(serve, **(options | {"stdout": stream}))
    address = f"host={folder} user={USER} dbname=postgres"
    try:
        wait_until(lambda: _answers(address, process, log), "PostgreSQL to answer")
        yield address
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)
        shutil.rmtree(folder)


def _answers(address: str, process: subprocess.Popen[bytes], log: Path) -> bool:
    assert process.poll() is None, f"PostgreSQL has ended: {log.read_text()}"
    with suppress(psycopg.OperationalError):
        psycopg.connect(address).close()
        return True
    return False


@contextmanager
def database(address: str, name: str) -> Iterator[str]:
    """A database of one test; yields its address."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    try:
        yield address.replace("dbname=postgres", f"dbname={name}")
    finally:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())

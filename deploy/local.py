"""Replicas of the dashboard and nginx before them on this machine, without containers, from the same nginx.conf.

    python deploy/local.py --replicas 2 --port 8080

Ctrl-C stops all of it; the ledgers, which all replicas share, stay in the state folder. Listens on loopback only. Needs
nginx (``apt-get install nginx-light``).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
NGINX = shutil.which("nginx", path=os.environ.get("PATH", os.defpath) + os.pathsep + "/usr/sbin")
REPLICA = "server 127.0.0.1:{port} max_fails=1 fail_timeout=5s;\n"


@dataclass(frozen=True)
class Replica:
    """One server process and its port on loopback."""

    process: subprocess.Popen[bytes]
    port: int


@dataclass(frozen=True)
class Cluster:
    """What is running.

    Attributes:
        address: where ``nginx`` answers for the ``replicas``.
        folder: configuration, ``access.log`` and ``replica<N>.log``; removed at the end.
    """

    address: str
    replicas: list[Replica]
    nginx: subprocess.Popen[bytes]
    folder: Path


@contextlib.contextmanager
def running(replicas: int = 2, port: int = 0) -> Iterator[Cluster]:
    """Start everything, wait until it is ready, stop it afterwards.

    Args:
        replicas: how many servers, >= 1.
        port: of nginx on loopback; 0 takes a free one.

    Raises:
        RuntimeError: nginx is missing, or something did not start; the message says what to do.
    """
    if NGINX is None:
        raise RuntimeError("nginx is not installed; on Debian: apt-get install nginx-light")
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dpgp-")))
        ports = free_ports(replicas + 1)
        port = port or ports.pop()
        secret = secrets.token_hex(32)
        logs = [folder / f"replica{number}.log" for number in range(1, replicas + 1)]
        servers = [
            stack.enter_context(replica(at, log, secret)) for at, log in zip(ports[:replicas], logs, strict=True)
        ]
        for server, log in zip(servers, logs, strict=True):
            wait_until_ready(server, log)
        command = [NGINX, *configure(folder, port, [server.port for server in servers])]
        nginx = stack.enter_context(_process(command, folder / "nginx.log", {}))
        _wait_for(f"http://127.0.0.1:{port}/_stcore/health", nginx, folder / "nginx.log")
        yield Cluster(f"http://127.0.0.1:{port}", servers, nginx, folder)


def configure(folder: Path, port: int, replica_ports: list[int]) -> list[str]:
    """Write nginx's configuration into a folder; returns the arguments that make nginx use it."""
    (folder / "temp").mkdir()
    shutil.copy(HERE / "nginx.conf", folder)
    (folder / "listen.conf").write_text(f"listen 127.0.0.1:{port} default_server;\n")
    (folder / "replicas.conf").write_text("".join(REPLICA.format(port=at) for at in replica_ports))
    # Started by root, nginx would become "nobody", who may not enter the folder.
    user = " user root;" if hasattr(os, "geteuid") and os.geteuid() == 0 else ""
    return ["-p", f"{folder}/", "-c", str(folder / "nginx.conf"), "-g", f"daemon off;{user}"]


def free_ports(count: int) -> list[int]:
    """Ports on loopback that nobody uses at the moment."""
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


@contextlib.contextmanager
def replica(port: int, log: Path, secret: str, more: Mapping[str, str] | None = None) -> Iterator[Replica]:
    """One server on a loopback port, stopped afterwards.

    Args:
        port: where it listens.
        log: file for what it prints.
        secret: signs cookies; the same for all replicas.
        more: variables of its environment.
    """
    settings = {
        **(more or {}),
        "PYTHONPATH": str(ROOT),
        "STREAMLIT_SERVER_ADDRESS": "127.0.0.1",
        "STREAMLIT_SERVER_PORT": str(port),
        "STREAMLIT_SERVER_COOKIE_SECRET": secret,
    }
    with _process([sys.executable, "-m", "streamlit", "run", "app.py"], log, settings) as process:
        yield Replica(process, port)


def wait_until_ready(server: Replica, log: Path) -> None:
    """Return when a server can serve every page.

    Raises:
        RuntimeError: it stopped or does not answer; the message ends with its log.
    """
    _wait_for(f"http://127.0.0.1:{server.port}/readyz", server.process, log)


@contextlib.contextmanager
def _process(command: list[str], log: Path, settings: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **settings},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is ours to handle
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path, seconds: float = 90.0) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"a process stopped with exit code {process.returncode}:\n{log.read_text()[-2000:]}")
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=10) as answer:
            if answer.status == 200:
                return
        time.sleep(0.1)
    raise RuntimeError(f"{url} did not answer within {seconds:g} s:\n{log.read_text()[-2000:]}")


def main() -> None:
    """Run until Ctrl-C, SIGTERM, or until nginx or every replica has stopped."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--port", type=int, default=8080)
    arguments = parser.parse_args()
    if arguments.replicas < 1:
        parser.error(f"--replicas must be at least 1, got {arguments.replicas}")
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        with running(arguments.replicas, arguments.port) as cluster:
            _watch(cluster, stop)
    except RuntimeError as error:
        sys.exit(str(error))


def _watch(cluster: Cluster, stop: threading.Event) -> None:
    print(f"{cluster.address} is served by nginx; logs are in {cluster.folder}", flush=True)
    alive = dict(enumerate(cluster.replicas, 1))
    for number, replica in alive.items():
        print(f"  replica {number}: port {replica.port}, process {replica.process.pid}", flush=True)
    while alive and not stop.wait(0.5):
        if cluster.nginx.poll() is not None:
            raise RuntimeError(f"nginx has stopped:\n{(cluster.folder / 'nginx.log').read_text()[-2000:]}")
        for number in [number for number, replica in alive.items() if replica.process.poll() is not None]:
            print(f"replica {number} has stopped; {len(alive) - 1} left", flush=True)
            del alive[number]


if __name__ == "__main__":
    main()

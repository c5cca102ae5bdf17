from __future__ import annotations

import os
import re
import socket
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from deploy import local
from deploy.local import Cluster, Replica
from tests.e2e import browser as tool
from tests.e2e.conftest import chromium as chromium
from tests.waiting import PATIENCE, wait_until


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Message
    body: bytes


class Asked:
    """A server at an address, and what can be asked of it."""

    def __init__(self, address: str) -> None:
        self.address = address

    @property
    def address_of_pages(self) -> str:
        """The origin of its pages: the address without a path."""
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc}"

    def ask(self, path: str, body: bytes | None = None, method: str | None = None, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.address + path, body, named, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return Answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.headers, error.read())

    def script(self) -> str:
        """Path of the application's main script."""
        return re.search(rb'src="\.(/static/js/index[^"]+\.js)"', self.ask("/").body)[1].decode()


class Gate(Asked):
    """A running cluster, and what can be asked of it."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster.address)
        self.cluster = cluster

    def replica_of(self, cookie: str) -> int:
        """Port of the replica that answers a browser with this cookie."""
        path = f"/static/{uuid.uuid4().hex}"
        self.ask(path, cookie=f"dpgp_session={cookie}")
        return self.who_answered(path)

    def who_answered(self, path: str) -> int:
        """Port of the replica that answered the last request for a path; the log is written after the answer."""
        line = self.logged(f" {path} ")
        return int(re.search(r"127\.0\.0\.1:(\d+) [\d.]+$", line)[1])

    def logged(self, words: str) -> str:
        """The last whole line with these words in nginx's log, which is written after an answer; waits for one."""

        def lines() -> list[str]:
            return [line for line in self.log().splitlines(keepends=True) if words in line and line.endswith("\n")]

        wait_until(lambda: bool(lines()), f"a line with {words!r} in nginx's log")
        return lines()[-1].rstrip("\n")

    def replica(self, port: int) -> Replica:
        return next(replica for replica in self.cluster.replicas if replica.port == port)

    def log(self) -> str:
        return (self.cluster.folder / "access.log").read_text()


@pytest.fixture(scope="session", autouse=True)
def not_warmed() -> Iterator[None]:
    """Servers under test do not warm: it would take the machine from the tests beside them."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DPGP_WARM", "0")
        yield


# Loaded by python before anything else: whoever looks up or connects to a host outside is noted, and waits for ever.
NO_ANSWER = """
import os, socket, time

def outside(host):
    name = host.decode() if isinstance(host, bytes) else str(host)
    if host and not name.startswith("127.") and name not in ("localhost", "::1", "0.0.0.0"):
        with open(os.environ["NOTED"], "a") as noted:
            print(name, file=noted)
        time.sleep(600)

class Socket(socket.socket):
    def connect(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6):
            outside(address[0])
        return super().connect(address)

look_up = socket.getaddrinfo

def getaddrinfo(host, *more, **named):
    outside(host)
    return look_up(host, *more, **named)

socket.socket, socket.getaddrinfo = Socket, getaddrinfo
"""


class Deaf(Asked):
    """A server that knows nobody outside; ``noted`` has the names that it looked up, if any."""

    def __init__(self, address: str, noted: Path) -> None:
        super().__init__(address)
        self.noted = noted


def hear_nobody(folder: Path, **settings: str) -> Iterator[Deaf]:
    (folder / "sitecustomize.py").write_text(NO_ANSWER)
    settings |= {"PYTHONPATH": f"{folder}{os.pathsep}{tool.ROOT}", "NOTED": str(folder / "noted")}
    with tool.serve(**settings, DPGP_WORKERS="1") as address:
        yield Deaf(address, folder / "noted")


@pytest.fixture(scope="session")
def deaf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deaf]:
    yield from hear_nobody(tmp_path_factory.mktemp("deaf"))


@pytest.fixture(scope="module")
def deaf_under_a_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deaf]:
    yield from hear_nobody(tmp_path_factory.mktemp("deaf"), STREAMLIT_SERVER_BASE_URL_PATH="dpgp")


def handshake(address: str, origin: str | None, host: str | None = None, door: str = "/_stcore/stream") -> int:
    """Status of a WebSocket handshake at a door; TimeoutError if there is none."""
    parts = urlsplit(address)
    lines = [
        f"GET {parts.path}{door} HTTP/1.1",
        f"Host: {host or parts.netloc}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Protocol: streamlit",
        *([] if origin is None else [f"Origin: {origin}"]),
    ]
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        return int(connection.recv(4096).split()[1])


def start(replicas: int) -> Iterator[Gate]:
    if local.NGINX is None:
        pytest.skip("NO NGINX: nginx is not installed, so what stands before the replicas was not tested")
    with local.running(replicas) as cluster:
        yield Gate(cluster)


@pytest.fixture(scope="module")
def gate() -> Iterator[Gate]:
    yield from start(2)


@pytest.fixture(scope="module")
def gate_of_three() -> Iterator[Gate]:
    yield from start(3)

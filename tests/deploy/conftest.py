from __future__ import annotations

import re
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message

import pytest

from deploy import local
from deploy.local import Cluster, Replica
from tests.e2e import browser as tool
from tests.waiting import PATIENCE, wait_until


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Message
    body: bytes


class Gate:
    """A running cluster, and what can be asked of it."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.address = cluster, cluster.address

    def ask(self, path: str, body: bytes | None = None, method: str | None = None, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.address + path, body, named, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return Answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.headers, error.read())

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


@pytest.fixture(scope="module")
def chromium():
    if tool.CHROMIUM is None:
        pytest.skip("NO BROWSER: chromium is not installed, so no browser test ran")
    with tool.launch() as browser:
        yield browser

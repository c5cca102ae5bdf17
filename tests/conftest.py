from __future__ import annotations

import os
import random
import re
import shutil
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

ROOMS = ("tests/e2e/", "tests/pages/")
LONG = ("tests/core/bayes/", "tests/test_fuzz.py")  # at the end one worker would be alone with them
LATER = re.compile("tests/pages/test_(?!terms)[p-z]")  # the second half; words are read where Compare is computed

# The same examples in every run, and none refused for taking long: other work may share the machine.
settings.register_profile(
    "steady", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


@pytest.fixture(scope="session", autouse=True)
def state_of_its_own() -> Iterator[None]:
    """Ledgers and keys of tests, and of the servers that they start, are in a folder that goes with them."""
    folder = tempfile.mkdtemp(prefix="dpgp-state-")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DPGP_STATE", os.path.join(folder, "state"))
        for name in ("DPGP_LEDGER_DSN", "DPGP_LEDGER_KEY"):
            environment.delenv(name, raising=False)
        yield
    shutil.rmtree(folder)


@pytest.fixture
def forced(monkeypatch: pytest.MonkeyPatch) -> list[os.stat_result]:
    """Files and folders as they were when they were forced to the disk, in order: what a power cut leaves."""
    seen, force = list[os.stat_result](), os.fsync

    def noted(descriptor: int) -> None:
        seen.append(os.fstat(descriptor))
        force(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    return seen


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run files, and the tests in each, in a random order")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: a worker waits for its browser most of the time."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling:
    return ByRoom(config, log)


class ByRoom(LoadFileScheduling):
    """A file stays together. For `make test`, so do the browser and each half of the pages, which share results."""

    def _split_scope(self, nodeid: str) -> str:
        path = super()._split_scope(nodeid)
        if self.config.option.markexpr != "not full" or not path.startswith(ROOMS):
            return path
        return LATER.pattern if LATER.match(path) else next(filter(path.startswith, ROOMS))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        for each in item.iter_markers("full_for"):
            if item.callspec.id in each.args:
                item.add_marker(pytest.mark.full)
    if not any("[" in each for each in config.args):  # all parameters of the tests are there
        named = {
            (item.nodeid.partition("[")[0], id)
            for item in items
            for marker in item.iter_markers("full_for")
            for id in marker.args
        }
        found = {(item.nodeid.partition("[")[0], item.callspec.id) for item in items if hasattr(item, "callspec")}
        if named - found:
            raise pytest.UsageError(f"full_for names parameters that are not there: {sorted(named - found)}")
    seed = config.getoption("--shuffle")
    if seed is None:  # what takes longest begins first
        items.sort(key=lambda item: (not item.nodeid.startswith(ROOMS), not item.nodeid.startswith(LONG)))
    else:
        random.Random(seed).shuffle(items)
        place = {path: number for number, path in enumerate(dict.fromkeys(item.path for item in items))}
        items.sort(key=lambda item: place[item.path])  # a file stays together: its fixtures are set up once

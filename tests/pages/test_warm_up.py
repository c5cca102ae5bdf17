"""The server's own visits: their processes, how they start, and what they warm."""

from __future__ import annotations

import asyncio
import gc
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children
from multiprocessing.synchronize import SemLock
from threading import current_thread
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from pages._ui import menu
from pages._ui.serve import startup
from pages._ui.visitor import WARM_UP, is_warm_up
from pages._ui.work import cached
from pages._ui.work.jobs import Jobs
from pages._ui.work.waiting import FairSemaphore
from pages._ui.work.workers import NotStarted, Workers
from tests.pages.work import beat, niceness, scaled, tell
from tests.waiting import PATIENCE, wait_until


@pytest.fixture
def visitors():
    pool = Workers(1)
    yield pool
    pool.stop()


@pytest.fixture
def warm_up(visitors):
    pool = Workers(1, behind=visitors)
    yield pool
    pool.stop()


@pytest.mark.full
def test_the_servers_work_yields_to_visitors(visitors, warm_up):
    jobs = Jobs(room=10**6, workers=visitors, warm_up=warm_up, owner=lambda: WARM_UP + "x")
    behind = jobs.get(niceness, 0).value
    jobs.owner = lambda: "a visitor"
    assert jobs.get(niceness, 1).value < behind
    jobs.owner, jobs.warm_up = lambda: WARM_UP + "x", None  # the visits are over
    assert jobs.get(niceness, 2).value < behind


@pytest.mark.full
def test_visitors_do_not_wait_for_warm_up(visitors, warm_up, tmp_path):
    here = current_thread()
    jobs = Jobs(10**6, visitors, warm_up=warm_up, owner=lambda: None if current_thread() is here else WARM_UP + "x")
    with ThreadPoolExecutor(1) as visits:
        begun = visits.submit(jobs.get, tell, str(tmp_path), "twice")
        wait_until(lambda: any(tmp_path.iterdir()), "the warm-up to begin")
        jobs.get(tell, str(tmp_path), "twice")
        begun.result(timeout=PATIENCE)
    assert len({path.name.split("-")[1] for path in tmp_path.iterdir()}) == 2  # one of each


def test_processes_start_early_and_never_after_stopping(visitors):
    """A page that still asks while the server ends would start processes anew, which nobody ends."""
    before = set(active_children())
    visitors.begin()
    assert set(active_children()) - before
    visitors.stop()
    visitors.begin()
    asked = visitors.submit(scaled, np.ones(2), 2.0)
    with pytest.raises(BrokenProcessPool):
        asked.result(timeout=PATIENCE)
    assert set(active_children()) == before


def test_waiting_tasks_learn_of_stopped_processes(visitors, monkeypatch):
    """Pebble leaves the future of a task that it stops as it is, unless it sees the process end first."""
    silent = SimpleNamespace(active=True, schedule=lambda *_: Future(), stop=lambda: None, join=lambda: None)
    monkeypatch.setattr(visitors, "_pool", silent)
    left = [visitors.submit(scaled, np.ones(2), 2.0) for _ in ("running", "waiting")]
    visitors.stop()
    assert [type(each.exception(timeout=0)) for each in left] == 2 * [NotStarted]
    assert not visitors.busy


@pytest.fixture
def last_visit(monkeypatch, tmp_path):
    """Begin the warm-up, of which one visit is left that works for so many seconds."""
    with ThreadPoolExecutor(1) as visits:

        def begun(seconds):
            monkeypatch.setattr(cached, "jobs", Jobs(room=10**6, workers=Workers(1), owner=lambda: WARM_UP + "x"))
            cached.begin_warm_up()
            last = visits.submit(cached.jobs.get, beat, str(tmp_path), seconds)
            wait_until((tmp_path / "process").exists, "the last visit's work to begin")
            return last

        yield begun


@pytest.mark.full
def test_the_warm_up_ends_with_its_work(last_visit):
    last = last_visit(1.0)
    cached.end_warm_up()
    assert last.result(timeout=PATIENCE).computed  # it was not cut off
    assert cached.jobs.warm_up is None
    cached.stop()


@pytest.mark.full
def test_stopping_during_warm_up_leaves_nothing(last_visit):
    """What is left over, the terminal tells of: "2 leaked semaphore objects"."""
    before, children = semaphores(), set(active_children())
    last = last_visit(20.0)
    with ThreadPoolExecutor(1) as others:
        closing = others.submit(cached.end_warm_up)
        wait_until(closing.running, "the end of the warm-up to be asked for")
        cached.stop()
        assert (semaphores(), set(active_children())) == (before, children)
        assert last.exception(timeout=PATIENCE) is not None
        closing.result(timeout=PATIENCE)


def semaphores():
    gc.collect()
    return {id(each) for each in gc.get_objects() if isinstance(each, SemLock)}


@pytest.fixture
def quiet(monkeypatch):
    """Neither processes nor visits are started; what was exempted from collection comes back."""
    started = []
    monkeypatch.setattr(startup.cached, "start", lambda: started.append("workers"))
    monkeypatch.setattr(startup.cached, "work_ahead", lambda: started.append("working ahead"))
    monkeypatch.setattr(startup.cached, "begin", lambda: None)
    monkeypatch.setattr(startup.cached, "stop", lambda: started.append("no workers"))

    async def open_pages():
        started.append("visits")
        try:
            await asyncio.Event().wait()
        finally:
            started.append("no visits")

    monkeypatch.setattr(startup, "open_pages", open_pages)
    interval = sys.getswitchinterval()
    yield started
    sys.setswitchinterval(interval)
    gc.unfreeze()


async def serve_briefly():
    async with startup.lifespan(None):
        assert sys.getswitchinterval() < 0.001
        assert gc.get_freeze_count() > 50_000  # what is loaded is not gone through after every run of a page
        await asyncio.sleep(0)
    await asyncio.sleep(0)


@pytest.mark.full
@pytest.mark.parametrize(
    ("asked", "steps"),
    [
        ("1", ["workers", "working ahead", "visits", "no workers", "no visits"]),
        ("0", ["workers", "no workers"]),
    ],
    ids=["warm", "cold"],
)
def test_a_server_starts_and_stops_its_parts(quiet, monkeypatch, capsys, asked, steps):
    monkeypatch.setenv("DPGP_WARM", asked)
    before = gc.get_freeze_count()
    asyncio.run(serve_briefly())
    assert before == 0
    assert capsys.readouterr().out == f"Dashboard URL: {startup.address()}\n"
    assert quiet == steps


# ---- The server's own visits, against a runtime of the test's. A real server's: tests/e2e/test_newcomer.py.


WHOLE = ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY)
AGAIN = ForwardMsg(script_finished=ForwardMsg.FINISHED_EARLY_FOR_RERUN)


class Server:
    """A runtime whose pages send what the test says, by page; most are whole at once."""

    def __init__(self, sends):
        self.sends, self.visited, self.tabs, self.most = sends, [], {}, 0

    def connect_session(self, client, user_info, session_id_override):
        assert is_warm_up(session_id_override)
        self.tabs[session_id_override] = client
        self.most = max(self.most, len(self.tabs))
        return session_id_override

    def handle_backmsg(self, number, message):
        page = message.rerun_script.page_name
        self.visited.append(page)
        for each in self.sends.get(page, [WHOLE]):
            asyncio.get_running_loop().call_soon(self.tabs[number].write_forward_msg, each)

    def close_session(self, number):
        del self.tabs[number]


def test_every_shared_page_is_visited_once(monkeypatch):
    found = Server({"attack": [AGAIN, WHOLE]})
    monkeypatch.setattr(startup.Runtime, "instance", lambda: found)
    asyncio.run(startup.open_pages())
    assert found.tabs == {}  # every tab is closed
    files = [page.file for page in menu.PAGES if page.file != "your_data"]
    assert found.visited == ["", *files[1:]]  # the first page is at the root
    assert found.most == 1


def test_visitors_delay_the_servers_visits(monkeypatch):
    found, permits = Server({}), FairSemaphore(2)
    monkeypatch.setattr(startup.Runtime, "instance", lambda: found)
    monkeypatch.setattr(startup.waiting, "RENDERING", permits)

    async def beside_a_visitor():
        permits.acquire()
        visits = asyncio.create_task(startup.open_pages())
        await asyncio.sleep(5 * startup._LOOK_SECONDS)
        begun = len(found.visited)
        permits.release()
        await visits
        return begun

    assert asyncio.run(beside_a_visitor()) == 0
    assert len(found.visited) == len(menu.shared())

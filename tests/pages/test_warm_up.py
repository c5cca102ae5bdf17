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
from pages._ui.work.workers import Workers
from tests.pages.work import beat, niceness, scaled, tell
from tests.waiting import PATIENCE, wait_until


def test_the_servers_own_work_has_processes_behind_those_of_visitors():
    visitors = Workers(1)
    warm_up = Workers(1, behind=visitors)
    jobs = Jobs(room=10**6, workers=visitors, warm_up=warm_up, owner=lambda: WARM_UP + "x")
    try:
        behind = jobs.get(niceness, 0).value
        jobs.owner = lambda: "a visitor"
        assert jobs.get(niceness, 1).value < behind
        jobs.owner, jobs.warm_up = lambda: WARM_UP + "x", None  # the visits are over
        assert jobs.get(niceness, 2).value < behind
    finally:
        warm_up.stop()
        visitors.stop()


def test_a_visitor_waits_for_nothing_that_the_warm_up_has_begun(tmp_path):
    visitors = Workers(1)
    warm_up = Workers(1, behind=visitors)
    here = current_thread()
    jobs = Jobs(
        room=10**6, workers=visitors, warm_up=warm_up, owner=lambda: None if current_thread() is here else WARM_UP + "x"
    )
    with ThreadPoolExecutor(1) as visits:
        begun = visits.submit(jobs.get, tell, str(tmp_path), "twice")
        wait_until(lambda: any(tmp_path.iterdir()), "the warm-up to begin")
        jobs.get(tell, str(tmp_path), "twice")
        begun.result(timeout=PATIENCE)
    assert len({path.name.split("-")[1] for path in tmp_path.iterdir()}) == 2  # one of each
    warm_up.stop()
    visitors.stop()


def test_processes_are_there_before_the_first_task():
    pool, before = Workers(1), set(active_children())
    try:
        pool.begin()
        assert set(active_children()) - before
    finally:
        pool.stop()


def test_nothing_is_begun_by_processes_that_are_stopped():
    """A page that still asks while the server ends would start processes anew, which nobody ends."""
    pool, before = Workers(1), set(active_children())
    pool.begin()
    pool.stop()
    pool.begin()
    asked, _ = pool.submit(scaled, np.ones(2), 2.0)
    with pytest.raises(BrokenProcessPool):
        asked.result(timeout=PATIENCE)
    assert set(active_children()) == before


def test_whoever_waits_for_processes_that_are_stopped_is_told(monkeypatch):
    """Pebble leaves the future of a task that it stops as it is, unless it sees the process end first."""
    pool = Workers(1)
    silent = SimpleNamespace(active=True, schedule=lambda *_: Future(), stop=lambda: None, join=lambda: None)
    monkeypatch.setattr(pool, "_pool", silent)
    left = [pool.submit(scaled, np.ones(2), 2.0)[0] for _ in ("running", "waiting")]
    pool.stop()
    assert [type(each.exception(timeout=0)) for each in left] == 2 * [BrokenProcessPool]
    assert not pool.busy


def test_the_warm_up_ends_when_its_work_is_done(monkeypatch, tmp_path):
    monkeypatch.setattr(cached, "jobs", Jobs(room=10**6, workers=Workers(1), owner=lambda: WARM_UP + "x"))
    cached.begin_warm_up()
    with ThreadPoolExecutor(1) as visits:
        last = visits.submit(cached.jobs.get, beat, str(tmp_path), 1.0)
        wait_until((tmp_path / "process").exists, "the last visit's work to begin")
        cached.end_warm_up()
        assert last.result(timeout=PATIENCE).computed  # it was not cut off
    assert cached.jobs.warm_up is None
    cached.stop()


def test_a_server_that_is_stopped_while_the_warm_up_ends_leaves_nothing(monkeypatch, tmp_path):
    """What is left over, the terminal tells of: "2 leaked semaphore objects"."""
    before, children = semaphores(), set(active_children())
    monkeypatch.setattr(cached, "jobs", Jobs(room=10**6, workers=Workers(1), owner=lambda: WARM_UP + "x"))
    cached.begin_warm_up()
    with ThreadPoolExecutor(2) as others:
        last = others.submit(cached.jobs.get, beat, str(tmp_path), 20.0)
        wait_until((tmp_path / "process").exists, "the last visit's work to begin")
        closing = others.submit(cached.end_warm_up)
        wait_until(lambda: cached.jobs.warm_up is None, "the warm-up to end")
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


@pytest.mark.parametrize(("asked", "warming"), [("1", True), ("0", False)])
def test_a_server_starts_workers_and_visits_says_where_it_is_and_stops_both(quiet, monkeypatch, capsys, asked, warming):
    monkeypatch.setenv("DPGP_WARM", asked)
    before = gc.get_freeze_count()
    asyncio.run(serve_briefly())
    assert before == 0
    assert capsys.readouterr().out == f"Dashboard URL: {startup.address()}\n"
    assert quiet == (
        ["workers", "working ahead", "visits", "no workers", "no visits"] if warming else ["workers", "no workers"]
    )


# ---- The server's own visits, against a runtime of the test's. A real server's: tests/e2e/test_newcomer.py.


def finished(how):
    message = ForwardMsg()
    message.script_finished = how
    return message


WHOLE, AGAIN = finished(ForwardMsg.FINISHED_SUCCESSFULLY), finished(ForwardMsg.FINISHED_EARLY_FOR_RERUN)


class Server:
    """A runtime whose pages send what the test says: by page, one list of messages a visit."""

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
        for each in self.sends.get(page, [[WHOLE]]).pop():
            asyncio.get_running_loop().call_soon(self.tabs[number].write_forward_msg, each)

    def close_session(self, number):
        del self.tabs[number]


@pytest.fixture
def warmed(monkeypatch):
    def made(sends):
        found = Server(sends)
        monkeypatch.setattr(startup.Runtime, "instance", lambda: found)
        asyncio.run(startup.open_pages())
        assert found.tabs == {}  # every tab is closed
        return found

    return made


def test_every_page_is_opened_once_but_the_one_that_belongs_to_a_session(warmed):
    found = warmed({})
    files = [page.file for page in menu.PAGES if page.file != "your_data"]
    assert found.visited == ["", *files[1:]]  # the first page is at the root
    assert found.most == 1


def test_no_page_is_opened_while_one_is_made_for_a_visitor(monkeypatch):
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


def test_a_page_that_is_made_again_is_waited_for_to_its_end(warmed):
    assert len(warmed({"attack": [[AGAIN, WHOLE]]}).visited) == len(menu.shared())


def test_its_work_and_nobody_elses_gives_way():
    assert is_warm_up(startup.WARM_UP + "x")
    assert not is_warm_up(None)
    assert not is_warm_up("a visitor's token of enough length")

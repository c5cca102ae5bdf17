"""Processes of the server's own visits: behind everybody else's, and gone when the visits are over."""

from __future__ import annotations

import gc
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children
from multiprocessing.synchronize import SemLock
from threading import current_thread
from types import SimpleNamespace

import numpy as np
import pytest

from pages._ui.visitor import HOUSE
from pages._ui.work import cached
from pages._ui.work.jobs import Jobs
from pages._ui.work.workers import Workers
from tests.pages.work import beat, niceness, scaled, tell
from tests.waiting import PATIENCE, wait_until


def test_the_servers_own_work_has_processes_behind_those_of_visitors():
    visitors = Workers(1)
    house = Workers(1, behind=visitors)
    jobs = Jobs(room=10**6, workers=visitors, house=house, owner=lambda: HOUSE + "x")
    try:
        behind = jobs.get(niceness, 0).value
        jobs.owner = lambda: "a visitor"
        assert jobs.get(niceness, 1).value < behind
        jobs.owner, jobs.house = lambda: HOUSE + "x", None  # the visits are over
        assert jobs.get(niceness, 2).value < behind
    finally:
        house.stop()
        visitors.stop()


def test_a_visitor_waits_for_nothing_that_the_house_has_begun(tmp_path):
    visitors = Workers(1)
    house = Workers(1, behind=visitors)
    here = current_thread()
    jobs = Jobs(
        room=10**6, workers=visitors, house=house, owner=lambda: None if current_thread() is here else HOUSE + "x"
    )
    with ThreadPoolExecutor(1) as visits:
        begun = visits.submit(jobs.get, tell, str(tmp_path), "twice")
        wait_until(lambda: any(tmp_path.iterdir()), "the house's work to begin")
        jobs.get(tell, str(tmp_path), "twice")
        begun.result(timeout=PATIENCE)
    assert len({path.name.split("-")[1] for path in tmp_path.iterdir()}) == 2  # one of each
    house.stop()
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


def test_the_house_is_closed_when_its_work_is_done(monkeypatch, tmp_path):
    monkeypatch.setattr(cached, "jobs", Jobs(room=10**6, workers=Workers(1), owner=lambda: HOUSE + "x"))
    cached.open_house()
    with ThreadPoolExecutor(1) as visits:
        last = visits.submit(cached.jobs.get, beat, str(tmp_path), 1.0)
        wait_until((tmp_path / "process").exists, "the last visit's work to begin")
        cached.close_house()
        assert last.result(timeout=PATIENCE).computed  # it was not cut off
    assert cached.jobs.house is None
    cached.stop()


def test_a_server_that_is_stopped_while_the_house_closes_leaves_nothing(monkeypatch, tmp_path):
    """What is left over, the terminal tells of: "2 leaked semaphore objects"."""
    before, children = semaphores(), set(active_children())
    monkeypatch.setattr(cached, "jobs", Jobs(room=10**6, workers=Workers(1), owner=lambda: HOUSE + "x"))
    cached.open_house()
    with ThreadPoolExecutor(2) as others:
        last = others.submit(cached.jobs.get, beat, str(tmp_path), 20.0)
        wait_until((tmp_path / "process").exists, "the last visit's work to begin")
        closing = others.submit(cached.close_house)
        wait_until(lambda: cached.jobs.house is None, "the house to close")
        cached.stop()
        assert (semaphores(), set(active_children())) == (before, children)
        assert last.exception(timeout=PATIENCE) is not None
        closing.result(timeout=PATIENCE)


def semaphores():
    gc.collect()
    return {id(each) for each in gc.get_objects() if isinstance(each, SemLock)}

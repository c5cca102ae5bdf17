from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages._ui.compare import contenders, words
from pages._ui.look.tables import values_of
from pages._ui.serve import startup
from pages._ui.visitor import WARM_UP
from pages._ui.work import cached, waiting
from pages._ui.work.jobs import Jobs, WorkStopped, key_of
from pages._ui.work.waiting import Postponed
from pages._ui.work.workers import _PRELOADED, Workers
from tests.pages.work import (
    MovedOn,
    beat,
    beside,
    die,
    each_scaled,
    fill,
    line,
    number_of_process,
    refuse,
    resident,
    scaled,
    tell,
    tell_of_interrupts,
    until_told,
    unused,
    use_and_free,
)
from tests.waiting import PATIENCE, wait_until


@pytest.fixture(scope="module")
def workers():
    pool = Workers(2)
    yield pool
    pool.stop()


@pytest.fixture
def jobs(workers):
    return Jobs(room=10**6, workers=workers, owner=lambda: "a visitor")


def ended(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def test_equal_settings_are_computed_once(tmp_path):
    jobs = Jobs(room=10**6)
    first, second = jobs.get(tell, str(tmp_path), "a"), jobs.get(tell, str(tmp_path), "a")
    assert first.computed
    assert not second.computed
    assert second.value is first.value
    assert len(list(tmp_path.iterdir())) == 1
    assert jobs.get(tell, str(tmp_path), "b").value is not first.value
    with pytest.raises(ValueError, match="read-only"):
        first.value[0] = 1


def test_given_results_are_not_in_the_key():
    jobs, ones = Jobs(room=10**6), np.ones(3)
    assert (jobs.get(scaled, 2.0, given=(ones,)).value == 2).all()
    assert not jobs.get(scaled, 2.0, given=(ones * 5,)).computed
    assert jobs.get(scaled, 3.0, given=(ones,)).computed
    assert contenders.table.__qualname__ == words.table.__qualname__
    assert key_of(contenders.table, (1,)) != key_of(words.table, (1,))


def test_one_task_computes_what_is_missing_of_several():
    jobs, ones = Jobs(room=10**6), np.ones(1000)
    first = jobs.get(scaled, 2.0, given=(ones,)).value
    alone, requests = jobs.size, [(scaled, (factor,)) for factor in (3.0, 2.0, 4.0)]
    three, two, four = jobs.get_together(each_scaled, requests, given=(ones,))
    assert two is first
    assert [three[0], four[0]] == [3, 4]
    assert jobs.find(scaled, 3.0) is three
    assert jobs.find(each_scaled, ((3.0,), (4.0,))) is None
    assert jobs.size < 3.1 * alone  # each is kept once
    assert all(one is two for one, two in zip(jobs.get_together(unused, requests), (three, two, four), strict=True))


def test_figures_need_results_with_settings(cold):
    with pytest.raises(TypeError, match="takes results that do not know their settings; name them with of="):
        cached.drawn(line, 1.0, np.ones(2))
    one, other = (cached.drawn(line, 1.0, np.full(2, at), of=at) for at in (1, 2))
    assert [values_of(each.data[0].y).tolist() for each in (one, other)] == [[1, 1], [2, 2]]


def test_the_least_recently_used_is_dropped():
    jobs, row = Jobs(room=25_000), np.ones(1000)  # 8,000 bytes each
    for factor in (1.0, 2.0, 3.0):
        jobs.get(scaled, factor, given=(row,))
    jobs.get(scaled, 1.0, given=(row,))
    jobs.get(scaled, 4.0, given=(row,))
    assert jobs.size <= 25_000
    assert not jobs.get(scaled, 1.0, given=(row,)).computed
    assert jobs.get(scaled, 2.0, given=(row,)).computed
    assert jobs.get(scaled, 9.0, given=(np.zeros(10_000),)).value.shape == (10_000,)
    assert jobs.size <= 25_000


def test_large_results_are_dropped_before_small_ones():
    jobs, small, large = Jobs(room=1_200_000), np.ones(10), np.ones(2**16)  # 524,288 bytes
    jobs.get(scaled, 1.0, given=(small,))
    for factor in (2.0, 3.0, 4.0):
        jobs.get(scaled, factor, given=(large,))
    assert jobs.size <= 1_200_000
    assert not jobs.get(scaled, 1.0, given=(small,)).computed
    assert not jobs.get(scaled, 4.0, given=(large,)).computed
    assert jobs.get(scaled, 2.0, given=(large,)).computed


def test_shared_arrays_count_once():
    jobs = Jobs(room=18_000)
    row = jobs.get(scaled, 1.0, given=(np.ones(1000),)).value  # 8,000 bytes
    alone = jobs.size
    results = [jobs.get(beside, factor, given=(row,)).value for factor in (2.0, 3.0)]
    assert all(np.shares_memory(row, whole) and not np.shares_memory(row, part) for whole, part, _ in results)
    assert [new[0] for _, _, new in results] == [2.0, 3.0]
    assert jobs.size < alone + 2 * 1000
    for factor in range(4, 50):  # until what was given is gone from the cache, and only results hold it
        jobs.get(beside, float(factor), given=(row,))
    assert jobs.get(scaled, 1.0, given=(np.ones(1000),)).computed
    assert jobs.size <= 18_000
    jobs.give_back(-1.0)  # all of them
    assert jobs.size == 0
    assert (results[0][0] == 1).all()


def test_arrays_that_return_from_a_process_are_shared(workers):
    """A plan came back with a copy of the matrix that it was given."""
    jobs = Jobs(room=10**6, workers=workers)
    row = jobs.get(scaled, 1.0, given=(np.ones(1000),)).value
    for factor in (2.0, 3.0):
        whole, *_ = jobs.get(beside, factor, given=(row,)).value
        assert np.shares_memory(row, whole)
    assert jobs.size < 2 * 8000


def test_unused_results_are_returned(monkeypatch):
    clock, asks = [1000.0], []
    monkeypatch.setattr("pages._ui.work.jobs.time.monotonic", lambda: clock[0])
    jobs = Jobs(room=10**6, owner=lambda: asks[-1])
    for who, factor in ((WARM_UP + "a", 1.0), ("b", 2.0), ("b", 3.0), ("b", 4.0)):
        asks.append(who)
        jobs.get(scaled, factor, given=(np.ones(1000),))
    asks.append(WARM_UP + "b")
    jobs.get(scaled, 4.0, given=(np.ones(1000),))  # somebody chose it before the server's visit came to it
    asks.append("c")
    clock[0] += 200
    jobs.get(scaled, 3.0, given=(np.ones(1000),))
    clock[0] += 200
    before = jobs.size
    jobs.give_back(300.0)
    assert [jobs.find(scaled, factor) is not None for factor in (1.0, 2.0, 3.0, 4.0)] == [True, False, True, True]
    assert before > jobs.size > 3 * 8000
    clock[0] += 1000
    jobs.give_back(300.0)
    assert [jobs.find(scaled, factor) is not None for factor in (1.0, 2.0, 3.0, 4.0)] == [True, False, False, True]
    assert 3 * 8000 > jobs.size > 2 * 8000


@pytest.mark.full
def test_processes_return_freed_memory():
    pool, megabytes = Workers(1), []
    try:
        for used in (0, 200):
            pool.submit(use_and_free, used).result(PATIENCE)
            megabytes.append(pool.submit(resident).result(PATIENCE))
    finally:
        pool.stop()
    before, after = megabytes
    assert after < before + 50


def test_twenty_visitors_share_one_computation(jobs, tmp_path):
    with ThreadPoolExecutor(20) as visitors:
        values = list(visitors.map(lambda _: jobs.get(tell, str(tmp_path), "a").value, range(20)))
    assert len(list(tmp_path.iterdir())) == 1
    assert all(value is values[0] for value in values)


def test_work_that_nobody_waits_for_is_stopped(jobs, tmp_path):
    seen = []

    def move_on(fraction, *_):
        seen.append(fraction)
        if fraction > 0:
            raise MovedOn

    with pytest.raises(MovedOn):
        jobs.get(beat, str(tmp_path), 10 * PATIENCE, waiting=move_on)
    process = int((tmp_path / "process").read_text())
    wait_until(lambda: ended(process), "the worker's end")
    assert seen == sorted(seen)  # real fractions, from the worker
    assert jobs.get(scaled, 2.0, given=(np.ones(2),)).value.tolist() == [2, 2]  # the pool goes on


def postpone(*_, **__):
    raise Postponed


def test_postponed_work_continues(jobs, tmp_path):
    with pytest.raises(Postponed):
        jobs.get(until_told, str(tmp_path), waiting=postpone)
    with pytest.raises(Postponed):  # it is the same task
        jobs.get(until_told, str(tmp_path), waiting=postpone)
    assert len(jobs._tasks._going) == 1
    (tmp_path / "go").touch()
    wait_until(lambda: jobs.find(until_told, str(tmp_path)) is not None, "a result that nobody waits for")
    assert not jobs.get(until_told, str(tmp_path)).computed


def test_new_requests_stop_postponed_work(jobs, tmp_path):
    with pytest.raises(Postponed):
        jobs.get(beat, str(tmp_path), 600.0, waiting=postpone)
    wait_until((tmp_path / "process").exists, "the task's beginning")
    assert jobs.get(scaled, 2.0, given=(np.ones(2),)).value.tolist() == [2, 2]
    wait_until(lambda: ended(int((tmp_path / "process").read_text())), "the worker's end")
    assert not jobs._tasks._going


def test_abandoned_postponed_work_is_stopped(jobs, tmp_path, monkeypatch):
    monkeypatch.setattr("pages._ui.work.jobs.KEPT_SECONDS", 0.1)
    with pytest.raises(Postponed):
        jobs.get(beat, str(tmp_path), 600.0, waiting=postpone)
    wait_until(lambda: not jobs._tasks._going, "the task's end")
    assert jobs.size == 0


def test_private_work_is_not_postponed(workers, tmp_path):
    for owner, ask in (("a", Jobs.once), (None, Jobs.get)):
        jobs = Jobs(room=10**6, workers=workers, owner=lambda owner=owner: owner)
        with pytest.raises(Postponed):
            ask(jobs, beat, str(tmp_path), 600.0, waiting=postpone)
        assert not jobs._tasks._going


def test_pages_wait_long_only_if_alone(monkeypatch):
    monkeypatch.setattr("streamlit.empty", lambda: None)
    waiting.reserve()
    monkeypatch.setattr(waiting, "PATIENCE_SECONDS", 100.0)
    waiting.Bar("x", postpones=True)(0.0, None, True)
    monkeypatch.setattr(waiting, "PATIENCE_SECONDS", -1.0)
    waiting.Bar("x", postpones=True)(0.0, None, False)
    waiting.Bar("x")(0.0, None, True)
    with pytest.raises(Postponed):
        waiting.Bar("x", postpones=True)(0.0, None, True)


def test_a_long_wait_offers_to_return(monkeypatch):
    def page():
        from pages._ui.look import address
        from pages._ui.work import cached

        with address.explained():
            cached.value("Designing the noise", abs, -1)

    jobs = Jobs(room=10**6)
    monkeypatch.setattr(cached, "jobs", jobs)
    jobs.get = postpone
    app = AppTest.from_function(page).run()
    assert not app.exception
    assert "Designing the noise: many visitors ask" in app.info[0].value
    del jobs.get
    app.button[0].click().run()
    assert not app.info


def test_one_leaving_visitor_does_not_disturb(jobs, tmp_path):
    joined = threading.Event()

    def move_on(*_):
        if joined.wait(PATIENCE):
            raise MovedOn

    with ThreadPoolExecutor(2) as visitors:
        leaving = visitors.submit(jobs.get, until_told, str(tmp_path), waiting=move_on)
        staying = visitors.submit(jobs.get, until_told, str(tmp_path), waiting=lambda *_: joined.set())
        with pytest.raises(MovedOn):
            leaving.result(timeout=PATIENCE)
        (tmp_path / "go").touch()
        assert staying.result(timeout=PATIENCE).value == "done"


def test_errors_return_and_dead_workers_are_explained(jobs):
    with pytest.raises(ValueError, match=r"value must be positive, got -1"):
        jobs.get(refuse, -1)
    with pytest.raises(WorkStopped, match=r"took too much memory and was stopped; choose a coarser one"):
        jobs.get(fill, 64.0)
    with pytest.raises(WorkStopped, match=r"the process that worked on it ended unexpectedly \(code 3\)"):
        jobs.get(die)


def test_a_killed_worker_leaves_no_zombie(jobs, tmp_path):

    def kill(fraction, *_):
        if fraction > 0:
            with contextlib.suppress(ProcessLookupError):  # by now it is dead
                os.kill(int((tmp_path / "process").read_text()), signal.SIGKILL)

    with pytest.raises(WorkStopped, match=r"was killed \(signal 9\), perhaps because .* try again"):
        jobs.get(beat, str(tmp_path), 60.0, waiting=kill)
    assert jobs.get(scaled, 2.0, given=(np.ones(2),)).value.tolist() == [2, 2]
    killed = Path("/proc") / (tmp_path / "process").read_text()
    wait_until(lambda: not killed.exists(), "the killed process to be gone, and no zombie")


@pytest.mark.full
def test_tasks_end_after_their_time(jobs, tmp_path, monkeypatch):
    jump = iter(range(10**6))
    with monkeypatch.context() as clock:
        clock.setattr("time.time", lambda: 1e9 + 1e6 * next(jump))  # an hour and more at every look
        assert jobs.get(beat, str(tmp_path), 1.0).value == "done"
    monkeypatch.setattr("pages._ui.work.jobs.LONGEST_SECONDS", 0.5)
    with pytest.raises(WorkStopped, match=r"and was stopped; choose a coarser one"):
        jobs.get(beat, str(tmp_path), 60.0)


def test_processes_ignore_ctrl_c(workers):
    workers.submit(number_of_process).result()
    context, (here, there) = multiprocessing.get_context("forkserver"), multiprocessing.Pipe(duplex=False)
    process = context.Process(target=tell_of_interrupts, args=(there,))  # as a worker is born
    process.start()
    assert here.poll(PATIENCE)
    assert not here.recv()
    process.join()


def test_private_tasks_leave_nothing_in_processes(workers):
    pool = Workers(1, tasks_each=1)
    jobs = Jobs(room=10**6, workers=workers, private=pool)
    numbers = {jobs.once(number_of_process) for _ in range(3)}
    assert len(numbers) == 3
    assert os.getpid() not in numbers
    handed = []
    submit = pool.submit

    def watched(*args, **named):
        handed.append(args[-1])
        return submit(*args, **named)

    pool.submit = watched
    assert (jobs.once(scaled, np.ones(2), 2.0) == 2).all()
    assert handed[0].args == ()
    pool.stop()


def test_processes_for_tables_end_with_their_task(monkeypatch):
    monkeypatch.setattr("tests.waiting.PATIENCE", 10.0)
    pool = cached.private_pool()
    process = Jobs(room=10**6, private=pool).once(number_of_process)
    try:
        wait_until(lambda: ended(process), "the end of a process whose task is done")
    finally:
        pool.stop()


@pytest.mark.full
def test_broken_pools_are_explained_and_replaced(monkeypatch):
    pool = Workers(1)
    jobs = Jobs(room=10**6, workers=pool)
    with monkeypatch.context() as broken:

        def refuse(*_, **__):
            raise OSError("AF_UNIX path too long")

        broken.setattr("multiprocessing.context.ForkServerProcess._Popen", staticmethod(refuse))
        with pytest.raises(WorkStopped, match="tell whoever runs this server"):
            jobs.get(scaled, 2.0, given=(np.ones(2),))
    assert jobs.get(scaled, 2.0, given=(np.ones(2),)).value.tolist() == [2, 2]
    pool.stop()


def test_what_belongs_to_one_session_is_kept_nowhere(workers, tmp_path):
    for jobs in (Jobs(room=10**6, workers=workers), Jobs(room=10**6)):
        private = np.full(3, 123.0)
        assert (jobs.once(scaled, private, 2.0) == 246).all()
        assert jobs.size == 0
        assert not jobs._tasks._going
    assert not list(tmp_path.rglob("*"))


def test_the_probe_sends_what_processes_have_loaded():
    """What they do not know would load the server in each of them."""
    sent, done = [], Future()
    done.set_result(None)
    assert startup.Probe(lambda function: sent.append(function.__module__) or done).problem() is None
    assert sent
    assert {*sent} <= {*_PRELOADED}


def test_processes_load_no_library_that_draws():
    """Half of a process's memory was libraries that only the server uses. They are loaded if a task uses them."""
    program = """
import importlib, sys
from pages._ui.work import workers
for name in workers._PRELOADED:
    importlib.import_module(name)
print([name for name in ("streamlit.runtime", "plotly.graph_objs", "scipy.stats", "matplotlib") if name in sys.modules])
import plotly.graph_objects as go
print(len(go.Figure().data), "plotly.graph_objs" in sys.modules, "streamlit.runtime" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "0 True False"]

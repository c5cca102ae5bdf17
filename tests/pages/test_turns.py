"""Who has waited longest goes first, nobody waits behind others' long tasks, and idle processes work ahead."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest

from pages._ui import left_out
from pages._ui.compare import compute, contenders
from pages._ui.compare.compute import concerning
from pages._ui.model import Model
from pages._ui.visitor import WARM_UP
from pages._ui.work import beforehand, cached, waiting
from pages._ui.work.cached import Ahead, Prefetch
from pages._ui.work.jobs import Jobs
from pages._ui.work.workers import SLOW_SECONDS, QueuedTask, TaskQueue, Workers, packed
from tests.pages.work import MovedOn, beat, refuse_ahead, scaled, tell, until_told
from tests.waiting import PATIENCE, wait_until


@pytest.fixture
def line(monkeypatch):
    """Two tasks at once, four processes, and a clock that the test sets."""
    now = [0.0]
    monkeypatch.setattr("pages._ui.work.workers.time.monotonic", lambda: now[0])
    turns = TaskQueue(limit=2, most=4)
    turns.now = now
    return turns


def ask(line, *owners):
    line.waiting += [QueuedTask(owner, scaled) for owner in owners]


def started(line):
    found = []
    while (turn := line.next()) is not None:
        found.append(turn.owner)
    return found


def test_each_owner_has_one_task_at_a_time(line):
    ask(line, "greedy", "greedy", "greedy", "a", "b")
    assert started(line) == ["greedy", "a"]
    line.end(line.running[0])
    assert started(line) == ["greedy"]  # asked before the next one
    line.end(line.running[0])
    assert started(line) == ["b"]


def test_the_page_that_has_waited_longest_goes_first(line):
    line.now[0] = 10.0
    ask(line, "now")
    line.waiting += [QueuedTask(owner, scaled, waits_since=since) for owner, since in (("new", 9.0), ("old", 2.0))]
    assert started(line) == ["old", "new"]
    line.waiting.append(QueuedTask("older", scaled, waits_since=1.0))
    line.running.clear()
    assert started(line) == ["older", "now"]


def test_a_page_waits_no_longer_by_its_own_work(monkeypatch):
    """Its later tasks go behind those of pages that have had no process yet."""
    now = [0.0]
    monkeypatch.setattr("pages._ui.work.waiting.time.monotonic", lambda: now[0])
    monkeypatch.setattr("pages._ui.work.waiting.st.empty", lambda: None)
    assert waiting.waits_since() == 0.0  # there is no page
    waiting.reserve()
    now[0] = 8.0
    assert waiting.waits_since() == 0.0
    waiting.count_work(1.0)
    assert waiting.waits_since() == waiting._WORK_WEIGHT < now[0]
    waiting.count_work(5.0)
    assert waiting.waits_since() == now[0]
    waiting.reserve()
    assert waiting.waits_since() == now[0]


def test_a_result_counts_the_work_of_its_page_only(monkeypatch, tmp_path):
    counted, workers = [], Workers(1)
    monkeypatch.setattr(waiting, "count_work", counted.append)
    jobs = Jobs(room=10**6, workers=workers)
    jobs.get(beat, str(tmp_path), 0.3)
    jobs.get(beat, str(tmp_path), 0.3)  # is kept
    workers.stop()
    assert len(counted) == 1
    assert counted[0] >= 0.3


def test_slow_tasks_make_room_for_newcomers(line):
    ask(line, "slow 1", "slow 2", "new", "newer", "too many")
    assert started(line) == ["slow 1", "slow 2"]
    line.now[0] = SLOW_SECONDS + 1
    assert started(line) == ["new", "newer"]
    line.now[0] *= 3
    assert started(line) == []
    line.end(line.running[0])
    assert started(line) == ["too many"]


def test_tasks_of_visitors_who_left_are_skipped(line):
    ask(line, "left", None, None)
    line.waiting[0].cancel()
    assert started(line) == [None, None]


def test_a_turn_ends_as_its_work_does():
    for end in (
        lambda work: work.set_result(3),
        lambda work: work.set_exception(MemoryError()),
    ):
        turn, work = QueuedTask("a", scaled), Future()
        end(work)
        turn.take_over(work)
        assert turn.done()
        assert turn.exception() is work.exception()
    turn, work = QueuedTask("a", scaled), Future()
    work.cancel()
    turn.take_over(work)
    with pytest.raises(CancelledError):
        turn.result()


@contextmanager
def hogs(make_jobs, owners, folder, running):
    """Visitors that ask for ten minutes of work each, of which so many run, until they move on."""
    gone = threading.Event()

    def wait(*_):
        if gone.is_set():
            raise MovedOn

    def hog(number):
        (folder / str(number)).mkdir()
        with pytest.raises(MovedOn):
            make_jobs(owners[number])(beat, str(folder / str(number)), 600.0, waiting=wait)

    with ThreadPoolExecutor(len(owners)) as visitors:
        asked = [visitors.submit(hog, number) for number in range(len(owners))]
        try:
            wait_until(lambda: len(list(folder.glob("*/process"))) == running, "their work to begin")
            yield
            assert len(list(folder.glob("*/process"))) == running
        finally:
            gone.set()
        for each in asked:
            each.result(timeout=PATIENCE)


@pytest.mark.full
def test_many_tabs_do_not_delay_other_visitors(tmp_path):
    pool = Workers(1, spare=2)

    def of(owner):
        return Jobs(room=10**6, workers=pool, owner=lambda: owner).get

    with hogs(of, [*12 * ["many"], "one"], tmp_path, running=2), ThreadPoolExecutor(1) as third:  # one of each runs
        answer = third.submit(of("third"), scaled, 2.0, given=(np.ones(2),))
        assert answer.result(timeout=PATIENCE).value.tolist() == [2, 2]
    pool.stop()


@pytest.mark.full
def test_a_small_file_overtakes_long_ones(tmp_path, monkeypatch):
    monkeypatch.setattr("pages._ui.work.workers.SLOW_SECONDS", 0.0)
    pool = cached.private_pool()

    def of(owner):
        return Jobs(room=0, private=pool, owner=lambda: owner).once

    with hogs(of, "ab", tmp_path, running=2), ThreadPoolExecutor(1) as third:
        small = third.submit(of("c"), scaled, np.ones(2), 2.0)
        assert small.result(timeout=PATIENCE).tolist() == [2, 2]
    pool.stop()


def test_few_pages_are_drawn_at_once():
    visitors_here = waiting.AT_ONCE + 5
    come, made, most, lock = [0], [0], [0], threading.Lock()
    together = threading.Barrier(visitors_here)

    def page(_):
        with lock:
            come[0] += 1
        with waiting.making():
            with lock:
                made[0] += 1
                most[0] = max(most[0], made[0])
            wait_until(lambda: come[0] == visitors_here, "all others to ask for a place")
            with lock:
                made[0] -= 1
            with waiting.aside(), waiting.aside():  # all of them get here, for none holds a place meanwhile
                together.wait(PATIENCE)
            return True

    with ThreadPoolExecutor(visitors_here) as visitors:
        assert all(visitors.map(page, range(visitors_here)))
    assert 1 <= most[0] <= waiting.AT_ONCE
    assert waiting.RENDERING.free == waiting.AT_ONCE


def test_a_failed_page_returns_its_place():
    def page(_):
        with pytest.raises(KeyError), waiting.making(), waiting.aside():
            raise KeyError

    with ThreadPoolExecutor(1) as visitors:
        list(visitors.map(page, range(2 * waiting.AT_ONCE)))
    assert waiting.RENDERING.free == waiting.AT_ONCE


def test_who_came_first_gets_the_next_place():
    permits, order = waiting.FairSemaphore(1), []
    permits.acquire()

    def visit(number):
        permits.acquire()
        order.append(number)
        permits.release()

    with ThreadPoolExecutor(5) as visitors:
        for number in range(5):
            visitors.submit(visit, number)
            wait_until(lambda number=number: len(permits._queue) == number + 1, "the next in line")
        permits.release()
    assert order == list(range(5))
    assert permits.free == 1


def test_better_results_wait_for_other_pages(monkeypatch):
    monkeypatch.setattr(waiting.st, "rerun", lambda: pytest.fail("there is nothing better yet"))
    waiting.afterwards(waiting.end_page)
    waiting.finish()
    assert not waiting.is_made_again()


# ---- Idle processes work ahead, and give way to whoever waits.


@pytest.fixture
def jobs():
    jobs = Jobs(room=10**6, workers=Workers(1))
    yield jobs
    jobs.workers.stop()


@pytest.fixture
def ahead(jobs):
    ahead = Ahead(jobs)
    yield ahead
    ahead.stop()


@pytest.mark.full
def test_the_latest_pages_requests_come_first(jobs, ahead, tmp_path):
    folder = str(tmp_path)
    ahead.prefetch([Prefetch(beat, (folder, 0.0), ())])
    wait_until(lambda: jobs.find(beat, folder, 0.0) is not None, "the request")
    ahead.prefetch([Prefetch(refuse_ahead, (1.0,), ()), Prefetch(beat, (folder, 0.1), ())])
    wait_until(lambda: jobs.find(beat, folder, 0.1) is not None, "the request after the bad one")


@pytest.mark.full
def test_who_waits_comes_before_all_wishes(jobs, ahead, tmp_path):
    ahead.prefetch([Prefetch(beat, (str(tmp_path), 3600.0), ())])
    wait_until((tmp_path / "process").exists, "the request to begin")
    assert jobs.get(tell, str(tmp_path), "urgent").computed  # there is one process, and it was given up
    assert jobs.find(beat, str(tmp_path), 3600.0) is None


@pytest.mark.full
def test_the_servers_own_visits_ask_for_nothing_next(jobs, ahead, monkeypatch, tmp_path):
    asks = [WARM_UP + "x"]
    monkeypatch.setattr(cached, "_ahead", [ahead])
    monkeypatch.setattr(cached, "_visitor", lambda: asks[0])
    cached.prefetch(Prefetch(tell, (str(tmp_path), "of the warm-up"), ()))
    asks[0] = "a visitor"
    cached.prefetch(Prefetch(tell, (str(tmp_path), "of a visitor"), ()))
    wait_until(lambda: jobs.find(tell, str(tmp_path), "of a visitor") is not None, "the request")
    assert jobs.find(tell, str(tmp_path), "of the warm-up") is None


@pytest.mark.full
def test_compare_requests_missing_results_then_neighbours(cold, monkeypatch):
    requested: list[Prefetch] = []
    monkeypatch.setattr(cached, "prefetch", lambda *requests: requested.extend(requests))
    contest = contenders.Contest(Model("toy_1d", "EQ", 1.0, 0.3), 1e-5, 10, 6)
    compute.curve(contest, "cloaking")
    compute.foresee(contest, ["cloaking", "bayes"])
    here = concerning(contest, "bayes")
    budgets = [contenders.budget_of(here, "bayes", epsilon) for epsilon in reversed(contenders.CURVE_EPSILONS)]
    every = [(budget, index) for index in (4, 3, 2, 1, 0) for budget in budgets]
    assert [request.settings for request in requested[: len(every)]] == every
    others = [concerning(each, "cloaking") for each in compute.neighbours(contest)]
    assert [request.settings[0] for request in requested if request.function is contenders.curve] == others
    assert [each.delta for each in others] == [1e-4, 1e-6, 1e-5, 1e-5]
    assert {each.settings[0].delta for each in requested if each.function is left_out.fold_residuals} == {
        1e-6,
        1e-5,
        1e-4,
    }


# ---- A page begins without what is not there soon.


@pytest.mark.full
def test_what_is_not_there_in_time_goes_on(tmp_path, monkeypatch):
    """It runs beside what the page asks for next."""
    workers = Workers(2)
    monkeypatch.setattr(cached, "jobs", Jobs(room=10**6, workers=workers, owner=lambda: "visitor"))
    monkeypatch.setattr(cached, "SOON_SECONDS", 0.2)
    assert cached.soon("waiting", until_told, str(tmp_path)) is None
    assert cached.value("scaling", scaled, 2.0, given=(np.ones(2),)).tolist() == [2, 2]
    (tmp_path / "go").touch()
    wait_until(lambda: cached.find(until_told, str(tmp_path)) is not None, "work that nobody waits for")
    monkeypatch.setattr(cached, "SOON_SECONDS", 0.0)
    assert cached.soon("waiting", until_told, str(tmp_path)) == ("done", False, pytest.approx(0, abs=1))
    workers.stop()


@pytest.mark.parametrize(
    ("crowded", "patience", "found"), [(False, 1e9, None), (True, 1e9, "done"), (True, -1e9, None)]
)
def test_a_page_waits_with_others_but_not_for_ever(crowded, patience, found, monkeypatch):
    def get(*_, waiting, **__):
        waiting(0.0, None, crowded)
        return "done"

    monkeypatch.setattr(cached.jobs, "get", get)
    monkeypatch.setattr(cached, "SOON_SECONDS", -1.0)
    monkeypatch.setattr(waiting, "PATIENCE_SECONDS", patience)
    monkeypatch.setattr(waiting._PAGE, "start", 0.0)
    assert cached.soon("waiting", until_told, "") == found


# ---- Parts have one progress bar.


def test_parts_share_one_bar_and_estimate(monkeypatch):
    now, shown = [100.0], []
    monkeypatch.setattr(waiting.time, "perf_counter", lambda: now[0])

    class Container:
        def progress(self, fraction, words):
            shown.append((round(fraction, 3), words))

        empty = staticmethod(lambda: None)

    monkeypatch.setattr(waiting._PAGE, "container", Container())
    with waiting.whole([1.0, 1.0, 3.0]) as part_is_done:
        part_is_done()  # it was ready
        bar = waiting.Bar("Adding")
        now[0] += 2.0
        bar(0.5, None, False)
        bar.close()
        now[0] += 2.0
        part_is_done()
        with waiting.whole([1.0, 1.0]) as inner_is_done:
            now[0] += 2.0
            inner_is_done()
            bar = waiting.Bar("Adding more")
            now[0] += 2.0
            bar(0.0, 8.0, False)
    half, later = shown
    assert half == (0.125, "Adding … about 14 s to go. Change any control to stop it.")
    # one of four shares, and of the other three a half and a quarter of the other half, in eight seconds
    assert later == (0.719, "Adding more … about 3 s to go. Change any control to stop it.")


def test_steps_that_take_milliseconds_wait_for_no_process(monkeypatch, open_page):
    waited = []

    def compute(self, workers, work, waiting):
        if workers is not None:
            waited.append(work.function.__name__)
        return packed(work.function, work.args)

    monkeypatch.setattr(Jobs, "_compute", compute)
    monkeypatch.setattr(cached, "jobs", Jobs(cached.ROOM, workers=object(), shipped=beforehand.find))
    open_page("start", overlay="false")
    assert not waited
    open_page("kung_curves", beside="none", lengthscale_years="15")
    assert {"stage_plan", "hold"} <= {*waited}
    assert not {"stage_matrix", "_errors"} & {*waited}

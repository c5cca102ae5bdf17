"""Idle processes work ahead, and give way to whoever waits."""

from __future__ import annotations

import pytest

from pages._ui.compare import compute, contenders
from pages._ui.compare.words import concerning
from pages._ui.model import Model
from pages._ui.visitor import HOUSE
from pages._ui.work import cached
from pages._ui.work.cached import Ahead, Wish
from pages._ui.work.jobs import Jobs
from pages._ui.work.workers import Workers
from tests.pages.work import beat, refuse_ahead, tell
from tests.waiting import wait_until


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


def test_wishes_come_true_the_latest_page_first_and_a_bad_one_is_forgotten(jobs, ahead, tmp_path):
    first, latest = tmp_path / "first", tmp_path / "latest"
    for folder in (first, latest):
        folder.mkdir()
    ahead.wish([Wish(beat, (str(first), 0.0), ())])
    wait_until(lambda: jobs.find(beat, str(first), 0.0) is not None, "the wish")
    ahead.wish([Wish(refuse_ahead, (1.0,), ()), Wish(beat, (str(latest), 0.1), ())])
    wait_until(lambda: jobs.find(beat, str(latest), 0.1) is not None, "the wish after the bad one")


def test_who_waits_comes_before_all_wishes(jobs, ahead, tmp_path):
    ahead.wish([Wish(beat, (str(tmp_path), 3600.0), ())])
    wait_until((tmp_path / "process").exists, "the wish to begin")
    assert jobs.get(tell, str(tmp_path), "urgent").computed  # there is one process, and it was given up
    assert jobs.find(beat, str(tmp_path), 3600.0) is None


def test_the_servers_own_visits_ask_for_nothing_next(jobs, ahead, monkeypatch, tmp_path):
    asks = [HOUSE + "x"]
    monkeypatch.setattr(cached, "_ahead", [ahead])
    monkeypatch.setattr(cached, "_visitor", lambda: asks[0])
    cached.wish(Wish(tell, (str(tmp_path), "of the house"), ()))
    asks[0] = "a visitor"
    cached.wish(Wish(tell, (str(tmp_path), "of a visitor"), ()))
    wait_until(lambda: jobs.find(tell, str(tmp_path), "of a visitor") is not None, "the wish")
    assert jobs.find(tell, str(tmp_path), "of the house") is None


def test_compare_wishes_for_what_is_missing_then_for_what_is_one_step_away(cold, monkeypatch):
    wished: list[Wish] = []
    monkeypatch.setattr(cached, "wish", lambda *wishes: wished.extend(wishes))
    contest = contenders.Contest(Model("toy_1d", "EQ", 1.0, 0.3), 1e-5, 10, 6)
    compute.curve(contest, "cloaking")
    compute.foresee(contest, ["cloaking", "bayes"])
    here = concerning(contest, "bayes")
    assert [wish.settings for wish in wished[:5]] == [(here, "bayes", index) for index in (4, 3, 2, 1, 0)]
    others = [concerning(each, "cloaking") for each in compute.neighbours(contest)]
    assert [wish.settings[0] for wish in wished if wish.function is contenders.curve] == others
    assert [each.delta for each in others] == [1e-4, 1e-6, 1e-5, 1e-5]
    assert {wish.settings[0].delta for wish in wished if wish.function is contenders.piece} == {1e-6, 1e-5, 1e-4}

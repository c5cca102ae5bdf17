"""What a page shows while the best plan is made: another budget's, with the guarantee that was asked for."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.evaluation.comparison import Held, rung
from dpgp_core.mechanisms import CATALOGUE, BayesCloaking
from pages._ui.cloaking import computed, staged
from pages._ui.look import offers
from pages._ui.model import Budget, Design, Draw, Model
from pages._ui.work import cached
from pages._ui.work import waiting as work_waiting
from pages._ui.work.jobs import Answer, Jobs
from pages._ui.work.workers import Workers
from tests.pages.reading import page_text
from tests.pages.work import scaled, until_told
from tests.waiting import wait_until

KUNG = Model("kung", "EQ", 25.0, 0.3)
BY_ANOTHER = "Measured by the plan for ε = 1.5, which keeps this promise too, while the best one is made."
SO_FAR = "The errors are being computed."

pytestmark = pytest.mark.usefixtures("cold")


def budget(epsilon: float, delta: float = offers.DELTA, planned_for: tuple[float, float] | None = None) -> Budget:
    return Budget("kung", "records", epsilon, delta, planned_for)


@pytest.fixture
def given():
    return cached.dataset("kung"), computed.scene("kung")


@pytest.fixture
def slow(monkeypatch):
    """Nothing is there soon that was not there before."""

    def find(_what, function, *settings, given):
        found = cached.find(function, *settings)
        return None if found is None else Answer(found, False, 0.0)

    monkeypatch.setattr(cached, "soon", find)


@pytest.fixture
def first_look(slow, monkeypatch):
    """A page ends before anything better is computed."""
    monkeypatch.setattr(work_waiting, "finish", lambda: None)


@pytest.mark.full
def test_the_nearest_plan_is_that_of_the_closest_noise(given):
    assert staged.nearest(budget(3.0)) is None
    staged.best(budget(0.1), given)
    assert staged.nearest(budget(3.0)) == budget(0.1)
    staged.best(budget(3.0, 1e-4), given)
    staged.best(budget(5.0), given)
    assert staged.nearest(budget(3.0)) == budget(3.0, 1e-4)
    assert staged.nearest(budget(7.0)) == budget(5.0)
    staged.best(budget(3.0), given)
    assert staged.nearest(budget(3.0)) == budget(3.0)


@pytest.mark.usefixtures("slow")
def test_by_another_plan_the_noise_is_that_of_the_budget_asked_for(given):
    """Sum 1/s_i^2 = 1/s^2 and columns of norm <= 1: no neighbour is further away than was calibrated."""
    best = staged.best(budget(1.5), given).value
    plan, serving = staged.soon(budget(1.0), given)
    assert serving == budget(1.0, planned_for=(1.5, offers.DELTA))
    asked = computed.run(KUNG, Design(), Draw(epsilon=1.0, delta=offers.DELTA)).guarantee
    numbers = staged.measure(*given, plan.value, serving, Draw(epsilon=1.0, delta=offers.DELTA))
    assert numbers.guarantee == asked
    measured = numbers.measured.stages
    squares = [stage.squares.s for stage in measured if stage.squares is not None]
    spent = math.fsum(1 / s**2 for s in [*(stage.noise_multiplier for stage in measured), *squares])
    assert spent == pytest.approx(
        1 / BayesCloaking(epsilon=1.0, delta=offers.DELTA).shares("number").curve ** 2, rel=1e-12
    )
    for stage, planned in zip(measured, best.stages, strict=True):
        assert np.array_equal(stage.B, planned.planned.B)
        assert np.linalg.norm(stage.B, axis=0).max() <= 1
        assert not math.isclose(stage.noise_multiplier, planned.noise_multiplier, rel_tol=0.1)


@pytest.mark.full
@pytest.mark.usefixtures("slow")
def test_the_error_by_another_plan_is_hardly_larger(given, monkeypatch):
    """At most a tenth, for a step of the slider; each mean of 100 draws is known to about 1 %."""
    monkeypatch.setitem(CATALOGUE, "bayes", replace(CATALOGUE["bayes"], simulated=100))
    staged.best(budget(1.5), given)
    plan, serving = staged.soon(budget(1.0), given)
    best = staged.best(budget(1.0), given).value
    data, scene = given

    def error(plan, of):
        at_their_own_records = scene.X_test[: scene.records], scene.truth
        held = [Held(data, *at_their_own_records, {rung(of.epsilon): plan})]
        return computed._errors_read(held, computed._numbers(held, of), of, KUNG).mean()

    theirs, ours = error(plan.value, serving), error(best, budget(1.0))
    assert 0.9 * ours < theirs < 1.1 * ours


@pytest.mark.full
@pytest.mark.usefixtures("first_look")
def test_a_page_says_by_which_plan_it_was_measured_and_that_its_errors_are_to_come(given, open_page):
    staged.best(budget(1.5), given)
    said, without_errors = (page_text(open_page("kung_curves", overlay=shown)) for shown in ("true", "false"))
    assert BY_ANOTHER in said
    assert BY_ANOTHER in without_errors
    assert "of the best there is for ε = 1.5, which it was planned for" in said
    assert SO_FAR in said
    assert SO_FAR not in without_errors


def test_on_a_map_only_one_step_away_is_likely():
    here = replace(budget(1.0), dataset="london_hexes")
    steps = staged.likely(here)
    assert [each.epsilon for each in steps if each.delta == here.delta] == [1.5, 0.7]
    assert {each.delta for each in steps if each.epsilon == here.epsilon} == {1e-4, 1e-6}
    assert len(steps) == 4


@pytest.mark.full
def test_idle_processes_plan_one_step_away_then_every_other_epsilon(given, monkeypatch):
    wished = []
    monkeypatch.setattr(cached, "wish", lambda *wishes: wished.extend(wishes))
    staged.best(budget(1.5), given)
    staged.soon(budget(1.0), given)
    settings = [each.settings for each in wished]
    steps, rest = settings[:4], settings[4:]
    assert steps == [(budget(1.5),), (budget(0.7),), (budget(1.0, 1e-4),), (budget(1.0, 1e-6),)]
    assert set(rest) == {(budget(epsilon),) for epsilon in offers.EPSILONS if epsilon not in (0.7, 1.0, 1.5)}
    assert {each.function for each in wished} == {staged.plan_stages}


@pytest.mark.full
@pytest.mark.usefixtures("slow")
def test_a_page_ends_with_what_is_best(given, open_page, monkeypatch):
    staged.best(budget(1.5), given)
    last = open_page("kung_curves")
    said = page_text(last)
    for words in ("Measured by the plan for", "which it was planned for", SO_FAR):
        assert words not in said
    monkeypatch.setattr(cached, "jobs", Jobs(cached.ROOM))
    alone = open_page("kung_curves")
    assert [each.value for each in alone.metric] == [each.value for each in last.metric]
    assert re.findall("At epsilon = .*", page_text(alone)) == re.findall("At epsilon = .*", said)


@pytest.mark.full
@pytest.mark.usefixtures("first_look")
def test_figures_of_both_plans_are_kept_apart(given):
    """A figure is kept by the settings of its result. Of the settings seen, which are added up, it is one."""
    staged.best(budget(1.5), given)
    settings = (KUNG, Design(), Draw(epsilon=1.0, delta=offers.DELTA))
    first, last = computed.run(*settings, meanwhile=True), computed.run(*settings)
    assert first.planned_for == (1.5, offers.DELTA)
    assert last.planned_for is None
    assert first.settings != last.settings
    assert first.released == last.released
    assert (first.samples != last.samples).any()


def test_what_is_not_there_in_time_goes_on_beside_what_the_page_asks_for_next(tmp_path, monkeypatch):
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


@pytest.mark.parametrize(("crowded", "found"), [(False, None), (True, "done")])
def test_while_others_wait_for_a_process_a_page_asks_for_nothing_more(crowded, found, monkeypatch):
    def get(*_, waiting, **__):
        waiting(0.0, None, crowded)
        return "done"

    monkeypatch.setattr(cached.jobs, "get", get)
    monkeypatch.setattr(cached, "SOON_SECONDS", -1.0)
    assert cached.soon("waiting", until_told, "") == found

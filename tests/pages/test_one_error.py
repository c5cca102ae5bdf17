"""One error and one error without privacy, on every page: on people left out, in fifths."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from datasets import EXHIBITS
from pages._ui import left_out
from pages._ui.cloaking import computed as releases
from pages._ui.cloaking import staged
from pages._ui.compare import compute, contenders
from pages._ui.lengthscale import compute as lengthscale
from pages._ui.look import offers
from pages._ui.model import Design, Draw, usual
from pages._ui.sparse import compute as sparse
from pages._ui.sparse.compute import SparseSetting
from pages._ui.work import cached
from tests.pages.reading import page_text

COMPARED = [name for name, exhibit in EXHIBITS.items() if exhibit.cross_validated]
SPARSE = [name for name, exhibit in EXHIBITS.items() if exhibit.sparse is not None]


def errors_said(app) -> list[str]:
    return [metric.value for metric in app.metric if metric.label == "Error without privacy"]


@pytest.mark.full
def test_a_release_on_its_own_page_has_the_error_of_the_comparison():
    model, draw = usual("kung"), Draw(epsilon=1.0, delta=offers.DELTA)
    contest = contenders.Contest(model, offers.DELTA, 10, 6)
    for name in ("bayes", "refined"):
        alone = releases.errors(model, Design(name), draw).mean
        curve = compute.curve(contest, name).mean
        assert alone == pytest.approx(curve[contenders.CURVE_EPSILONS.index(1.0)], rel=1e-6), name


def test_another_model_reads_what_was_simulated(monkeypatch):
    model, draw = usual("kung"), Draw(epsilon=1.0, delta=offers.DELTA)
    first = releases.errors(model, Design(), draw)
    monkeypatch.setattr(staged, "left_out_numbers", pytest.fail)
    other = releases.errors(replace(model, lengthscale=model.lengthscale / 5), Design(), draw)
    assert other.draws.shape == first.draws.shape
    assert not np.array_equal(other.draws, first.draws)


@pytest.mark.usefixtures("cold")
def test_a_page_has_people_left_out_planned_while_it_plans_itself(monkeypatch, open_page):
    wishes = []
    monkeypatch.setattr(cached, "wish", lambda *some: wishes.extend(some))
    for page in ("kung_curves", "london_noise_map"):
        for overlay in ("false", "true"):
            wishes.clear()
            open_page(page, overlay=overlay)
            begun = bool(wishes) and wishes[0].function.__module__ == releases.__name__  # before its own plan
            assert begun == (overlay == "true")


@pytest.mark.full
def test_pages_say_one_error_and_one_without_privacy(open_page):
    opened = {page: open_page(page) for page in ("kung_curves", "compare", "lengthscale_choice")}
    [plain] = {value for app in opened.values() for value in errors_said(app)}
    assert plain == "6.4 cm"
    ours = opened["kung_curves"].metric[0].value
    assert ours == opened["compare"].metric[0].value
    assert f"Bayes cloaking chooses none and has {ours}" in page_text(opened["lengthscale_choice"])
    said = page_text(open_page("start"))
    assert re.search(rf"with an error of \*\*{ours}\*\*. Without privacy it is {plain}", said)


@pytest.mark.full
@pytest.mark.parametrize("name", COMPARED)
def test_no_private_error_is_below_the_one_without_privacy(name):
    """By more than its standard error, at any epsilon of any method of the comparison, and so of Start and !Kung."""
    model = usual(name)
    plain = left_out.without_privacy(name, model)
    contest = contenders.Contest(model, offers.DELTA, 10, 6)
    for each in contenders.USUAL:
        curve = compute.curve(contest, each)
        assert (curve.mean >= plain - curve.standard_error).all(), each


@pytest.mark.full
@pytest.mark.parametrize("name", [each for each in COMPARED if EXHIBITS[each].scene])
def test_no_choice_of_lengthscale_is_below_it(name):
    shown = EXHIBITS[name]
    grid = lengthscale.Grid(usual(name), shown.lengthscales, "trace")
    budgets = lengthscale.Budgets(1.0, 10.0, offers.DELTA, "analytic", "exponential")
    table = lengthscale.tabulate(lengthscale.scored(grid), budgets)
    unchosen = lengthscale.without_choice(grid, budgets, table)
    assert np.asarray(table.private_rmse).min() >= unchosen.without
    assert unchosen.bayes is not None
    assert unchosen.bayes >= 0.99 * unchosen.without


@pytest.mark.full
@pytest.mark.parametrize("name", SPARSE)
def test_no_release_that_hides_inputs_is_below_it(name):
    shown = EXHIBITS[name]
    assert shown.sparse is not None
    setting = SparseSetting(name, shown.lengthscale, shown.sparse.noise, shown.sparse.start, 1.0, offers.DELTA, 1)
    found = sparse.fits(setting)
    assert min(found.rmse.values()) >= sparse.least_without_privacy(setting, found.plain_rmse)


@pytest.mark.full
@pytest.mark.parametrize("mechanism", ["refined", "cloaking"])
@pytest.mark.parametrize("name", [name for name, shown in EXHIBITS.items() if shown.scene == "map"])
def test_no_map_is_below_it(name, mechanism):
    for epsilon in (1.0, 100.0):
        found = releases.errors(usual(name), Design(mechanism), Draw(epsilon=epsilon, delta=offers.DELTA))
        assert found.mean >= left_out.without_privacy(name, usual(name)) - found.standard_error

"""Your data buys bounds that nobody knows: from a table to a zip that checks itself."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dpgp_core.release.check import check_folder
from pages._ui.explore.statistic import opened
from pages._ui.own.outcome import BUY
from tests.pages.own import captions, declare, invited, last_zip, press, said, spec_of, uploaded

pytestmark = pytest.mark.usefixtures("ledgers")


def wages(n: int = 300) -> str:
    rng = np.random.default_rng(0)
    rows = zip(rng.uniform(18, 65, n), np.exp(10 + 0.4 * rng.standard_normal(n)), strict=True)
    return "age,wage\n" + "".join(f"{age:.1f},{wage:.2f}\n" for age, wage in rows)


def buying(open_page, content: str):
    app = declare(uploaded(open_page, content), y="wage", x=["age"], total=1.0, whose="no", kind="amount")
    app = declare(app, box_low_age=18.0, box_high_age=65.0, y_unit="pounds", grid_age=9)
    [choice] = [each for each in app.checkbox if each.label == BUY]
    return choice.check().run()


def test_from_a_table_to_a_zip_whose_bounds_were_bought(open_page, tmp_path):
    app = buying(open_page, wages())
    assert "Still to declare: the smallest y that matters." in said(app)
    assert "5 % more noise" in captions(app)
    app = declare(app, bounds_unit=0.01)
    spec = spec_of(app)
    assert (spec.bounds_unit, spec.y_bounds) == (0.01, (0.0, 1e10))
    app = press(app, "Make release 1")
    assert ". Bounds bought with a share of 0.1 of the budget" in said(app)
    last_zip(app).extractall(tmp_path)
    assert "the bounds follow from the noisy counts" in check_folder(tmp_path)
    card = json.loads((tmp_path / "release.json").read_text())
    assert card["config"]["bounds_unit"] == 0.01
    explored = opened({"release.zip": app.session_state["own_released"][0].bundle})
    assert list(explored.statistics.bounds) == card["bounds"]["interval"]
    assert explored.guarantee.budget.epsilon == 1.0
    assert len(card["ledger"]["entries"]) == 1
    assert card["ledger"]["entries"][0]["guarantee"]["epsilon"] == 1.0


def test_bounds_off_their_scale_are_never_called_publishable(open_page):
    app = declare(buying(open_page, wages()), bounds_unit=1e-12)
    assert not [each for each in app.number_input if "smaller one costs nothing" in each.help]
    app = press(app, "Make release 1")
    [warning] = [each.value for each in app.warning if "None of the 9 values is of use" in each.value]
    assert "give a smallest size larger than 1e-12, or declare bounds" in warning
    assert "may be published" not in warning
    assert not app.success


def test_too_few_people_are_told_before_anything_is_spent(open_page):
    app = declare(buying(open_page, wages(100)), bounds_unit=0.01)
    assert "bounds of 100 people are not to be had" in said(app)
    assert not invited(app)


@pytest.mark.full
def test_what_was_declared_comes_back_when_the_choice_is_undone(open_page):
    app = buying(open_page, wages())
    [choice] = [each for each in app.checkbox if each.label == BUY]
    app = declare(choice.uncheck().run(), low=0.0, high=200_000.0)
    assert spec_of(app).y_bounds == (0.0, 200_000.0)

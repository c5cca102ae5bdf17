from __future__ import annotations

import json
import re

import numpy as np
import pytest

from dpgp_core.accounting.losses import GaussianLoss, PureLoss, compose
from pages._ui import left_out
from pages._ui.compare.contenders import scale_of
from pages._ui.lengthscale import compute
from pages._ui.look import offers, text
from pages._ui.model import Budget, Model, load_dataset
from pages._ui.work import cached, jobs
from tests.pages.reading import numbers, page_text, traces


@pytest.mark.full_for("kung")
@pytest.mark.parametrize("dataset", ["kung", pytest.param("london_hexes", marks=pytest.mark.full)])
def test_columns_are_distributions_that_privacy_shifts(seen, dataset):
    app = seen("lengthscale_choice", choice_dataset=dataset)
    heat = next(trace for trace in traces(app).values() if trace["type"] == "heatmap")
    shares = numbers(heat["z"])
    blank = np.isnan(shares)
    assert blank.any()
    assert np.nanmin(shares) >= 0.5  # what would print as 0 is blank, in colour too
    assert not [text for text in np.array(heat["text"])[blank] if text.strip(" ★")]
    sums = np.nansum(shares, axis=0)
    assert (np.abs(sums - 100 + 0.25 * blank.sum(axis=0)) <= 0.25 * blank.sum(axis=0) + 1e-9).all()
    shares = np.nan_to_num(shares)
    # figure 5 of Smith et al. 2018: the most likely lengthscale does not fall as epsilon falls
    likeliest = shares.argmax(axis=0)
    assert (np.diff(likeliest) >= 0).all()
    assert likeliest[-1] > likeliest[0]


@pytest.mark.full
def test_errors_of_prices_are_percentages(seen):
    app = seen("lengthscale_choice", choice_dataset="london_hexes")
    metric = {each.label: each for each in app.metric}
    assert metric["Error after the choice"].value.endswith(" %")
    assert "ln GBP" not in page_text(app) + "".join(each.value for each in app.caption)
    error = numbers(traces(app, 1)["this lengthscale"]["y"])
    assert error.max() > 1_000
    described = [each.proto.alt for each in app.get("plotly_chart")]
    assert "more than 1,000 % at 2, least" in described[1]
    assert not re.search(r"\d{7}|\d,\d{3},", " ".join([*described, *(each.delta for each in app.metric)]))
    assert json.loads(app.get("plotly_chart")[1].proto.spec)["layout"]["yaxis"]["range"][1] < 3.2  # 1,500 %
    assert text.number(error.min()) in metric["Error after the choice"].delta
    budget = Budget("london_hexes", 1.0, offers.DELTA)
    bayes = 100 * np.expm1(left_out.simulated_errors(budget).errors.mean())
    assert f"Bayes cloaking needs no choice: its error is {text.number(bayes)} %." in page_text(app)


@pytest.mark.parametrize(
    ("error", "told"), [(0.44, "55 %"), (2.3, "900 %"), (2.4, "more than 1,000 %"), (500.0, "more than 1,000 %")]
)
def test_useless_errors_of_prices_have_no_digits(error, told):
    scale = scale_of(load_dataset("london_hexes"))
    assert scale.with_unit(error) == told
    assert np.isfinite(scale.convert(error))


@pytest.mark.full
def test_choice_and_release_compose(seen):
    app = seen("lengthscale_choice", epsilon="0.5", selection_epsilon="0.5", delta="0.01")
    assert app.metric[-1].value == "ε = 0.5"  # as the card says, which is about the choice
    assert "ε = 0.5, δ = 0" in page_text(app)
    shown = float(app.metric[-1].delta.removeprefix("with the release: ε = ").partition(",")[0])
    # 3.14692 is the analytic noise multiplier at (0.5, 0.01), spec 01
    expected = compose([PureLoss(0.5, rho=0.5**2 / 8), GaussianLoss(1 / 3.14692)], 0.01)
    assert shown == pytest.approx(expected, abs=0.005)
    assert shown < 1.0


@pytest.mark.full
def test_a_larger_choice_budget_costs_less_error(seen):
    little, much = (seen("lengthscale_choice", selection_epsilon=budget).metric[0].value for budget in ("0.1", "10"))
    assert float(much.split()[0]) < float(little.split()[0])


def test_both_mechanisms_of_choice(seen):
    for by, name in (("exponential", "exponential mechanism"), ("permute_and_flip", "permute-and-flip")):
        app = seen("lengthscale_choice", choice_by=by)
        assert name in page_text(app)
        assert "is **invalid**" in page_text(app)  # the sensitivity of 2018


def test_one_task_scores_all_candidates(cold, monkeypatch):
    """Each of ten tasks would wait for its turn among those of others; the matrices of all candidates stay there."""
    tasks: list[str] = []
    packed = jobs.packed
    monkeypatch.setattr(
        jobs, "packed", lambda function, args: tasks.append(function.__name__) or packed(function, args)
    )
    grid = compute.Grid(Model("toy_1d", "EQ", 1.0, 0.3), (0.25, 0.5, 1.0, 2.0), "trace")
    found = compute.scored(grid)
    assert tasks == ["load_dataset", "score"]
    assert cached.jobs.size < 2 * 10**5  # 0.1 MB of them are the data set
    assert compute.scored(grid) is found

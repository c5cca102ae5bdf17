from __future__ import annotations

import numpy as np
import pytest

from pages._ui.look import text
from pages._ui.sparse import compute
from pages._ui.sparse.compute import LEVELS, SparseSetting, load, parts
from tests.pages.reading import numbers, page_text, traces

TOY = SparseSetting("toy_1d", 1.0, 0.03, 13, 1.0, 0.01, 1)


@pytest.mark.full
@pytest.mark.parametrize("data", ["toy_1d", "growth_2d", "kung", "kung_2d"])
def test_every_dataset_draws_and_protects_inputs_too(seen, data):
    app = seen("sparse_dp_gp", sparse_data=data)
    assert not app.exception
    assert not app.warning
    assert "<b>Protects.</b> inputs and outputs" in page_text(app)
    assert {"ours: whitened", "the paper's", "Bayes cloaking", "without privacy"} <= set(traces(app))


@pytest.mark.full
@pytest.mark.parametrize("view", ["errors", "choice"])
def test_every_view_draws_two_charts_and_a_table(seen, view):
    app = seen("sparse_dp_gp", sparse_view=view)
    assert not app.exception
    assert len(app.get("plotly_chart")) == 2
    assert any("not private" in column for column in app.dataframe[0].value)


def test_bands_are_called_what_they_are(seen):
    app = seen("sparse_dp_gp", overlay="false")
    bands = [name for name, trace in traces(app).items() if trace.get("fill") == "toself"]
    # the paper's posterior does not hold at its level: it has none
    ours = ["ours, 95 %: one more y", "ours, 95 %: the curve"]
    assert bands == [*ours, "Bayes cloaking, 95 %"]


def test_beside_true_data_curves_are_drawn_as_differences_from_the_one_without_privacy(seen):
    app, published = seen("sparse_dp_gp"), seen("sparse_dp_gp", overlay="false")
    drawn, curves = traces(app), traces(published)
    assert set(numbers(drawn["without privacy"]["y"])) == {0.0}
    assert "without privacy" not in curves
    away = [numbers(curves[name]["y"]) - numbers(drawn[name]["y"]) for name in ("ours: whitened", "Bayes cloaking")]
    np.testing.assert_allclose(*away, atol=1e-9)  # the same curve is taken off both
    said = next(each.value for each in app.caption if "On average" in each.value)
    mean = float(np.abs(numbers(drawn["Bayes cloaking"]["y"])).mean())
    assert f"Bayes cloaking {text.number(mean)}" in said


def test_without_the_overlay_no_error_is_shown(seen):
    for view in ("fits", "errors", "choice"):
        app = seen("sparse_dp_gp", sparse_view=view, overlay="false")
        assert not app.exception
        assert not [column for column in app.dataframe[0].value if "not private" in column]
        assert not [metric.label for metric in app.metric if "error" in metric.label.lower()]
    assert "switch “True data shown” on" in app.info[-1].value


@pytest.mark.full
def test_ours_beats_the_paper_and_comes_near_the_plain_fit_with_budget():
    curves = compute.errors_against_epsilon(TOY)
    assert (curves.rmse["ours"][1:] < curves.rmse["paper"][1:]).all()
    assert curves.rmse["ours"][-1] < 1.1 * curves.plain
    assert (np.diff(curves.rmse["ours"]) < 0).all()


@pytest.mark.full
def test_our_intervals_hold_and_the_papers_are_too_narrow():
    found = compute.fit(TOY)
    level = LEVELS
    assert (found.coverage["ours"] > level - 0.03).all()
    assert (found.coverage["paper"][9:] < level[9:] - 0.1).all()


@pytest.mark.full
def test_bayes_cloaking_protects_the_same_and_is_judged_alike():
    guarantees = [guarantee for _, guarantee in TOY.released("one record")]
    assert {each.protects for each in guarantees} == {"inputs and outputs"}
    assert len({each.budget for each in guarantees}) == 1
    found = compute.fit(TOY)
    assert (found.bayes.low <= found.bayes.mean).all()
    assert (found.bayes.mean <= found.bayes.high).all()
    assert found.rmse["bayes"] < found.rmse["paper"]
    # shares of one half of the data inside intervals of four draws: they hold too much rather than too little
    assert (found.coverage["bayes"] > LEVELS - 0.08).all()


def test_people_left_out_are_not_fitted_and_everybody_is_left_out_once():
    found = parts(load("kung"))
    for train, test in found:
        together = np.sort(np.concatenate([train.X[:, 0], test.X[:, 0]]))
        np.testing.assert_array_equal(together, np.sort(load("kung").X[:, 0]))
    assert sum(test.n for _, test in found) == 287


@pytest.mark.full
def test_shares_of_choices_are_shares():
    found = compute.choose_hyperparameters(TOY)
    for name, shares in found.lengthscales.items():
        assert (shares.sum(axis=1) <= 1 + 1e-9).all(), name
    assert found.lengthscales["Evidence: free (ours)"].sum() == pytest.approx(len(compute.CHOICE_EPSILONS))
    assert found.rmse["Evidence: free (ours)"][0] < found.rmse["Liu-Talwar (the paper)"][0]

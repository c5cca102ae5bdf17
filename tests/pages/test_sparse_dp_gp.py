"""The page of the sparse DP-GP, and what is spent over pages about the same people."""

from __future__ import annotations

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import datasets
from dpgp_core.accounting.gaussian import epsilon_of, noise_multiplier
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking, bayes_cloaking
from pages._ui.lengthscale.compute import Budgets, guarantees
from pages._ui.look import sidebar, text
from pages._ui.model import Budget
from pages._ui.sparse import compute, view
from pages._ui.sparse.compute import LEVELS, SparseSetting, load, parts
from tests.pages.reading import numbers, page_text, traces

TOY = SparseSetting("toy_1d", 1.0, 0.03, 13, 1.0, 0.01, 1)


@pytest.mark.full
def test_curves_and_bands_are_called_what_they_are(seen):
    app = seen("sparse_dp_gp", overlay="false")
    assert {"ours: whitened", "the paper's", "Bayes cloaking"} <= set(traces(app))
    assert "<b>Protects.</b> inputs and outputs" in page_text(app)
    bands = [name for name, trace in traces(app).items() if trace.get("fill") == "toself"]
    # the paper's posterior does not hold at its level: it has none
    ours = ["ours, 95 %: one more y", "ours, 95 %: the curve"]
    assert bands == [*ours, "Bayes cloaking, 95 %"]


@pytest.mark.full
def test_true_data_are_shown_as_differences(seen):
    app, published = seen("sparse_dp_gp"), seen("sparse_dp_gp", overlay="false")
    drawn, curves = traces(app), traces(published)
    assert set(numbers(drawn["without privacy"]["y"])) == {0.0}
    assert "without privacy" not in curves
    away = [numbers(curves[name]["y"]) - numbers(drawn[name]["y"]) for name in ("ours: whitened", "Bayes cloaking")]
    np.testing.assert_allclose(*away, atol=1e-9)  # the same curve is taken off both
    said = next(each.value for each in app.caption if "On average" in each.value)
    mean = float(np.abs(numbers(drawn["Bayes cloaking"]["y"])).mean())
    assert f"Bayes cloaking {text.number(mean)}" in said


@pytest.mark.full
def test_our_method_beats_the_papers():
    curves = compute.errors_against_epsilon(TOY)
    assert (curves.rmse["ours"][1:] < curves.rmse["paper"][1:]).all()
    assert curves.rmse["ours"][-1] < 1.1 * curves.plain
    assert (np.diff(curves.rmse["ours"]) < 0).all()


@pytest.mark.full
def test_our_intervals_cover_and_the_papers_do_not():
    found = compute.fit_variants(load("toy_1d"), TOY)
    level = LEVELS
    assert (found.coverage["ours"] > level - 0.03).all()
    assert (found.coverage["paper"][9:] < level[9:] - 0.1).all()


@pytest.mark.full
def test_bayes_cloaking_is_evaluated_alike():
    guarantees = [guarantee for _, guarantee in TOY.released("one record")]
    assert {each.protects for each in guarantees} == {"inputs and outputs"}
    assert len({each.budget for each in guarantees}) == 1
    found = compute.fits(TOY)
    assert (found.bayes.low <= found.bayes.mean).all()
    assert (found.bayes.mean <= found.bayes.high).all()
    assert found.rmse["bayes"] < found.rmse["paper"]
    # shares of one half of the data inside intervals of four draws: they hold too much rather than too little
    assert (found.coverage["bayes"] > LEVELS - 0.08).all()


def test_releases_are_simulated_without_a_second_run(monkeypatch):
    """The curve without noise takes as many stages as the release, and no page shows it."""
    monkeypatch.setattr(bayes_cloaking, "ZeroNoise", lambda: pytest.fail("the curve without noise was computed"))
    data, budget = load("kung"), Budget("kung", 1.0, 1e-5, "inputs and outputs")
    assert len(compute.release_bayes(data, budget, 1).mean) == compute.GRID_POINTS
    assert len(compute.simulate_bayes(data, budget, 1, 0).residuals) == compute.BAYES_DRAWS


def test_everybody_is_left_out_once():
    found = parts(load("kung"))
    for fold in found:
        together = np.sort(np.concatenate([fold.train.X[:, 0], fold.X_test[:, 0]]))
        np.testing.assert_array_equal(together, np.sort(load("kung").X[:, 0]))
    assert sum(len(fold.truth) for fold in found) == 287


def said_in_sidebar(app):
    return "\n".join(each.value for kind in (app.sidebar.markdown, app.sidebar.caption) for each in kind)


FAMILIES = {
    "kung": ("kung", "kung_2d"),
    "london": ("london_hexes", "london_sales", "london_excursion", "london_ppd"),
    "excursion_1d": ("excursion_1d",),
}


def test_data_about_the_same_people_share_a_ledger():
    for family, names in FAMILIES.items():
        assert {datasets.family(name) for name in names} == {family}
    for module in (*datasets.DATASETS, *datasets.FROM_FILES):
        assert datasets.family(module.NAME) == module.FAMILY
    with pytest.raises(ValueError, match="there is no dataset named 'atlantis'"):
        datasets.family("atlantis")


@pytest.mark.full
def test_simulated_releases_are_labelled(open_page):
    app = open_page("kung_curves", delta="0.01")
    app.select_slider(key="epsilon").set_value("2" if "2" in app.select_slider(key="epsilon").options else 2)
    said = said_in_sidebar(app.run())
    assert "pictures seen" not in said
    assert "two of them together hide nothing" in said
    # At epsilon 1 and 2, refined cloaking and Bayes cloaking next to it, which have the same noise multiplier
    found = float(re.search(r"would cost ε = ([\d.]+) at", said)[1])
    expected = epsilon_of(sum(2 * noise_multiplier(epsilon, 0.01) ** -2 for epsilon in (1, 2)) ** -0.5, 0.01)
    assert expected <= found <= 1.01 * expected


@pytest.mark.full
def test_spending_counts_across_pages(open_page):
    app = open_page("sparse_dp_gp", sparse_data="kung")
    assert "3 separate real releases of the settings seen" in said_in_sidebar(app)  # ours, the paper's, Bayes cloaking
    said = said_in_sidebar(app.switch_page("../kung_curves.py").run())
    assert "5 separate real releases of the settings seen" in said
    assert "Some of these settings protect outputs only: with these, inputs are public." in said


def test_totals_are_of_people_not_of_data_sets():
    def page():
        from pages._ui.look import sidebar
        from tests.pages.test_sparse_dp_gp import released

        for name in ("kung", "kung_2d", "toy_1d"):
            sidebar.spent(name, (name, released(0.01)))

    said = said_in_sidebar(AppTest.from_function(page).run())
    assert said.count("separate real releases of the settings seen") == 1  # by age, and by age and weight; no toy data
    assert "2 separate real releases of the settings seen" in said


def released(delta):
    return Cloaking(kernel=EQ(), noise_variance=0.1, epsilon=1.0, delta=delta).guarantee


def test_a_table_of_three_private_releases_costs_all():
    three = [guarantee for _, guarantee in TOY.released("one record")]
    together = Ledger(entries=[(str(i), each) for i, each in enumerate(three)]).epsilon(TOY.delta)
    assert len(three) == 3
    assert together > 1.2 * max(each.proven_epsilon for each in three)
    assert f"publishing all costs ε = {text.at_most(together)} at δ = 0.01" in view.table_note("fits", three)
    assert sidebar._together(three, TOY.delta) == text.at_most(together)


def test_total_costs_use_the_stated_delta():
    release = released(1e-6)
    both = epsilon_of(1 / (2**0.5 * release.loss.mu), 1e-6)  # two Gaussian releases of the same mu
    assert sidebar._together([release, release], 1e-6) == text.at_most(both)


def test_choice_and_release_share_the_pages_delta():
    budgets = Budgets(selection=0.5, regression=1.0, delta=1e-6, calibration="analytic", mechanism="exponential")
    release = released(1e-6)
    choice, together = guarantees(budgets, release, "one person")
    assert choice.loss.pure_epsilon == 0.5
    assert 1.0 < together <= 1.5 + 1e-9  # at a larger delta the release alone would cost less than 1

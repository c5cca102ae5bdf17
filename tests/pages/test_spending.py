from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

import datasets
from dpgp_core.accounting.gaussian import epsilon_of, noise_multiplier
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking
from pages._ui.lengthscale.compute import Budgets, guarantees
from pages._ui.look import sidebar, text
from pages._ui.sparse import view
from tests.pages.test_sparse_dp_gp import TOY


def said_in_sidebar(app):
    return "\n".join(each.value for kind in (app.sidebar.markdown, app.sidebar.caption) for each in kind)


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("kung", "kung"),
        ("kung_2d", "kung"),
        ("london_hexes", "london"),
        ("london_sales", "london"),
        ("london_excursion", "london"),
        ("london_ppd", "london"),
        ("excursion_1d", "excursion_1d"),
    ],
)
def test_data_sets_about_the_same_people_have_one_ledger(name, family):
    assert datasets.family(name) == family


def test_every_data_set_has_a_family_and_an_unknown_name_none():
    for module in (*datasets.DATASETS, *datasets.FROM_FILES):
        assert datasets.family(module.NAME) == module.FAMILY
    with pytest.raises(ValueError, match="there is no dataset named 'atlantis'"):
        datasets.family("atlantis")


@pytest.mark.full
def test_numbered_draws_are_called_what_they_are(open_page):
    app = open_page("kung_curves", delta="0.01")
    app.select_slider(key="epsilon").set_value("2" if "2" in app.select_slider(key="epsilon").options else 2)
    said = said_in_sidebar(app.run())
    assert "pictures seen" not in said
    assert "hide nothing from someone who sees two" in said
    # two settings at epsilon 1 and 2, and the published method at both (Hall's formula, mu = 1 / its multiplier)
    found = float(re.search(r"would cost ε = ([\d.]+) at", said)[1])
    hall = sum(noise_multiplier(epsilon, 0.01, "hall", unproven=True) ** -2 for epsilon in (1, 2))
    ours = sum(noise_multiplier(epsilon, 0.01) ** -2 for epsilon in (1, 2))
    expected = epsilon_of((hall + ours) ** -0.5, 0.01)
    assert expected <= found <= 1.01 * expected


def test_what_one_page_shows_counts_on_another_about_the_same_people(open_page):
    app = open_page("sparse_dp_gp", sparse_data="kung")
    assert "3 separate real releases of the settings seen" in said_in_sidebar(app)  # ours, the paper's, Bayes cloaking
    said = said_in_sidebar(app.switch_page("../kung_curves.py").run())
    assert "5 separate real releases of the settings seen" in said
    assert "Some of these settings protect outputs only: beside them inputs are public." in said


def two_data_sets_of_the_same_women():
    from dpgp_core.kernels import EQ
    from dpgp_core.mechanisms import Cloaking
    from pages._ui.look import sidebar

    for name in ("kung", "kung_2d", "toy_1d"):
        sidebar.spent(name, (name, Cloaking(kernel=EQ(), noise_variance=0.1, epsilon=1.0, delta=0.01).guarantee))


def test_totals_are_of_people_not_of_data_sets():
    said = said_in_sidebar(AppTest.from_function(two_data_sets_of_the_same_women).run())
    assert said.count("separate real releases of the settings seen") == 1  # by age, and by age and weight; no toy data
    assert "2 separate real releases of the settings seen" in said


def test_a_table_of_three_private_releases_costs_all():
    released = [guarantee for _, guarantee in TOY.released("one record")]
    together = Ledger(entries=[(str(i), each) for i, each in enumerate(released)]).epsilon(TOY.delta)
    assert len(released) == 3
    assert together > 1.2 * max(each.proven_epsilon for each in released)
    assert f"publishing all costs ε = {text.at_most(together)} at δ = 0.01" in view.table_note("fits", released)
    assert sidebar._together(released, TOY.delta) == text.at_most(together)


def test_what_settings_cost_together_is_at_the_delta_that_is_named():
    release = Cloaking(kernel=EQ(), noise_variance=0.1, epsilon=1.0, delta=1e-6).guarantee
    both = epsilon_of(1 / (2**0.5 * release.loss.mu), 1e-6)  # two Gaussian releases of the same mu
    assert sidebar._together([release, release], 1e-6) == text.at_most(both)


def test_choice_and_release_together_are_at_the_delta_of_the_page():
    budgets = Budgets(selection=0.5, regression=1.0, delta=1e-6, calibration="analytic", mechanism="exponential")
    release = Cloaking(kernel=EQ(), noise_variance=0.1, epsilon=1.0, delta=1e-6).guarantee
    choice, together = guarantees(budgets, release, "one person")
    assert choice.loss.pure_epsilon == 0.5
    assert 1.0 < together <= 1.5 + 1e-9  # at a larger delta the release alone would cost less than 1

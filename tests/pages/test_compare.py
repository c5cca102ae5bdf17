from __future__ import annotations

import pytest

from pages._ui.compare import contenders, words
from pages._ui.model import Model, load_dataset
from tests.pages.reading import page_text, traces


def test_every_contender_has_a_row_and_says_what_it_protects(open_page):
    table = open_page("compare").dataframe[0].value
    assert list(table["mechanism"]) == [entry.title for entry in contenders.CONTENDERS.values()]
    inputs_too = table["mechanism"].str.contains("inputs too")
    assert table["protects"][~inputs_too].str.startswith("outputs").all()
    assert table["protects"][inputs_too].str.startswith("inputs and outputs").all()
    assert list(table["protects"][table["mechanism"].str.contains("bins")]) == ["outputs; pure ε (δ = 0)"] * 2


def test_ours_beat_the_published_form_and_the_sentence_names_the_winner(open_page):
    app = open_page("compare")
    error = app.dataframe[0].value.set_index("mechanism")["error [cm]"]
    ours = [error[name] for name in ("Refined cloaking", "Cloaking", "Cloaking as published")]
    assert ours == sorted(ours)
    assert f"**{error.idxmin()}** has the least held-out error" in page_text(app)


def test_hall_above_one_is_no_promise(open_page):
    table = open_page("compare", epsilon="5").dataframe[0].value.set_index("mechanism")
    assert "not established" in table.loc["Cloaking as published", "protects"]


def test_unreachable_target_is_said_plainly(open_page):
    app = open_page("compare", target_cm="1.0")
    assert "is not reachable with any of them, even at ε = 100" in page_text(app)
    needs = app.dataframe[0].value["ε needed for the target"]
    assert (needs == "not reachable, even at ε = 100").all()


def test_epsilon_needed_reaches_the_target(open_page):
    app = open_page("compare", target_cm="9.0", delta="0.01")
    needed = app.dataframe[0].value.set_index("mechanism").loc["Refined cloaking", "ε needed for the target"]
    data, contest = load_dataset("kung"), contenders.Contest(Model("kung", "EQ", 25.0, 0.3), 0.01, 10, 6)
    held = contenders.prepare(data, contest, "refined")
    at = contenders.held_out_errors(contenders.contender(contest, "refined", float(needed)), held, 60, 1)
    assert at.rmse.mean() == pytest.approx(9.0, rel=0.01)


@pytest.mark.parametrize("dataset", ["kung_2d", "london_hexes", "toy_1d"])
def test_every_dataset_draws(open_page, dataset):
    app = open_page("compare", compare_dataset=dataset)
    assert not app.exception
    assert {entry.title for entry in contenders.CONTENDERS.values()} <= set(traces(app))


def test_errors_fall_with_epsilon():
    data, contest = load_dataset("kung"), contenders.Contest(Model("kung", "EQ", 25.0, 0.3), 0.01, 10, 6)
    for name in contenders.CONTENDERS:
        mean = contenders.curve(data, contest, name).mean
        assert (mean[1:] <= mean[:-1] * 1.02).all(), name


def test_log_prices_are_shown_as_shares():
    scale = words.scale_of(load_dataset("london_hexes"))
    assert scale.back(scale.show(0.3)) == pytest.approx(0.3)
    assert scale.show(0.0953102) == pytest.approx(10, abs=1e-3)

"""With the educational overlay off nothing that was computed from true data without noise is on any page."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from datasets import london_hexes
from pages._ui import left_out, tour
from pages._ui.cloaking import cells
from pages._ui.cloaking import computed as cloaking
from pages._ui.excursion import bayes
from pages._ui.excursion import compute as excursion
from pages._ui.excursion.compute import View
from pages._ui.look import offers
from pages._ui.model import Design, Draw, usual
from pages._ui.sparse import compute as sparse
from pages._ui.sparse.compute import SparseSetting
from tests.pages.reading import ROOT, numbers, said
from tests.pages.test_every_page import PAGES


def sequences(value):
    """Every list of at least 20 numbers in a JSON value, those that plotly has packed included."""
    if isinstance(value, dict):
        if "bdata" in value:
            return [numbers(value).astype(float).ravel()]
        return [found for each in value.values() for found in sequences(each)]
    if not isinstance(value, list):
        return []
    if len(value) >= 20 and all(isinstance(each, (int, float)) or each is None for each in value):
        return [np.array(value, dtype=float)]
    return [found for each in value for found in sequences(each)]


def same(one, other):
    """Whether two lists hold the same numbers, as tables round them."""
    if len(one) != len(other):
        return False
    return bool(np.mean(np.isclose(np.sort(one), np.sort(other), rtol=0, atol=6e-5)) > 0.95)


def words(app):
    return "\n".join(said(app))


def everything(app):
    """Text of a page, and the curves and columns of its figures and tables."""
    charts = [json.loads(each.proto.spec) for each in app.get("plotly_chart")]
    columns = [
        column.to_numpy(float) for table in app.dataframe for _, column in table.value.select_dtypes("number").items()
    ]
    return words(app), sequences(charts) + columns


def kung():
    result = cloaking.run(usual("kung"), Design(), Draw(1.0, offers.DELTA))
    plain = left_out.without_privacy("kung", usual("kung"))
    return [result.nonprivate[result.scene.grid]], [plain]


def london():
    model = usual("london_hexes")
    result = cloaking.run(model, Design(), Draw(1.0, offers.DELTA))
    plain = left_out.without_privacy("london_hexes", model)
    shown = cells.public_cells(result.scene)["cell"].isin(london_hexes.greater_london()).to_numpy()
    return [np.exp(result.nonprivate[shown]).round(-3)], [np.expm1(plain) * 100]


def excursion_sets():
    view = View("curve", 0.3, 8.0, 0.05, 1, 0.0, 0.0, 0.3, 1e-4, 1)
    found = excursion.explored(view)
    secret = [
        float(np.median(found.path_iou)),
        found.iou_of(found.estimate),
        found.everything_iou,
        found.d_eff,
        found.bce,
    ]
    return [bayes.without_privacy(found), found.truth], secret


def sparse_dp_gp():
    found = sparse.fits(SparseSetting("toy_1d", 1.0, 0.03, 13, 1.0, offers.DELTA, 1))
    return [curve - found.plain for curve in found.means.values()], list(found.rmse.values())


SECRETS = {
    "kung_curves": kung,
    "london_noise_map": london,
    "excursion_sets": excursion_sets,
    "sparse_dp_gp": sparse_dp_gp,
}


@pytest.mark.full
@pytest.mark.parametrize("page", SECRETS)
def test_non_private_numbers_need_the_overlay(seen, page):
    arrays, scalars = SECRETS[page]()
    (words_on, shown_on), (words_off, shown_off) = (everything(seen(page, overlay=o)) for o in ("true", "false"))
    for secret in arrays:
        assert any(same(secret, shown) for shown in shown_on)
        assert not any(same(secret, shown) for shown in shown_off)
    told_on, told_off = (re.findall(r"(?<![\d.])\d+\.\d+|(?<![\d.])\d+(?= %)", each) for each in (words_on, words_off))
    written = {f"{value:.2f}" for value in scalars} | {f"{value:.2g}" for value in scalars}
    assert written & set(told_on)
    for word in ("IoU", "Error without privacy", "Without privacy the", "d_eff", "overlaps"):
        assert word not in words_off, word
    gone = set(told_on) & written
    assert len(gone & set(told_off)) < len(gone)


@pytest.mark.parametrize("page", ["compare", "lengthscale_choice", "attack"])
def test_comparison_pages_show_only_the_guarantee(seen, page):
    app = seen(page, overlay="false")
    assert not app.exception
    assert len(app.title) == 1
    assert not app.metric
    assert not app.dataframe
    # what released numbers alone say is no true data
    assert {chart.key for chart in app.get("plotly_chart")} <= {"choice_free"}
    assert "Switch “True data shown” on" in app.info[0].value
    assert "What this guarantee says" in words(app)
    assert not [each for each in app.number_input if each.key.startswith("target")]  # its default is an error


@pytest.mark.full_for("lengthscale_choice")
@pytest.mark.parametrize("step", [step for step in tour.STEPS if step.from_true_data], ids=lambda step: step.page)
def test_the_tours_answer_needs_the_overlay(seen, step):
    number = tour.STEPS.index(step) + 1
    app = seen(step.page, tour=str(number), overlay="false", **step.state)
    assert "The answer quotes true data" in words(app)


@pytest.mark.parametrize("page", PAGES)
def test_true_data_have_an_overlay_switch(page):
    source = (ROOT / "pages" / f"{page}.py").read_text()
    # explore_release is about released numbers; your_data asks before it previews
    needs_none = ("your_data", "explore_release")
    assert (page in needs_none) != bool(re.search(r"\b(show|overlay)\b", source))

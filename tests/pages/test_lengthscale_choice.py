from __future__ import annotations

import json

import numpy as np
import pytest

from dpgp_core.accounting.compose import compose
from dpgp_core.accounting.losses import GaussianLoss, PureLoss
from tests.pages.reading import page_text, traces


def probabilities(app):
    heat = next(trace for trace in traces(app).values() if trace["type"] == "heatmap")
    return np.array(heat["z"]) if isinstance(heat["z"], list) else decoded(heat["z"])


def decoded(packed):
    import base64

    shape = [int(part) for part in packed["shape"].split(",")]
    return np.frombuffer(base64.b64decode(packed["bdata"]), dtype=packed["dtype"]).reshape(shape)


def test_each_column_is_a_distribution(open_page):
    shares = probabilities(open_page("lengthscale_choice"))
    assert shares.sum(axis=0) == pytest.approx(np.full(shares.shape[1], 100))


@pytest.mark.parametrize("dataset", ["kung", "london_hexes"])
def test_strong_privacy_makes_long_lengthscales_likely(open_page, dataset):
    # figure 5 of Smith et al. 2018: the most likely lengthscale does not fall as epsilon falls
    likeliest = probabilities(open_page("lengthscale_choice", choice_dataset=dataset)).argmax(axis=0)
    assert (np.diff(likeliest) >= 0).all()
    assert likeliest[-1] > likeliest[0]


def test_choice_and_release_compose(open_page):
    app = open_page("lengthscale_choice", epsilon="0.5", selection_epsilon="0.5", delta="0.01")
    shown = float(app.metric[-1].value.replace("ε = ", ""))
    # 3.14692 is the analytic noise multiplier at (0.5, 0.01), spec 01
    expected = compose([PureLoss(0.5, rho=0.5**2 / 8), GaussianLoss(1 / 3.14692)], 0.01)
    assert shown == pytest.approx(expected, abs=0.005)
    assert shown < 1.0


def test_a_larger_choice_budget_costs_less_error(open_page):
    errors = [
        float(open_page("lengthscale_choice", selection_epsilon=budget).metric[0].value.split()[0])
        for budget in ("0.1", "10")
    ]
    assert errors[1] < errors[0]


def test_published_sensitivity_is_shown_as_invalid(open_page):
    text = page_text(open_page("lengthscale_choice"))
    assert "is **invalid**" in text


def test_tiles_carry_their_setting(open_page):
    app = open_page("lengthscale_choice")
    markers = next(trace for trace in traces(app).values() if trace["type"] == "scatter")
    data = json.loads(json.dumps(markers["customdata"]))
    points = data if isinstance(data, list) else decoded(data).tolist()
    assert len(points) == 10 * 8
    assert [1.0, 10.0] in [list(map(float, point)) for point in points if np.isfinite(float(point[1] or np.nan))]


@pytest.mark.parametrize("by", ["exponential", "permute_and_flip"])
def test_both_mechanisms_of_choice(open_page, by):
    app = open_page("lengthscale_choice", choice_by=by)
    assert not app.exception
    assert {"exponential": "exponential mechanism", "permute_and_flip": "permute-and-flip"}[by] in page_text(app)

"""One person moved, on How cloaking works: the fit is the one of other data, and the noise hides the difference."""

from __future__ import annotations

import numpy as np
import pytest

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.kernels import EQ
from pages._ui.cloaking import computed
from pages._ui.hiding.person import Choice, move
from pages._ui.model import Design, Draw, Model
from tests.pages.reading import page_text, traces

PAGE, CURVES = "how_cloaking_works", 2


@pytest.fixture
def result():
    return computed.run(Model("kung", "EQ", 25.0, 0.3), Design(mechanism="cloaking"), Draw(epsilon=1.0, delta=1e-5))


def fit(data, X, y, X_test):
    """The posterior mean, by the textbook."""
    kernel = EQ(lengthscale=25.0)
    weights = np.linalg.solve(kernel(X, X) + 0.3 * np.eye(len(X)), (y - data.midpoint) / data.y_scale)
    return data.midpoint + data.y_scale * kernel(X_test, X) @ weights


@pytest.mark.parametrize("rank", [1, 140, 287])
def test_the_fit_moves_as_that_of_the_changed_table_and_without_the_record(result, rank):
    data = result.dataset
    found = move(result, Choice(rank, 120.0))
    j = np.argsort(data.X[:, 0], kind="stable")[rank - 1]
    assert found.at == data.X[j, 0]
    changed, others = data.clipped_y.copy(), np.arange(data.n) != j
    changed[j] = 120.0
    grid = found.x[:, None]
    np.testing.assert_allclose(found.before, fit(data, data.X, data.clipped_y, grid), atol=1e-6)
    np.testing.assert_allclose(found.after, fit(data, data.X, changed, grid), atol=0.01)  # rank tolerance: under .1 mm
    left_out = fit(data, data.X[others], data.clipped_y[others], grid)
    np.testing.assert_allclose(found.without, left_out, atol=0.01)


def test_the_shift_is_the_mahalanobis_length_and_never_above_what_was_calibrated(result):
    data, s = result.dataset, noise_multiplier(1.0, 1e-5)
    low, high = data.y_bounds
    covariance = (data.output_range * s) ** 2 * result.plan.factor @ result.plan.factor.T
    largest = 0.0
    for rank in range(1, data.n + 1):
        found = move(result, Choice(rank, low))
        full = found.shift * (high - low) / max(found.output - low, 1e-9)  # as if it had stood at the other bound
        largest = max(largest, full)
        assert found.shift <= found.calibrated * (1 + 1e-6)
        assert found.calibrated == pytest.approx(1 / s)
    assert largest == pytest.approx(1 / s, rel=1e-3)  # the noise is no larger than it must be
    found = move(result, Choice(200, low))
    j = np.argsort(data.X[:, 0], kind="stable")[199]
    difference = np.asarray(result.plan.weights)[:, j] * (low - found.output)
    expected = np.sqrt(difference @ np.linalg.pinv(covariance, rcond=1e-10, hermitian=True) @ difference)
    assert found.shift == pytest.approx(expected, rel=1e-3)
    np.testing.assert_allclose(found.noise, np.sqrt(np.diag(covariance))[data.n :], rtol=1e-6)


def test_the_page_says_it_and_the_link_holds_it(open_page):
    app = open_page(PAGE, everybody="true", person_kung="200", moved_to_kung="100.27")
    assert not app.exception
    assert "Person 200, age " in page_text(app)
    shown = {metric.label: metric.value for metric in app.metric}
    assert float(shown["Shift, in privacy noise"]) <= float(shown["Calibrated to hide"])
    assert "person_kung=200&moved_to_kung=100.27" in app.sidebar.code[0].value
    before = traces(app, CURVES)
    app.slider(key="moved_to_kung").set_value(60.27).run()
    after = traces(app, CURVES)
    assert after["after the move"] != before["after the move"]
    assert after["without privacy"] == before["without privacy"]
    assert not app.exception


def test_without_the_overlay_nobody_is_shown(open_page):
    app = open_page(PAGE, everybody="true", overlay="false")
    assert "Person 2, age" not in page_text(app)
    assert len(app.get("plotly_chart")) == CURVES
    assert not [slider for slider in app.slider if slider.key == "moved_to_kung"]
    assert "switch “True data shown” on" in "".join(caption.value for caption in app.caption)


def test_a_record_left_where_it_is_moves_nothing(result):
    found = move(result, Choice(140, float(move(result, Choice(140, 100.0)).output)))
    assert found.shift == 0
    assert np.array_equal(found.after, found.before)

"""How cloaking works: its steps, one person moved, and what Bayes cloaking measures."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import datasets
from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.kernels import EQ
from pages._ui.cloaking import computed, directions, figures, staged
from pages._ui.cloaking.results import Scene
from pages._ui.hiding import clipping, measured, spend, steps
from pages._ui.hiding import two as hiding_two
from pages._ui.hiding.person import Choice, move
from pages._ui.hiding.two import TwoPointSettings
from pages._ui.look import offers
from pages._ui.model import Budget, Design, Draw, load_dataset, usual
from tests.pages.reading import numbers, page_text, traces

PAGE = "how_cloaking_works"


@pytest.fixture
def everybody(seen):
    """The second step with the people of the data set."""
    return seen(PAGE, step="covered", everybody="true")


def test_the_shown_certificate_is_valid(everybody):
    shown = {metric.label: metric.value for metric in everybody.metric}
    largest = float(shown["Largest shift of any person"])
    assert largest == pytest.approx(1, abs=1e-5)
    assert largest <= 1.0
    assert float(shown["Optimality gap"].split()[0]) <= 0.1
    table = next(each.value for each in everybody.dataframe if "λ, share of the total" in each.value)
    share = table["λ, share of the total"]
    assert share.sum() == pytest.approx(1, abs=1e-3)
    assert (share > 0.01 * share.max()).sum() < 60
    assert table["age [years]"].iloc[0] == 85.6  # the oldest, far from everyone else


@pytest.mark.parametrize("lengthscale", [0.5, 1.5, 5.0])
@pytest.mark.parametrize("positions", [(1.0, 9.0), (2.5, 5.0), (4.0, 4.0)], ids=str)
def test_both_ellipses_enclose_what_one_record_can_do(positions, lengthscale):
    points = hiding_two.build(TwoPointSettings(*positions, lengthscale, 0.1, 2.0))
    for covariance in (points.prior, points.cloaking):
        for j in range(2):
            move = points.settings.d * points.C[:, j]
            # the ellipse z^T M^+ z = 1 encloses the move; M may be singular when the records coincide
            shift = np.linalg.lstsq(covariance, move, rcond=1e-12)[0]
            assert move @ shift <= 1 + 1e-6
    assert np.trace(points.cloaking) <= np.trace(points.prior) * (1 + 1e-9)


def test_the_headline_states_the_saved_variance(seen):
    app = seen(PAGE)
    assert app.title[0].value == "Why does so little noise hide a person?"
    said = re.search(r"along one line only. Noise that covers just such lines has \*\*(\d+) %\*\*", page_text(app))
    points = hiding_two.build(TwoPointSettings(2.5, 5.0, 1.5, 0.1, 2.0))
    assert int(said[1]) == round(100 * np.trace(points.cloaking) / np.trace(points.prior))


def test_the_curve_remains_visible_through_noise(seen):
    """The title says that little noise is enough; at first the curve goes from one sign to the other through it."""
    drawn = traces(seen(PAGE, step="covered"))["published, with noise"]
    noise, curve = (numbers(each) for each in (drawn["error_y"]["array"], drawn["y"]))
    assert (noise < np.abs(curve)).all()
    assert numbers(drawn["y"]).min() < 0 < numbers(drawn["y"]).max()


def test_sums_are_highlighted_one_by_one(seen):
    app = seen(PAGE, step="measured")
    assert 'class="player-play"' in page_text(app)
    lines = json.loads(app.get("plotly_chart")[0].proto.spec)["data"]
    played = [line for line in lines if line.get("legendgroup") == figures.DRAWS]
    pale = [line for line in lines if line.get("name")]
    assert len(played) == len(pale) >= 5
    assert [line.get("opacity", 1) for line in played] == [1] + [0] * (len(played) - 1)


@pytest.mark.full
def test_buttons_walk_through_titled_steps(open_page):
    app = open_page(PAGE)
    assert "cloaking noise" not in traces(app, 1)
    for step in list(steps.STEP.titles)[1:]:
        [forth] = [button for button in app.button if button.label == "Next step"]
        app = forth.click().run()
        assert not app.exception
        assert app.segmented_control(key="step").value == steps.STEP.titles[step]
        assert app.title[0].value == steps.TITLE
        assert f"step={step}" in app.sidebar.code[0].value
    assert not [button for button in app.button if button.label == "Next step"]
    [back] = [button for button in app.button if button.label == "Back"]
    assert back.click().run().segmented_control(key="step").value == steps.STEP.titles["spend"]


# the budget spent by hand


def errors(app):
    return [float(metric.value.split()[0]) for metric in app.metric]


def test_by_hand_best_and_limit_are_ordered(seen):
    for written in ("", "5, 15, 40", "5, 10, 15, 20, 30, 40, 50, 60, 70, 80"):
        app = seen(PAGE, step="spend", **({"measured_at": written} if written else {}))
        yours, best, limit, without = errors(app)
        assert yours >= best >= limit >= without > 0
        told = r"error of \*\*([\d.]+) cm\*\* where people are\. The best plan has \*\*([\d.]+) cm\*\*"
        said = re.search(told, page_text(app))
        assert [float(each) for each in said.groups()] == [yours, best]


def test_more_budget_lowers_private_errors_only(seen):
    one, five = (errors(seen(PAGE, step="spend", epsilon=epsilon)) for epsilon in ("1", "5"))
    assert all(less < more for less, more in zip(five[:3], one[:3], strict=True))
    assert five[3] == one[3]


def test_invalid_ages_are_explained(open_page):
    app = open_page(PAGE, step="spend", measured_at="10, nan, 20")
    assert "write ages from 0 to 100" in app.warning[0].value
    assert not app.exception
    assert not open_page(PAGE, step="spend", measured_at="9" * 500).exception
    assert spend.read_positions("inf", 0.0, 100.0)[0] == ()
    assert spend.read_positions("1e9", 0.0, 100.0)[0] == ()
    many, wrong = spend.read_positions(" ".join(map(str, range(30))), 0.0, 100.0)
    assert len(many) == 20
    assert "at most 20" in wrong


def test_a_click_toggles_a_place():
    assert spend.toggled((5.0, 40.0), 15.0) == "5, 15, 40"
    assert spend.toggled((5.0, 15.0, 40.0), 15.0) == "5, 40"


def test_all_drawn_data_are_simulated():
    """No outcome of a woman enters: with other heights the picture is the same."""
    data = load_dataset("kung")
    asked = spend.Spending((5.0, 40.0), 7.0, 1.0, 1e-5)
    one, two = (spend.spend(each, asked) for each in (data, replace(data, y=data.y[::-1].copy())))
    for name in ("truth", "by_hand", "best", "deviation"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


# what the clip does


def test_narrow_clipping_trades_noise_for_bias(seen):
    wide, narrow = (traces(seen(PAGE, step="clip", clip_kept=kept)) for kept in ("100", "30"))
    assert max(numbers(narrow["privacy noise"]["y"])) < 0.5 * max(numbers(wide["privacy noise"]["y"]))
    symmetric, skewed, yes_no = range(3)
    assert numbers(narrow["bias"]["y"])[symmetric] == pytest.approx(0, abs=1e-3)
    assert numbers(narrow["bias"]["y"])[skewed] > numbers(wide["bias"]["y"])[skewed] + 2
    assert numbers(narrow["bias"]["y"])[yes_no] > 10
    assert numbers(wide["bias"]["y"])[yes_no] == pytest.approx(0, abs=1e-2)


def test_the_best_clip_depends_on_symmetry():
    least = clipping.best(clipping.Clip(0.0, 100.0, 100.0), Draw(epsilon=1.0, delta=1e-5))
    assert least["symmetric"] < least["skewed"] < least["yes/no"] == 100


def test_directions_divide_the_noise_and_protect_everybody(everybody):
    table = next(each.value for each in everybody.dataframe if "share of the noise [%]" in each.value)
    assert len(table) == directions.COUNT
    share = table["share of the noise [%]"]
    assert share.is_monotonic_decreasing
    assert 50 < share.sum() <= 100
    result = computed.run(usual("kung"), Design("cloaking"), Draw(1.0, offers.DELTA))
    found = directions.directions_of(result)
    s = noise_multiplier(1.0, offers.DELTA)
    assert (found.moves <= found.sds / s * (1 + 1e-6)).all()  # |u c_j| is at most the root of its eigenvalue
    assert (found.moves > 0.2 * found.sds / s).any()
    lengths = np.linalg.norm(found.shapes, axis=1)
    np.testing.assert_allclose(lengths, found.sds)
    cosines = (found.shapes / lengths[:, None]) @ (found.shapes / lengths[:, None]).T
    np.testing.assert_allclose(cosines, np.eye(len(lengths)), atol=1e-8)
    less = directions.directions_of(computed.run(usual("kung"), Design("cloaking"), Draw(0.1, offers.DELTA)))
    assert (less.sds > 5 * found.sds).all()  # ten times as private: the same directions, more noise
    np.testing.assert_allclose(less.shares, found.shares)


def test_epsilon_moves_the_noise_that_covers_two_people(seen):
    bars = []
    for epsilon in ("0.5", "1", "5"):
        app = seen(PAGE, step="covered", epsilon=epsilon)
        noise = float(next(each.value for each in app.metric if each.label == "Noise of prediction 1").strip("± \xa0"))
        bar = numbers(traces(app)["published, with noise"]["error_y"]["array"])
        assert bar[0] == pytest.approx(noise, rel=0.05)
        bars.append(noise)
    assert bars[0] > bars[1] > bars[2]


def test_planned_errors_are_above_the_limit(seen):
    """Both are averages where people are: 6.3 cm were expected, and no method was said to have less than 6.6."""
    before, after = (page_text(seen(PAGE, step=step)) for step in ("measured", "spend"))
    expected = float(re.search(r"expected error of the curve is \*\*([\d.]+) cm", before)[1])
    limit = float(re.search(r"no method can have less than ([\d.]+) cm", after)[1])
    best = float(re.search(r"The best plan has \*\*([\d.]+) cm", after)[1])
    assert limit <= best
    assert limit <= expected
    assert "where people are" in after


# ---- One person moved, on How cloaking works: the fit is the one of other data, and the noise hides the difference.


CURVES = 2


@pytest.fixture
def result():
    return computed.run(usual("kung"), Design(mechanism="cloaking"), Draw(epsilon=1.0, delta=1e-5))


def fit(data, X, y, X_test):
    """The posterior mean, by the textbook."""
    kernel = EQ(lengthscale=25.0)
    weights = np.linalg.solve(kernel(X, X) + 0.3 * np.eye(len(X)), (y - data.midpoint) / data.y_scale)
    return data.midpoint + data.y_scale * kernel(X_test, X) @ weights


@pytest.mark.parametrize("rank", [1, 140, 287])
def test_the_fit_moves_as_when_recomputed(result, rank):
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


def test_the_shift_is_within_its_calibration(result):
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


def test_text_and_link_show_the_same_state(open_page):
    app = open_page(PAGE, everybody="true", person_kung="200", moved_to_kung="100.27")
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


def test_every_control_of_the_sidebar_moves_something(open_page):
    """A data set and its model are offered only where they are drawn."""
    measured = open_page(PAGE, step="measured").sidebar
    assert {each.key for kind in ("selectbox", "select_slider", "toggle") for each in measured.get(kind)} == {
        *("epsilon", "delta", "dataset")
    }
    app, keys = open_page(PAGE), ("hidden_dataset", "dataset", "kernel", "lengthscale_years", "overlay")
    assert not {each.key for kind in ("selectbox", "select_slider", "toggle") for each in app.sidebar.get(kind)} & {
        *keys
    }
    before = [each.value for each in app.metric]
    app.select_slider(key="epsilon").set_value(2).run()
    assert [each.value for each in app.metric] != before
    app.toggle(key="everybody").set_value(True).run()
    assert {"kernel", "lengthscale_years"} <= {
        each.key for kind in ("selectbox", "select_slider") for each in app.sidebar.get(kind)
    }


def test_without_the_overlay_nobody_is_shown(open_page):
    app = open_page(PAGE, everybody="true", overlay="false")
    assert "Person 287, age" not in page_text(app)
    assert len(app.get("plotly_chart")) == CURVES
    assert not [slider for slider in app.slider if slider.key == "moved_to_kung"]
    assert "switch “True data shown” on" in "".join(caption.value for caption in app.caption)


# ---- What Bayes cloaking measures, on How cloaking works: a numbered draw of the mechanism itself, and public.


BUDGET = Budget("kung", 1.0, 1e-5)


@pytest.fixture(scope="module")
def kung():
    return datasets.load("kung")


def described(data, budget=BUDGET):
    return measured.describe(data, released(data, budget), budget)


def released(data, budget):
    return staged.measure(data, Scene(data.X, data.clipped_y), budget, measured.NUMBER)


@pytest.fixture(scope="module")
def plan(kung):
    return described(kung)


def test_the_expected_error_is_that_of_the_release(kung, plan):
    found = staged.read(kung, kung.X, [released(kung, BUDGET).measured], BUDGET, usual("kung"))
    variance = found.prediction.variance.mean()
    assert plan.error == pytest.approx(kung.y_scale * variance**0.5)


@pytest.mark.full
def test_more_epsilon_measures_more(kung, plan):
    low, high = (described(kung, replace(BUDGET, epsilon=epsilon)) for epsilon in (0.2, 5.0))
    assert sum(low.ranks) < sum(plan.ranks) < sum(high.ranks)
    assert low.unmeasured > low.error > 1.2 * plan.error > 1.5 * high.error > 1.5 * high.unbuyable
    for each in (low, plan, high):
        assert each.price**2 + each.unbuyable**2 == pytest.approx(each.error**2)


def test_small_epsilons_have_three_stages(open_page):
    app = open_page(PAGE, step="measured", epsilon="0.1", stage="5")
    assert "in 3 stages" in page_text(app)
    assert "one sum of stage 3:" in "".join(each.value for each in app.caption)


@pytest.mark.full
def test_sentences_and_metrics_say_the_same(seen, plan):
    app = seen(PAGE, step="measured")
    stages = len(plan.ranks)
    assert f"one sum of stage {stages}, which" in app.get("plotly_chart")[0].proto.alt  # the last
    assert f"**{sum(plan.ranks)} noisy sums** of heights, in {stages} stages" in page_text(app)
    metrics = {metric.label: metric.value for metric in app.metric}
    for label, value in (("Expected error of the curve", plan.error), ("Remains at any budget", plan.unbuyable)):
        assert float(re.match(r"[\d.]+", metrics[label])[0]) == pytest.approx(value, rel=0.05)

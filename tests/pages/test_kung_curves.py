"""The page of !Kung curves: the release, its growth chart, axes in dates."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import plotly.graph_objects as go
import pytest

import datasets
from dpgp_core.accounting.gaussian import epsilon_of
from dpgp_core.dates import Dates
from dpgp_core.evaluation.comparison import error_without_privacy, held_out_errors, hold_out
from dpgp_core.figures.ticks import dates_of
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking, RefinedCloaking
from dpgp_core.release import CENTILES
from pages._ui.cloaking import computed, figures, results, staged, variants
from pages._ui.compare import contenders
from pages._ui.left_out import folds_of
from pages._ui.look import offers
from pages._ui.look.plots import mark_dates, unit_of_length
from pages._ui.model import KERNELS, Design, Draw, usual
from tests.pages.reading import numbers, page_text, traces


def shown(value: str) -> float:
    return float(value.replace("±", "").replace("ε =", "").split()[0])


BANDS = ("range for one more person (95 %)", "average (95 %)")


@pytest.fixture
def stages(cold, monkeypatch):
    """Counts how often the cloaking matrix, the noise design and releases of Bayes cloaking are really computed."""
    calls: Counter[str] = Counter()
    for room, name in ((results, "stage_matrix"), (results, "stage_plan"), (staged, "measure")):
        original = getattr(room, name)

        def counted(*args, name=name, original=original):
            calls[name] += 1
            return original(*args)

        monkeypatch.setattr(room, name, counted)
    return calls


@pytest.mark.full_for("refined-RefinedCloaking")
@pytest.mark.parametrize(("name", "kind"), [("cloaking", Cloaking), ("refined", RefinedCloaking)])
def test_the_shown_error_is_the_cores(seen, name, kind):
    app = seen("kung_curves", mechanism=name)
    data = datasets.load("kung")
    mechanism = kind(kernel=EQ(lengthscale=25.0), noise_variance=0.3, epsilon=1, delta=offers.DELTA)
    # 60 draws on screen against 500 here: within 5 %
    folds = folds_of(data)
    core = held_out_errors(mechanism, hold_out(mechanism, data, folds), 500, 0).mean()
    assert shown(app.metric[0].value) == pytest.approx(core, rel=0.05)
    plain = error_without_privacy(data, folds, [(mechanism.kernel, mechanism.noise_variance)])
    assert app.metric[1].value == contenders.scale_of(data).with_unit(plain)


@pytest.mark.full_for("cloaking")
@pytest.mark.parametrize(
    "mechanism", ["cloaking", *(pytest.param(each, marks=pytest.mark.full) for each in ("refined", "gp_prior"))]
)
def test_moving_epsilon_recomputes_no_design(open_page, stages, mechanism):
    app = open_page("kung_curves", dataset="toy_1d", mechanism=mechanism)
    assert stages == {"stage_matrix": 1, "stage_plan": 2}  # one C; one design for ours, one for the published
    app.select_slider(key="epsilon").set_value(0.2).run()
    app.select_slider(key="delta").set_value(1e-6).run()
    app.number_input(key="draw").set_value(7).run()
    if mechanism == "cloaking":
        app.toggle(key="shrinkage").set_value(True).run()
    assert not app.exception
    assert stages == {"stage_matrix": 1, "stage_plan": 2}
    app.select_slider(key="lengthscale_units").set_value(2).run()
    assert stages == {"stage_matrix": 2, "stage_plan": 4}
    app.select_slider(key="lengthscale_units").set_value(1).run()
    assert stages == {"stage_matrix": 2, "stage_plan": 4}


@pytest.mark.full
def test_measured_numbers_ignore_the_reading_model(open_page, stages):
    app = open_page("kung_curves")
    opened = {"stage_matrix": 1, "stage_plan": 1, "measure": 1}
    assert stages == opened
    before = traces(app)["published curve"]
    app.select_slider(key="lengthscale_years").set_value(15).run()
    assert stages == opened | {"stage_matrix": 2, "stage_plan": 2}
    assert traces(app)["published curve"] != before
    app.select_slider(key="epsilon").set_value(0.2).run()
    assert stages == opened | {"stage_matrix": 2, "stage_plan": 2, "measure": 2}
    app.number_input(key="draw").set_value(7).run()
    assert stages == opened | {"stage_matrix": 2, "stage_plan": 2, "measure": 3}
    assert not app.exception


@pytest.mark.full
def test_releases_compose_over_the_session(open_page):
    app = open_page("kung_curves", draws="5", delta="0.01", mechanism="refined")  # its plan serves every budget
    spent = shown(app.metric[3].value.replace("ε = ", ""))
    assert spent == pytest.approx(epsilon_of(1.8779 / np.sqrt(5), 0.01), abs=0.01)
    assert "for all 5 releases together" in page_text(app)
    app.select_slider(key="epsilon").set_value(0.5).run()
    captions = "".join(c.value for c in app.sidebar.caption)
    # ours and the published curve beside it, at two budgets
    assert "4 separate real releases of the settings seen in this session" in captions
    assert "two of them together hide nothing" in captions


@pytest.mark.full
def test_halls_formula_above_one_is_marked(seen):
    app = seen("kung_curves", epsilon="50", delta="0.01", mechanism="cloaking", calibration="hall")
    assert "not established: the formula is not proven at ε = 50" in page_text(app)
    assert "ε = 153" in page_text(app)  # epsilon_of(0.065105, 0.01)
    assert any("At epsilon = 50 it is no promise" in each.value for each in app.warning)  # where it is chosen
    proven = seen("kung_curves", delta="0.01", mechanism="cloaking", calibration="hall")
    assert not any("it is no promise" in each.value for each in proven.warning)
    assert any("no promise at this epsilon" in title.value for title in app.header)


@pytest.mark.full
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_draws(open_page, kernel):
    app = open_page("kung_curves", kernel=kernel, dataset="toy_1d")
    assert not app.warning


def test_gp_prior_noise_is_constant_and_larger(seen):
    prior, cloaked = seen("kung_curves", mechanism="gp_prior"), seen("kung_curves")
    noise = prior.dataframe[0].value["privacy noise, 95 %, ± [cm]"]
    assert noise.max() == pytest.approx(noise.min(), rel=1e-3)
    assert shown(prior.metric[2].value) > 10 * shown(cloaked.metric[2].value)


@pytest.mark.full
@pytest.mark.parametrize("mechanism", ["bayes", "refined"])
def test_many_releases_are_in_the_link(open_page, mechanism):
    app = open_page("kung_curves", mechanism=mechanism)
    [button] = [each for each in app.button if each.label.startswith("Play 20 releases")]
    app = button.click().run()
    assert app.session_state["draws"] == variants.MANY == 20
    assert "draws=20" in app.sidebar.code[0].value
    assert "20 simulated releases" in app.metric[3].delta
    for chart in (0, 1):
        data = json.loads(app.get("plotly_chart")[chart].proto.spec)["data"]
        lines = [trace for trace in data if trace.get("legendgroup") == figures.DRAWS]
        bands = [trace for trace in data if trace.get("legendgroup") == figures.BANDS]
        assert len(lines) == len(bands) == 20
        assert [band.get("opacity", 1) for band in bands] == [1] + 19 * [0]  # all together: about the first draw
        middles = [numbers(band["y"]).reshape(2, -1) for band in bands]
        for line, (upper, lower) in zip(lines, middles, strict=True):
            every = slice(None, None, 1 if len(upper) == len(numbers(line["y"])) else 2)
            at = numbers(line["y"])[every]
            if mechanism == "bayes" and chart == 0:  # a mixture's interval leans, and its curve is cut to the bounds
                assert (lower[::-1] - 1e-2 <= at).all()
                assert (at <= np.minimum(upper, 158.27) + 1e-2).all()
            else:
                np.testing.assert_allclose((upper + lower[::-1]) / 2, at, rtol=1e-4, atol=1e-2)
    assert "player-play" in page_text(app)
    assert not [each for each in app.button if each.label.startswith("Play 20 releases")]


# ---- The growth chart: centiles are those of the release, in order, and one person's place among them.


ASKED = usual("kung"), Design(), Draw(epsilon=1.0, delta=0.01)


@pytest.mark.full
@pytest.mark.parametrize("published", [False, True], ids=["ours", "of 2018"])
def test_centiles_are_in_order_and_about_the_curve(published):
    model, design, draw = ASKED
    result = computed.run_published(model, draw) if published else computed.run(model, design, draw)
    chart, grid = computed.growth_of(result), result.scene.grid
    assert list(chart.lines) == list(CENTILES)
    bounds, steps = result.dataset.y_bounds, np.diff(chart.values, axis=0)
    clipped = np.isin(chart.values, bounds)  # a release gives no value beyond the bounds
    assert (steps >= 0).all()
    assert (steps[~(clipped[1:] & clipped[:-1])] > 0).all()
    assert clipped.mean() < 0.25
    low, high = result.intervals.output.of(0)[:, grid]
    lowest, highest = chart.lines[3], chart.lines[97]  # 3 to 97 lies within the central 95 %
    assert ((low < lowest) | (lowest == bounds[0])).all()
    assert ((highest < high) | (highest == bounds[1])).all()
    if published:  # its centiles are normal
        np.testing.assert_allclose(chart.lines[50], result.samples[0, grid])


def test_noiseless_centiles_have_their_shares():
    """287 people: a share is known to 3 in 100, so that 10 off is more than three standard errors."""
    data, chart = datasets.load("kung"), computed.growth_without_privacy("kung")
    for centile in CENTILES:
        line = np.interp(data.X[:, 0], chart.x, chart.lines[centile])
        assert 100 * (data.clipped_y < line).mean() == pytest.approx(centile, abs=10)


def test_a_person_on_a_line_has_its_centile():
    chart = staged.Growth(np.array([0.0, 10.0]), np.add.outer(np.array(staged.LEVELS, dtype=float), [0.0, 100.0]))
    assert chart.below(5.0, 50.0 + 15) == pytest.approx(15)
    assert chart.below(0.0, 1000.0) == 99
    assert chart.below(0.0, -5.0) == 1


@pytest.mark.parametrize(("height", "said"), [("158", "at least"), ("59", "at most 1 %")])
def test_the_page_states_a_moved_persons_centile(open_page, height, said):
    app = open_page("kung_curves", overlay="false", growth_y_kung=height)
    assert said in page_text(app)


# ---- Axes of pages in dates.


@pytest.mark.full
def test_bayes_keeps_its_capital_in_a_growth_chart(open_page, monkeypatch):
    sources, described = [], figures._growth_alt
    monkeypatch.setattr(
        figures, "_growth_alt", lambda source, result: sources.append(source) or described(source, result)
    )
    open_page("kung_curves", mechanism="refined")
    assert "Bayes cloaking (pink)" in sources


def test_distances_between_dates_are_days():
    assert [unit_of_length(unit) for unit in ("days since 2019-01-01", "cm", "")] == ["days", "cm", ""]
    assert dates_of("days since 2019-01-01") == Dates(name="input", first="2019-01-01")
    assert [dates_of(unit) for unit in ("days", "", "days since 2019-02-30", "days since when")] == [None] * 4


@pytest.mark.parametrize("along", ["x", "y"])
def test_marks_are_dates_and_a_numbers_axis_stays(along):
    figure = go.Figure()
    mark_dates(figure, "day", None, (0.0, 1825.0), along)
    assert figure.layout == go.Figure().layout
    mark_dates(figure, "day", dates_of("days since 2019-01-01"), (0.0, 1825.0), along)
    axis = figure.layout[f"{along}axis"]
    assert axis.title.text == "day"
    assert axis.ticktext == ("2019", "2020", "2021", "2022", "2023")
    assert axis.tickvals == (0, 365, 731, 1096, 1461)
    beyond_all_calendars = mark_dates(go.Figure(), "day", dates_of("days since 2019-01-01"), (0.0, 1e12), along)
    assert beyond_all_calendars.layout == go.Figure().layout

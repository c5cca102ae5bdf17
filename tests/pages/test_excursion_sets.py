"""The page of excursion sets, and the Bayes release on it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import plotly.graph_objects as go
import pytest

from datasets import STUDIES, london_excursion
from dpgp_core.accounting.posterior_paths import posterior_sampling_epsilon
from dpgp_core.mechanisms import HallPosterior, bayes_cloaking
from dpgp_core.table import Dataset
from pages._ui.excursion import bayes, compute, figures
from pages._ui.excursion.bayes import Findings
from pages._ui.excursion.compute import View
from pages._ui.excursion.view import ETAS, PATH_LENGTHS
from pages._ui.look import plots
from pages._ui.look.offers import EPSILONS, PATH_DELTAS, PATHS, RIDGES
from pages._ui.work import cached
from tests.pages.reading import deck, page_text, traces

CURVE = View("curve", 0.3, 8.0, 0.05, 3, 0.0, 0.0, 0.3, 0.005, 1)


def explored(view: View) -> compute.Explored:
    return compute.explore(compute.hall_noise(view), view)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["curve", "plumes", "london"])
def test_every_data_set_states_its_cost(seen, kind):
    app = seen("excursion_sets", excursion=kind)
    assert not app.warning
    assert float(app.metric[0].value) > 0
    assert "<b>Protects.</b> inputs and outputs" in page_text(app)
    if kind == "london":
        assert len(deck(app)["layers"][0]["data"]) == len(london_excursion.cells())
        assert "What is protected is one hexagon's median, not one sale" in app.info[0].value


@pytest.mark.parametrize("epsilon", ["1", "3"])
def test_all_paths_together_keep_epsilon(seen, epsilon):
    app = seen("excursion_sets", paths="3", path_delta="0.005", epsilon=epsilon)
    [said] = [each.value for each in app.caption if each.value.startswith("For this ε: r = 8, s = ")]
    s = float(said.removeprefix("For this ε: r = 8, s = ").removesuffix("."))
    # n = 100 points on [0, 1], exponential kernel of lengthscale 0.3: kappa = exp(-1 / 0.3)
    spent = posterior_sampling_epsilon(100, 8.0, s, np.exp(-1 / 0.3), 0.005, L=3, sensitivity="exponential_1d_min")
    assert 0.999 * float(epsilon) < spent <= float(epsilon)
    assert app.metric[0].value == epsilon
    assert f"At ε = {epsilon}, the area of one path overlaps" in page_text(app)


@pytest.mark.parametrize("kind", STUDIES)
@pytest.mark.parametrize("eta", [ETAS[0], ETAS[-1]])
def test_every_offered_epsilon_is_possible(kind, eta):
    for epsilon, L, length in product(EPSILONS[::7], PATHS[::2], PATH_LENGTHS[::10]):
        r, s = compute.settings_for(kind, length, RIDGES[0], PATH_DELTAS[0], L, eta, epsilon)
        assert compute.epsilon_of(kind, length, r, s, PATH_DELTAS[0], L, eta) <= epsilon


def test_the_iou_is_shown_first(seen):
    app = seen("excursion_sets")
    axis = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]["xaxis"]
    assert axis["title"]["text"].startswith("IoU with the true area")
    assert {"published path", "Hall's release, same ε"} == set(traces(app))
    found = compute.explored(replace(CURVE, L=1, delta=1e-4))
    repeated = bayes.overlaps(found.settings, found.bayes_epsilon)[found.level]
    figure = figures.overlap(Findings(found, bayes.bayes_set(found), bayes.without_privacy(found), bayes_iou=repeated))
    shown = {each.text.rpartition(" ")[0]: float(each.text.rpartition(" ")[2]) for each in figure.layout.annotations}
    assert shown["Bayes cloaking, median"] == pytest.approx(np.median(repeated), abs=0.006)  # as the paths, no one draw
    low, high = figure.layout.xaxis.range
    values = np.concatenate([found.path_iou, found.hall_iou, [found.everything_iou]])
    assert low <= values.min() < low + 0.1
    assert min(high, 1.0) - 0.1 < max(values.max(), Findings(found, None, bayes.without_privacy(found)).best) <= high
    for drawn in (figure, plots.enlarge(go.Figure(figure))):
        heights = [each.yshift for each in drawn.layout.annotations]
        assert len(set(heights)) == len(heights)  # names of lines do not collide
        lower = 0.9 * figures._PLOT  # on a narrow page
        for line, height in zip(drawn.layout.shapes, heights, strict=True):
            assert (1 - line.y1) * lower > -height  # it does not reach the name above


def luminance(colour: str) -> float:
    """Of a colour (WCAG 2.2) on a page of the dark theme, by its alpha."""
    red_green_blue = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    alpha, dark = int(colour[7:] or "ff", 16) / 255, (0.055, 0.067, 0.09)
    mixed = [alpha * each + (1 - alpha) * below for each, below in zip(red_green_blue, dark, strict=True)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in mixed]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def test_neither_is_the_dimmest_colour_in_the_dark():
    colours = dict(zip(figures.LAYERS["overlap"].names, figures.LAYERS["overlap"].scale, strict=True))
    assert all(
        luminance(colours["neither"]) < luminance(colour) / 3 for name, colour in colours.items() if name != "neither"
    )
    assert figures.LAYERS["overlap"].colours(np.array([0.0, 1.0]))[0][3] < 100  # of 255


@pytest.mark.full
def test_truth_is_drawn_only_with_the_overlay(seen):
    app = seen("excursion_sets", paths="3")
    assert {"truth", "without privacy", "published path", "Bayes cloaking"} <= set(traces(app, 1))
    assert {"Bayes cloaking", "Bayes cloaking, 90 % sure"} <= set(traces(app, 2)["found"]["y"])
    assert app.metric[2].label == "IoU, Bayes cloaking"
    assert "noisy counts of records in public cells" in page_text(app)
    app = seen("excursion_sets", paths="3", overlay="false")
    assert set(traces(app)) == {"published path", "Bayes cloaking"}
    assert set(traces(app, 1)) == {"above the threshold"}


@pytest.mark.full
def test_london_does_not_reveal_records(seen):
    app = seen("excursion_sets", excursion="london", overlay="false")
    assert list(app.selectbox(key="excursion_layer").options) == [
        "Published paths above the threshold",
        "Probability from Bayes cloaking",
    ]
    table = app.dataframe[0].value
    assert not [column for column in table if "not private" in column]
    np.testing.assert_allclose(table[["x1", "x2"]].to_numpy(), london_excursion.grid().round(4))
    records = london_excursion.load().X.round(4)
    assert not set(map(tuple, records.tolist())) & set(map(tuple, table[["x1", "x2"]].to_numpy().tolist()))
    shown = deck(app)["layers"][0]["data"]
    assert [row["cell"] for row in shown] == london_excursion.cells()
    assert not {"borough", "sales"} & set(shown[0])
    assert all(not layer["data"] for layer in deck(app)["layers"][1:])  # outlines are unions of occupied hexagons
    assert [metric.label for metric in app.metric] == ["ε of what is published", "Protects"]


def test_overlap_of_a_view_by_brute_force():
    found = explored(CURVE)
    inside, truth = found.paths[0] >= 0, found.truth >= 0
    assert found.path_iou[0] == pytest.approx((inside & truth).sum() / (inside | truth).sum())
    assert found.everything_iou == pytest.approx(truth.mean())
    assert len(found.path_iou) == 3 + compute.SIMULATED


@pytest.mark.full_for("curve")
@pytest.mark.parametrize("kind", ["curve", pytest.param("london", marks=pytest.mark.full)])
def test_search_keeps_its_budget_and_reports_progress(kind):
    done = []
    found = compute.find_settings(kind, 0.3, 0.005, 2, 3.0, done.append)
    assert compute.epsilon_of(kind, found.lengthscale, found.r, found.scale, 0.005, 2) <= 3.0 * (1 + 1e-6)
    assert done[-1] == pytest.approx(1)
    assert done == sorted(done)


@pytest.mark.full
def test_finding_settings_moves_the_sliders_within_the_budget(open_page):
    app = open_page("excursion_sets", r="1", epsilon="3")
    app.button[[button.label for button in app.button].index("Find the best r and lengthscale")].click().run()
    assert not app.exception
    assert "Found for ε = 3" in app.success[0].value
    length, r = (float(app.select_slider(key=key).value) for key in ("length_curve", "r"))
    assert (length in PATH_LENGTHS, r in RIDGES) == (True, True)
    assert float(app.metric[0].value) <= 3.0


def test_the_headline_has_what_the_tiles_have(seen):
    app = seen("excursion_sets")
    assert app.title[0].value == "Where is the curve above the threshold?"
    sentence = r"with a median IoU of \*\*([\d.]+)\*\*, the area of Bayes cloaking with \*\*([\d.]+)\*\*"
    [(path, bayes)] = re.findall(sentence, page_text(app))
    assert [metric.value for metric in app.metric[1:3]] == [path, bayes]
    assert all(metric.delta.startswith("middle half: ") for metric in app.metric[1:3])
    assert app.metric[3].delta.startswith("reference method; colouring everything scores ")


@pytest.mark.parametrize("kind", ["curve", *(pytest.param(kind, marks=pytest.mark.full) for kind in STUDIES)])
def test_nothing_private_overlaps_more_than_what_hides_nothing(kind):
    study = STUDIES[kind]
    length, r, s = study.start
    view = View(kind, length, r, s, 1, 0.0, study.thresholds.level_of(study.thresholds.start), study.noise, 1e-4, 1)
    found = compute.explored(view)
    best = Findings(found, None, bayes.without_privacy(found)).best
    error = found.path_iou.std(ddof=1) / len(found.path_iou) ** 0.5
    assert found.path_iou.mean() <= best + error
    # One release may be lucky, and even the mean of a few
    overlaps = bayes.overlaps(view, found.bayes_epsilon)[found.level]
    assert overlaps.mean() <= best + 3 * overlaps.std(ddof=1) / len(overlaps) ** 0.5


@pytest.mark.parametrize("study", ["curve", "plumes"])
def test_halls_releases_follow_from_those_of_other_data(study):
    """Their noise depends neither on the data nor on the budget, so that it is simulated once for all of them."""
    view, epsilon = replace(CURVE, name=study, r=3.0, delta=1e-4, noise=0.1), 0.7
    data, grid, _ = compute.data_of(view)
    hall = HallPosterior(kernel=view.kernel, r=view.r, epsilon=epsilon, delta=view.delta)
    direct = hall.release(data, grid, np.random.default_rng([view.seed, 3]), draws=compute.SIMULATED).samples
    noise = compute.hall_noise(replace(view, noise=0.5, threshold=0.4))
    paths = partial(compute.hall_paths, noise, view, data.X, data.y, grid)
    np.testing.assert_allclose(paths(epsilon), direct, rtol=1e-9, atol=1e-12)
    assert paths(1e7).shape == (0, len(grid))


@pytest.fixture
def asked(monkeypatch):
    """Settings of all results that a page asks for, by their functions."""
    kept: dict[str, set[object]] = {}
    answer = cached.value

    def value(label, function, *settings, **options):
        kept.setdefault(function.__name__, set()).add(settings)
        return answer(label, function, *settings, **options)

    monkeypatch.setattr(cached, "value", value)
    return kept


def test_what_a_control_does_not_change_is_shared(asked):
    for changes in ({}, {"lengthscale": 0.5}, {"delta": 1e-4}, {"r": 3.0}, {"L": 1}, {"threshold": 0.2}):
        bayes.without_privacy(compute.explored(replace(CURVE, **changes)))
    assert len(asked["_without_privacy"]) == 1
    assert len(asked["hall_noise"]) == 2  # one for each lengthscale
    compute.explored(replace(CURVE, noise=0.5))
    assert len(asked["hall_noise"]) == 2


def test_nothing_beside_the_releases_is_computed(monkeypatch):
    """The same releases without noise would take as long again, and no figure shows them."""
    monkeypatch.setattr(bayes_cloaking, "ZeroNoise", None)
    assert len(bayes.overlaps(CURVE, 1.0)[CURVE.level]) == bayes.REPEATED


@pytest.mark.full_for("plumes", "london")
@pytest.mark.parametrize("kind", STUDIES)
def test_enough_releases_are_simulated_for_the_median(kind):
    study = STUDIES[kind]
    view = View(kind, study.start[0], 1.0, 1.0, 1, 0.0, 0.0, study.noise, 1e-4, 1)
    view = replace(view, threshold=compute.start_of(view))
    overlaps = bayes.overlaps(view, 1.0)[view.level]
    assert bayes.median_error(overlaps) < 0.045


@pytest.mark.parametrize("threshold", [0.0, 0.2])
def test_repeated_overlaps_are_those_of_numbered_releases(threshold):
    found = explored(replace(CURVE, L=1, delta=1e-4, threshold=threshold))
    numbered = [replace(found, settings=replace(found.settings, seed=seed)) for seed in (1, 2)]
    each = [found.iou_of(bayes.bayes_set(view).inside) for view in numbered]
    again = bayes.overlaps(found.settings, found.bayes_epsilon)
    # the epsilon as it is displayed, so that settings whose paths cost nearly the same share these releases
    assert found.path_epsilon < found.bayes_epsilon < 1.01 * found.path_epsilon
    assert found.bayes_epsilon == float(f"{found.bayes_epsilon:.3g}")
    assert list(again[found.level][:2]) == pytest.approx(each)
    assert list(again) == list(STUDIES["curve"].thresholds.offered)


def test_sets_are_drawn_as_runs():
    inside, x, gap = np.array([1, 1, 0, 1, 0, 1, 1, 1], bool), np.arange(8.0), np.nan
    np.testing.assert_array_equal(figures.bars_of(inside, x), [0, 1, gap, 3, 3, gap, 5, 7, gap])
    np.testing.assert_array_equal(figures.bars_of(~inside, x), [2, 2, gap, 4, 4, gap])
    np.testing.assert_array_equal(figures.bars_of(np.zeros(8, bool), x), [gap])  # its row stays


# ---- The Bayes release on the page of excursion sets: its price, what it needs, and whether its probabilities hold.


LINE = replace(CURVE, L=1, delta=1e-4)
LONDON = View("london", 0.08, 8.0, 0.05, 1, 0.0, 13.0, 0.5, 1e-4, 1)


def simulated(name: str, epsilon: float, sets: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and truths of releases about simulated sets that no page shows."""
    study = STUDIES[name]
    targets = study.simulated(sets, noise=noise, seed=909)
    public = study.shown(noise=noise, threshold=0.0)[0]
    mechanism = bayes.mechanism(study.start[0], epsilon, 1e-4)
    view = replace(LINE, name=name)
    probabilities = []
    for number, (X, y) in enumerate(zip(targets.X, targets.y, strict=True)):
        release = mechanism.release(replace(public, X=X, y=y), targets.grid, np.random.default_rng(number))
        read = bayes.read(release.uncertainty.prediction, view, release.guarantee)
        probabilities.append(read.probability)
    return np.concatenate(probabilities), targets.truth.ravel()


def holds(p: np.ndarray, truth: np.ndarray, slack: float = 0.1) -> None:
    """Of places said to be above with 80 % or more, as many are as it says, but for ``slack``; likewise below."""
    for likely, is_so in ((p, truth), (1 - p, ~truth)):
        if (likely >= 0.8).sum() > 10:
            assert is_so[likely >= 0.8].mean() >= likely[likely >= 0.8].mean() - slack
    assert truth.mean() == pytest.approx(p.mean(), abs=slack)


@pytest.mark.full
@pytest.mark.parametrize(("epsilon", "noise"), [(0.5, 0.3), (5.0, 0.5), (bayes.MOST_TESTED, 0.1)])
def test_probabilities_are_calibrated_on_simulated_curves(epsilon, noise):
    """At ε = 0.5 a third of the curves have all places that are likely, side by side: so many curves."""
    holds(*simulated("curve", epsilon, 60, noise))


@pytest.mark.full
def test_probabilities_are_calibrated_on_left_out_hexagons():
    data = london_excursion.load()
    test = np.arange(0, data.n, 3)
    train: Dataset = data.subset(np.setdiff1d(np.arange(data.n), test))
    release = bayes.mechanism(0.08, 3.0, 1e-4).release(train, data.X[test], np.random.default_rng(0))
    read = bayes.read(release.uncertainty.prediction, LONDON, release.guarantee)
    holds(read.probability, data.y[test] >= 0)


@pytest.mark.full
def test_the_release_costs_what_a_path_costs():
    found = explored(replace(LINE, L=3))
    release = bayes.bayes_set(found)
    assert release.guarantee.budget.epsilon == found.bayes_epsilon
    assert release.guarantee.budget.delta == LINE.delta
    assert found.guarantee.budget.epsilon > found.path_epsilon
    assert release.guarantee.protects == found.guarantee.protects == "inputs and outputs"


@pytest.mark.full
def test_another_threshold_reads_the_same_release():
    prediction, guarantee = bayes.released(LINE, 3.0), bayes.mechanism(0.3, 3.0, 1e-4).guarantee
    low, high = (bayes.read(prediction, replace(LINE, threshold=level), guarantee) for level in (-0.4, 0.4))
    np.testing.assert_array_equal(low.mean, high.mean)
    assert (low.probability > high.probability).all()
    assert (low.inside | ~low.sure).all()


def test_nothing_is_said_where_the_budget_means_nothing(open_page):
    app = open_page("excursion_sets", epsilon="100")
    assert app.metric[2].value == f"none above ε = {bayes.MOST_TESTED:g}"
    assert "Bayes cloaking" not in traces(app)


@pytest.mark.full
def test_the_map_offers_the_release_without_the_overlay(open_page):
    app = open_page(
        "excursion_sets", excursion="london", overlay="false", excursion_layer="Probability from Bayes cloaking"
    )
    assert not app.warning
    shown = [row["value"] for row in deck(app)["layers"][0]["data"]]
    table = app.dataframe[0].value["Bayes probability [%]"]
    assert [float(value.strip("≥ %")) for value in shown] == [float(f"{value:.0f}") for value in table]
    assert 0 <= table.min() < table.max() <= 100

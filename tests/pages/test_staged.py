"""Bayes cloaking on pages: a draw is a release with a number, and there is one error everywhere."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from datasets import EXHIBITS
from dpgp_core.mechanisms import BayesCloaking
from pages._ui import left_out
from pages._ui.cloaking import computed, staged
from pages._ui.cloaking.results import LEVEL
from pages._ui.compare import compute, contenders
from pages._ui.lengthscale import compute as lengthscale
from pages._ui.look import maps, offers, settings, sidebar, text
from pages._ui.model import Budget, Design, Draw, Model, usual
from pages._ui.sparse import compute as sparse
from pages._ui.sparse.compute import SparseSetting
from pages._ui.start import brief, decision
from pages._ui.work import cached, jobs, waiting
from tests.pages.reading import page_text

KUNG = Model("kung", "EQ", 25.0, 0.3)
DRAW = Draw(epsilon=1.0, delta=offers.DELTA, draws=2, seed=3)
BUDGET = Budget("kung", DRAW.epsilon, DRAW.delta)
MECHANISM = BayesCloaking(epsilon=DRAW.epsilon, delta=DRAW.delta)


@pytest.fixture(scope="module")
def result():
    return computed.run(KUNG, Design(), DRAW)


@pytest.mark.full
def test_pages_show_releases_of_the_core(result):
    data, scene = result.dataset, result.scene
    plan = MECHANISM.plan_for(data, scene.X_test)
    for at, number in enumerate((3, 4)):
        release = MECHANISM.measure(plan, data, scene.X_test, np.random.default_rng(number))
        np.testing.assert_allclose(result.samples[at], release.samples[0], rtol=1e-7)
        for of, ends in (("outputs", result.intervals.output), ("function", result.intervals.curve)):
            interval = np.stack(release.interval(LEVEL, of))[:, 0]
            np.testing.assert_allclose(ends.of(at), interval, rtol=1e-7)
        assert result.numbers[at].guarantee == release.guarantee
    assert result.guarantee == release.guarantee.repeated(2)


def test_a_release_is_read_when_it_is_made(monkeypatch, result):
    read = staged.released(result.dataset, result.scene, replace(result.numbers[0], along=None), BUDGET, DRAW, KUNG)
    monkeypatch.setattr(staged, "read", lambda *parts: pytest.fail("it is read once more"))
    monkeypatch.setattr(cached, "jobs", jobs.Jobs(cached.ROOM))
    again = computed.run(KUNG, Design(), replace(DRAW, draws=1))
    np.testing.assert_array_equal(again.samples[0], result.samples[0])
    np.testing.assert_array_equal(again.intervals.output.low[0], result.intervals.output.low[0])
    np.testing.assert_allclose(computed.growth_of(again).values, read.values, rtol=1e-9)


@pytest.mark.full
def test_changing_the_model_keeps_the_numbers(result):
    other = computed.run(replace(KUNG, lengthscale=5.0), Design(), DRAW)
    automatic = staged.models(result.dataset, BUDGET, KUNG)  # untouched, the page's model joins none
    kernels = [model.kernel for model in staged.models(result.dataset, BUDGET, other.model)]
    assert Model("kung", "EQ", 5.0, 0.3).build() in kernels
    assert automatic == MECHANISM.plan_for(result.dataset, result.dataset.X).models
    assert len(kernels) == 9 + len(automatic)  # it and its neighbours
    assert other.numbers == result.numbers
    assert (other.samples != result.samples).any()
    assert other.released == result.released  # reading again spends nothing
    assert computed.run(KUNG, Design(), replace(DRAW, seed=4)).released != result.released


@pytest.mark.full
def test_moving_the_lengthscale_spends_nothing_of_it(open_page):
    app = open_page("london_noise_map", mechanism="bayes")
    assert [each for each in app.sidebar.caption if "they re-read the same release" in each.value]
    app.select_slider(key="lengthscale_km").set_value(8).run()
    assert not [each for each in app.sidebar.caption if "separate real releases" in each.value]
    app.select_slider(key="epsilon").set_value(2).run()
    assert [each for each in app.sidebar.caption if "2 separate real releases" in each.value]


def test_the_recommended_map_knows_its_privacy_noise(seen):
    app = seen("london_noise_map", mechanism="bayes")
    assert app.segmented_control(key="map").value == "Privacy noise"
    table = app.dataframe[0].value
    noise, unsure = (table[f"{name} [{maps.TIMES}]"] for name in ("privacy noise", "uncertainty (95 %)"))
    assert (noise > 1).all()
    sold = table["sales"] > 0
    assert noise[sold].median() < unsure[sold].median()  # which counts what few sales leave open, too


MAPS = [name for name, shown in EXHIBITS.items() if shown.scene == "map" and "bayes" in offers.mechanisms(name)]


@pytest.mark.full
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 10.0])
@pytest.mark.parametrize("name", MAPS)
def test_privacy_noise_covers_its_level_of_simulated_releases(name, epsilon):
    """Every map shows it: ten releases against the one that is measured without noise and read in the same way.

    The releases are numbered, so nothing here is left to chance. They cover 0.957 to 1 on average. The width must be
    at least as useful as a normal range of twice the deviation that is found.
    """
    data, budget = cached.dataset(name), Budget(name, epsilon, offers.DELTA)
    scene, model = computed.scene(name), usual(name)
    people = slice(scene.records)
    plan = budget.mechanism.plan_for(data, data.X)
    silent = budget.mechanism.measure(plan, data, data.X, NoNoise(), mean=False).measured[0]
    numbers = [staged.measure(data, scene, budget, number) for number in range(1, 11)]
    read = [silent, *(each.measured for each in numbers)]
    without, *noisy = staged.read(data, scene.X_test, read, budget, model).values[:, people]
    off = np.abs(np.array(noisy) - without)
    halves = np.array([staged.noise_half(data, scene, each, budget, DRAW, model)[people] for each in numbers])
    assert (off <= halves).mean() >= LEVEL
    assert np.median(halves) <= 2 * 1.96 * np.median(np.sqrt(np.mean(off**2, axis=0)))


@pytest.mark.parametrize("name", [name for name, shown in EXHIBITS.items() if shown.scene == "curve"])
def test_curves_of_bayes_cloaking_show_no_privacy_noise(name):
    """Where a curve is steeper than the models expect, as the youngest grow, it would cover too little."""
    usual_of = usual(name)
    page = settings.untouched(sidebar.ReleaseSettings)
    chosen = replace(page, dataset=name, lengthscale=usual_of.lengthscale, mechanism="bayes", draws=1, overlay=False)
    assert chosen.design.in_stages
    assert computed.compared(chosen, "none")[0].intervals.noise is None


class NoNoise:
    """A generator whose normal numbers are all 0."""

    def standard_normal(self, shape=None):
        return 0.0 if shape is None else np.zeros(shape)


@pytest.mark.full
def test_many_records_are_not_measured_in_stages(open_page):
    app = open_page("london_noise_map", map_dataset="london_sales", mechanism="bayes")
    assert app.selectbox(key="mechanism").value == "Cloaking"
    assert "mechanism = `bayes`" in app.warning[0].value


# ---- One error and one error without privacy, on every page: on people left out, in fifths.


COMPARED = [name for name, exhibit in EXHIBITS.items() if exhibit.cross_validated]
OPENING = Draw(epsilon=1.0, delta=offers.DELTA)


@pytest.mark.usefixtures("cold")
def test_releases_side_by_side_have_one_bar(monkeypatch):
    """Each step had a bar of its own, which began at nothing again."""
    shown, value = [], cached.value

    def noting(label, *args, here=False, **options):
        if not here and waiting._PAGE.whole is not None:
            shown.append(waiting._PAGE.whole.progress(0.0))
        return value(label, *args, here=here, **options)

    monkeypatch.setattr(cached, "value", noting)
    monkeypatch.setattr(waiting, "_READY_SECONDS", -1.0)  # no part counts as ready
    model, draw = usual("toy_1d"), Draw(epsilon=1.0, delta=1e-5, draws=2)
    computed.runs([(model, Design("refined"), draw), (model, Design("bayes"), draw)])
    fractions, begun = zip(*shown, strict=True)
    assert len(set(begun)) == 1
    assert [*fractions] == sorted(fractions)
    assert fractions[0] == 0.0
    assert 0.5 < fractions[-1] < 1.0
    assert len(set(fractions)) > 4


@pytest.mark.usefixtures("cold")
def test_errors_are_of_left_out_people(monkeypatch):
    """In two parts, of which each has its own plan and numbers, as five have."""
    monkeypatch.setattr(left_out, "FOLDS", 2)
    budget, data = Budget("toy_1d", 1.0, 1e-4), cached.dataset("toy_1d")
    mechanism, squares = BayesCloaking(epsilon=1.0, delta=1e-4), []
    for index, test in enumerate(left_out.folds_of(data)):
        train = data.subset(np.delete(np.arange(data.n), test))
        plan, rng = mechanism.plan_for(train, data.X[test]), np.random.default_rng([left_out.SEED, index])
        draws = contenders.CONTENDERS["bayes"].simulated
        release = mechanism.measure(plan, train, data.X[test], rng, draws, mean=False)
        squares.append((release.samples - data.clipped_y[test]) ** 2)
    expected = np.sqrt(np.hstack(squares).mean(axis=1))
    np.testing.assert_allclose(left_out.simulated_errors(budget).errors, expected, rtol=1e-9)


@pytest.mark.full
def test_another_model_reads_what_was_simulated(monkeypatch):
    longer, shorter = (replace(KUNG, lengthscale=times * KUNG.lengthscale) for times in (2, 0.2))
    first = computed.errors(longer, Design(), OPENING)  # of the page's own, results ship
    monkeypatch.setattr(BayesCloaking, "measure", pytest.fail)
    other = computed.errors(shorter, Design(), OPENING)
    assert other.shape == first.shape
    assert not np.array_equal(other, first)


@pytest.mark.full
@pytest.mark.usefixtures("cold")
def test_left_out_errors_begin_before_drawing(monkeypatch, open_page):
    requests = []
    monkeypatch.setattr(cached, "prefetch", lambda *some: requests.extend(some))
    for page in ("kung_curves", "london_noise_map"):
        for overlay in ("false", "true"):
            requests.clear()
            open_page(page, overlay=overlay, mechanism="bayes")
            begun = bool(requests) and requests[0].function is left_out.fold_residuals
            assert begun == (overlay == "true")


SETTINGS = [
    (name, method)
    for name in COMPARED
    for method in offers.mechanisms(name)
    if method == "bayes" or EXHIBITS[name].scene is not None  # others have no page of their own
]


def errors_of(name: str, method: str, epsilon: float = 1.0) -> dict[str, str]:
    """Return the error that each page has for a data set, a method and an epsilon, as it is written."""
    model, data = usual(name), cached.dataset(name)
    contest = contenders.Contest(model, offers.DELTA, compute.BINS, compute.INDUCING)
    scale = contenders.scale_of(data)
    decided = replace(settings.untouched(decision.Decision), dataset=name, mechanism=method, epsilon=epsilon)
    cost = brief.cost(decided, data)
    draw = replace(OPENING, epsilon=epsilon)
    found = {
        "Compare": compute.curve(contest, method).mean[contenders.CURVE_EPSILONS.index(epsilon)],
        "own page": computed.errors(model, Design(method), draw).mean(),
    }
    if method == "bayes":
        grid = lengthscale.Grid(model, EXHIBITS[name].lengthscales, "trace")
        budgets = lengthscale.Budgets(1.0, epsilon, offers.DELTA, "analytic", "exponential")
        choice = SimpleNamespace(grid=grid, budgets=budgets, table=SimpleNamespace(rmse=np.ones(1)))
        found["Lengthscale choice"] = lengthscale.without_choice(choice).bayes
    return {page: scale.with_unit(error) for page, error in found.items()} | {"Start": cost.with_unit(cost.at(epsilon))}


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
@pytest.mark.parametrize(
    ("name", "method"), [pytest.param(*each, marks=() if each[1] == "bayes" else pytest.mark.full) for each in SETTINGS]
)
def test_all_pages_have_one_error_for_one_setting(name, method, epsilon):
    found = errors_of(name, method, epsilon)
    assert len(found) >= 3
    assert len(set(found.values())) == 1, found


@pytest.mark.full
@pytest.mark.parametrize("name", COMPARED)
def test_all_pages_have_one_error_without_privacy(name):
    """As it is written: a lengthscale that was cross-validated, or a sparse fit, may be better by less than a digit."""
    shown, scale = EXHIBITS[name], contenders.scale_of(cached.dataset(name))
    found = {"Compare, Start": left_out.without_privacy(name, usual(name))}
    if shown.scene:
        grid = lengthscale.Grid(usual(name), shown.lengthscales, "trace")
        budgets = lengthscale.Budgets(1.0, 1.0, offers.DELTA, "analytic", "exponential")
        found["Lengthscale choice"] = lengthscale.without_choice(
            lengthscale.Choice(grid, budgets, lengthscale.scored(grid))
        ).without
    if shown.sparse and sparse.is_compared(name):
        setting = SparseSetting(name, shown.lengthscale, shown.sparse.noise, shown.sparse.start, 1.0, offers.DELTA, 1)
        found["Sparse DP-GP"] = sparse.least_without_privacy(setting, sparse.fits(setting).plain_rmse)
    written = {page: scale.with_unit(error) for page, error in found.items()}
    assert len(set(written.values())) == 1, written


def test_pages_of_kung_say_one_error(seen):
    opened = {page: seen(page) for page in ("kung_curves", "lengthscale_choice")}
    tiles = [metric for app in opened.values() for metric in app.metric]
    [plain] = {metric.value.removesuffix(" cm") for metric in tiles if metric.label == "Error without privacy"}
    ours = opened["kung_curves"].metric[0].delta.removeprefix("Bayes cloaking (needs no lengthscale): ")
    assert ours == seen("kung_curves", mechanism="bayes").metric[0].value
    assert ours == errors_of("kung", "bayes")["Compare"]
    assert f"Bayes cloaking needs no choice: its error is {ours}." in page_text(opened["lengthscale_choice"])
    said = page_text(seen("start"))
    assert re.search(rf"without privacy, {plain} cm\. \*\*You have set ε = 1 \(error {ours}\)\.\*\*", said)
    row = seen("compare").dataframe[0].value.set_index("mechanism").loc["Bayes cloaking (ours)"]
    assert text.number(float(row.filter(regex=r"^error \[").iloc[0])) == ours.removesuffix(" cm")


def test_pages_that_hide_inputs_too_say_one_error(seen):
    """Sparse DP-GP and Compare, which simulated releases of their own."""
    row = seen("compare").dataframe[0].value.set_index("mechanism").loc["Bayes cloaking (inputs too)"]
    error = text.number(float(row.filter(regex=r"^error \[").iloc[0]))
    app = seen("sparse_dp_gp", sparse_data="kung")
    assert f"Bayes cloaking has an error of **{error} cm**" in page_text(app)
    plain = {
        each.value for page in (app, seen("compare")) for each in page.metric if each.label == "Error without privacy"
    }
    assert len(plain) == 1


def test_pages_of_london_say_one_error(seen):
    ours = seen("london_noise_map").metric[0].delta.removeprefix("Bayes cloaking (needs no lengthscale): ")
    assert ours == seen("london_noise_map", mechanism="bayes").metric[0].value
    compared = errors_of("london_hexes", "bayes")["Compare"]
    assert ours == text.factor_of(computed.errors(usual("london_hexes"), Design(), OPENING).mean())
    table = seen("compare", compare_dataset="london_hexes", bins="6").dataframe[0].value.set_index("mechanism")
    shown = float(table.loc["Bayes cloaking (ours)"].filter(regex=r"^error \[").iloc[0])
    assert f"{text.number(shown)} %" == compared == ours


def test_another_declared_model_repeats_no_fit_of_bayes_cloaking(monkeypatch, cold):
    done = []
    packed = jobs.packed
    monkeypatch.setattr(jobs, "packed", lambda function, args: done.append(function) or packed(function, args))
    monkeypatch.setattr(left_out, "error_without_privacy", lambda data, folds: 7.0)
    model = usual("toy_1d")
    plain = left_out.without_privacy("toy_1d", model)
    data = cached.dataset("toy_1d")
    assert plain == left_out._of_declared(data, left_out.hold(data, model, left_out.REFINED), model) < 7.0
    assert left_out._of_mixture in done
    done.clear()
    left_out.without_privacy("toy_1d", replace(model, lengthscale=1e6))
    assert done == [left_out.hold, left_out._of_declared]


@pytest.mark.full
@pytest.mark.parametrize("name", COMPARED)
def test_private_errors_exceed_those_without_privacy(name):
    """By more than its standard error, at any epsilon of any method of the comparison, and so of Start and !Kung.

    Where next to nothing is hidden, errors of a few draws scatter about the one without privacy: by two of theirs then.
    """
    plain = left_out.without_privacy(name, usual(name))
    contest = contenders.Contest(usual(name), offers.DELTA, 10, 6)
    errors = np.where(np.array(contenders.CURVE_EPSILONS) < 50, 1, 2)
    for each in contenders.BY_WAIT:
        curve = compute.curve(contest, each)
        assert (curve.mean >= plain - errors * curve.standard_error).all(), each


@pytest.mark.full
@pytest.mark.parametrize("name", [each for each in COMPARED if EXHIBITS[each].scene])
def test_no_choice_of_lengthscale_is_below_it(name):
    grid = lengthscale.Grid(usual(name), EXHIBITS[name].lengthscales, "trace")
    budgets = lengthscale.Budgets(1.0, 10.0, offers.DELTA, "analytic", "exponential")
    choice = lengthscale.Choice(grid, budgets, lengthscale.scored(grid))
    unchosen = lengthscale.without_choice(choice)
    assert np.asarray(choice.table.private_rmse).min() >= unchosen.without
    assert unchosen.bayes is not None
    assert unchosen.bayes >= 0.99 * unchosen.without


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name, exhibit in EXHIBITS.items() if exhibit.sparse])
def test_no_release_that_hides_inputs_is_below_it(name):
    shown = EXHIBITS[name]
    assert shown.sparse is not None
    setting = SparseSetting(name, shown.lengthscale, shown.sparse.noise, shown.sparse.start, 1.0, offers.DELTA, 1)
    found = sparse.fits(setting)
    assert min(found.rmse.values()) >= sparse.least_without_privacy(setting, found.plain_rmse)

"""Compare: every method's error, and the limits under a prior."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from datasets import exhibit
from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.evaluation.comparison import held_out_errors, hold_out
from dpgp_core.strategies import noise_design
from pages._ui import left_out, session
from pages._ui.cloaking import computed as cloaking
from pages._ui.compare import compute, contenders, view, words
from pages._ui.compare.compute import concerning
from pages._ui.look import offers, pin, settings
from pages._ui.model import Budget, Model, load_dataset, usual
from pages._ui.start import brief, decision
from pages._ui.work import cached
from pages._ui.work.jobs import Jobs
from tests.pages.reading import page_text, traces

HEIGHTS = contenders.Contest(Model("kung", "EQ", 25.0, 0.3), 0.01, 10, 6)
TOY_CONTEST = contenders.Contest(Model("toy_1d", "EQ", 1.0, 0.3), 0.01, 6, 5)


@pytest.mark.full
def test_every_contender_has_a_row(seen):
    app = seen("compare")
    table = app.dataframe[0].value.set_index("mechanism")
    assert list(table.index) == [entry.title for entry in contenders.CONTENDERS.values()]
    inputs_too = table.index.str.contains("inputs too")
    assert table["protects"][~inputs_too].str.startswith("outputs").all()
    assert table["protects"][inputs_too].str.startswith("inputs and outputs").all()
    assert list(table["protects"][table.index.str.contains("bins")]) == ["outputs; pure ε (δ = 0)"] * 2
    error = table["error [cm]"]
    ours = [error[name] for name in ("Refined cloaking", "Cloaking", "Cloaking, method of 2018")]
    assert ours == sorted(ours)
    assert f", {error.idxmin()} has the smallest error, **" in page_text(app)


@pytest.mark.full
def test_unreachable_target_is_said_plainly(seen):
    app = seen("compare", target_cm="1.0")
    assert "no ε up to 100 is enough" in page_text(app)
    needs = app.dataframe[0].value["ε needed for the target"]
    assert (needs == "more than 100").all()


@pytest.mark.full
def test_epsilon_needed_reaches_the_target(seen):
    app = seen("compare", target_cm="9.0", delta="0.01")
    needed = app.dataframe[0].value.set_index("mechanism").loc["Refined cloaking", "ε needed for the target"]
    data = load_dataset("kung")
    mechanism = contenders.contender(HEIGHTS, "refined", float(needed))
    held = hold_out(mechanism, data, contenders.folds_of(data))
    at = held_out_errors(mechanism, held, 60, 1)
    assert at.mean() == pytest.approx(9.0, rel=0.01)


def test_errors_fall_with_epsilon():
    """Within three standard errors of a difference: Bayes cloaking has four simulated releases at each epsilon."""
    for name in contenders.CONTENDERS:
        curve = compute.curve(compute.opened()[0], name)
        mean, variance = curve.mean, curve.errors.var(axis=1, ddof=1) / curve.errors.shape[1]
        assert (mean[1:] <= mean[:-1] * 1.02 + 3 * np.sqrt(variance[1:] + variance[:-1])).all(), name
        assert mean[-1] < 0.6 * mean[0], name


def test_unused_settings_need_no_new_curve():
    one = contenders.Contest(Model("kung", "Matern32", 15.0, 0.5), 0.001, 6, 10)
    for name in contenders.CONTENDERS:
        used = concerning(one, name)
        assert contenders.contender(used, name, 2.0) == contenders.contender(one, name, 2.0), name
    every, bins = set(contenders.CONTENDERS), {"laplace_bins", "integral_bins"}
    for changed, moved in (
        ({"bins": 20}, bins),
        ({"inducing": 20}, {"inducing", "sparse"}),
        ({"delta": 0.01}, every - bins),
        ({"model": HEIGHTS.model}, every - {"bayes", "bayes_cells", "laplace_bins"}),
    ):
        other = replace(one, **changed)
        asked = {name for name in contenders.CONTENDERS if concerning(one, name) != concerning(other, name)}
        assert asked == moved, changed


def a_curve(error: float) -> contenders.Curve:
    count = len(contenders.CURVE_EPSILONS)
    return contenders.Curve(np.full((count, 2), error), *np.full((2, count), np.nan), 0.1)


# ---- Errors at another delta.


SLOW = ("bayes", "bayes_cells")
GAUSSIAN = [name for name in contenders.CONTENDERS if not name.endswith("_bins")]
DRAWS = {name: entry.simulated for name, entry in contenders.CONTENDERS.items()}  # before other tests have fewer
ELSEWHERE = replace(TOY_CONTEST, delta=1e-3)


def epsilon_with_noise(contest: contenders.Contest, name: str, s: float) -> float:
    """Return the epsilon at which a contender has this noise multiplier."""

    def excess(epsilon: float) -> float:
        return contenders.noise_multiplier_of(contest, name, epsilon) - s

    return brentq(excess, 1e-3, 100, xtol=1e-14)


@pytest.mark.parametrize("name", contenders.CONTENDERS)
def test_equal_noise_multipliers_give_equal_errors(name):
    data, rng = load_dataset("toy_1d"), np.random.default_rng
    s = contenders.noise_multiplier_of(TOY_CONTEST, name, 1.0)
    assert (s is not None) == (name in GAUSSIAN)
    other = 3.0 if s is None else epsilon_with_noise(ELSEWHERE, name, s)
    assert other != pytest.approx(1.0, rel=0.1)
    built = [contenders.contender(*each) for each in ((TOY_CONTEST, name, 1.0), (ELSEWHERE, name, other))]
    one, two = (each.release(data, data.X[::20], rng(0)).samples for each in built)
    assert (np.abs(one - two).max() < 1e-6 * data.output_range) == (s is not None)


@pytest.mark.full_for(*(name for name in GAUSSIAN if name != "cloaking"))
@pytest.mark.parametrize("name", GAUSSIAN)
def test_interpolated_errors_are_those_that_would_be_simulated(monkeypatch, name):
    """Within five standard errors of both, as independent noise gives them, and 3 % for the curvature in log s.

    The seeds are fixed. The standard errors of a few releases are estimated, so the largest of the curve is taken.
    """
    draws = DRAWS[name] if name in SLOW else 8
    monkeypatch.setitem(contenders.CONTENDERS, name, replace(contenders.CONTENDERS[name], simulated=draws))
    data, epsilons = load_dataset("toy_1d"), contenders.CURVE_EPSILONS
    usual = replace(TOY_CONTEST, delta=offers.DELTA)
    known = compute.curve(usual, name) if name in SLOW else contenders.curve(data, usual, name)
    s, wanted = (
        [contenders.noise_multiplier_of(each, name, epsilon) for epsilon in epsilons] for each in (usual, ELSEWHERE)
    )
    found = contenders.interpolated([known], s, wanted)
    assert found.interpolated == epsilons[: len(found.interpolated)]
    assert len(epsilons) - 2 <= len(found.interpolated) < len(epsilons)  # with less noise than was simulated: unknown
    assert np.isnan(found.mean[len(found.interpolated) :]).all()
    for at in (1, 5, 9):
        point = contenders.point(data, ELSEWHERE, name, epsilons[at])
        spread = max((each.standard_error[:12] / each.mean[:12]).max() for each in (known, point))
        off = abs(np.log(found.mean[at] / point.mean[0]))
        assert off < 5 * np.sqrt(2) * spread + 0.03, (name, epsilons[at])


def power_law(budget: Budget) -> left_out.Errors:
    """Errors that are a power of the noise multiplier, so that they are interpolated without an error."""
    s = noise_multiplier(budget.epsilon, budget.delta)
    return left_out.Errors(np.array([3.0, 4.0]) * s**0.5, 9 * s, 10 * s, 0.1)


@pytest.fixture
def kept(monkeypatch):
    """Errors of Bayes cloaking that are kept at the usual delta, and at the ends of the range of noise if so set."""
    ends: list[tuple[float, float]] = []
    simulated: list[float] = []

    def shipped(function, settings):
        if function is not left_out.joined:
            return None
        [budget] = settings
        usual = budget.delta == offers.DELTA or (budget.epsilon, budget.delta) in ends
        return power_law(budget) if usual else None

    monkeypatch.setattr(cached, "jobs", Jobs(cached.ROOM, shipped=shipped))
    monkeypatch.setattr(left_out, "simulated_errors", lambda each: simulated.append(each.epsilon) or power_law(each))
    monkeypatch.setitem(contenders.CONTENDERS, "bayes", replace(contenders.CONTENDERS["bayes"], simulated=2))
    return ends, simulated


@pytest.mark.parametrize("delta", [each for each in offers.DELTAS if each != offers.DELTA])
def test_another_delta_simulates_the_present_epsilon_only(kept, delta):
    (ends, simulated), contest = kept, replace(TOY_CONTEST, delta=delta)
    assert not compute.is_ready(contest, "bayes", 2.0)
    found = compute.curve(contest, "bayes", 2.0)
    outside = contenders.CURVE_EPSILONS[0 if delta < offers.DELTA else -1]
    assert simulated[0] == 2.0
    assert outside in simulated
    assert {*simulated} == {*contenders.CURVE_EPSILONS} - {*found.interpolated}
    exact = contenders.curve_of([power_law(Budget("toy_1d", each, delta)) for each in contenders.CURVE_EPSILONS])
    for values in ("errors", "half_width", "half_score"):
        np.testing.assert_allclose(getattr(found, values), getattr(exact, values), rtol=1e-9)
    simulated.clear()
    ends.extend(compute.ENDS)
    compute.curve(contest, "bayes", 2.0)
    assert simulated == [2.0]


def test_other_deltas_are_simulated_unless_kept(kept, monkeypatch):
    monkeypatch.setattr(contenders, "simulated", lambda data, held, wanted: [a_curve(each[0].delta) for each in wanted])
    found = compute.curve(ELSEWHERE, "cloaking")
    assert not found.interpolated
    assert (found.errors == ELSEWHERE.delta).all()


def test_prefetched_errors_use_the_present_epsilon(kept, monkeypatch):
    requested = []
    monkeypatch.setattr(cached, "prefetch", lambda *requests: requested.extend(requests))
    kept[0].extend(compute.ENDS)
    compute.foresee(replace(TOY_CONTEST, delta=1e-4), ["bayes"], 2.0)
    budgets = dict.fromkeys((each.settings[0].epsilon, each.settings[0].delta) for each in requested)
    assert [*budgets] == [(2.0, 1e-4), (3.0, 1e-4), (1.5, 1e-4), (2.0, 1e-3)]  # at 1e-5 all are kept


def test_start_simulates_what_it_recommends(kept, monkeypatch):
    monkeypatch.setattr(left_out, "without_privacy", lambda *names: 2.0)
    chosen = settings.untouched(decision.Decision)
    chosen = replace(chosen, dataset="toy_1d", mechanism="bayes", epsilon=0.5, delta=1e-3)
    found = brief.cost(chosen, load_dataset("toy_1d"))
    assert found.least() not in (None, 0.5)
    assert {0.5, found.least()} <= {*kept[1]} == {*contenders.CURVE_EPSILONS} - {*found.interpolated}
    assert "recommended one are simulated" in brief.errors_caption(found)
    assert brief.errors_caption(replace(found, interpolated=())) == ""


def test_the_caption_says_that_points_are_interpolated():
    simulated, interpolated = a_curve(7.0), replace(a_curve(8.0), interpolated=(0.1,))
    said = words.errors_caption(comparison({"bayes": simulated, "refined": interpolated}, 1.0))
    assert "at your ε are simulated; most others are interpolated" in said
    assert words.errors_caption(comparison({"bayes": simulated}, 1.0)) == words.ERRORS_CAPTION


def comparison(curves: dict[str, contenders.Curve], epsilon: float) -> compute.Compared:
    return compute.Compared(HEIGHTS, epsilon, target=9.0, nonprivate=7.0, curves=curves, needs={})


def test_the_front_contains_undominated_methods():
    errors = {"bayes": 7.0, "refined": 8.0, "published": 5.0, "sparse": 9.0}
    bins = {"laplace_bins": 11.0, "integral_bins": 10.0}
    curves = {name: a_curve(error) for name, error in (errors | bins).items()}
    assert words.front(comparison(curves, 5.0)) == {"bayes", "sparse", "integral_bins"}  # published: no promise there
    assert words.front(comparison(curves, 0.5)) == {"published", "sparse", "integral_bins"}
    curves["sparse"] = a_curve(6.0)
    assert words.front(comparison(curves, 5.0)) == {"sparse", "integral_bins"}


def test_private_inputs_count_in_the_front(seen):
    """The sparse DP-GP had the star while Bayes cloaking that hides inputs too was not compared."""
    table = seen("compare").dataframe[0].value.set_index("mechanism")
    ours = "Bayes cloaking (inputs too)"
    assert table.loc[ours, "error [cm]"] < table.filter(like="parse", axis=0)["error [cm]"].min()
    assert table.loc[ours, "unbeaten"] == "★"
    assert (table.filter(like="parse", axis=0)["unbeaten"] == "").all()


def test_invalid_guarantees_are_marked():
    assert [words.protects(HEIGHTS, "published", epsilon) for epsilon in (1.0, 5.0)] == [
        "outputs; δ = 0.01",
        "outputs; not established at this ε",
    ]
    needs = [words.need_in_words(HEIGHTS, name, need) for name, need in (("refined", 1.2341), ("published", 1.2341))]
    assert needs == ["1.24", "1.24 (no promise: Hall’s formula above epsilon 1)"]
    assert words.need_in_words(HEIGHTS, "published", None) == "more than 100"


@pytest.mark.full
def test_whose_inputs_are_protected_too_is_marked(seen):
    app = seen("compare", compare_dataset="toy_1d")
    table = app.dataframe[0].value.set_index("mechanism")
    assert list(table.index) == [entry.title for entry in contenders.CONTENDERS.values()]
    own, shipped = contenders.CONTENDERS["bayes_cells"], contenders.Contest(usual("toy_1d"), offers.DELTA, 10, 6)
    assert table.loc[own.title, "draws"] == compute.curve(shipped, "bayes_cells").errors.shape[1]
    assert (table.filter(like="± standard error") > 0).all(axis=None)
    assert set(table["unbeaten"]) == {"★", ""}
    assert table["unbeaten"][table.filter(regex=r"^error \[").iloc[:, 0].idxmin()] == "★"
    lines = {tuple(traces(app)[title]["line"][kind] for kind in ("color", "dash")) for title in table.index}
    assert len(lines) == len(table)
    for name, entry in contenders.CONTENDERS.items():
        assert (traces(app)[entry.title]["marker"].get("symbol") == "diamond") == entry.private_inputs, name


def test_finished_methods_are_shown_early():
    curves = {"refined": a_curve(8.0), "cloaking": a_curve(9.0)}
    said = words.so_far(comparison(curves, 1.0), ["bayes"], 0, 9)
    assert "2 of 9 methods are done" in said
    assert "**Refined cloaking** has the smallest error at ε = 1, 8 cm" in said
    assert said.endswith("**Bayes cloaking (ours)** is being computed.")
    growing = words.so_far(comparison(curves | {"bayes": a_curve(1.0)}, 1.0), ["bayes"], 2, 9)
    assert "**Refined cloaking** has the smallest" in growing  # what is not done does not win
    assert growing.endswith("so far on 2 of 5 parts of the people: it will still move.")
    alone = words.so_far(comparison({"bayes": a_curve(1.0)}, 1.0), ["bayes"], 2, 9)
    assert alone.startswith("**Bayes cloaking (ours)** is")


@pytest.mark.full
def test_slow_curves_grow_fold_by_fold():
    data, concern = load_dataset("toy_1d"), concerning(TOY_CONTEST, "bayes")
    grown = list(compute.growing(TOY_CONTEST, "bayes"))
    assert [folds for _, folds in grown] == [1, 2, 3, 4, 5]
    np.testing.assert_array_equal(grown[-1][0].errors, contenders.curve(data, concern, "bayes").errors)
    # the intervals of all epsilons are known, because pages share its errors
    point = contenders.point(data, concern, "bayes", contenders.CURVE_EPSILONS[5])
    assert grown[-1][0].half_width[5] == point.half_width[0]
    assert [folds for _, folds in compute.growing(TOY_CONTEST, "bayes")] == [5]
    assert [folds for _, folds in compute.growing(TOY_CONTEST, "cloaking")] == [5]


QUICK = [name for name in contenders.BY_WAIT if name not in SLOW]


def test_one_task_computes_what_a_page_lacks(cold, monkeypatch):
    """Curves and points of all contenders: each turn among the tasks of others takes seconds if many wait."""
    tasks: list[Sequence[contenders.Wanted]] = []
    simulated = contenders.simulated

    def counted(data, held, wanted):
        tasks.append(wanted)
        return simulated(data, held, wanted)

    monkeypatch.setattr(contenders, "simulated", counted)
    found = compute.together(TOY_CONTEST, QUICK, 2.0, "Comparing")
    assert len(tasks) == 1
    assert [(each[1], *each[2:]) for each in tasks[0] if len(each) > 2] == [
        (name, 2.0) for name in QUICK if not name.endswith("_bins")
    ]
    moved = compute.together(TOY_CONTEST, QUICK, 5.0, "Comparing")
    assert [len(each) for each in tasks[1]] == [3] * (len(QUICK) - 2)  # bins have no intervals, and no new errors
    assert len(tasks) == 2
    data = load_dataset("toy_1d")
    for name in ("cloaking", "laplace_bins"):
        concern = concerning(TOY_CONTEST, name)
        for curve, epsilon in ((found[name], 2.0), (moved[name], 5.0)):
            alone = contenders.curve(data, concern, name)
            alone = alone.replaced_at(epsilon, contenders.point(data, concern, name, epsilon))
            for values in ("errors", "half_width", "half_score"):
                np.testing.assert_array_equal(getattr(curve, values), getattr(alone, values))


def test_kept_plans_are_not_made_again(cold, monkeypatch):
    """The error without privacy has the plans of refined cloaking made, whose last stage is cloaking."""
    names = ["refined", "cloaking"]
    plain = compute.together(TOY_CONTEST, names, 2.0, "Comparing")
    monkeypatch.setattr(cached, "jobs", Jobs(cached.ROOM))
    left_out.plans_held(cached.answer, TOY_CONTEST.model, left_out.REFINED)
    monkeypatch.setattr(noise_design, "_design", lambda *args: pytest.fail("a plan was made again"))
    found = compute.together(TOY_CONTEST, names, 2.0, "Comparing")
    for name in names:
        np.testing.assert_array_equal(found[name].errors, plain[name].errors)
        np.testing.assert_array_equal(found[name].half_width, plain[name].half_width)
        assert found[name].seconds > 0.2 * plain[name].seconds  # those of the plan count


def test_a_known_curve_is_drawn_at_once(kept):
    """Interpolated errors are there before the present epsilon is simulated."""
    kept[0].extend(compute.ENDS)
    contest = replace(TOY_CONTEST, delta=1e-4)
    assert set(compute.at_once(contest, ["bayes", "cloaking"], 2.0)) == {"bayes"}
    assert not kept[1]


@pytest.mark.full_for("sparse")
@pytest.mark.parametrize("name", ["cloaking", "sparse"])
def test_intervals_are_computed_at_the_present_epsilon_only(cold, name):
    found = compute.curve(TOY_CONTEST, name, 2.0)
    there = np.equal(contenders.CURVE_EPSILONS, 2.0)
    for values in (found.half_width, found.half_score):
        np.testing.assert_array_equal(np.isfinite(values), there)
    assert compute.is_ready(TOY_CONTEST, name, 2.0)
    assert not compute.is_ready(TOY_CONTEST, name, 5.0)
    moved = compute.curve(TOY_CONTEST, name, 5.0)
    np.testing.assert_array_equal(moved.errors, found.errors)  # only intervals are added
    assert np.isfinite(moved.half_width[contenders.CURVE_EPSILONS.index(5.0)])


def test_pinned_data_with_other_inputs_differ(monkeypatch):
    warned: list[str] = []
    monkeypatch.setattr(pin.st, "query_params", {"pin": "compare?epsilon=2"})
    monkeypatch.setattr(pin.st, "info", warned.append)
    assert pin.pinned("compare", view.CompareSettings, "kung").epsilon == 2
    assert not warned
    assert pin.pinned("compare", view.CompareSettings, "kung_2d") is None
    assert "of other data" in warned[0]


@pytest.mark.full_for("bayes_cells")
@pytest.mark.parametrize("name", contenders.CONTENDERS)
def test_every_contenders_release_has_intervals(name):
    data, place = load_dataset("toy_1d"), cloaking.scene("toy_1d")
    found = compute.release(TOY_CONTEST, name, 20.0)
    at = slice(place.records)
    assert list(found.rows[at]) == list(range(place.records))
    assert found.published.shape == found.rows.shape
    assert np.sqrt(np.mean((found.published[at] - place.truth) ** 2)) < 0.2 * data.output_range
    figure = view.release(found, place, data, cloaking.curve_without_privacy(TOY_CONTEST.model.dataset), name)
    names = {trace.name for trace in figure.data}
    assert {"published curve", "true data", "without privacy"} <= names
    assert ("range for the curve (95 %)" in names) == (found.curve is not None)
    if found.curve is None:
        assert "It has no interval." in compute.caption(found, place, data, name, 20.0)
        return
    inside = found.outputs[:, at]
    assert ((inside[0] <= place.truth) & (place.truth <= inside[1])).mean() > 0.8
    assert (np.diff(found.curve, axis=0) <= np.diff(found.outputs, axis=0) * (1 + 1e-9)).all()


def test_a_clicked_point_shows_its_mechanism(monkeypatch):
    moved: dict[str, object] = {}
    monkeypatch.setattr(session, "move", moved.update)
    points = {"points": [{"customdata": ["published", 0.5]}]}
    monkeypatch.setattr(session, "control", {view.CHART: {"selection": points}}.get)
    view.take_point()
    assert moved == {"epsilon": 0.5, "release_of": "Cloaking, method of 2018"}
    moved.clear()
    points["points"] = []  # a click beside all points
    view.take_point()
    assert moved == {}


@pytest.mark.full
def test_the_chosen_release_is_in_the_link(open_page):
    app = open_page("compare", compare_dataset="toy_1d", release_of="cloaking", epsilon="2")
    assert {"published curve", "true data"} <= set(traces(app, 1))
    carried = traces(app)["Cloaking"]["customdata"]
    assert carried[contenders.CURVE_EPSILONS.index(2.0)] == ["cloaking", 2.0]
    assert "simulated release 1, for teaching" in "".join(each.value for each in app.caption)
    app.selectbox(key="release_of").set_value("None").run()
    assert len(app.get("plotly_chart")) == 1


def test_released_prices_have_rows_and_intervals():
    contest = contenders.Contest(Model("london_hexes", "EQ", 15.0, 0.3), 0.01, 6, 30)
    data, place = load_dataset("london_hexes"), cloaking.scene("london_hexes")
    found = compute.release(contest, "refined", 5.0)
    table = compute.cells(found, place, data)
    assert set(table["cell"]) <= set(place.labels["cell"])
    assert len(table) == len(found.rows) >= place.records
    prices, half = table[compute.LAYER.column], table["95 % interval, half [%]"]
    low, high = np.exp(data.y_bounds)
    assert prices.between(low - 1000, high + 1000).all()  # cut to the bounds, then rounded
    np.testing.assert_allclose(half, 100 * np.expm1(np.diff(found.curve, axis=0)[0] / 2), atol=0.051)
    assert not compute.LAYER.unsure(table).any()
    assert "at a typical hexagon" in compute.caption(found, place, data, "refined", 5.0)


@pytest.mark.full  # every curve of the comparison, worked out anew
def test_other_methods_use_their_best_setting(seen):
    app = seen("compare", epsilon="1")
    contest, otherwise = app.dataframe[0].value, app.dataframe[1].value
    polynomial, bins = otherwise["mechanism"]
    assert re.fullmatch(r"polynomial of degree \d \(AdaSSP\)", polynomial)
    assert re.fullmatch(r"means of \d+ bins along each input", bins)
    best = contest.filter(regex=r"^error \[").iloc[:, 0].min()
    assert (otherwise.filter(like="error").iloc[:, 0] > best).all()
    assert any(contenders.NOTE in each.value for each in app.caption)


# ---- The limits that Compare draws under a prior, and what Bayes cloaking reaches there.


TOY = Model("toy_1d", "EQ", exhibit("toy_1d").lengthscale, 0.3)
DATA_SETS = contenders.DATA_SETS  # before other tests have fewer, to be quick


@pytest.fixture(scope="module")
def found():
    data = load_dataset("toy_1d")
    with pytest.MonkeyPatch.context() as whole:
        whole.setattr(contenders, "DATA_SETS", DATA_SETS)
        each = [contenders.possible_at(data, TOY, 0.01, epsilon) for epsilon in contenders.EPSILONS]
    return contenders.possible(each, data.y_scale)


@pytest.mark.full
def test_nothing_passes_the_limit_of_all(found):
    assert (found.reached > found.any).all()
    assert (found.any <= found.fixed).all()
    assert (found.any >= found.without_privacy).all()
    for falling in (found.any, found.fixed):
        assert (np.diff(falling) <= 1e-3 * falling[:-1]).all()
    assert (np.diff(found.reached) <= found.standard_error[1:]).all()  # simulated


def test_the_prior_exceeds_bounds_as_stated():
    kernel, noise, half = contenders.prior_of(load_dataset("toy_1d"), TOY)
    draws = np.random.default_rng(0).normal(0, np.sqrt(kernel.variance + noise), 100_000)
    # a false alarm has a probability below 1e-6: five standard errors
    assert (np.abs(draws) > half).mean() == pytest.approx(
        contenders.OUTSIDE, abs=5 * np.sqrt(contenders.OUTSIDE / 100_000)
    )


@pytest.mark.full
def test_no_output_is_read():
    data = load_dataset("toy_1d")
    other = replace(data, y=data.y[::-1])
    one, two = (contenders.possible_at(each, TOY, 0.01, 1.0) for each in (data, other))
    assert one == two


@pytest.mark.full
def test_the_page_draws_limits_when_asked(open_page):
    app = open_page("compare", compare_dataset="toy_1d", limits="true")
    assert set(traces(app, 1)) >= {
        "no mechanism can do better",
        "Bayes cloaking, simulated",
        "best fixed linear map with Gaussian noise",
        "without privacy",
    }
    said = page_text(app) + "".join(each.value for each in app.caption)
    assert "proven for every mechanism" in said
    assert "not the error on people left out" in said

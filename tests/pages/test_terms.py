"""What pages say: titles and headline sentences, controls in sight, written numbers, descriptions of figures."""

from __future__ import annotations

import math
import re
from functools import partial
from urllib.parse import parse_qsl

import numpy as np
import pytest
from scipy.stats import norm

from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking, LaplaceBinning
from pages._ui.compare.contenders import CONTENDERS
from pages._ui.compare.view import FIRST
from pages._ui.look import text
from tests.pages.own import captions
from tests.pages.reading import numbers, traces

N = r"\*{0,2}[\d.,]+"  # a number, bold or not


STEPS = "Why does so little noise hide a person?"
MOVES = (
    r"One person moves these two predictions along one line only\. Noise that covers just such lines has "
    rf"{N} %\** of the variance of noise in all directions\."
)
PAGES = (  # where it is opened, its title, and a pattern of its first sentences
    (
        "start?decide_by=gp_prior",
        "What can anyone learn about one person?",
        rf"At ε = {N}, someone who thought a fact {N} %\** likely can come to think it {N} %\** likely, no more, "
        rf"except in 1 release of {N}\.",
    ),
    (
        "kung_curves",
        "What does privacy do to a growth curve?",
        rf"At epsilon = {N} refined cloaking predicts one woman's or girl's height to within {N} cm\**\. Bayes "
        rf"cloaking needs no lengthscale: {N} cm\**\.",
    ),
    (
        "compare",
        "Which method has the smallest error?",
        rf"At ε = {N}, [^,]+ has the smallest error, {N} cm\**\. For an error of {N} cm you need ε = {N}, with [^,]+\.",
    ),
    (
        "lengthscale_choice",
        "What does it cost to choose the lengthscale?",
        rf"A private choice with ε = {N} picks {N} years\** most often\. The error is then {N} cm\**\. Bayes cloaking "
        rf"needs no choice: its error is {N} cm\.",
    ),
    (
        "sparse_dp_gp",
        "What if the inputs must be hidden too?",
        rf"Hiding both at ε = {N}, Bayes cloaking has an error of {N} arbitrary units\**, and our sparse GP of {N}\.",
    ),
    (
        "london_noise_map",
        "Where does privacy blur the map?",
        rf"At epsilon = {N} refined cloaking predicts one hexagon's median price to within {N} %\** "
        rf"\(typical error\)\. Bayes cloaking needs no lengthscale: {N} %\**\. "
        r"Privacy noise is smallest in \*\*[^.*]+\*\* and largest in \*\*[^.*]+\*\*\.",
    ),
    (
        "excursion_sets",
        "Where is the curve above the threshold?",
        rf"At ε = {N}, the area of one path overlaps the true one with an IoU of {N}\**, the area of Bayes cloaking "
        rf"with {N}\** \(1 is perfect\)\.",
    ),
    (
        "attack?shadows=1000",
        "What can an attacker tell about one person?",
        rf"Accusing {N} % of the innocent, the attack finds {N} %\** of targets; the guarantee allows {N} %\.",
    ),
    (
        "your_data",
        "Publish a curve from your own table",
        r"Upload a table and say what is public about it\. You get values, a figure and a card that you may publish\.",
    ),
    (
        "explore_release",
        "What else can you ask of a release?",
        rf"{N} noisy numbers\** were published with epsilon = {N}\. Everything here is computed from them and costs "
        r"\*\*no more privacy\*\*\.",
    ),
    ("how_cloaking_works", STEPS, MOVES),
    ("how_cloaking_works?step=covered", STEPS, MOVES),
    (
        "how_cloaking_works?step=measured",
        STEPS,
        rf"It measures {N} noisy sums\** of heights, in {N} stages, and computes the curve from them\.",
    ),
    ("how_cloaking_works?step=spend", STEPS, rf"At epsilon = {N}, your {N} sums leave an error of {N} cm"),
    ("how_cloaking_works?step=clip", STEPS, rf"a mean gets privacy noise of {N}\** points"),
)
WHAT_IS_PICKED = {  # in sight beside data set, and what the page says of what it has no control for
    "kung_curves": (("epsilon", "delta", "dataset", "mechanism", "kernel", "lengthscale_years"), None),
    "london_noise_map": (("epsilon", "delta", "map_dataset", "mechanism", "kernel", "lengthscale_km"), None),
    "excursion_sets": (
        ("epsilon", "path_delta", "length_curve"),
        "Method: posterior paths, with an exponential kernel.",
    ),
    "lengthscale_choice": (
        ("epsilon", "delta", "selection_epsilon", "choice_dataset", "choice_by", "kernel"),
        "Lengthscale: chosen among 1 to 120 years. Method of the release: cloaking.",
    ),
}
CONTROLS = (
    *("select_slider", "slider", "selectbox", "toggle", "number_input", "text_input", "file_uploader", "button"),
    "popover",
)


@pytest.mark.full_for("compare", "sparse_dp_gp")
@pytest.mark.parametrize(("address", "title", "first"), PAGES, ids=[address for address, *_ in PAGES])
def test_a_page_shows_title_headline_and_controls(seen, address, title, first):
    file, _, query = address.partition("?")
    app = seen(file, **dict(parse_qsl(query)))
    assert not app.exception
    assert [each.value for each in app.title] == [title]
    headline = next(each.value for each in app.markdown if 'role="status"' in each.value)
    assert re.search(first, headline), headline
    assert len(list(in_sight(app.sidebar))) <= (8 if file in WHAT_IS_PICKED else 5)  # one copies the state


@pytest.mark.parametrize("page", WHAT_IS_PICKED)
def test_common_controls_need_no_click(seen, page):
    app = seen(page)
    keys, says = WHAT_IS_PICKED[page]
    assert {each.key for each in in_sight(app.sidebar)} >= set(keys)
    captions = [each.value for each in app.sidebar.caption]
    assert says is None or [each for each in captions if says in each], captions


def in_sight(block):
    """Controls of a block of the sidebar that are not folded away."""
    for each in block.children.values():
        if each.type in CONTROLS:
            yield each
        elif each.type == "flex_container":
            yield from in_sight(each)


@pytest.mark.parametrize(
    ("written", "values"),
    [
        (text.number, {8.4871: "8.5", 0.02149: "0.021", 150.2: "150", 1234567: "1,200,000", 0: "0", -3.14: "-3.1"}),
        (text.number, {0.9999: "1", math.inf: "unbounded"}),
        (partial(text.number, digits=3), {0.99999999: "1"}),
        (text.at_most, {1.0: "1", 1.0001: "1.01", 1.4901: "1.5", 9.991: "10", 1234.5: "1,240", 0: "0"}),
        (text.at_least, {0.9999: "0.999", 0.0019999: "0.00199", math.inf: "unbounded"}),
        (text.growth, {1: "2.72", 0.7: "2.02", 100: "over 400,000"}),  # at most: exp(1) = 2.71828, exp(0.7) = 2.01375
        (text.factor_of, {0.0953102: "10 %"}),
        (text.round_step, {25.0: 20.0, 0.7: 0.5}),
    ],
)
def test_bounds_are_rounded_to_stay_true(written, values):
    assert {value: written(value) for value in values} == values


def test_a_budget_explains_delta_and_gaussian_noise():
    mechanism = Cloaking(kernel=EQ(), noise_variance=1.0, epsilon=1.0, delta=0.01)
    said = text.budget(mechanism.guarantee)
    assert said.startswith("ε = 1, δ = 0.01: no event's probability can grow by more than a factor exp(ε), plus δ")
    # 1 - Phi(Phi^-1(0.95) - mu) of the likelihood-ratio test, mu the exact inverse of the noise multiplier
    power = 100 * norm.cdf(norm.ppf(0.05) + 1 / mechanism.noise_multiplier)
    assert f"accuses 5 % of the innocent finds at most {text.at_most(power)} %" in said
    pure = text.budget(LaplaceBinning(epsilon=1.0, bins=4).guarantee)
    assert pure.endswith("here a factor 2.72, plus nothing")


def test_visitors_words_are_shown_literally():
    assert text.plain("[x](http://y) `z` $1$ :material/home: <b>") == (
        "\\[x\\]\\(http\\://y\\) \\`z\\` \\$1\\$ \\:material/home\\: \\<b\\>"
    )


# ---- A picture is told in words with its values and how they run: on Compare, Lengthscale choice and Explore.


def chart(app, name):
    """The traces of the chart that has one of this name."""
    found = (traces(app, at) for at in range(len(app.get("plotly_chart"))))
    return next(each for each in found if name in each)


@pytest.mark.full
def test_compare_describes_each_curve_at_three_budgets(seen):
    app = seen("compare")
    said, drawn = app.get("plotly_chart")[0].proto.alt, traces(app)
    for name in FIRST:
        title = CONTENDERS[name].title
        x, y = (numbers(drawn[title][along]) for along in "xy")
        run = ", ".join(text.number(float(y[np.flatnonzero(x == at)[0]])) for at in (0.1, 1, 100))
        assert f"{title} {run}" in said
    assert re.search(r"Without privacy: [\d.]+ cm\.", said)


@pytest.mark.full
def test_lengthscale_choice_describes_its_errors(seen):
    app = seen("lengthscale_choice")
    said = "".join(each.proto.alt for each in app.get("plotly_chart"))
    assert re.search(r"Most often \[years\]: without privacy noise \d+ in [\d.]+ % \(★ \d+\); at ε 1 \d+ in", said)
    error = chart(app, "this lengthscale")["this lengthscale"]
    x, y = numbers(error["x"]), numbers(error["y"])
    at = int(y.argmin())
    assert f"{text.number(y[0])} cm at {x[0]:g}, least, {text.number(y[at])} cm, at {x[at]:g}" in said


def test_explore_describes_its_curve(seen):
    app = seen("explore_release")
    said, curve = app.get("plotly_chart")[0].proto.alt, numbers(traces(app)["released curve"]["y"])
    assert "lies in the band with 95 % probability" in captions(app)
    found = re.search(r"It is ([\d.]+) at 0 years, ([\d.]+) at [\d.]+ years and ([\d.]+) at 100 years \[cm\]", said)
    told = [float(each) for each in found.groups()]
    np.testing.assert_allclose(told, curve[[0, len(curve) // 3, -1]], atol=0.6)
    assert re.search(r"its range is ± [\d.]+ at [\d.]+ years and [\d.]+ at [\d.]+ years", said)

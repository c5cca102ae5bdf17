"""What pages say: titles and headline sentences, controls in sight, written numbers, descriptions of figures."""

from __future__ import annotations

import ast
import math
import re
from functools import partial

import numpy as np
import pytest
from scipy.stats import norm

from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking, LaplaceBinning
from pages._ui import menu
from pages._ui.compare.contenders import CONTENDERS
from pages._ui.compare.view import FIRST
from pages._ui.look import text
from tests.pages.own import captions
from tests.pages.reading import ROOT, numbers, traces

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
@pytest.mark.parametrize("page", [page.file for page in menu.PAGES])
def test_a_page_shows_title_headline_and_few_controls(seen, page):
    app = seen(page, **({"decide_by": "gp_prior"} if page == "start" else {}))
    assert not app.exception
    assert len(app.title) == 1
    assert [each.value for each in app.markdown if 'role="status"' in each.value]
    assert len(list(in_sight(app.sidebar))) <= (8 if page in WHAT_IS_PICKED else 5)  # one copies the state


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


WRONG = {"red": "orange, #D55E00", "purple": "pink, #CC79A7"}  # what a text may not say, and what colour there is
PURPLE = ("lengthscale",)  # pages on which something is purple, #6A3D9A


@pytest.mark.parametrize("colour", WRONG)
def test_texts_name_the_colours_that_there_are(colour):
    for path in (ROOT / "pages").rglob("*.py"):
        if colour == "purple" and path.parent.name in PURPLE:
            continue
        nodes = ast.walk(ast.parse(path.read_text()))
        texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        assert not [each for each in texts if re.search(rf"\b{colour}\b(?!, ?green)", each, re.IGNORECASE)], path


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
    found = re.search(r"released curve: ([\d.]+) at 0, ([\d.]+) at [\d.]+, ([\d.]+) at 100", said)
    told = [float(each) for each in found.groups()]
    np.testing.assert_allclose(told, curve[[0, len(curve) // 3, -1]], atol=0.6)
    assert re.search(r"range for the curve, 95 %: ± [\d.]+ at [\d.]+, ± [\d.]+ at [\d.]+", said)

"""The copied link holds every control and shows the same elsewhere; a pinned setting stands in it, too."""

from __future__ import annotations

import re
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from pages._ui import attack, menu
from pages._ui.compare import view as compare
from pages._ui.excursion import view as excursion
from pages._ui.lengthscale import view as lengthscale
from pages._ui.look import offers, pin, sidebar
from pages._ui.sparse import view as sparse
from tests.pages.addresses import bound_controls, open_at
from tests.pages.reading import page_text, traces

SWITCHES = {  # page -> what changes which controls it has
    "kung_curves": offers.CURVE,
    "london_noise_map": offers.MAP,
    "excursion_sets": excursion.STUDY,
    "lengthscale_choice": lengthscale.DATASET,
    "compare": compare.DATASET,
    "sparse_dp_gp": sparse.DATASET,
    "attack": attack.TARGET,
    "how_cloaking_works": offers.CURVE,
}
FIRST = {"how_cloaking_works": {"everybody": "true"}}  # address at which there is that control
DEAR = ("london_sales",)  # seconds of planning a setting: its controls are those of the other map


def link(app: AppTest) -> dict[str, str]:
    """The address that is offered for copying."""
    [copied] = [code.value for code in app.sidebar.code]
    return dict(parse_qsl(urlsplit(copied).query))


def shown(app: AppTest) -> tuple[list[tuple[str, str, str]], list[str]]:
    """The figures and the answer on screen."""
    said = [each.value for each in app.markdown if "**" in each.value and "separate real" not in each.value]
    return [(each.label, each.value, each.delta) for each in app.metric], said[:1]


def moved(app: AppTest) -> str | None:
    """Move the next control of the sidebar that a data set could bring; returns its key."""
    for slider in app.select_slider:
        if slider.key not in ("epsilon", "delta", "draws", "paths", "attack_paths", "shadows"):
            options = list(slider.options)
            other = options[0] if str(slider.value) != str(options[0]) else options[1]
            slider.set_value(type(slider.value)(float(other)) if not isinstance(slider.value, str) else other)
            return slider.key
    return None


@pytest.mark.full
@pytest.mark.parametrize("page", [page.file for page in menu.PAGES if page.file != "your_data"])
def test_links_contain_every_control(page):
    app = open_at(page, {})
    bound, copied = bound_controls(app), link(app)
    empty = {key for key, kind in bound.items() for each in app.get(kind) if each.key == key and each.value is None}
    assert bound.keys() - empty
    assert bound.keys() - empty <= copied.keys() <= bound.keys()  # where nothing is chosen, nothing need be said


@pytest.mark.full
@pytest.mark.parametrize("page", SWITCHES)
def test_links_reproduce_every_switch(page):
    offered = SWITCHES[page]
    names = [name for name in offered.titles if name not in DEAR]
    app = open_at(page, FIRST.get(page, {}))
    for name in (*names[1:], names[0]) if len(names) > 1 else ():
        moved(app)  # of the one, before the other
        every = (each for kind in ("selectbox", "segmented_control") for each in app.get(kind))
        app = next(each for each in every if each.key == offered.key).set_value(offered.titles[name]).run()
        assert not app.exception
        fresh = open_at(page, link(app))
        assert not fresh.exception
        assert not [each.value for each in fresh.warning if "The link" in each.value]
        assert shown(fresh) == shown(app), name
        assert link(fresh) == link(app)


def test_reset_takes_back_all_changes(open_page, seen):
    page = "how_cloaking_works"
    app = open_page(page, x1="5")
    app.slider(key="two_l").set_value(4.0).run()
    app.button(key="state_reset").click().run()
    assert (app.session_state["x1"], app.session_state["two_l"]) == (2.5, 1.5)
    assert link(app) == link(seen(page))
    assert not [each for each in app.button if each.label == "Undo"]  # the browser's Back does it


@pytest.mark.parametrize(
    "page", [each if each == "kung_curves" else pytest.param(each, marks=pytest.mark.full) for each in SWITCHES]
)
def test_a_reset_leads_back_from_every_data_set(open_page, page):
    offered = SWITCHES[page]
    first, *others = [name for name in offered.titles if name not in DEAR]
    for name in others:
        app = open_page(page, **{offered.key: name}, mechanism="cloaking", **FIRST.get(page, {}))
        app.button(key="state_reset").click().run()
        assert not app.exception
        assert link(app).get(offered.key, first if page in FIRST else "") == first


@pytest.mark.full
def test_the_target_follows_until_it_is_moved(open_page):
    app = open_page("compare")
    usual = link(app)["target_cm"]
    app.select_slider(key="lengthscale_years").set_value(3).run()
    assert link(app)["target_cm"] != usual
    app.number_input(key="target_cm").set_value(9.0).run()
    app.select_slider(key="lengthscale_years").set_value(25).run()
    assert link(app)["target_cm"] == "9"


def test_the_default_delta_is_small(open_page):
    for exhibit in offers.EXHIBITS.values():
        loads = [exhibit.load, *([exhibit.sparse.load] if exhibit.sparse and exhibit.sparse.load else [])]
        assert all(1 / (10 * load().n) >= offers.DELTA for load in loads)


def test_a_delta_above_one_in_n_is_said(monkeypatch):
    said = []
    monkeypatch.setattr(sidebar.st, "warning", said.append)
    for delta in (0.003, 0.004):  # 287 people
        sidebar.delta_fits(SimpleNamespace(delta=delta, dataset="kung"))
    [only] = said
    assert only.startswith("δ = 0.004 is more than 1 in 287, the number of rows.")


# ---- Pin and compare: a setting in the link, never data, and what it shows beside the current one.


PAGE, PINNED = "kung_curves", "pinned (A), its interval thin"


def row(app):
    return {metric.label: (metric.value, metric.delta) for metric in app.metric if "A | B" in metric.label}


def press(app, key):
    return app.button(key=key).click().run()


@pytest.mark.full
def test_pins_stay_until_they_are_removed(open_page):
    app = open_page(PAGE, epsilon="0.5", draw="3")
    alone = traces(app)
    assert not row(app)
    app = press(app, "pin_this")
    assert "**Pinned (A)** is what you see now" in page_text(app)
    assert all(" | " in value for value, _ in row(app).values())
    assert row(app)["A | B: error"][1] == "the same"
    app.select_slider(key="epsilon").set_value(5).run()
    app.select_slider(key="lengthscale_years").set_value(15).run()
    drawn = traces(app)
    assert drawn[PINNED]["y"] == alone["published curve"]["y"]
    assert drawn["published curve"]["y"] != alone["published curve"]["y"]
    said = "**Pinned (A)**: ε = 0.5, lengthscale years = 25; **now (B)**: ε = 5, lengthscale years = 15."
    assert said in page_text(app)
    assert row(app)["A | B: ε"][0] == "0.5 | 5"
    before, after = row(app)["A | B: error"][0].split(" | ")
    assert float(before.split()[0]) > float(after.split()[0])
    assert "pinned (A), its interval thin: height [cm]" in app.dataframe[0].value
    fresh = open_page(PAGE, **link(app))
    assert not fresh.warning
    assert traces(fresh)[PINNED] == drawn[PINNED]
    assert row(fresh) == row(app)
    assert [(each.label, each.value) for each in fresh.metric] == [(each.label, each.value) for each in app.metric]
    copied = link(press(app, "pin_this"))
    page, _, pinned = copied[pin.PIN].partition("?")
    assert (page, dict(parse_qsl(pinned))) == (
        PAGE,
        {key: value for key, value in copied.items() if key not in (pin.PIN, "overlay")},
    )
    app = press(app, "unpin")
    assert "pin" not in link(app)
    assert PINNED not in traces(app)
    assert not row(app)


@pytest.mark.full
def test_a_pinned_release_is_spent_as_well(open_page):
    app = press(open_page(PAGE), "pin_this")
    app.select_slider(key="epsilon").set_value(0.5).run()
    alone = open_page(PAGE, epsilon="0.5")

    def beside(app):
        return next(each.value for each in app.sidebar.caption if "drawn next to it" in each.value)

    assert float(beside(app).split("= ")[1].rstrip(".")) > float(beside(alone).split("= ")[1].rstrip("."))


@pytest.mark.full_for("<script>alert(1)</script>", "kung_curves?epsilon=0.37")
@pytest.mark.parametrize(
    "raw",
    [
        "<script>alert(1)</script>",
        "kung_curves?epsilon=0.37",
        "kung_curves?draw=0",
        "kung_curves?kernel=Linear",
        "kung_curves?draw=٢",
        "kung_curves?epsilon=nan",
        "kung_curves?" + "a=1&" * 600,
    ],
    ids=lambda raw: raw[:30],
)
def test_a_pin_that_cannot_be_read_is_explained(open_page, raw):
    app = open_page(PAGE, pin=raw)
    [warning] = app.warning
    assert warning.value.startswith("The link asks for pin = `")
    assert "<" not in warning.value
    assert PINNED not in traces(app)


def test_pins_of_other_pages_or_data_wait(open_page):
    elsewhere = open_page(PAGE, pin="london_noise_map?epsilon=2")
    assert not elsewhere.warning
    assert PINNED not in traces(elsewhere)
    other = open_page(PAGE, pin="kung_curves?dataset=toy_1d")
    assert "of other data" in other.info[0].value
    assert PINNED not in traces(other)


def test_pinned_numbers_are_rounded_alike(seen):
    """Three draws have spent 1.83497, which stood so in a tile; and figures that differ by rounding are the same."""
    app = seen(PAGE, pin="kung_curves?epsilon=1&mechanism=cloaking", mechanism="cloaking", draws="3")
    tiles = {metric.label: metric for metric in app.metric if metric.label.startswith("A | B")}
    assert re.fullmatch(r"1 \| \d\.\d{1,2}", tiles["A | B: ε"].value)
    assert tiles["A | B: one more person"].delta == "the same"
    assert pin.change(1.0, 1.0 + 1e-14) == "the same"
    assert pin.change(1.0, 1.1) == "B is 10 % larger"


def test_without_the_overlay_no_error_is_compared(open_page):
    app = open_page(PAGE, pin="kung_curves?epsilon=2&mechanism=cloaking", overlay="false")
    assert row(app)
    assert not [label for label in row(app) if "error" in label]


@pytest.mark.full
def test_the_map_compares_figures_with_a_pinned_setting(open_page):
    app = press(open_page("london_noise_map", epsilon="2", mechanism="refined"), "pin_this")
    app.select_slider(key="epsilon").set_value(5).run()
    assert "**Pinned (A)**: ε = 2; **now (B)**: ε = 5." in page_text(app)
    shown = row(app)
    assert shown["A | B: ε"][0] == "2 | 5"
    both, ratio = shown["A | B: privacy noise"]
    then, now = (float(each.split()[-2]) for each in both.split(" | "))
    # both figures and their ratio have two digits
    expected = 100 * (1 - now / then) if "%" in ratio else now / then
    assert float(ratio.split()[2]) == pytest.approx(expected, rel=0.15)
    alone = open_page("london_noise_map", epsilon="2", mechanism="refined")
    noise = next(metric.value for metric in alone.metric if metric.label == "Privacy noise")
    assert noise.removeprefix("± ") == both.split(" | ")[0]
    assert row(open_page("london_noise_map", **link(app))) == shown


@pytest.mark.full
def test_incomplete_pins_are_not_called_equal(open_page):
    toy = {"dataset": "toy_1d", "mechanism": "cloaking"}
    app = open_page(PAGE, pin="kung_curves?epsilon=2&dataset=toy_1d&mechanism=cloaking", lengthscale_units="2", **toy)
    shown = page_text(app)
    assert "**Pinned (A)**: ε = 2; **now (B)**: ε = 1." in shown
    assert "All else is the same" not in shown


@pytest.mark.full
def test_compare_draws_pinned_curves(open_page):
    app = press(open_page("compare", compare_dataset="toy_1d", epsilon="2", bins="6"), "pin_this")
    alone, before = traces(app), app.dataframe[0].value
    assert not [name for name in alone if "pinned" in name]  # every curve stands where it stood
    app.select_slider(key="epsilon").set_value(1).run()
    app.select_slider(key="bins").set_value(10).run()
    drawn, table = traces(app), app.dataframe[0].value
    moved = [trace for name, trace in drawn.items() if name.startswith("pinned (A)")]
    assert {trace["hovertext"] for trace in moved} == {"Laplace bins", "Integral bins (δ = 0)"}
    assert all(trace["y"] == alone[trace["hovertext"]]["y"] for trace in moved)
    [then] = [name for name in table if name.startswith("pinned (A), ε = 2 [")]
    assert list(table[then]) == list(before[next(name for name in before if name.startswith("error ["))])
    assert row(app)["A | B: ε"] == ("2 | 1", "B is 50 % smaller")
    assert row(app)["A | B: without privacy"][1] == "the same"
    needs, target = row(app)["A | B: ε for the target"]
    assert needs.split(" | ")[1] == next(each.value for each in app.metric if each.label == "ε for the target")
    assert target.startswith("error at most")
    fresh = open_page("compare", **link(app))
    assert row(fresh) == row(app)
    assert list(fresh.dataframe[0].value[then]) == list(table[then])

"""The copied link holds every control, and a fresh session at it shows the same, after every change of a data set."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from pages._ui import attack, menu
from pages._ui.compare import view as compare
from pages._ui.excursion import view as excursion
from pages._ui.lengthscale import view as lengthscale
from pages._ui.look import offers
from pages._ui.look.controls import Menu
from pages._ui.sparse import view as sparse
from tests import fuzz_links

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
def test_every_control_that_an_address_can_set_stands_in_the_copied_link(page):
    app = fuzz_links.open_at(page, {})
    bound, copied = fuzz_links.controls(app), link(app)
    empty = {key for key, kind in bound.items() for each in app.get(kind) if each.key == key and each.value is None}
    assert bound.keys() - empty
    assert bound.keys() - empty <= copied.keys() <= bound.keys()  # where nothing is chosen, nothing need be said


def switch_to(app: AppTest, offered: Menu[str], value: str) -> AppTest:
    """Change the data set, or whatever it is that brings other controls."""
    every = (each for kind in ("selectbox", "segmented_control") for each in app.get(kind))
    control = next(each for each in every if each.key == offered.key)
    return control.set_value(offered.titles[value]).run()


@pytest.mark.full
@pytest.mark.parametrize("page", SWITCHES)
def test_after_every_switch_the_copied_link_shows_the_same_in_a_fresh_session(page):
    offered = SWITCHES[page]
    names = [name for name in offered.titles if name not in DEAR]
    app = fuzz_links.open_at(page, {})
    for name in (*names[1:], names[0]) if len(names) > 1 else ():
        moved(app)  # of the one, before the other
        app = switch_to(app, offered, name)
        assert not app.exception
        fresh = fuzz_links.open_at(page, link(app))
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
        app = open_page(page, **{offered.key: name}, mechanism="cloaking")
        app.button(key="state_reset").click().run()
        assert not app.exception
        assert link(app)[offered.key] == first


@pytest.mark.full
def test_the_target_follows_the_other_controls_until_it_is_moved(open_page):
    app = open_page("compare")
    usual = link(app)["target_cm"]
    app.select_slider(key="lengthscale_years").set_value(3).run()
    assert link(app)["target_cm"] != usual
    app.number_input(key="target_cm").set_value(9.0).run()
    app.select_slider(key="lengthscale_years").set_value(25).run()
    assert link(app)["target_cm"] == "9"


def test_delta_is_far_below_one_in_the_number_of_people(open_page):
    for exhibit in offers.EXHIBITS.values():
        loads = [exhibit.load, *([exhibit.sparse.load] if exhibit.sparse and exhibit.sparse.load else [])]
        assert all(1 / (10 * load().n) >= offers.DELTA for load in loads)

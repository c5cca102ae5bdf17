from __future__ import annotations

import ast
import json
from urllib.parse import parse_qsl

import plotly.graph_objects as go
import plotly.io as pio
import pytest
import streamlit as st

from pages._ui import menu, session
from pages._ui.explore import statistic as explore_slots
from pages._ui.look import offers, settings, tables
from pages._ui.look.controls import Menu
from pages._ui.look.settings import Settings
from pages._ui.own import slots as own_slots
from pages._ui.work import cached
from pages._ui.work.waiting import Postponed
from tests.pages.reading import ROOT, page_text

PAGES = [page.file for page in menu.PAGES]


@pytest.mark.full_for(
    "compare", "excursion_sets", "lengthscale_choice", "london_noise_map", "sparse_dp_gp", "start", "your_data"
)
@pytest.mark.parametrize("page", PAGES)
def test_page_shows_question_answer_picture_table_and_guarantee(open_page, seen, page):
    app = seen(page) if page != "your_data" else open_page(page)
    if page == "your_data":  # asks for a table first
        for label in ("Practise", "Make release"):
            app = next(button for button in app.button if button.label.startswith(label)).click().run()
    assert not app.exception
    assert not app.error
    assert not [each for each in app.warning if "not private" not in each.value and "preview" not in each.value]
    assert app.title[0].value.endswith("?") or page == "your_data"  # where one does something
    assert len(app.metric) >= 3 or page in ("start", "how_cloaking_works")  # their figures are in the sentences
    assert len(app.get("plotly_chart")) + len(app.get("deck_gl_json_chart")) >= 1
    assert len(app.dataframe) >= 1
    for frame in (each.value for each in app.dataframe):  # rows are full, but for those of people
        empty = frame.notna().mean(axis=1) < 0.5
        assert (
            not empty.any()
            or frame[empty]
            .iloc[:, 1:]
            .notna()
            .any()
            .loc[lambda found: found]
            .index.str.contains(tables.NOT_PRIVATE)
            .all()
        )
    charts = [json.loads(each.proto.spec) for each in app.get("plotly_chart")]
    assert all(figure["layout"]["template"] == pio.templates["pages"].to_plotly_json() for figure in charts)
    assert all(len(tables.of_figure(go.Figure(figure))) for figure in charts)
    beside = [each for each in app.get("popover") if each.proto.popover.label == "Table"]
    assert len(beside) == len(charts) + len(app.get("deck_gl_json_chart"))
    for part in ("Protects.", "Neighbours.", "Unit.", "Promise.", "Rests on.", "Assumes.", "Does not cover."):
        assert part in page_text(app)


@pytest.mark.parametrize(
    ("page", "address", "unsaid"),
    [
        ("kung_curves", {}, "error"),
        ("excursion_sets", {"paths": "3"}, "overlap"),
        ("sparse_dp_gp", {}, "the error is"),
        ("sparse_dp_gp", {"sparse_view": "errors"}, "the error is"),
        ("london_noise_map", {}, "wrong by"),
        ("how_cloaking_works", {"everybody": "true"}, "Person 287, age"),
        ("start", {"decide_by": "gp_prior"}, "Recommended"),
    ],
)
def test_without_the_overlay_nothing_private_is_shown(seen, page, address, unsaid):
    app = seen(page, overlay="false", **address)
    drawn = [trace for each in app.get("plotly_chart") for trace in json.loads(each.proto.spec)["data"]]
    assert not [trace.get("name") for trace in drawn if trace.get("meta") == tables.NOT_PRIVATE]
    assert "without privacy" not in {trace.get("name") for trace in drawn}
    assert not [column for table in app.dataframe for column in table.value if "not private" in column]
    assert not [metric.label for metric in app.metric if "error" in metric.label.lower()]
    assert unsaid not in page_text(app)
    assert "material/school: True data shown" not in page_text(app)


@pytest.mark.parametrize("page", [each for each in PAGES if each != "your_data"])
def test_a_page_that_must_wait_shows_its_question(open_page, monkeypatch, page):
    get = cached.jobs.get

    def busy(function, *settings, here=False, **options):
        if here:
            return get(function, *settings, here=here, **options)
        raise Postponed

    monkeypatch.setattr(cached.jobs, "get", busy)
    app = open_page(page, **({"step": "measured"} if page == "how_cloaking_works" else {}))
    assert not app.exception
    assert "this is not done yet" in app.info[0].value
    [title] = app.title
    assert title.value.endswith("?")


def test_pages_are_thin_and_in_the_menu():
    files = sorted((ROOT / "pages").glob("*.py"))
    assert sorted(PAGES) == [path.stem for path in files]
    for source in (path.read_text() for path in files):
        assert source.count("\n") <= 100
        imports = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import))
        assert {name.name for each in imports for name in each.names} <= {"streamlit"}


@pytest.mark.parametrize(("base", "script"), [("", "/page.js"), ("dpgp", "/dpgp/page.js"), ("/a/b/", "/a/b/page.js")])
def test_pages_load_their_script_below_the_base(open_page, monkeypatch, base, script):
    known = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: base if name == "server.baseUrlPath" else known(name))
    assert f'<script src="{script}">' in page_text(open_page("how_cloaking_works"))


def test_no_two_kept_values_share_a_key():
    kept = (session, settings, own_slots, explore_slots)
    slots = [value for module in kept for value in vars(module).values() if isinstance(value, session.Slot)]
    assert len({slot.key for slot in slots}) == len(slots) >= 16


def test_no_two_drop_downs_share_a_key():
    offered = [each for page in menu.PAGES for each in page.controls() if isinstance(each, Menu)]
    for drop_down in offered:
        assert menu.TITLES[drop_down.key] == drop_down.written_titles
        assert [drop_down.value(title) for title in drop_down.titles.values()] == list(drop_down.titles)
    with pytest.raises(ValueError, match="kernel offers no 'Linear'; it offers EQ, Matern12"):
        offers.KERNEL.value("Linear")


@pytest.mark.parametrize("file", [page.file for page in menu.PAGES if page.settings is not Settings])
def test_every_lesson_is_read_by_its_page(seen, file):
    page = next(page for page in menu.PAGES if page.file == file)
    said = [each.value for each in seen(page.file).markdown if "[Open this state]" in each.value]
    assert len(said) > 2
    untouched = settings.untouched(page.settings)
    own = {each.key for each in settings.every(page.settings)}
    for address in (dict(parse_qsl(each.partition("?")[2].rstrip(")"))) for each in said):
        with settings.reading(address):
            assert (settings.chosen(page.settings) != untouched) >= bool(own & address.keys())


@pytest.mark.full_for("lengthscale_choice")
@pytest.mark.parametrize("page", ["kung_curves", "lengthscale_choice"])
def test_tables_show_as_many_digits_as_mean_something(seen, page):
    [first, *_] = seen(page).dataframe
    shown = {name: about.get("type_config", {}) for name, about in json.loads(first.proto.columns).items()}
    fractions = list(first.value.select_dtypes("float"))
    assert len(fractions) > 2
    written = tables.decimals_of(first.value)
    assert {name: shown[name] for name in fractions} == {
        name: {"type": "number", "format": written[name]} for name in fractions
    }
    most = {name: first.value[name].abs().max() for name in fractions}
    digits = {name: written[name] % each for name, each in most.items() if each % 1}
    assert all(len(each.lstrip("0.").replace(".", "")) <= 4 for each in digits.values()), digits
    assert first.value[fractions].map(lambda value: value != float(f"{value:.4g}")).any(axis=None)  # whoever downloads

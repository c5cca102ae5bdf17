"""Releases of an own table: what is shown, kept and offered; their ledger; bounds that are bought."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpgp_core.release import CHOICES, Published, ledger_from_json, spec_from_json
from dpgp_core.release.publishing import known_share
from dpgp_core.release.specification import EXAMPLE
from pages._ui.explore.statistic import opened
from pages._ui.ledgers.state import Deliveries
from pages._ui.own import figures, upload
from pages._ui.work import cached
from tests.pages.own import (
    ROWS,
    captions,
    controls,
    declare,
    declared,
    filled,
    invited,
    last_zip,
    practised,
    press,
    said,
    spec_of,
)
from tests.pages.reading import numbers, page_text, traces

pytestmark = pytest.mark.usefixtures("ledgers")


def test_page_card_and_file_agree(open_page):
    app = press(declared(open_page), "Make release 1")
    archive = last_zip(app)
    spec = spec_from_json(archive.read("release.json"))
    assert (spec.y_bounds, spec.total_epsilon, spec.mechanism) == ((50.0, 200.0), 1.5, "refined")
    assert spec.unit == "one girl's height"
    kept = np.genfromtxt(io.BytesIO(archive.read("values.csv")), delimiter=",", names=True)
    assert len(kept) == len(numbers(traces(app)["released"]["y"])) == 51
    shown = app.dataframe[0].value
    columns = [
        f"{each} [cm]"
        for each in ("released value", "curve, 95 % from", "curve, to", "output, 95 % from", "output, to")
    ]
    for name, other in zip(columns, list(kept.dtype.names)[1:6], strict=True):
        np.testing.assert_allclose(shown[name], kept[other], err_msg=f"{name}: {other}")
    assert (shown["curve, 95 % from [cm]"] < shown["curve, to [cm]"]).all()
    offered = [each.proto.label for each in app.get("download_button")]
    assert offered == [
        r"Download release 1\: height by refined cloaking",
        "Its card, to print",
        "Its figure (SVG)",
        *["Its configuration"] * 2,  # of the release, and of what is declared for the next one
    ]


def test_the_result_is_announced_above_the_button(open_page):
    app = press(declared(open_page), "Make release 1")
    [toast] = app.toast
    assert toast.value == "The release is made: see its values above the button."
    order = [each.proto.id for each in app.main if hasattr(each, "proto") and hasattr(each.proto, "id")]
    [chart] = [each.proto.id for each in app.get("plotly_chart") if "own_released_chart" in each.proto.id]
    [button] = [each.proto.id for each in app.button if each.key == "own_release"]
    assert order.index(chart) < order.index(button)


def test_what_is_left_of_the_budget_is_explained(open_page):
    app = press(declared(open_page, total=2.0, epsilon=1.0), "Make release 1")
    [left] = [each.value for each in app.metric if each.label == "Left"]
    assert float(left.removeprefix("ε = ")) > 1.5
    sentence = f"{left} is left after ε = 1 of 2, because independent noises add up in squares"
    assert sentence in captions(app)
    assert "add up in squares" not in captions(declared(open_page))


def test_the_token_of_a_ledger_is_shown_whole(open_page):
    app = press(declared(open_page), "Make release 1")
    [token] = [each for each in app.sidebar.code if each.value == app.session_state["own_ledger_token"]]
    assert token.proto.wrap_lines


@pytest.mark.full
def test_a_third_release_exceeds_the_budget(open_page):
    app = declared(open_page)
    assert "The curve will be known to about" in page_text(app)
    assert "one girl's height" in page_text(app).replace("&#x27;", "'")
    app = press(app, "Make release 1")
    first = last_zip(app)
    app = press(app, "Make release 2")
    second = last_zip(app)
    assert first.read("values.csv") != second.read("values.csv")
    assert [each.label for each in app.button if each.disabled] == ["No release: see above"]
    assert "Release 2 is made. Use epsilon = " in captions(app)
    assert "Spent **ε = 1.49** of 1.5" in app.sidebar.markdown[0].value
    app = press(declare(app, epsilon=0.1), "Make release 3")
    assert len(ledger_from_json(last_zip(app).read("release.json")).entries) == 3


def test_clicks_cannot_interrupt_a_paid_release(open_page, monkeypatch):
    app, once = declared(open_page), cached.jobs.once

    def watched(function, *args, waiting=None, **options):
        assert function is not upload.released or waiting is None  # waiting is where streamlit ends a run
        return once(function, *args, **options)

    monkeypatch.setattr(cached.jobs, "once", watched)
    app = press(app, "Make release 1")
    assert not app.exception
    assert "**1 released**" in page_text(app)
    del app.session_state["own_released"]  # a run that was ended just after: what was kept is offered
    assert [each.label for each in app.run().get("download_button") if "again" in each.proto.label]
    monkeypatch.setattr("pages._ui.own.steps.DELIVERIES", Deliveries())  # and the server began anew
    assert "what it cost stays spent" in captions(app.run())


@pytest.mark.parametrize(
    ("tolerance", "sentence", "useful"),
    [
        (0.5, "At 51 of 51 points the curve is not known to within ± 0.5 cm with 95 % probability", 0),
        (1400.0, "These values may be published. All 51 values are known to within ± 1400 cm", 51),
    ],
)
def test_uncertain_values_are_grey_and_unpublishable(open_page, tolerance, sentence, useful):
    app = press(declare(declared(open_page), tolerance=tolerance), "Make release 1")
    assert sentence in said(app)
    assert ("may be published" in said(app)) == bool(useful)
    assert np.isfinite(numbers(traces(app)["released"]["y"])).sum() == useful
    assert ("released, of no use" in traces(app)) == (not useful)
    assert app.dataframe[0].value[f"within ± {tolerance:g} cm"].sum() == useful


def test_useful_and_useless_values_share_a_picture():
    spec = replace(EXAMPLE, tolerance=5.0, grid=(5,))
    half = np.array([1.0, 9.0, 1.0, 1.0, 9.0])
    published = Published(
        spec=spec,
        values=np.arange(5.0),
        curve=(-half, half),
        outputs=(-half, half),
        statistics=(),
        step=1.0,
        n=2,
        outcome=spec.outcome,
    )
    _, known, unknown = figures.released(published).data
    np.testing.assert_array_equal(known.y, [0, np.nan, 2, 3, np.nan])
    np.testing.assert_array_equal(unknown.y, [0, 1, 2, 3, 4])
    style, table = figures.greyed(published).to_html().split("</style>")
    assert "color: #8a8a8a" in style
    assert [row for row in range(5) if f"_row{row}_col0" in style] == [1, 4]
    assert ">-9</td>" in table  # no more decimals than in the file
    square = replace(spec, x=("a", "b"), x_units=("", ""), x_box=((0, 1), (0, 1)), lengthscale=(1, 1), grid=(2, 2))
    four = replace(published, spec=square, values=np.arange(4.0), curve=(-half[:4], half[:4]))
    cells, faded, crosses = figures.released(four).data
    np.testing.assert_array_equal(cells.z, [[0, 2], [np.nan, 3]])
    np.testing.assert_allclose(faded.z, 1 - known_share(four).reshape(2, 2).T * np.isfinite(cells.z))
    assert (crosses.name, list(crosses.x), list(crosses.y)) == ("of no use", [0.0], [1.0])


@pytest.mark.full
def test_releases_are_explored_without_budget(open_page):
    app = press(press(practised(open_page), "Make release 1"), "Explore this release, free")
    assert not app.exception
    assert app.title[0].value == "What else can you ask of a release?"
    assert "Shown: release 1" in captions(app.sidebar)
    assert [each.value for each in app.metric[:2]] == ["ε = 1", "ε = 0"]
    assert "one person's height" in page_text(app).replace("&#x27;", "'")
    app.switch_page("../your_data.py").run()
    assert "**1 released**, ε = 1 of 2 spent" in page_text(app)


def test_unmade_releases_are_not_offered(open_page, monkeypatch):
    def fails(*_):
        raise ValueError("the model cannot be computed")

    app = declared(open_page)
    monkeypatch.setattr(upload, "released", fails)
    app = press(app, "Make release 1")
    assert "is spent all the same" in said(app)
    assert "**0 released**, 1 counted and not made, ε = 1 of 1.5 spent" in page_text(app)
    assert "there is no zip" in captions(app)
    assert "forgotten" not in captions(app)


# ---- The ledger of an own table: it outlives pages and browsers, and nothing begins it anew in silence.


@pytest.mark.full
def test_the_ledger_and_the_table_survive_page_changes(open_page):
    app = press(declared(open_page), "Make release 1")
    app.switch_page("../how_cloaking_works.py").run()
    app.switch_page("../your_data.py").run()
    assert "**1 released**, ε = 1 of 1.5 spent" in page_text(app)
    assert controls(app, "high")[0].value == 200.0
    assert invited(app) == ["Make release 2: spends ε = 1"]
    app = press(app, "Forget the table")
    assert "own_table" not in app.session_state
    assert "own_ready" not in app.session_state
    assert "own_f_y" not in app.session_state


def token_shown(app: AppTest) -> str:
    [code] = app.sidebar.code
    return code.value


def go_on(app: AppTest, token: str) -> AppTest:
    return press(declare(app, owner=token), "Go on with its ledger")


@pytest.mark.full
def test_the_latest_token_continues_the_ledger(open_page):
    app = press(declared(open_page), "Make release 1")
    token = token_shown(app)
    other = go_on(declared(open_page), token)  # another session without cookies is another browser
    assert "**1 released**, ε = 1 of 1.5 spent" in page_text(other)
    other = press(other, "Make release 2")
    assert not other.sidebar.code  # the token was shown before
    app = app.run()
    assert "would bring the total" in said(app)
    [button] = [each for each in app.button if each.label.startswith("No release")]
    assert button.disabled
    app = press(app, "I have kept it")
    assert not app.sidebar.code
    latest = token_shown(press(app, "Make a new token"))
    assert latest != token
    other = go_on(open_page("your_data"), token)
    assert "no ledger here has that token" in said(other)
    assert "Nothing has been released yet" in page_text(other)
    assert "**2 released**" in page_text(go_on(other, f" {latest} "))


@pytest.mark.full
def test_only_its_card_recovers_a_lost_ledger(open_page, ledgers):
    card = last_zip(press(declared(open_page), "Make release 1")).read("release.json")

    def continued(content: bytes) -> AppTest:
        uploader = next(each for each in open_page("your_data").file_uploader if each.key == "own_card")
        return press(uploader.upload("release.json", content, "application/json").run(), "Continue from its card")

    assert "that ledger is kept here, and goes on by its token" in said(continued(card))
    ledgers.database.path.unlink()
    ledgers.database.create()
    ledgers.prepare()
    assert "is not believed" in said(continued(card.replace(b'"epsilon": 1.0', b'"epsilon": 0.9')))
    found = continued(card)
    assert "**1 released**, ε = 1 of 1.5 spent" in page_text(found)
    assert token_shown(found)


def test_ledgers_that_cannot_be_reached_are_a_sentence(open_page, ledgers):
    app = declared(open_page)
    ledgers.database.path.unlink()
    app = press(app, "Begin a new ledger")
    assert said(app).count("the ledgers cannot be used now") == 2  # of what was pressed, and of the page
    assert not app.exception
    app = open_page("your_data")
    assert "the ledgers cannot be used now" in said(app)
    assert not app.button


def with_mechanism(app: AppTest, name: str) -> AppTest:
    return declare(app, mechanism=CHOICES[name].title, epsilon=0.3)


@pytest.mark.full
def test_inputs_become_public_only_explicitly(open_page):
    app = press(with_mechanism(declared(open_page), "sparse"), "Make release 1")
    assert "which is all that was used of inputs and outputs" in app.get("plotly_chart")[0].proto.alt
    assert not app.exception
    app = with_mechanism(app, "cloaking")
    assert "no release protects inputs, whatever its own card says" in said(app)
    app = press(app, "Make release 2")
    assert "ends the protection of inputs" in said(app)
    assert "**1 released**" in page_text(app)
    app = press(press(app, "Treat inputs as public from now on"), "Make release 2")
    assert ledger_from_json(last_zip(app).read("release.json")).inputs_public
    assert "and from what is public here: the settings and the inputs" in app.get("plotly_chart")[0].proto.alt
    assert "Inputs count as public in this ledger" in page_text(app)  # on the card too
    assert "**2 released**" in page_text(app)


@pytest.mark.full
def test_recounting_a_table_needs_a_reason(open_page):
    app = press(declared(open_page), "Make release 1")
    assert "Another ledger counts releases of this very table" not in said(app)
    assert not controls(app, "total")  # once declared it stays
    app = press(app, "Begin a new ledger")
    assert not app.sidebar.code  # the token was of the ledger before
    assert "Another ledger counts releases of this very table" in said(app)
    app = press(declare(app, total=1.5), "Make release 1")
    assert "Refused: another ledger counts releases of this very table" in said(app)
    assert "Nothing has been released yet" in page_text(app)
    other = app.file_uploader[0].upload("other.csv", ROWS.replace("\n64", "\n63").encode(), "text/csv").run()
    assert "Another ledger" not in said(other)
    again = app.file_uploader[0].upload("again.csv", ROWS.replace("\n", "\r\n").encode() + b"\r\n", "text/csv").run()
    app = press(declare(again, because="the first one was a rehearsal on made-up rows"), "Make release 1")
    assert ledger_from_json(last_zip(app).read("release.json")).begun_again.endswith("rehearsal on made-up rows")
    assert "a rehearsal on made-up rows" in captions(app)
    app = press(declare(app, epsilon=0.3), "Make release 2")  # it was said
    assert "**2 released**" in page_text(app)


@pytest.mark.full
def test_strangers_cannot_probe_for_tables(open_page, monkeypatch):
    press(declared(open_page), "Make release 1")
    app = declared(open_page)
    assert "Another ledger counts" in said(app)
    monkeypatch.setenv("DPGP_HOSTS", "example.org")
    assert "Another ledger" not in said(app.run())
    assert "Another ledger" not in said(press(app, "Make release 1"))


@pytest.mark.full
def test_practice_tables_begin_in_every_browser(open_page):
    for _ in range(2):
        app = press(practised(open_page), "Make release 1")
        assert "**1 released**" in page_text(app)


# ---- Your data buys bounds that nobody knows: from a table to a zip that checks itself.


def buying(open_page, n: int = 300, **form):
    rng = np.random.default_rng(0)
    rows = zip(rng.uniform(18, 65, n), np.exp(10 + 0.4 * rng.standard_normal(n)), strict=True)
    content = "age,wage\n" + "".join(f"{age:.1f},{wage:.2f}\n" for age, wage in rows)
    form |= {"y": "wage", "x": ["age"], "total": 1.0, "whose": "no", "kind": "amount", "y_unit": "pounds"}
    return filled(open_page, content, buy_bounds=True, box_low_age=18.0, box_high_age=65.0, grid_age=9, **form)


@pytest.mark.full
def test_bounds_are_bought_with_the_release(open_page):
    app = buying(open_page)
    assert "Still needed: the smallest y that matters." in said(app)
    assert "5 % more noise" in captions(app)
    app = press(declare(app, bounds_unit=0.01), "Make release 1")
    assert ". Bounds bought with a share of 0.1 of the budget" in said(app)
    card = json.loads(last_zip(app).read("release.json"))
    assert card["config"]["bounds_unit"] == 0.01
    assert [each["guarantee"]["epsilon"] for each in card["ledger"]["entries"]] == [1.0]
    explored = opened({"release.zip": app.session_state["own_released"][0].bundle})
    assert list(explored.statistics.bounds) == card["bounds"]["interval"]


@pytest.mark.full
def test_bounds_off_their_scale_are_never_called_publishable(open_page):
    app = buying(open_page, bounds_unit=1e-12)
    assert not [each for each in app.number_input if "smaller one costs nothing" in each.help]
    app = press(app, "Make release 1")
    [warning] = [each.value for each in app.warning if "None of the 9 values is useful" in each.value]
    assert "give a smallest size larger than 1e-12, or declare bounds" in warning
    assert "may be published" not in warning
    assert not app.success


def test_too_few_people_are_refused_unspent(open_page):
    app = buying(open_page, 100, bounds_unit=0.01)
    assert "bounds of 100 people are not to be had" in said(app)
    assert not invited(app)


@pytest.mark.full
def test_declarations_return_when_choices_are_undone(open_page):
    app = declare(declare(buying(open_page), buy_bounds=False), low=0.0, high=200_000.0)
    assert spec_of(app).y_bounds == (0.0, 200_000.0)

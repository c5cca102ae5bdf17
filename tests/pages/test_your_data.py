from __future__ import annotations

import base64
import io
import json
import zipfile
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpgp_core.release import CHOICES, Published, ledger_from_json, plan_release, spec_from_json
from dpgp_core.release.specification_json import EXAMPLE
from pages._ui.ledgers.deliveries import Deliveries
from pages._ui.ledgers.state import State
from pages._ui.ledgers.store import Ledgers
from pages._ui.look.text import plain
from pages._ui.own import figures, upload
from pages._ui.work import cached
from tests.pages.reading import page_text, traces

ROWS = "age,height\n" + "\n".join(f"{age},{100 + age + 0.7316 * (age % 3)}" for age in range(5, 65))


@pytest.fixture(autouse=True)
def ledgers(monkeypatch, tmp_path):
    """Ledgers of this test alone."""
    state = State(tmp_path / "state")
    found = Ledgers(state.database(), state.key())
    found.prepare()
    monkeypatch.setattr("pages._ui.own.session.of_this_server", lambda: found)
    return found


def press(app: AppTest, label: str) -> AppTest:
    [button] = [button for button in app.button if button.label.startswith(label)]
    return button.click().run()


def said(app: AppTest) -> str:
    return "\n".join(each.value for kind in (app.error, app.warning, app.info, app.success) for each in kind)


def practised(open_page) -> AppTest:
    return press(open_page("your_data"), "Practise")


def uploaded(open_page, content: bytes, name: str = "mine.csv") -> AppTest:
    app = open_page("your_data")
    return app.file_uploader[0].upload(name, content, "text/csv").run()


def declare(app: AppTest, **values) -> AppTest:
    for key, value in values.items():
        [control] = [
            each
            for kind in (app.selectbox, app.multiselect, app.number_input, app.text_input, app.radio, app.date_input)
            for each in kind
            if each.key == f"own_f_{key}"
        ]
        control.set_value(value)
    return app.run()


def declared(open_page, content: bytes = ROWS.encode()) -> AppTest:
    app = declare(uploaded(open_page, content), y="height", x=["age"], unit="one girl's height", total=1.5, whose="no")
    app = declare(app, mechanism=CHOICES["refined"].title)
    return declare(
        app, y_unit="cm", low=50.0, high=200.0, box_low_age=0.0, box_high_age=80.0, length_age=20.0, delta=1e-4
    )


def last_zip(app: AppTest) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(app.session_state["own_released"][0].bundle))


def test_nothing_is_inferred_from_the_table(open_page):
    app = uploaded(open_page, ROWS.encode())
    assert [each.key for each in app.number_input if each.value is None] == [
        "own_f_low",
        "own_f_high",
        "own_f_total",
        "tolerance",
    ]
    assert "Still to declare: the private column, an input column" in said(app)
    app = declare(app, y="height", x=["age"])
    assert all(each.value is None for each in app.number_input if each.key in ("own_f_box_low_age", "own_f_length_age"))
    assert not app.get("plotly_chart")
    assert not [button for button in app.button if button.label.startswith("Make release")]


def test_two_releases_spend_the_budget_and_the_third_is_refused(open_page):
    app = declared(open_page)
    assert "The curve will be known to about" in page_text(app)
    assert "one girl's height" in page_text(app).replace("&#x27;", "'")
    app = press(app, "Make release 1")
    first = last_zip(app)
    app = press(app, "Make release 2")
    second = last_zip(app)
    assert first.read("values.csv") != second.read("values.csv")
    ledger = ledger_from_json(second.read("release.json"))
    assert len(ledger.entries) == 2
    assert ledger.limit.epsilon == 1.5
    assert [each.label for each in app.button if each.disabled] == ["No release: see above"]
    assert "this would bring the total" in said(app).replace("\\", "")
    assert "Use epsilon = " in said(app).replace("\\", "")
    assert last_zip(app).read("values.csv") == second.read("values.csv")
    assert "Spent **ε = 1.49** of 1.5" in app.sidebar.markdown[0].value
    app = declare(app, epsilon=0.1)
    app = press(app, "Make release 3")
    assert len(ledger_from_json(last_zip(app).read("release.json")).entries) == 3


def test_a_click_meanwhile_cannot_end_a_release_that_is_paid_for(open_page, monkeypatch):
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


def test_the_release_is_what_the_card_says(open_page):
    app = press(declared(open_page), "Make release 1")
    archive = last_zip(app)
    spec = spec_from_json(archive.read("release.json"))
    assert (spec.y_bounds, spec.total_epsilon, spec.mechanism) == ((50.0, 200.0), 1.5, "refined")
    assert len(archive.read("values.csv").decode().splitlines()) == 52
    assert traces(app)["released"]["y"]
    assert json.loads(archive.read("release.json"))["guarantee"]["unit"] == "one girl's height"


def numbers(encoded) -> np.ndarray:
    """An array as plotly sends it."""
    return np.frombuffer(base64.b64decode(encoded["bdata"]), dtype=encoded["dtype"])


def tolerated(app: AppTest, value: float | None) -> AppTest:
    return next(each for each in app.number_input if each.key == "tolerance").set_value(value).run()


def test_values_that_are_not_known_well_enough_are_greyed_and_never_called_publishable(open_page):
    app = press(tolerated(declared(open_page), 0.5), "Make release 1")
    assert "may be published" not in said(app)
    words = said(app).replace("\\", "")
    assert "At 51 of 51 points the curve is not known to within ± 0.5 cm with 95 % probability" in words
    shown = traces(app)
    assert np.isnan(numbers(shown["released"]["y"])).all()
    assert np.isfinite(numbers(shown["released, of no use"]["y"])).sum() == 51
    assert not app.dataframe[0].value["within ± 0.5 cm"].any()
    header, first, *_ = last_zip(app).read("values.csv").decode().splitlines()
    assert header.endswith(',"within_tolerance"')
    assert first.endswith(",0")


def test_what_people_look_at_is_offered_beside_the_zip(open_page):
    app = press(declared(open_page), "Make release 1")
    offered = {each.proto.label: each.proto for each in app.get("download_button")}
    assert list(offered) == [
        r"Download release 1\: height by refined cloaking",
        "Its card, to print",
        "Its figure (SVG)",
    ]
    assert "one girl&#x27;s height" in last_zip(app).read("card.html").decode()
    assert last_zip(app).read("figure.svg").startswith(b"<svg")


def test_what_is_of_use_and_what_is_not_share_a_picture():
    spec = replace(EXAMPLE, tolerance=5.0, grid=(5,))
    half = np.array([1.0, 9.0, 1.0, 1.0, 9.0])
    published = Published(
        X_test=spec.points(), values=np.arange(5.0), curve=(-half, half), outputs=(-half, half), statistics=(),
        step=1.0, n=2, guarantee=spec.guarantee,
    )  # fmt: skip
    _, known, unknown = figures.released(published, spec).data
    np.testing.assert_array_equal(known.y, [0, np.nan, 2, 3, np.nan])
    np.testing.assert_array_equal(unknown.y, [0, 1, 2, 3, 4])
    style, table = upload.greyed(published, spec).to_html().split("</style>")
    assert "color: #8a8a8a" in style
    assert [row for row in range(5) if f"_row{row}_col0" in style] == [1, 4]
    assert ">-9</td>" in table  # no more decimals than in the file
    square = replace(spec, x=("a", "b"), x_units=("", ""), x_box=((0, 1), (0, 1)), lengthscale=(1, 1), grid=(2, 2))
    four = replace(published, X_test=square.points(), values=np.arange(4.0), curve=(-half[:4], half[:4]))
    cells, crosses = figures.released(four, square).data
    np.testing.assert_array_equal(cells.z, [[0, 2], [np.nan, 3]])
    assert (crosses.name, list(crosses.x), list(crosses.y)) == ("of no use", [0.0], [1.0])


def test_a_tolerance_that_all_values_keep_is_said_too(open_page):
    app = press(tolerated(declared(open_page), 1400.0), "Make release 1")
    assert "These values may be published. All 51 values are known to within ± 1400 cm" in said(app).replace("\\", "")
    assert "released, of no use" not in traces(app)
    assert app.dataframe[0].value["within ± 1400 cm"].all()
    app = press(tolerated(app, None), "Make release 2")
    assert "within_tolerance" not in last_zip(app).read("values.csv").decode()


def test_a_link_sets_the_tolerance(open_page):
    app = declared(lambda page: open_page(page, tolerance="7.5"))
    assert next(each for each in app.number_input if each.key == "tolerance").value == 7.5
    assert spec_of(app).tolerance == 7.5


def spec_of(app: AppTest):
    return app.session_state["own_ready"][1].plan.spec


def test_logarithms_speak_in_factors(open_page):
    app = declared(open_page)
    [box] = [each for each in app.checkbox if each.key == "own_f_log"]
    app = tolerated(box.check().run(), 1.2)
    assert "The curve will be known to about **a factor of 1." in page_text(app)
    app = press(app, "Work it out")
    table = next(each.value for each in app.dataframe if "ε" in each.value)
    widths = table["curve within a factor of, 95 %"].astype(float)
    assert (widths > 1).all()
    assert (widths.diff().dropna() < 0).all()
    wanted = next(each for each in app.number_input if each.label.startswith("I need the curve to within a factor of"))
    app = wanted.set_value(float(widths[2]) + 0.01).run()
    assert "**ε = 0.5** is the smallest of these" in " ".join(each.value for each in app.markdown)
    app = press(app, "Make release 1")
    assert not app.exception
    assert "of 51 points the curve is not known to within a factor of 1.2" in said(app)
    assert spec_from_json(last_zip(app).read("release.json")).log
    assert app.dataframe[-1].value["released value"].between(30, 400).all()
    app = declare(app, low=0.0)
    assert "must lie above 0 where logarithms are measured" in said(app).replace("\\", "")


def test_degrees_are_declared_and_lengthscales_are_in_km(open_page):
    rows = "lon,lat,price\n" + "\n".join(f"{-0.5 + i % 9 / 10},{51.3 + i % 7 / 20},{9 + i}e4" for i in range(60))
    app = declare(uploaded(open_page, rows.encode()), y="price", x=["lon", "lat"], whose="no", total=1.5)
    app = declare(app, mechanism=CHOICES["refined"].title, low=1e4, high=1e6, y_unit="GBP", delta=1e-4)
    assert not asked_of_degrees(app)  # no domain is declared yet
    app = declare(app, box_low_lon=-0.6, box_high_lon=0.4, box_low_lat=51.2, box_high_lat=200.0)
    assert not asked_of_degrees(app)
    app = declare(app, box_high_lat=51.8)
    assert asked_of_degrees(app)[0].options == [
        "None: they are no degrees", "lon is east, lat is north", "lat is east, lon is north",
    ]  # fmt: skip
    app = declare(app, degrees="lon is east, lat is north")
    assert [each.label for each in app.number_input if "ength" in each.label] == ["Lengthscale [km]"] * 2
    points = [each.value for each in app.number_input if each.label == "Points"]
    assert points == [20, 20]  # though the first input alone would have a curve's
    app = declare(app, length_lon=8.0, length_lat=8.0, grid2_lon=5, grid2_lat=4)
    app = press(app, "Make release 1")
    assert not app.exception
    spec = spec_from_json(last_zip(app).read("release.json"))
    assert (spec.coordinates, spec.lengthscale) == (("lon", "lat"), (8.0, 8.0))
    layout = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]
    assert layout["yaxis"]["scaleratio"] == pytest.approx(1.6, abs=0.02)  # 111.2 km to 69.4 km
    across = layout["xaxis"]["title"]["text"]
    app = declare(app, x=["lat", "lon"])
    app = press(app, "Make release 2")
    assert json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]["xaxis"]["title"]["text"] == across == "lon"


def asked_of_degrees(app: AppTest):
    return [each for each in app.selectbox if each.key == "own_f_degrees"]


def test_many_rows_go_through_a_low_rank_form_and_the_page_says_so(open_page):
    rows = "age,height\n" + "\n".join(f"{5 + 60 * i / 1600},{100 + i % 7}" for i in range(1600))
    app = declared(open_page, rows.encode())
    assert "1,600 rows read." in page_text(app)
    assert "go through a low-rank form of the model: rank " in page_text(app)
    assert "low-rank" not in page_text(declared(open_page))


def test_a_preview_needs_a_click_that_says_what_it_reveals(open_page):
    app = declared(open_page)
    assert not app.get("plotly_chart")
    assert "values computed from your table with no protection at all" in said(app)
    app = press(app, "I may see the table")
    assert list(traces(app)) == ["not private: fit without noise"]
    app = declare(app, length_age=10.0)
    assert not app.get("plotly_chart")


def test_the_ledger_and_the_table_survive_page_changes(open_page):
    app = press(declared(open_page), "Make release 1")
    app.switch_page("../how_cloaking_works.py").run()
    app.switch_page("../your_data.py").run()
    assert "**1 released**, ε = 1 of 1.5 spent" in page_text(app)
    assert next(each for each in app.number_input if each.key == "own_f_high").value == 200.0
    assert [button.label for button in app.button if button.label.startswith("Make release")] == [
        "Make release 2: spends ε = 1"
    ]
    app = press(app, "Forget the table")
    assert "own_table" not in app.session_state
    assert "own_ready" not in app.session_state
    assert "own_form" not in app.session_state or not app.session_state["own_form"].get("own_f_y")


def test_a_total_once_declared_stays(open_page):
    app = press(declared(open_page), "Make release 1")
    assert "own_f_total" not in [each.key for each in app.number_input]
    app = press(app, "Begin a new ledger")
    assert "own_f_total" in [each.key for each in app.number_input]


def field(app: AppTest, key: str):
    return next(each for each in app.text_input if each.key == key)


def token_shown(app: AppTest) -> str:
    [code] = app.sidebar.code
    return code.value


def go_on(app: AppTest, token: str) -> AppTest:
    field(app, "own_owner").set_value(token)
    return press(app, "Go on with its ledger")


def test_the_ledger_goes_on_in_another_browser_by_its_token(open_page):
    app = press(declared(open_page), "Make release 1")
    token = token_shown(app)
    other = go_on(declared(open_page), token)  # another session without cookies is another browser
    assert "**1 released**, ε = 1 of 1.5 spent" in page_text(other)
    other = press(other, "Make release 2")
    assert not other.sidebar.code  # the token was shown before
    app = app.run()
    assert "would bring the total" in said(app).replace("\\", "")
    [button] = [each for each in app.button if each.label.startswith("No release")]
    assert button.disabled
    app = press(app, "I have kept it")
    assert not app.sidebar.code


def test_a_wrong_token_opens_nothing_and_a_new_one_ends_the_old(open_page):
    app = press(declared(open_page), "Make release 1")
    first = token_shown(app)
    app = press(app, "Make a new token")
    second = token_shown(app)
    assert second != first
    other = go_on(open_page("your_data"), first)
    assert "no ledger here has that token" in said(other)
    assert "Nothing has been released yet" in page_text(other)
    assert "**1 released**" in page_text(go_on(other, f" {second} "))


def test_a_lost_ledger_goes_on_from_its_card_and_from_no_other(open_page, ledgers, tmp_path):
    app = press(declared(open_page), "Make release 1")
    card = last_zip(app).read("release.json")

    def continued(content: bytes) -> AppTest:
        app = open_page("your_data")
        uploader = next(each for each in app.file_uploader if each.key == "own_card")
        return press(uploader.upload("release.json", content, "application/json").run(), "Continue from its card")

    assert "that ledger is kept here, and goes on by its token" in said(continued(card))
    ledgers.database.path.unlink()
    ledgers.database.create()
    ledgers.prepare()
    assert "is not believed" in said(continued(card.replace(b'"epsilon": 1.0', b'"epsilon": 0.9'))).replace("\\", "")
    found = continued(card)
    assert "**1 released**, ε = 1 of 1.5 spent" in page_text(found)
    assert token_shown(found)


def test_a_zip_that_the_server_no_longer_holds_is_said_to_be_gone(open_page, monkeypatch):
    app = press(declared(open_page), "Make release 1")
    monkeypatch.setattr("pages._ui.own.steps.DELIVERIES", Deliveries())
    del app.session_state["own_released"]
    assert "what it cost stays spent" in captions(app.run())


def test_ledgers_that_cannot_be_reached_are_a_sentence(open_page, ledgers):
    app = declared(open_page)
    ledgers.database.path.unlink()
    app = press(app, "Begin a new ledger")
    assert said(app).count("the ledgers cannot be used now") == 2  # of what was pressed, and of the page
    assert not app.exception
    app = open_page("your_data")
    assert "the ledgers cannot be used now" in said(app)
    assert not app.button


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "empty"),
        (b"PK\x03\x04" + b"0" * 100, "the file is not an Excel workbook"),
        (b"age,height\n1,2\n3,secret7316\n", "column 'height' has text instead of a number in line 3"),
        (b"age,height\n1,2,3\n4,5,6\n", "line 2 has 3 fields where the header has 2"),
        (b"1.5,2.5\n1,2\n", "numbers"),
        (b"age,height\n" + b"9999,100\n9998,120\n", "outside"),
        (b"age," + b",".join(b"c%d" % i for i in range(2000)) + b"\n", "2001 columns, more than 1000"),
        (b"x" * (upload.MAX_BYTES + 1), "more than 5 MB"),
    ],
    ids=["empty", "zip", "text", "ragged", "no header", "outside the box", "columns", "bytes"],
)
def test_a_bad_file_gets_a_sentence_that_quotes_no_cell(open_page, content, sentence):
    try:
        app = declared(open_page, content)
    except ValueError:  # there are no columns to declare
        app = uploaded(open_page, content)
    assert not app.exception
    words = said(app).replace("\\", "")
    assert sentence in words
    assert "secret7316" not in words


def test_a_column_named_like_a_formula_is_only_a_name(open_page):
    app = declare(
        uploaded(open_page, ROWS.replace("age", "=1+1", 1).encode()), y="height", x=["=1+1"], total=2.0, whose="no"
    )
    app = declare(app, mechanism=CHOICES["refined"].title)
    declared_values = {"low": 50.0, "high": 200.0, "box_low_=1+1": 0.0, "box_high_=1+1": 80.0, "length_=1+1": 20.0}
    app = press(declare(app, unit="one girl's height", delta=1e-4, **declared_values), "Make release 1")
    assert not app.exception
    assert app.dataframe[0].value.columns[0].startswith("'=")
    assert last_zip(app).read("values.csv").decode().startswith('"\'=1+1"')


def test_words_of_a_visitor_are_shown_as_they_are():
    assert plain("[x](http://y) `z` $1$ :material/home: <b>") == (
        "\\[x\\]\\(http\\://y\\) \\`z\\` \\$1\\$ \\:material/home\\: \\<b\\>"
    )


def test_nothing_of_the_table_is_in_an_address_or_a_shared_cache(cold, open_page):
    app = press(press(declared(open_page), "I may see the table"), "Make release 1")
    assert dict(app.query_params) == {}
    assert not cached.jobs._kept


def test_a_server_that_takes_no_files_offers_practice_and_the_command_line(open_page, monkeypatch):
    monkeypatch.setenv("DPGP_UPLOADS", "0")
    app = open_page("your_data")
    assert not app.exception
    assert not app.file_uploader
    assert "python -m dpgp_core release" in app.info[0].value
    app = press(app, "Practise with the !Kung census")
    assert not app.exception
    assert any(button.label.startswith("Make release 1") for button in app.button)


def test_a_table_and_a_grid_that_are_too_much_together_are_a_sentence(monkeypatch):
    spec = replace(EXAMPLE, x=("age",), y="height", grid=(50,))
    monkeypatch.setattr(upload, "MAX_WORK", 99)
    held = upload.opened("mine.csv", b"age,height\n10,120\n20,150\n")
    plan = plan_release(spec, np.array([[10.0], [20.0]]))
    uses = (upload.prepared, partial(upload.previewed, plan=plan), partial(upload.released, plan=plan))
    for use in uses:
        with pytest.raises(
            ValueError, match=r"2 rows by 50 points of the grid are more than 99 together, the limit here"
        ):
            use(held, spec)


def test_semicolons_and_decimal_commas_are_declared(open_page):
    app = uploaded(open_page, ROWS.replace(",", ";").replace(".", ",").encode())
    assert "declare how the table is written" in said(app)  # nothing is guessed
    app.segmented_control(key="own_dialect").set_value("semicolons (decimal commas)").run()
    app = declare(app, y="height", x=["age"], unit="one girl's height", total=1.5)
    assert not app.exception
    assert not app.error


def test_other_budgets_are_foreseen_at_no_cost(open_page):
    app = press(declared(open_page), "Work it out")
    table = next(each.value for each in app.dataframe if "ε" in each.value)
    widths = table.iloc[:, 1].astype(float)
    assert list(table["ε"]) == list(upload.OUTLOOK)
    assert (widths.diff().dropna() < 0).all()
    assert "Nothing has been released yet" in page_text(app)
    wanted = next(each for each in app.number_input if each.label.startswith("I need the curve"))
    wanted.set_value(float(widths[2])).run()
    assert "**ε = 0.5** is the smallest of these" in " ".join(each.value for each in app.markdown)


def with_mechanism(app: AppTest, name: str) -> AppTest:
    return declare(app, mechanism=CHOICES[name].title, epsilon=0.3)


def test_inputs_are_made_public_by_an_explicit_choice_only(open_page):
    app = press(with_mechanism(declared(open_page), "sparse"), "Make release 1")
    assert "which is all that was used of inputs and outputs" in captions(app)
    assert not app.exception
    app = with_mechanism(app, "cloaking")
    assert "no release protects inputs, whatever its own card says" in said(app)
    app = press(app, "Make release 2")
    assert "ends the protection of inputs" in said(app).replace("\\", "")
    assert "**1 released**" in page_text(app)
    app = press(press(app, "Treat inputs as public from now on"), "Make release 2")
    assert ledger_from_json(last_zip(app).read("release.json")).inputs_public
    assert "and from what is public here: the settings and the inputs" in captions(app)
    assert "Inputs count as public in this ledger" in page_text(app)  # on the card too
    assert "**2 released**" in page_text(app)


def captions(app: AppTest) -> str:
    return "\n".join(each.value for each in app.caption)


def test_the_same_table_in_a_new_ledger_is_refused_unless_its_owner_says_why(open_page):
    app = press(declared(open_page), "Make release 1")
    assert "Another ledger counts releases of this very table" not in said(app)
    app = press(app, "Begin a new ledger")
    assert "Another ledger counts releases of this very table" in said(app)
    app = declare(app, total=1.5)
    app = press(app, "Make release 1")
    assert "Refused: another ledger counts releases of this very table" in said(app).replace("\\", "")
    assert "Nothing has been released yet" in page_text(app)
    other = app.file_uploader[0].upload("other.csv", ROWS.replace("\n64", "\n63").encode(), "text/csv").run()
    assert "Another ledger" not in said(other)
    again = app.file_uploader[0].upload("again.csv", ROWS.replace("\n", "\r\n").encode() + b"\r\n", "text/csv").run()
    field(again, "own_because").set_value("the first one was a rehearsal on made-up rows").run()
    app = press(again, "Make release 1")
    assert ledger_from_json(last_zip(app).read("release.json")).begun_again.endswith("rehearsal on made-up rows")
    assert "a rehearsal on made-up rows" in captions(app).replace("\\", "")
    app = press(declare(app, epsilon=0.3), "Make release 2")  # it was said
    assert "**2 released**" in page_text(app)


def test_strangers_learn_of_a_table_on_their_own_machine_only(open_page, monkeypatch):
    press(declared(open_page), "Make release 1")
    assert "Another ledger counts" in said(declared(open_page))
    monkeypatch.setenv("DPGP_HOSTS", "example.org")
    app = declared(open_page)
    assert "Another ledger" not in said(app)
    assert "Another ledger" not in said(press(app, "Make release 1"))


def test_the_table_for_practice_begins_anew_in_every_browser(open_page):
    for _ in range(2):
        app = press(practised(open_page), "Make release 1")
        assert "**1 released**" in page_text(app)


def test_with_private_inputs_nothing_is_said_of_rows_outside_the_domain(open_page):
    inside, outside = (ROWS.encode(), ROWS.replace("\n7,", "\n7000,").encode())
    for content in (inside, outside):
        app = with_mechanism(declared(open_page, content), "sparse")
        assert not app.error
        assert not app.exception
        assert "60 rows read." in page_text(app)
    assert "outside" in said(declared(open_page, outside))  # public inputs may be spoken of


def test_bayes_cloaking_is_the_default_and_asks_for_no_model(open_page):
    app = practised(open_page)
    [mechanism] = [each for each in app.selectbox if each.key == "own_f_mechanism"]
    assert mechanism.value == CHOICES["bayes_cells"].title == mechanism.options[0]
    keys = {each.key for kind in (app.selectbox, app.number_input) for each in kind}
    assert not keys & {"own_f_kernel", "own_f_noise", "own_f_cells", "own_f_length_age_years"}
    assert [each.value for each in app.text_input if each.label == "Model"] == ["automatic"]
    assert "known only with the release" in page_text(app)
    assert "protects the inputs" in page_text(app)
    assert "inputs and outputs" in page_text(app)
    app = declare(app, mechanism=CHOICES["bayes"].title)
    assert "protects the inputs" not in page_text(app)
    app = declare(app, mechanism=CHOICES["refined"].title)
    keys = {each.key for kind in (app.selectbox, app.number_input) for each in kind}
    assert {"own_f_kernel", "own_f_noise", "own_f_length_age_years"} <= keys


def test_a_release_is_explored_on_its_own_page_at_no_budget(open_page):
    app = press(press(practised(open_page), "Make release 1"), "Explore this release, free")
    assert not app.exception
    assert app.title[0].value == "What else can you ask of a release?"
    assert "Shown: release 1" in "\n".join(each.value for each in app.sidebar.caption).replace("\\", "")
    assert [each.value for each in app.metric[:2]] == ["ε = 1", "ε = 0"]
    assert "one person's height" in page_text(app).replace("&#x27;", "'")
    app.switch_page("../your_data.py").run()
    assert "**1 released**, ε = 1 of 2 spent" in page_text(app)

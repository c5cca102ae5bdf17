from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpgp_core.release import CHOICES, ledger_from_json, spec_from_json
from dpgp_core.release.specification_json import EXAMPLE
from pages._ui.look.text import plain
from pages._ui.own import upload
from pages._ui.serve.visitors import Visitors
from pages._ui.work import cached
from tests.pages.reading import page_text, traces

ROWS = "age,height\n" + "\n".join(f"{age},{100 + age + 0.7316 * (age % 3)}" for age in range(5, 65))


@pytest.fixture(autouse=True)
def own_visitors(monkeypatch):
    fresh = Visitors()
    monkeypatch.setattr("pages._ui.own.session.VISITORS", fresh)
    return fresh


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
            for kind in (app.selectbox, app.multiselect, app.number_input, app.text_input)
            for each in kind
            if each.key == f"own_f_{key}"
        ]
        control.set_value(value)
    return app.run()


def declared(open_page, content: bytes = ROWS.encode()) -> AppTest:
    app = declare(uploaded(open_page, content), y="height", x=["age"], unit="one girl's height", total=1.5)
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
    app = press(app, "Make release 3")
    assert "Refused: this would bring the total" in said(app).replace("\\", "")
    assert "Use epsilon = " in said(app).replace("\\", "")
    assert last_zip(app).read("values.csv") == second.read("values.csv")
    assert "Spent **ε = 1.49** of 1.5" in app.sidebar.markdown[0].value
    app = declare(app, epsilon=0.1)
    app = press(app, "Make release 3")
    assert len(ledger_from_json(last_zip(app).read("release.json")).entries) == 3


def test_a_click_meanwhile_cannot_end_a_release_that_is_paid_for(open_page, own_visitors, monkeypatch):
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
    app.switch_page("../start.py").run()
    app.switch_page("../your_data.py").run()
    assert "**1 released**, ε = 1.00 of 1.5 spent" in page_text(app)
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


def test_an_earlier_ledger_is_continued_from_its_card(open_page, own_visitors):
    app = press(declared(open_page), "Make release 1")
    card = last_zip(app).read("release.json")
    elsewhere = declared(open_page)
    uploader = next(each for each in elsewhere.file_uploader if each.key == "own_card")
    elsewhere = press(uploader.upload("release.json", card, "application/json").run(), "Continue its ledger")
    assert "**1 released**, ε = 1.00 of 1.5 spent" in page_text(elsewhere)
    app = press(app, "Make release 2")
    uploader = next(each for each in app.file_uploader if each.key == "own_card")
    app = press(uploader.upload("release.json", card, "application/json").run(), "Continue its ledger")
    assert "counts 1 releases and the ledger here 2" in said(app)


def test_a_browser_served_elsewhere_before_is_told_so(open_page, own_visitors, monkeypatch):
    monkeypatch.setattr("pages._ui.own.session.token", lambda: "x" * 32)
    assert "knows nothing of what this browser released before" in said(open_page("your_data"))
    own_visitors.issue("y" * 32)
    monkeypatch.setattr("pages._ui.own.session.token", lambda: "y" * 32)
    assert said(open_page("your_data")) == ""


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "empty"),
        (b"PK\x03\x04" + b"0" * 100, "which is not unpacked"),
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
    app = declare(uploaded(open_page, ROWS.replace("age", "=1+1", 1).encode()), y="height", x=["=1+1"], total=2.0)
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


def test_nothing_of_the_table_is_in_an_address_or_a_shared_cache(open_page):
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
    for use in (upload.prepared, upload.previewed, upload.released):
        with pytest.raises(
            ValueError, match=r"2 rows by 50 points of the grid are more than 99 together, the limit here"
        ):
            use(b"age,height\n10,120\n20,150\n", spec)


def with_mechanism(app: AppTest, name: str) -> AppTest:
    return declare(app, mechanism=CHOICES[name].title, epsilon=0.3)


def test_inputs_are_made_public_by_an_explicit_choice_only(open_page, own_visitors):
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


def test_the_same_file_in_a_new_ledger_is_recognised(open_page):
    app = press(declared(open_page), "Make release 1")
    assert "same file as one that an earlier ledger" not in said(app)
    app = press(app, "Begin a new ledger")
    assert "same file as one that an earlier ledger of this browser was about" in said(app)
    other = app.file_uploader[0].upload("other.csv", ROWS.replace("\n64", "\n63").encode(), "text/csv").run()
    assert "same file as one that an earlier ledger" not in said(other)


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
    assert app.title[0].value == "What else does one release say, for free?"
    assert "Shown: release 1" in "\n".join(each.value for each in app.sidebar.caption).replace("\\", "")
    assert [each.value for each in app.metric[:2]] == ["ε = 1.00", "ε = 0"]
    assert "one person's height" in page_text(app).replace("&#x27;", "'")
    app.switch_page("../your_data.py").run()
    assert "**1 released**, ε = 1.00 of 2 spent" in page_text(app)

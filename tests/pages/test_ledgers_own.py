"""The ledger of an own table: it outlives pages and browsers, and nothing begins it anew in silence."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from dpgp_core.release import CHOICES, ledger_from_json
from tests.pages.own import ROWS, captions, controls, declare, declared, invited, last_zip, practised, press, said
from tests.pages.reading import page_text

pytestmark = pytest.mark.usefixtures("ledgers")


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
    assert "own_form" not in app.session_state or not app.session_state["own_form"].get("own_f_y")


def token_shown(app: AppTest) -> str:
    [code] = app.sidebar.code
    return code.value


def go_on(app: AppTest, token: str) -> AppTest:
    return press(declare(app, owner=token), "Go on with its ledger")


def test_the_ledger_goes_on_in_another_browser_by_its_latest_token(open_page):
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


def test_a_lost_ledger_goes_on_from_its_card_and_from_no_other(open_page, ledgers):
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


def test_inputs_are_made_public_by_an_explicit_choice_only(open_page):
    app = press(with_mechanism(declared(open_page), "sparse"), "Make release 1")
    assert "which is all that was used of inputs and outputs" in captions(app)
    assert not app.exception
    app = with_mechanism(app, "cloaking")
    assert "no release protects inputs, whatever its own card says" in said(app)
    app = press(app, "Make release 2")
    assert "ends the protection of inputs" in said(app)
    assert "**1 released**" in page_text(app)
    app = press(press(app, "Treat inputs as public from now on"), "Make release 2")
    assert ledger_from_json(last_zip(app).read("release.json")).inputs_public
    assert "and from what is public here: the settings and the inputs" in captions(app)
    assert "Inputs count as public in this ledger" in page_text(app)  # on the card too
    assert "**2 released**" in page_text(app)


def test_the_same_table_in_a_new_ledger_is_refused_unless_its_owner_says_why(open_page):
    app = press(declared(open_page), "Make release 1")
    assert "Another ledger counts releases of this very table" not in said(app)
    assert not controls(app, "total")  # once declared it stays
    app = press(app, "Begin a new ledger")
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


def test_strangers_learn_of_a_table_on_their_own_machine_only(open_page, monkeypatch):
    press(declared(open_page), "Make release 1")
    app = declared(open_page)
    assert "Another ledger counts" in said(app)
    monkeypatch.setenv("DPGP_HOSTS", "example.org")
    assert "Another ledger" not in said(app.run())
    assert "Another ledger" not in said(press(app, "Make release 1"))


def test_the_table_for_practice_begins_anew_in_every_browser(open_page):
    for _ in range(2):
        app = press(practised(open_page), "Make release 1")
        assert "**1 released**" in page_text(app)

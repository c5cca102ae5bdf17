"""Releases of an own table: what is shown, kept and offered, and which values are of use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpgp_core.release import Published, ledger_from_json, spec_from_json
from dpgp_core.release.publishing import known_share
from dpgp_core.release.specification import EXAMPLE
from pages._ui.ledgers.state import Deliveries
from pages._ui.own import figures, upload
from pages._ui.work import cached
from tests.pages.own import captions, declare, declared, last_zip, ledgers_of_its_own, practised, press, said
from tests.pages.reading import numbers, page_text, traces

pytestmark = pytest.mark.usefixtures("ledgers")


@pytest.fixture(scope="module")
def released(open_page, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppTest]:
    """A page after its first release, which no test changes."""
    with pytest.MonkeyPatch.context() as here:
        ledgers_of_its_own(here, tmp_path_factory.mktemp("own"))
        yield press(declared(open_page), "Make release 1")


def test_the_release_is_what_the_card_says(released):
    archive = last_zip(released)
    spec = spec_from_json(archive.read("release.json"))
    assert (spec.y_bounds, spec.total_epsilon, spec.mechanism) == ((50.0, 200.0), 1.5, "refined")
    assert len(archive.read("values.csv").decode().splitlines()) == 52
    assert traces(released)["released"]["y"]
    assert json.loads(archive.read("release.json"))["guarantee"]["unit"] == "one girl's height"


def test_what_people_look_at_is_offered_beside_the_zip(released):
    offered = [each.proto.label for each in released.get("download_button")]
    assert offered == [r"Download release 1\: height by refined cloaking", "Its card, to print", "Its figure (SVG)"]
    assert "one girl&#x27;s height" in last_zip(released).read("card.html").decode()
    assert last_zip(released).read("figure.svg").startswith(b"<svg")


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
    assert "Release 2 is made. Use epsilon = " in "\n".join(each.value for each in app.caption)
    assert last_zip(app).read("values.csv") == second.read("values.csv")
    assert "Spent **ε = 1.49** of 1.5" in app.sidebar.markdown[0].value
    app = press(declare(app, epsilon=0.1), "Make release 3")
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
    monkeypatch.setattr("pages._ui.own.steps.DELIVERIES", Deliveries())  # and the server began anew
    assert "what it cost stays spent" in captions(app.run())


def test_values_that_are_not_known_well_enough_are_greyed_and_never_called_publishable(open_page):
    app = press(declare(declared(open_page), tolerance=0.5), "Make release 1")
    assert "may be published" not in said(app)
    assert "At 51 of 51 points the curve is not known to within ± 0.5 cm with 95 % probability" in said(app)
    shown = traces(app)
    assert np.isnan(numbers(shown["released"]["y"])).all()
    assert np.isfinite(numbers(shown["released, of no use"]["y"])).sum() == 51
    assert not app.dataframe[0].value["within ± 0.5 cm"].any()
    header, first, *_ = last_zip(app).read("values.csv").decode().splitlines()
    assert header.endswith(',"within_tolerance"')
    assert first.endswith(",0")


def test_what_is_of_use_and_what_is_not_share_a_picture():
    spec = replace(EXAMPLE, tolerance=5.0, grid=(5,))
    half = np.array([1.0, 9.0, 1.0, 1.0, 9.0])
    published = Published(
        X_test=spec.points(),
        values=np.arange(5.0),
        curve=(-half, half),
        outputs=(-half, half),
        statistics=(),
        step=1.0,
        n=2,
        outcome=spec.outcome,
        guarantee=spec.guarantee,
    )
    _, known, unknown = figures.released(published, spec).data
    np.testing.assert_array_equal(known.y, [0, np.nan, 2, 3, np.nan])
    np.testing.assert_array_equal(unknown.y, [0, 1, 2, 3, 4])
    style, table = upload.greyed(published, spec).to_html().split("</style>")
    assert "color: #8a8a8a" in style
    assert [row for row in range(5) if f"_row{row}_col0" in style] == [1, 4]
    assert ">-9</td>" in table  # no more decimals than in the file
    square = replace(spec, x=("a", "b"), x_units=("", ""), x_box=((0, 1), (0, 1)), lengthscale=(1, 1), grid=(2, 2))
    four = replace(published, X_test=square.points(), values=np.arange(4.0), curve=(-half[:4], half[:4]))
    cells, faded, crosses = figures.released(four, square).data
    np.testing.assert_array_equal(cells.z, [[0, 2], [np.nan, 3]])
    np.testing.assert_allclose(faded.z, 1 - known_share(four).reshape(2, 2).T * np.isfinite(cells.z))
    assert (crosses.name, list(crosses.x), list(crosses.y)) == ("of no use", [0.0], [1.0])


def test_a_tolerance_that_all_values_keep_is_said_too(open_page):
    app = press(declare(declared(open_page), tolerance=1400.0), "Make release 1")
    assert "These values may be published. All 51 values are known to within ± 1400 cm" in said(app)
    assert "released, of no use" not in traces(app)
    assert app.dataframe[0].value["within ± 1400 cm"].all()
    app = press(declare(app, tolerance=None), "Make release 2")
    assert "within_tolerance" not in last_zip(app).read("values.csv").decode()


def test_a_release_is_explored_on_its_own_page_at_no_budget(open_page):
    app = press(press(practised(open_page), "Make release 1"), "Explore this release, free")
    assert not app.exception
    assert app.title[0].value == "What else can you ask of a release?"
    assert "Shown: release 1" in captions(app.sidebar)
    assert [each.value for each in app.metric[:2]] == ["ε = 1", "ε = 0"]
    assert "one person's height" in page_text(app).replace("&#x27;", "'")
    app.switch_page("../your_data.py").run()
    assert "**1 released**, ε = 1 of 2 spent" in page_text(app)


def test_a_release_that_was_not_made_is_not_called_one_and_no_zip_was_forgotten(open_page, monkeypatch):
    def fails(*_):
        raise ValueError("the model cannot be computed")

    app = declared(open_page)
    monkeypatch.setattr(upload, "released", fails)
    app = press(app, "Make release 1")
    assert "is spent all the same" in said(app)
    assert "**0 released**, 1 counted and not made, ε = 1 of 1.5 spent" in page_text(app)
    assert "there is no zip" in captions(app)
    assert "forgotten" not in captions(app)


def test_more_is_left_than_the_total_less_what_was_spent_and_why(open_page):
    app = press(declare(declared(open_page), total=3.0), "Make release 1")
    left = next(each for each in app.metric if each.label == "Left")
    assert left.value == "ε = 2.73"
    assert left.delta == "noises add in squares"

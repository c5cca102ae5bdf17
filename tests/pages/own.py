"""What a visitor does with an own table on Your data."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpgp_core.release import CHOICES
from pages._ui.ledgers.state import State
from pages._ui.ledgers.store import Ledgers
from pages._ui.own import practice

ROWS = "age,height\n" + "\n".join(f"{age},{100 + age + 0.7316 * (age % 3)}" for age in range(5, 65))
CONTROLS = ("selectbox", "multiselect", "number_input", "text_input", "radio", "date_input", "checkbox")


def ledgers_of_its_own(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Ledgers:
    """New ledgers, which the page uses."""
    state = State(folder / "state")
    found = Ledgers(state.database(), state.key())
    found.prepare()
    monkeypatch.setattr("pages._ui.own.ledger.of_this_server", lambda: found)
    return found


def controls(app: AppTest, key: str) -> list[Any]:
    """What is offered under a key: one or none; a question of the form by its name alone."""
    return [each for kind in CONTROLS for each in app.get(kind) if each.key in (key, f"own_{key}", f"own_f_{key}")]


def declare(app: AppTest, **values: Any) -> AppTest:
    for key, value in values.items():
        [control] = controls(app, key)
        control.set_value(value)
    return app.run()


def press(app: AppTest, label: str) -> AppTest:
    [button] = [button for button in app.button if button.label.replace("\\", "").startswith(label)]
    return button.click().run()


def uploaded(open_page, content: bytes | str, name: str = "mine.csv") -> AppTest:
    content = content.encode() if isinstance(content, str) else content
    return open_page("your_data").file_uploader[0].upload(name, content, "text/csv").run()


def filled(open_page, content: bytes | str, **form: Any) -> AppTest:
    """A table whose whole form is filled in at once."""
    return fill(uploaded(open_page, content), **form)


def fill(app: AppTest, **form: Any) -> AppTest:
    """The form filled in at once, as a table for practice does it."""
    for key, value in form.items():
        app.session_state[f"own_f_{key}"] = value
    return app.run()


HEIGHTS = {
    "y": "height",
    "x": ["age"],
    "unit": "one girl's height",
    "total": 1.5,
    "whose": "no",
    "mechanism": CHOICES["refined"].title,
    "y_unit": "cm",
    "low": 50.0,
    "high": 200.0,
    "box_low_age": 0.0,
    "box_high_age": 80.0,
    "length_age": 20.0,
    "delta": 1e-4,
}


def declared(open_page, content: bytes | str = ROWS, **changes: Any) -> AppTest:
    """All that a release by refined cloaking asks for."""
    return filled(open_page, content, **HEIGHTS | changes)


def of_kind(kind: str) -> practice.Practice:
    return next(each for each in practice.TABLES if each.kind == kind)


def practised(open_page, table: practice.Practice = practice.TABLES[0]) -> AppTest:
    app = open_page("your_data")
    [button] = [each for each in app.button if each.label == table.button]  # not one that begins so
    app = button.click().run()
    assert not app.exception
    return app


def said(app: AppTest) -> str:
    """Messages, as they are read."""
    kinds = (app.error, app.warning, app.info, app.success)
    return "\n".join(each.value for kind in kinds for each in kind).replace("\\", "")


def captions(app: AppTest) -> str:
    return "\n".join(each.value for each in app.caption).replace("\\", "")


def invited(app: AppTest) -> list[str]:
    """The release that is offered, or none."""
    return [each.label for each in app.button if each.label.startswith("Make release")]


def spec_of(app: AppTest):
    return app.session_state["own_ready"][1].plan.spec


def last_zip(app: AppTest) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(app.session_state["own_released"][0].bundle))

"""Pages opened by a link, and releases as files: what tests of pages start from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from streamlit.testing.v1 import AppTest

from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.measurement.statistics import CellStatistics, Statistics
from dpgp_core.measurement.statistics_file import statistics_to_files
from dpgp_core.release.json_text import guarantee_to_object
from pages._ui import menu
from pages._ui.explore.statistic import CARD, FILE
from tests.pages.reading import ROOT

KINDS = ("toggle", "slider", "select_slider", "number_input", "selectbox", "segmented_control", "text_input", "radio")


def open_at(page: str, address: Mapping[str, Any]) -> AppTest:
    """A page in a fresh session at an address."""
    app = AppTest.from_file(str(ROOT / "pages/_ui/main.py"), default_timeout=120)
    for key, value in address.items():
        app.query_params[key] = value
    return app.switch_page(f"../{page}.py").run()


def bound_controls(app: AppTest) -> dict[str, str]:
    """Keys of the controls on screen that are bound to the address, with their kind.

    Bound or not is read off the protocol message that tells the browser so.
    """
    return {
        widget.key: kind
        for kind in KINDS
        for widget in app.get(kind)
        if widget.key and getattr(widget.proto, "query_param_key", "")
    }


def is_used(app: AppTest, key: str, raw: str) -> bool:
    """Whether a control has the value that a link gives it."""
    if key not in app.session_state:
        return False
    used = app.session_state[key]
    if isinstance(used, bool):
        return raw.lower() == str(used).lower()
    if isinstance(used, str):
        return raw in (used, next((short for short, title in menu.TITLES.get(key, {}).items() if title == used), used))
    try:
        return float(raw) == used
    except ValueError:
        return False


def published(statistics: Statistics | CellStatistics, guarantee: Guarantee) -> dict[str, bytes]:
    """The two files of a release that are needed to read it."""
    promise = {"epsilon": guarantee.budget.epsilon, "delta": guarantee.budget.delta}
    about, npz = statistics_to_files(replace(statistics, guarantee=promise))
    return {CARD: json.dumps({"statistics": about, "guarantee": guarantee_to_object(guarantee)}).encode(), FILE: npz}

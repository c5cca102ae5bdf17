from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from dpgp_core.mechanisms import CATALOGUE
from pages._ui.compare import contenders
from pages._ui.ledgers.store import Ledgers
from pages._ui.work import cached
from pages._ui.work.jobs import Jobs
from tests.pages.own import ledgers_of_its_own
from tests.pages.reading import ROOT

QUICK = {"bayes": 2, "bayes_cells": 2, "sparse": 3}  # draws


@pytest.fixture(scope="session", autouse=True)
def packages_are_read_once() -> Iterator[None]:
    """AppTest reads what every installed package says of itself, for each page that is opened; it never changes."""
    with pytest.MonkeyPatch.context() as once:
        found = manifest_scanner.scan_component_manifests()
        once.setattr(manifest_scanner, "scan_component_manifests", lambda: found)
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_work() -> Iterator[None]:
    """Few releases and data sets where each takes long: what a page shows of them depends on none.

    For the whole session, since tests share what was computed. What pages open with ships, and is used as it is.
    """
    with pytest.MonkeyPatch.context() as quick:
        quick.setattr(contenders, "DATA_SETS", 2)
        for name, draws in QUICK.items():
            few = replace(CATALOGUE[name], simulated=draws)
            quick.setitem(contenders.CONTENDERS, name, few)
            quick.setitem(CATALOGUE, name, few)
        yield


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was computed before, and nothing computed now is used by another test."""
    monkeypatch.setattr(cached, "jobs", Jobs(cached.ROOM))


@pytest.fixture
def ledgers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ledgers:
    """Ledgers of this test alone."""
    return ledgers_of_its_own(monkeypatch, tmp_path)


def opened(page: str, **address: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "pages/_ui/main.py"), default_timeout=300)
    for key, value in address.items():
        app.query_params[key] = value
    app.switch_page(f"../{page}.py").run()
    assert not app.exception
    return app


@pytest.fixture(scope="session")
def open_page() -> Callable[..., AppTest]:
    """Open a page at an address, for example open_page("kung_curves", epsilon="2")."""
    return opened


@pytest.fixture(scope="session")
def seen() -> Callable[..., AppTest]:
    """The same, for tests that only look: a page that is opened once at each address, and that nobody changes."""
    return cache(opened)

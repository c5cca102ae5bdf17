from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from pages._ui.compare import contenders
from pages._ui.measured import strategy
from pages._ui.work import cached
from tests.pages.reading import ROOT


@pytest.fixture(autouse=True)
def cold_caches():
    cached.jobs.clear()


@pytest.fixture(autouse=True)
def quick_plans(monkeypatch):
    """Bayes cloaking with loose plans, two draws and few budgets: what is shown of it depends on none of them."""
    monkeypatch.setattr(contenders, "GAP", 0.1)
    monkeypatch.setattr(strategy, "EPSILONS", (0.1, 1))
    monkeypatch.setitem(contenders.CONTENDERS, "bayes", replace(contenders.CONTENDERS["bayes"], simulated=2))


@pytest.fixture
def open_page() -> Callable[..., AppTest]:
    """Open a page at an address, for example open_page("kung_curves", epsilon="2")."""

    def opener(page: str, **address: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "pages/_ui/main.py"), default_timeout=300)
        for key, value in address.items():
            app.query_params[key] = value
        return app.switch_page(f"../{page}.py").run()

    return opener

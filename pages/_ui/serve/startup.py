"""What the server starts beside itself, and stops when it stops: worker processes, and its own first visits."""

from __future__ import annotations

import asyncio
import gc
import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import plotly.graph_objects as go
from streamlit import App, config
from streamlit.web.server import server_util

from pages._ui import environment
from pages._ui.serve import forgetting, warm
from pages._ui.serve.readiness import shared_modules
from pages._ui.work import cached, pace
from pages._ui.work.workers import leave_no_folder

_EVERYWHERE = ("0.0.0.0", "::", "")


@asynccontextmanager
async def lifespan(_: App) -> AsyncIterator[None]:
    """Workers while the server lives; it opens its own pages and computes ahead unless DPGP_WARM is 0.

    Prints the only line of a server, its address, once everything that could keep it from starting is done.
    """
    cached.start()
    warming = environment.switched_on("DPGP_WARM")
    if warming:
        cached.work_ahead()
    _spare_the_collector()
    pace.take_short_turns()
    beside = [
        asyncio.create_task(forgetting.forget_ended_sessions()),
        asyncio.create_task(asyncio.to_thread(cached.begin)),
    ]
    if warming:
        beside.append(asyncio.create_task(_visit_ourselves()))
    # Streamlit says it before it loads ``app.py``, which may refuse.
    print(f"Dashboard URL: {address()}", flush=True)
    try:
        yield
    finally:
        for task in beside:
            task.cancel()
        cached.stop()
        leave_no_folder()


async def _visit_ourselves() -> None:
    cached.open_house()
    await warm.open_pages()
    await asyncio.to_thread(cached.close_house)


def _spare_the_collector() -> None:
    """Load what pages will need and exempt it from garbage collection.

    Streamlit collects all generations after every run of a page. Going through the modules, which never become
    garbage, took longer than the run itself.
    """
    for name in shared_modules():
        importlib.import_module(name)
    go.Figure().add_scatter(x=[0]).update_layout(legend={}, margin={}).update_xaxes(title="").to_json()  # loads lazily
    gc.collect()
    gc.freeze()


def address() -> str:
    """Where a browser finds this server; asks nobody outside."""
    host = config.get_option("server.address") or ""
    if config.is_manually_set("browser.serverAddress") or host in _EVERYWHERE:
        host = config.get_option("browser.serverAddress")
    return server_util.get_url(f"[{host}]" if ":" in host else host)

"""The one line that a server prints: where it is, once everything that could keep it from starting has been checked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from streamlit import App, config
from streamlit.web.server import server_util

Lifespan = Callable[[App], AbstractAsyncContextManager[None]]
_EVERYWHERE = ("0.0.0.0", "::", "")


def announced(lifespan: Lifespan) -> Lifespan:
    """The same, with the address once it has begun. Streamlit says it before it loads ``app.py``, which may refuse."""

    @asynccontextmanager
    async def life(app: App) -> AsyncIterator[None]:
        async with lifespan(app):
            print(f"Dashboard URL: {_address()}", flush=True)
            yield

    return life


def _address() -> str:
    """For a browser; asks nobody outside."""
    host = config.get_option("server.address") or ""
    if config.is_manually_set("browser.serverAddress") or host in _EVERYWHERE:
        host = config.get_option("browser.serverAddress")
    return server_util.get_url(f"[{host}]" if ":" in host else host)

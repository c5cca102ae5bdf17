"""Who may speak to this server: a page of its own, under a name of its own, and nobody else's.

A browser sends cookies along with whatever page asks it to, and opens WebSockets to any host. It tells the truth about
two things: ``Host``, the name in the address it asked, and ``Origin``, the page that made it ask. Whoever is not one of
our own pages is refused here, before streamlit sees the request: streamlit would ask a host outside for its own
address, in the event loop, and take a page on another port of this machine for one of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket
from streamlit import config, net_util

from pages._ui.environment import Host

_PORTS = {"http": 80, "https": 443}


class Doorkeeper:
    """ASGI middleware: refuses requests and connections that no page of this server's makes.

    Args:
        app: what it stands before.
        hosts: names that this server is known by, with a port where only that one counts; this machine's own always
            belong to them. None: any name where the server listens on the network, this machine's where it does not.
        listens_here: whether the server listens on this machine's own addresses only.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[Host] | None, listens_here: Callable[[], bool]) -> None:
        self.app, self.hosts, self._listens_here = app, hosts, listens_here

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request or connection through, or refuse it."""
        if scope["type"] in ("http", "websocket") and (problem := self.problem(scope)):
            answer = PlainTextResponse(problem, 403, {"Cache-Control": "no-store"})
            if scope["type"] == "http":
                await answer(scope, receive, send)
            else:
                await WebSocket(scope, receive, send).send_denial_response(answer)
            return
        await self.app(scope, receive, send)

    def problem(self, scope: Scope) -> str | None:
        """Why a request is refused, in words that repeat nothing of it; None if it is not."""
        hosts = _values(scope, b"host")
        origins = _values(scope, b"origin")
        try:
            [host] = map(Host.read, hosts)
        except ValueError:
            return "The request names no host."
        if not self._known(host):
            return "This server is not known by that name; whoever runs it can add the name to DPGP_HOSTS."
        if origins and not (len(origins) == 1 and _same(origins[0], host)):
            return "The request comes from a page of another site."
        return None

    def _known(self, host: Host) -> bool:
        if host.is_this_machine:
            return True
        if self.hosts is None:
            return not self._listens_here()
        return host in self.hosts or host._replace(port=None) in self.hosts


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _same(origin: str, host: Host) -> bool:
    """Whether a page of this origin came from this host and port."""
    try:
        parts = urlsplit(origin)
        page = Host.read(parts.netloc)
    except ValueError:
        return False
    usual = _PORTS.get(parts.scheme)
    if usual is None or origin.lower() != f"{parts.scheme}://{parts.netloc}".lower():
        return False
    return (page.name, page.port or usual) == (host.name, host.port or usual)


def listens_here() -> bool:
    """Whether streamlit was told to listen on this machine's own addresses only."""
    address = config.get_option("server.address")
    return isinstance(address, str) and Host(address.lower(), None).is_this_machine


def never_ask_outside() -> None:
    """Take from streamlit what asks a host outside for this machine's address: nobody is told by it but strangers."""
    net_util.get_external_ip = lambda: None

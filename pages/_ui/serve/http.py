"""Headers of the server's answers, and checks of requests."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket
from streamlit import config

from dpgp_core import __version__
from pages._ui import environment
from pages._ui.environment import Host
from pages._ui.serve import forgetting
from pages._ui.serve.startup import Probe, Readiness
from pages._ui.visitor import COOKIE, SECURE_COOKIE, fresh, known_by, token_in
from pages._ui.work import cached

_PORTS = {"http": 80, "https": 443}


class OriginMiddleware:
    """ASGI middleware that refuses requests and connections that no page of this server makes.

    Args:
        hosts: names of this server, with a port if only this port is allowed; names of this machine are always allowed.
            None allows any name if the server listens on the network, and only this machine's names otherwise.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[Host] | None) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request or connection through, or refuse it."""
        if scope["type"] in ("http", "websocket"):
            if problem := self.problem(scope):
                await _answer(PlainTextResponse(problem, 403, {"Cache-Control": "no-store"}), scope, receive, send)
                return
            _spell_origin_as_host(scope)
        await self.app(scope, receive, send)

    def problem(self, scope: Scope) -> str | None:
        """Return why a request is refused, in words that repeat nothing of it; None if it is not."""
        headers = Headers(scope=scope)
        origins = headers.getlist("origin")
        try:
            [host] = map(Host.read, headers.getlist("host"))
        except ValueError:
            return "The request names no host."
        if not self._is_own(host):
            return "This server is not known by that name; whoever runs it can add the name to DPGP_HOSTS."
        if origins and not (len(origins) == 1 and _same(origins[0], host)):
            return "The request comes from a page of another site."
        return None

    def _is_own(self, host: Host) -> bool:
        if host.is_this_machine:
            return True
        if self.hosts is None:
            return not listens_here()
        return host in self.hosts or host._replace(port=None) in self.hosts


def _same(origin: str, host: Host) -> bool:
    """Return whether a page of this origin came from this host and port."""
    try:
        parts = urlsplit(origin)
        page = Host.read(parts.netloc)
    except ValueError:
        return False
    usual = _PORTS.get(parts.scheme)
    if usual is None or origin.lower() != f"{parts.scheme}://{parts.netloc}".lower():
        return False
    return (page.name, page.port or usual) == (host.name, host.port or usual)


def _spell_origin_as_host(scope: Scope) -> None:
    """Write an origin that equals the host in the host's spelling, because streamlit compares them letter by letter.

    If they differ, streamlit asks an external host for this machine's address to compare with it.
    """
    headers = MutableHeaders(scope=scope)
    if "origin" in headers:
        headers["origin"] = f"{urlsplit(headers['origin']).scheme}://{headers['host']}"


def listens_here() -> bool:
    """Return whether streamlit was told to listen only on this machine's own addresses."""
    address = config.get_option("server.address")
    return isinstance(address, str) and Host(address.lower(), None).is_this_machine


PROPOSED = "x-visitor"  # Header in which a proxy proposes a token, so that the first request already goes to
# the replica to which the cookie will lead
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Content-Security-Policy": "frame-ancestors 'none'",  # no other site may embed a page; nginx adds the rest
    "X-Frame-Options": "DENY",
}
_SCRIPT = Path(__file__).parents[1] / "look" / "page.js"
_STREAMLIT = "/_stcore/"
_ENDPOINTS = ("health", "host-config", "stream")  # pages use these; metrics and agents are closed
_UPLOADS = "upload_file/"
_NOT_PAGES = (_STREAMLIT, "/static/", forgetting.PATH, "/component/", "/readyz")

READINESS = Readiness(probe=Probe(cached.send))
DRAINING = threading.Event()


def drain_on_signal() -> None:
    """Accept no new visitors after SIGUSR1; present ones stay until the process is stopped."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGUSR1, lambda *_: DRAINING.set())


async def readyz(_request: Request) -> JSONResponse:
    """Return 200 if this process can serve every page and accepts new visitors; otherwise 503 and the reason."""
    problem = "draining" if DRAINING.is_set() else await run_in_threadpool(READINESS.problem)
    answer: dict[str, object] = {"ready": problem is None, "version": __version__}
    if problem is not None:
        answer["reason"] = problem
    return JSONResponse(answer, 200 if problem is None else 503, {"Cache-Control": "no-store"})


async def page_script(_request: Request) -> FileResponse:
    """Return the script of the pages, as a file that a policy without inline scripts allows."""
    return FileResponse(_SCRIPT, media_type="text/javascript", headers={"Cache-Control": "no-cache"})


class VisitorMiddleware:
    """ASGI middleware that gives a browser its cookie, sets headers, and refuses new visitors while draining."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request or connection."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        path = _below_base(scope["path"])
        page = _is_page(scope, path)
        if (refusal := _refusal(scope, path, page)) is not None:
            await _answer(refusal, scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if path.startswith(forgetting.PATH):
                    headers["Cache-Control"] = "no-store"  # no cache on the way may keep a download
                if page and message["status"] in (200, 304) and (cookie := _cookie(scope)):
                    headers.append("Set-Cookie", cookie)
            await send(message)

        await self.app(scope, receive, send_with_headers)


def _refusal(scope: Scope, path: str, page: bool) -> Response | None:
    """Return the answer to a request that is refused for everybody; None if it is not."""
    if _is_closed(path):
        return PlainTextResponse("Not found", 404)
    if path.startswith(_STREAMLIT + _UPLOADS) and not environment.switched_on("DPGP_UPLOADS"):
        return PlainTextResponse("This server takes no files.", 403)
    if path.startswith(forgetting.PATH):
        browser = known_by(HTTPConnection(scope).cookies)
        if not forgetting.OWNERS.may_have(path, browser):  # wherever the address comes from
            return PlainTextResponse("File not found", 404)
    if DRAINING.is_set() and (page or scope["type"] == "websocket"):
        refusal = "This server is being replaced. Reload the page in a moment."
        return PlainTextResponse(refusal, 503, {"Retry-After": "5"})
    return None


def _below_base(path: str) -> str:
    """Return the path without that of the whole server (``server.baseUrlPath``), if it has one."""
    base = str(config.get_option("server.baseUrlPath") or "").strip("/")
    return path.removeprefix(f"/{base}") if base and path.startswith(f"/{base}/") else path


def _is_closed(path: str) -> bool:
    """Return whether a path is an endpoint of streamlit, under any prefix, that no page uses."""
    _, _, endpoint = path.partition(_STREAMLIT)
    return _STREAMLIT in path and endpoint not in _ENDPOINTS and not endpoint.startswith(_UPLOADS)


def _cookie(scope: Scope) -> str | None:
    """Return the cookie to set; None if the browser has one."""
    request = HTTPConnection(scope)
    secure = "https" in (scope.get("scheme"), request.headers.get("x-forwarded-proto"))
    if token_in(request.cookies, secure) is not None:
        return None
    token = fresh(request.headers.get(PROPOSED))
    name, more = (SECURE_COOKIE, "; Secure") if secure else (COOKIE, "")
    return f"{name}={token}; Path=/; HttpOnly; SameSite=Strict{more}"


def _is_page(scope: Scope, path: str) -> bool:
    """Return whether this request is for the document of a page, not for one of its parts."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or path.startswith(_NOT_PAGES):
        return False
    return "." not in path.rsplit("/", 1)[-1]


async def _answer(answer: Response, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await answer(scope, receive, send)
    else:
        await WebSocket(scope, receive, send).send_denial_response(answer)


ROUTES = [
    Route("/readyz", readyz),
    Route("/page.js", page_script),
    Route("/{base:path}/page.js", page_script),  # streamlit mounts no route below its own path
]
MIDDLEWARE = [
    Middleware(OriginMiddleware, hosts=environment.hosts()),
    Middleware(VisitorMiddleware),
]

"""Attacks by pages of other sites: many at once on a real server, and every name and origin on the middleware."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers
from streamlit import net_util
from streamlit.web.server.starlette import starlette_websocket

from pages._ui import environment
from pages._ui.environment import Host
from pages._ui.serve import http
from pages._ui.serve.http import OriginMiddleware
from tests.deploy.asgi import answered

pytestmark = pytest.mark.full


@pytest.fixture(autouse=True)
def nobody_outside(monkeypatch):
    for name in ("get_internal_ip", "get_external_ip"):
        monkeypatch.setattr(net_util, name, lambda: pytest.fail("a host outside was asked"))


def asked(host, origin=None, hosts=None, here=False, kind="http"):
    """Whether a request comes through; where it does, streamlit finds host and origin the same, too."""
    headers = [(b"host", host.encode())] if host else []
    headers += [] if origin is None else [(b"origin", origin.encode())]
    passed = []

    async def app(scope, *_):
        seen = Headers(scope=scope)
        assert origin is None or starlette_websocket._is_origin_allowed(seen.get("origin"), seen.get("host"))
        passed.append(True)

    named = None if hosts is None else [Host.read(name) for name in hosts]
    with pytest.MonkeyPatch.context() as told:
        told.setattr(http, "listens_here", lambda: here)
        sent = answered(OriginMiddleware(app, named), "/", headers, kind)
    if not passed:
        assert sent[0]["status"] == 403
        assert b"evil" not in b"".join(message.get("body", b"") for message in sent)
    return bool(passed)


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    ("host", "origin", "passes"),
    [
        ("example.org", None, True),
        ("example.org", "https://example.org", True),
        ("example.org", "https://example.org:443", True),
        ("example.org:80", "http://EXAMPLE.org", True),
        ("example.org:8501", "http://example.org:8501", True),
        ("[::1]:8501", "http://[::1]:8501", True),
        ("example.org:8501", "http://example.org:8502", False),
        ("example.org", "http://example.org:8501", False),
        ("example.org", "https://example.org:80", False),
        ("example.org", "http://sub.example.org", False),
        ("example.org", "http://example.org.evil.example", False),
        ("example.org", "http://example.org@evil.example", False),
        ("example.org", "http://evil.example/example.org", False),
        ("example.org", "https://example.org/", False),
        ("example.org", "file://example.org", False),
        ("example.org", "null", False),
        ("example.org", "", False),
        ("localhost:8501", "http://127.0.0.1:8501", False),
        ("", None, False),
        ("evil example", None, False),
        ("example.org:8501:1", None, False),
    ],
)
def test_origin_and_host_must_be_the_same(host, origin, passes, kind):
    assert asked(host, origin, kind=kind) == passes


@pytest.mark.parametrize(
    ("host", "hosts", "here", "passes"),
    [
        ("example.org", None, False, True),
        ("example.org", None, True, False),
        ("localhost:8501", None, True, True),
        ("127.0.0.1", None, True, True),
        ("localhost.evil.example", None, True, False),
        ("127.0.0.1.evil.example", None, True, False),
        ("example.org:8501", ["example.org"], False, True),
        ("example.org", ["Example.org."], True, True),
        ("example.org:8502", ["example.org:8501"], False, False),
        ("evil.example", ["example.org"], False, False),
        ("127.0.0.1:8501", ["example.org"], False, True),  # who looks after the server asks it by this name
    ],
)
def test_only_names_of_this_server_are_answered(host, hosts, here, passes):
    assert asked(host, hosts=hosts, here=here) == passes


@pytest.mark.parametrize(
    "headers",
    [
        [(b"host", b"example.org"), (b"host", b"evil.example")],
        [(b"host", b"example.org"), *[(b"origin", b"http://example.org")] * 2],
    ],
)
def test_two_headers_are_none(headers):
    assert OriginMiddleware(None, [Host("example.org", None)]).problem({"type": "http", "headers": headers})


def test_the_origin_is_checked_before_everything(monkeypatch):
    assert http.MIDDLEWARE[0].cls is OriginMiddleware
    monkeypatch.setenv("DPGP_HOSTS", "example.org, www.example.org:443")
    assert environment.hosts() == (Host("example.org", None), Host("www.example.org", 443))
    monkeypatch.setenv("DPGP_HOSTS", " ")
    assert environment.hosts() is None

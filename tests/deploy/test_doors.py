"""One table of doors, asked on every way in: at a server itself, under a path, through nginx.

Each way has one server, or one cluster, for all questions. The servers themselves have a resolver that never answers:
who asks for a name outside stands still, and the name is noted.
"""

from __future__ import annotations

import re
from http.cookies import SimpleCookie
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from pages._ui.serve.http import HEADERS
from tests.deploy.conftest import Asked, Deaf, handshake

pytestmark = pytest.mark.full

OURS, NGINX = b"Not found", b"nginx"  # who says so: neither asks streamlit, nginx not even a replica


class Door(NamedTuple):
    """What is asked, and who turns it away where nginx stands before."""

    path: str
    through_nginx: bytes = OURS


CLOSED = (
    Door("/_stcore/metrics", NGINX),
    Door("/_stcore/metrics/", NGINX),
    Door("//_stcore/metrics", NGINX),
    Door("/_stcore/%6detrics", NGINX),
    Door("/_stcore/x/../metrics", NGINX),
    Door("/_stcore/script-health-check", NGINX),
    Door("/_stcore/agent/interact", NGINX),
    Door("/_stcore/agent/openapi.json", NGINX),
    Door("/_stcore/agent/mcp", NGINX),
    Door("/_stcore/"),
    Door("/_stcore/new-in-another-version"),
    Door("/under/a/prefix/_stcore/metrics"),
    Door("/_stcore/health/_stcore/metrics"),
)
OPEN = (
    ("/", "text/html", b"<script"),
    ("/kung_curves", "text/html", b"<script"),
    ("/page.js", "text/javascript", b"window.pageScript"),
    ("/_stcore/health", "text/plain", b"ok"),
    ("/_stcore/host-config", "application/json", b"allowedOrigins"),
)
BY_NGINX = {
    "X-Content-Type-Options": ["nosniff"],
    "Referrer-Policy": ["same-origin"],
    "X-Frame-Options": ["DENY"],
    "Cross-Origin-Opener-Policy": ["same-origin"],
    "Server": ["nginx"],
    "Strict-Transport-Security": None,
}


@pytest.fixture(scope="module", params=["deaf", "deaf_under_a_path", "gate"])
def way(request) -> Asked:
    return request.getfixturevalue(request.param)


def is_nginx(way):
    return not isinstance(way, Deaf)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("door", CLOSED, ids=lambda door: door.path)
def test_internal_endpoints_are_closed_on_every_way(way, door, method):
    answer = way.ask(door.path, b"x" if method == "POST" else None, method)
    assert answer.status == 404
    assert (door.through_nginx if is_nginx(way) else OURS) in answer.body


@pytest.mark.parametrize("door", CLOSED, ids=lambda door: door.path)
def test_nor_does_it_open_for_a_connection(way, door):
    assert handshake(way.address, way.address_of_pages, door=door.path) == 404


@pytest.mark.parametrize(("path", "kind", "part"), OPEN)
def test_what_pages_ask_for_is_there(way, path, kind, part):
    answer = way.ask(path)
    assert (answer.status, answer.headers.get_content_type()) == (200, kind)
    assert part in answer.body


def test_readiness_is_reported_only_to_the_operator(way):
    if is_nginx(way):
        assert way.ask("/readyz").status == 404
    else:
        assert b'"ready":' in Deaf(way.address_of_pages, way.noted).ask("/readyz").body  # at the root, as documented


def test_every_answer_has_its_headers_once(way):
    paths = ["/", "/kung_curves", way.script(), "/_stcore/health"]
    for path in [*paths, "/_stcore/metrics"] if is_nginx(way) else paths:
        headers = way.ask(path).headers
        wanted = BY_NGINX if is_nginx(way) else {name: [value] for name, value in HEADERS.items()}
        assert {name: headers.get_all(name) for name in wanted} == wanted
        [policy] = headers.get_all("Content-Security-Policy")
        assert "frame-ancestors 'none'" in policy  # nobody shows a page inside another
        if is_nginx(way):
            assert "default-src 'none'" in policy
            assert "'unsafe-inline'" not in re.search(r"script-src [^;]*", policy)[0]
            assert "'unsafe-eval'" not in policy
            assert "geolocation=()" in headers["Permissions-Policy"]


def test_behind_https_the_cookie_stays_secure(way):
    answer = way.ask("/", x_forwarded_proto="https")
    cookie = SimpleCookie(answer.headers["Set-Cookie"])["__Host-dpgp_session"]
    assert cookie["secure"]
    kept = way.ask("/", x_forwarded_proto="https", cookie=f"other=1; __Host-dpgp_session={cookie.value}")
    assert kept.headers["Set-Cookie"] is None
    tossed = way.ask("/", x_forwarded_proto="https", cookie=f"dpgp_session={'t' * 32}")
    assert "t" * 32 not in tossed.headers["Set-Cookie"]
    assert ("max-age=" in (answer.headers["Strict-Transport-Security"] or "")) == is_nginx(way)


def test_only_the_proxy_may_propose_a_token(way):
    said = way.ask("/", x_visitor="x" * 32).headers["Set-Cookie"]
    assert (SimpleCookie(said)["dpgp_session"].value == "x" * 32) == (not is_nginx(way))


def test_a_foreign_page_is_refused_without_delay(way):
    port = urlsplit(way.address).port
    foreign = ["http://evil.example", f"http://evil.example:{port}", "null"]
    foreign += [f"http://127.0.0.1:{port + 1}", "http://127.0.0.1"]
    assert [handshake(way.address, origin) for origin in foreign] == [403] * len(foreign)
    assert way.ask("/_stcore/health").status == 200
    assert handshake(way.address, way.address_of_pages) == 101
    assert is_nginx(way) or not way.noted.exists()  # no name was looked up, nobody outside was connected to


def test_a_rebound_host_name_is_refused(way):
    name = f"evil.example:{urlsplit(way.address).port}"
    assert handshake(way.address, f"http://{name}", name) == 403
    answer = way.ask("/", host=name)
    assert answer.status == 403
    assert b"DPGP_HOSTS" in answer.body
    assert is_nginx(way) or not way.noted.exists()

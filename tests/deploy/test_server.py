import json
import os
import signal
import threading
from concurrent.futures import Future
from http.cookies import SimpleCookie
from typing import NamedTuple

import pytest
from starlette.applications import Starlette
from starlette.formparsers import MultiPartParser
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.types import ASGIApp
from streamlit import config
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from dpgp_core import __version__
from pages._ui.serve import forgetting, http
from pages._ui.serve.forgetting import Owners
from pages._ui.serve.startup import CHECKS, Probe, Readiness
from pages._ui.visitor import well_formed
from tests.deploy.asgi import answered
from tests.waiting import PATIENCE

pytestmark = pytest.mark.full

TOKEN = "t" * 32
PARTS = ("/static/x.js", "/_stcore/health", "/media/x", "/component/x", "/favicon.png")  # of a page


class Front(NamedTuple):
    """An application, and the path that all of it stands under."""

    app: ASGIApp
    base: str


@pytest.fixture(params=["", "/dpgp"], ids=["at the root", "under a path"])
def app(request, monkeypatch):
    known = config.get_option
    named = {"server.baseUrlPath": request.param.strip("/")}
    monkeypatch.setattr(config, "get_option", lambda name: named[name] if name in named else known(name))

    async def page(request):
        return HTMLResponse("page", 304 if "if-none-match" in request.headers else 200)

    async def part(_request):
        return PlainTextResponse("part", headers={"Referrer-Policy": "no-referrer"})

    async def stream(websocket):
        await websocket.accept()
        await websocket.close()

    routes = [Route(path, page) for path in ("/", "/kung_curves")] + [Route(path, part) for path in PARTS]
    routes += [*http.ROUTES, WebSocketRoute("/_stcore/stream", stream)]
    below = [Mount(request.param, routes=routes)] if request.param else routes
    return Front(http.VisitorMiddleware(Starlette(routes=below)), request.param)


@pytest.fixture
def draining():
    http.DRAINING.set()
    yield
    http.DRAINING.clear()


def ask(app, path, kind="http", method="GET", scheme="http", **headers):
    """(status, headers, body) of one request; a WebSocket that is accepted has status 101."""
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    sent = answered(app.app, app.base + path, named, kind, method=method, scheme=scheme)
    if sent[0]["type"] == "websocket.accept":
        return 101, {}, b""
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:])


@pytest.mark.parametrize("path", ["/", "/kung_curves"])
def test_a_cookie_is_inaccessible_to_scripts_and_sites(app, path):
    _, headers, _ = ask(app, path)
    cookie = SimpleCookie(headers["set-cookie"])["dpgp_session"]
    assert well_formed(cookie.value)
    assert len(cookie.value) >= 22
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["secure"]) == (True, "Strict", "/", "")
    assert cookie["max-age"] == cookie["expires"] == ""


@pytest.mark.parametrize(
    ("path", "asked", "brought"),
    [
        ("/", {"if_none_match": "x"}, True),  # a page that the browser has already
        ("/", {"cookie": "dpgp_session=short"}, True),
        ("/", {"cookie": f"other=1; dpgp_session={TOKEN}"}, False),
        ("/", {"cookie": f"dpgp_session={TOKEN}", "x_visitor": "p" * 32}, False),
        ("/", {"method": "POST"}, False),
        *((path, {}, False) for path in (*PARTS, "/readyz", "/nowhere")),
    ],
)
def test_a_page_sets_a_cookie_if_none_exists(app, path, asked, brought):
    assert ("set-cookie" in ask(app, path, **asked)[1]) == brought


def test_what_was_downloaded_stays_in_no_cache(app):
    assert ask(app, "/media/x")[1]["cache-control"] == "no-store"
    assert "cache-control" not in ask(app, "/static/x.js")[1]


def test_a_download_is_restricted_to_its_browser(app, monkeypatch):
    owners = Owners()
    monkeypatch.setattr("pages._ui.serve.forgetting.OWNERS", owners)
    another = f"dpgp_session={'u' * 32}"
    owners.note("x", {TOKEN})
    assert ask(app, "/media/x", cookie=f"dpgp_session={TOKEN}")[0] == 200
    assert [ask(app, "/media/x", **cookie)[0] for cookie in ({}, {"cookie": another})] == [404, 404]
    assert ask(app, "/media/x", cookie=f"__Host-dpgp_session={TOKEN}")[0] == 200
    owners.note("x", {"u" * 32})
    assert ask(app, "/media/x", cookie=another)[0] == 200
    owners.note("x", {None})  # the page of a browser that has no cookies
    assert ask(app, "/media/x")[0] == 200
    owners.forget("x")
    owners.note("x", set())  # its browser had gone
    assert ask(app, "/media/x", cookie=another)[0] == 404


def test_streamlit_notes_whose_page_offers_a_download(monkeypatch):
    for name in ("load_and_get_id", "delete_file"):
        monkeypatch.setattr(MemoryMediaFileStorage, name, getattr(MemoryMediaFileStorage, name))  # put back at the end
    monkeypatch.setattr(forgetting, "_asking", lambda: {TOKEN})
    owners, storage = Owners(), MemoryMediaFileStorage("/media")
    monkeypatch.setattr(forgetting, "OWNERS", owners)
    forgetting.bind_to_browsers()
    made = storage.load_and_get_id(b"zip", "application/zip", MediaFileKind.DOWNLOADABLE, "release.zip")
    icon = storage.load_and_get_id(b"png", "image/png", MediaFileKind.MEDIA)
    assert owners.may_have(storage.get_url(made), TOKEN)
    assert not owners.may_have(storage.get_url(made), "u" * 32)
    assert owners.may_have(storage.get_url(icon), None)
    storage.delete_file(made)
    assert owners.may_have(f"/media/{made}.zip", None)  # which answers that there is no such file


def test_uploads_and_crashes_write_no_file(monkeypatch):
    limits = []
    monkeypatch.setattr(forgetting.resource, "setrlimit", lambda *limit: limits.append(limit))
    monkeypatch.setattr(MultiPartParser, "spool_max_size", 0)
    forgetting.keep_off_the_disk()
    assert limits == [(forgetting.resource.RLIMIT_CORE, (0, 0))]
    assert MultiPartParser.spool_max_size > config.get_option("server.maxUploadSize") * 2**20


def test_readyz_reports_readiness_and_version(app, monkeypatch):
    monkeypatch.setattr(http, "READINESS", Readiness())
    status, headers, body = ask(app, "/readyz")
    assert status == 200
    assert json.loads(body) == {"ready": True, "version": __version__}
    assert headers["cache-control"] == "no-store"


def test_readyz_says_why_not_without_telling_secrets(app, monkeypatch):
    def broken():
        raise FileNotFoundError("/home/someone/secret.csv")

    monkeypatch.setattr(http, "READINESS", Readiness([("a dataset cannot be loaded", broken)]))
    status, _, body = ask(app, "/readyz")
    assert status == 503
    assert json.loads(body)["reason"] == "a dataset cannot be loaded (FileNotFoundError)"
    assert b"secret" not in body


def test_without_processes_it_is_not_ready(app):
    status, _, body = ask(app, "/readyz")
    assert status == 503
    assert json.loads(body)["reason"] == "a process cannot compute (RuntimeError)"


def test_probe_answers_expire_and_waiting_probes_time_out(monkeypatch):
    monkeypatch.setattr(Probe, "ANSWER_SECONDS", 0.0)
    asked, now = list[Future](), [0.0]

    def pool(_):
        asked.append(Future())
        return asked[-1]

    monkeypatch.setattr("pages._ui.serve.startup.time.monotonic", lambda: now[0])
    probe = Probe(pool)
    assert probe.problem() == "no process has computed anything yet"
    assert len(asked) == 1
    asked[0].set_result(None)
    assert probe.problem() is None
    now[0] = 20.0
    assert probe.problem() is None  # the next question waits behind the work of others
    assert len(asked) == 2
    now[0] = 400.0
    assert probe.problem() == "the processes compute nothing"
    assert len(asked) == 2  # questions do not pile up
    asked[1].set_exception(MemoryError())
    assert probe.problem() == "a process cannot compute (MemoryError)"
    assert probe.problem() is None  # asked again, and within its time
    asked[2].set_result(None)
    assert probe.problem() is None


def missing():
    raise FileNotFoundError


@pytest.mark.parametrize(
    ("check", "broken", "by", "error"),
    [
        (
            "the numeric core computes a wrong release",
            "dpgp_core.mechanisms.gaussian.noise_multiplier",
            lambda *_, **__: 1.0,
            ArithmeticError,
        ),
        ("a dataset cannot be loaded", "datasets.kung.load", missing, FileNotFoundError),
        ("the pages cannot be imported", "pages._ui.serve.startup.PAGES", None, SyntaxError),
    ],
)
def test_the_checks_notice_what_is_broken(monkeypatch, tmp_path, check, broken, by, error):
    (tmp_path / "page.py").write_text("def (")
    dict(CHECKS)[check]()
    monkeypatch.setattr(broken, by or tmp_path)
    with pytest.raises(error):
        dict(CHECKS)[check]()


def test_a_server_that_takes_no_files_refuses_them(app, monkeypatch):
    path = "/_stcore/upload_file/session/file"
    assert ask(app, path, method="PUT")[0] == 404  # let through: there is no such session
    monkeypatch.setenv("DPGP_UPLOADS", "0")
    status, _, body = ask(app, path, method="PUT")
    assert (status, body) == (403, b"This server takes no files.")


def test_draining_refuses_new_visitors_only(app, request):
    assert ask(app, "/_stcore/stream", kind="websocket")[0] == 101
    request.getfixturevalue("draining")
    for path in ("/", "/kung_curves"):
        status, headers, _ = ask(app, path)
        assert status == 503
        assert "set-cookie" not in headers
    assert ask(app, "/_stcore/stream", kind="websocket")[0] == 503
    assert ask(app, "/static/x.js")[0] == 200
    assert ask(app, "/_stcore/health")[0] == 200
    status, _, body = ask(app, "/readyz")
    assert (status, json.loads(body)["reason"]) == (503, "draining")


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="no such signal here")
def test_the_signal_starts_draining():
    before = signal.getsignal(signal.SIGUSR1)
    try:
        thread = threading.Thread(target=http.drain_on_signal)  # not the main thread: nothing happens
        thread.start()
        thread.join()
        assert signal.getsignal(signal.SIGUSR1) == before
        http.drain_on_signal()
        os.kill(os.getpid(), signal.SIGUSR1)
        assert http.DRAINING.wait(PATIENCE)
    finally:
        signal.signal(signal.SIGUSR1, before)
        http.DRAINING.clear()

"""Real nginx before real replicas: what it lets through, what it adds, where it sends whom."""

import contextlib
import gzip
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from urllib.parse import urlsplit

import pytest

from tests.e2e import browser as tool
from tests.e2e.conftest import Visit
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.full

MB = 1024 * 1024


def test_scripts_styles_and_pages_are_compressed(gate):
    style = re.search(rb'href="\.(/static/css/[^"]+\.css)"', gate.ask("/").body)[1].decode()
    for path in ("/", gate.script(), style):
        plain, packed = gate.ask(path), gate.ask(path, accept_encoding="gzip")
        assert packed.headers["Content-Encoding"] == "gzip"
        assert "Accept-Encoding" in packed.headers["Vary"]
        assert gzip.decompress(packed.body) == plain.body
        assert len(packed.body) < 0.5 * len(plain.body)


def test_uploads_end_a_little_above_streamlits_own_limit(gate):
    path = "/_stcore/upload_file/session/file"
    assert gate.ask(path, bytes(5 * MB + 64 * 1024 + 1), "PUT").status == 413
    assert gate.ask(path, bytes(5 * MB + 1024), "PUT").status in (400, 403)  # refused by Streamlit: no such session


def test_an_address_may_send_two_files_at_once(gate):
    parts, path = urlsplit(gate.address), "/_stcore/upload_file/s/f"
    head = f"PUT {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n"
    with contextlib.ExitStack() as stack:

        def begun() -> bool:
            connection = stack.enter_context(socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE))
            connection.sendall(head.encode())
            return connection.recv(1000).startswith(b"HTTP/1.1 100 ")  # let in and counted; never whole

        for _ in range(2):
            wait_until(begun, "a file to be let in, which one of another test may still stand in the way of")
        assert gate.ask(path, b"x", "PUT").status == 429
        assert gate.ask("/_stcore/health").status == 200
    through = 400, 403  # as far as Streamlit, which refuses: there is no such session
    wait_until(lambda: gate.ask(path, b"x", "PUT").status in through, "files to be let through again")


def test_a_cookie_always_leads_to_the_same_replica(gate):
    assert len({gate.replica_of("v" * 32) for _ in range(20)}) == 1
    ports = [gate.replica_of(f"{number:032d}") for number in range(40)]  # all on one: 2 in 2^40
    assert set(ports) == {replica.port for replica in gate.cluster.replicas}


def test_the_first_request_reaches_the_cookies_replica(gate):
    for number in range(10):  # by chance: 1 in 2^10, and then with both replicas alike
        answer = gate.ask(f"/first{number}")
        cookie = SimpleCookie(answer.headers["Set-Cookie"])["dpgp_session"]
        assert gate.who_answered(f"/first{number}") == gate.replica_of(cookie.value)


def test_the_log_has_no_arguments_or_session_numbers(gate):
    """Only this test asks for these, so that its own lines are waited for: each of nginx's processes writes its own."""
    gate.ask("/attack?epsilon=0.123&secret=hush")
    gate.ask("/_stcore/upload_file/some-session/some-file", b"", "DELETE")
    gate.ask("/media/some-file.csv")
    gate.ask("/Strange%0Aline/hidden", origin="http://strange.example")
    gate.replica_of("w" * 32)
    for line in (" GET /attack 200 ", " DELETE /_stcore/upload_file/ ", " GET /media/ ", " GET /other 403 "):
        assert gate.logged(line)
    log = gate.log()
    for word in ("Strange", "strange", "hidden", "0.123", "hush", "some-session", "some-file", "wwww"):
        assert word not in log
    assert "hush" not in (gate.cluster.folder / "nginx.log").read_text()


@pytest.mark.parametrize("path", ["kung_curves", "london_noise_map"])
def test_pages_work_under_the_content_security_policy(gate, chromium, path):
    visit = Visit(tool.new_context(chromium, (1440, 900)).new_page(), gate.address, path, ("error", "warning"))
    visit.page.add_init_script(
        "window.violations = []; document.addEventListener('securitypolicyviolation',"
        "event => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`))"
    )
    page = visit.open(path)
    assert page.locator("#deckgl-overlay" if "map" in path else ".js-plotly-plot .main-svg").count() > 0
    if path == "kung_curves":  # a picture is drawn from a blob
        page.get_by_role("button", name="Picture").first.click()
        tool.settle(page)
        with page.expect_download() as download:
            page.get_by_role("button", name="PNG", exact=True).click()
        assert download.value.suggested_filename.endswith(".png")
    assert page.evaluate("window.violations") == []
    assert visit.errors == []
    page.context.close()


def test_a_flood_is_refused_except_for_static_files(gate):
    """From an address of its own, which is in debt afterwards; until some are turned away, however slow the machine."""
    static, parts = gate.script(), urlsplit(gate.address)

    def status(path: str) -> int:
        connection = HTTPConnection(parts.hostname, parts.port, PATIENCE, source_address=("127.0.0.2", 0))
        with contextlib.closing(connection):
            connection.request("GET", path)
            return connection.getresponse().status

    with ThreadPoolExecutor(8) as pool:
        seen: set[int] = set()

        def turned_away() -> bool:
            seen.update(pool.map(status, ["/"] * 100))
            return 429 in seen

        wait_until(turned_away, "a visitor with too many requests to be turned away")
        assert seen == {200, 429}
        assert set(pool.map(status, [static] * 50)) == {200}
    assert gate.ask("/").status == 200  # nobody else is turned away

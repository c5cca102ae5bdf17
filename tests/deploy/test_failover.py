"""A replica dies or steps down: what a visitor sees, and what the ledger keeps."""

import io
import os
import re
import signal
import time
import zipfile

import pytest

from tests.deploy.conftest import Asked
from tests.e2e import browser as tool
from tests.e2e.actions import move, unfold
from tests.e2e.own_table import download, press, release
from tests.waiting import wait_until

pytestmark = pytest.mark.full

APP = "document.querySelector('[data-testid=stApp]')"
WATCH = f"""() => {{
    window.states = [];
    new MutationObserver(() => window.states.push({APP}.dataset.testConnectionState))
        .observe({APP}, {{attributes: true, attributeFilter: ['data-test-connection-state']}});
}}"""


def visit(gate, chromium, path):
    return tool.opened(tool.new_context(chromium, (1440, 900)), f"{gate.address}/{path}")


def home(gate, page):
    """The replica that a browser is led to."""
    [cookie] = [cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "dpgp_session"]
    return gate.replica(gate.replica_of(cookie))


def text(page):
    return page.locator("[data-testid=stMain]").inner_text()


def pictures_counted(page):
    """How many releases the session has counted: a setting's own and the published one beside it."""
    said = page.get_by_text("separate real releases of the settings seen").all_text_contents()
    return int(re.search(r"(\d+) separate real releases", said[0])[1])


def test_another_replica_continues_if_one_dies(gate_of_three, chromium, record_property):
    gate, page = gate_of_three, visit(gate_of_three, chromium, "kung_curves")
    move(page, "ε")
    unfold(page)
    page.get_by_role("button", name="New noise").click()
    tool.settle(page)
    address, before = page.url, text(page)
    assert address.endswith("/kung_curves?epsilon=0.7&draw=2")
    assert "At epsilon = 0.7" in before
    assert pictures_counted(page) == 6  # two each at epsilon 1; 0.7; 0.7 drawn again
    victim = home(gate, page)

    page.evaluate(WATCH)
    killed = time.monotonic()
    victim.process.kill()
    victim.process.wait()
    page.wait_for_function("() => window.states.length > 0")  # "Connecting" at the top right
    page.wait_for_selector(tool.READY)
    record_property("seconds until connected again", round(time.monotonic() - killed, 2))
    tool.settle(page)
    assert page.evaluate("window.states.at(-1)") == "CONNECTED"
    assert "PINGING_SERVER" in page.evaluate("window.states")
    assert home(gate, page) != victim
    # nothing on the page has changed, nor its address
    assert page.url == address
    assert text(page) == before
    assert page.locator("[data-testid=stException]").count() == 0

    move(page, "ε")  # now the other replica runs the page: from the address
    assert "epsilon=0.5" in page.url
    assert "draw=2" in page.url
    assert "At epsilon = 0.5" in text(page)
    assert page.locator("[data-testid=stException]").count() == 0
    assert pictures_counted(page) == 2  # lost: what only the session knew

    page.goto(address)
    tool.settle(page)
    assert "At epsilon = 0.7" in text(page)
    unfold(page)
    assert page.get_by_role("spinbutton", name="Number of the release").input_value() == "2"
    page.context.close()


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="no such signal here")
def test_a_draining_replica_sends_new_visitors_elsewhere(gate_of_three, chromium):
    gate, page = gate_of_three, visit(gate_of_three, chromium, "kung_curves")
    old = home(gate, page)
    itself = Asked(f"http://127.0.0.1:{old.port}")
    os.kill(old.process.pid, signal.SIGUSR1)
    wait_until(lambda: itself.ask("/readyz").status != 200, "the replica stepping down")
    answer = itself.ask("/readyz")
    assert answer.status == 503
    assert b"draining" in answer.body

    [cookie] = [each["value"] for each in page.context.cookies() if each["name"] == "dpgp_session"]
    gate.ask("/while_draining", cookie=f"dpgp_session={cookie}")
    assert gate.who_answered("/while_draining") != old.port
    move(page, "ε")  # who is there stays there
    assert "At epsilon = 0.7" in text(page)
    assert pictures_counted(page) == 4
    assert old.process.poll() is None
    page.context.close()


# ---- Two replicas keep one ledger: it goes on when one of them dies, and in another browser by its token.


def practise(page, number):
    press(page, "Practise with the !Kung census")
    release(page, number)


def test_the_ledger_survives_another_browser_and_failover(gate, chromium):
    page = visit(gate, chromium, "your_data")
    practise(page, 1)
    assert "release.json" in zipfile.ZipFile(io.BytesIO(download(page))).namelist()
    token = page.locator("[data-testid=stSidebar] [data-testid=stCode]").inner_text().strip()

    others = [visit(gate, chromium, "your_data")]  # until one is led to the other replica
    while home(gate, others[-1]) == home(gate, page):
        others.append(visit(gate, chromium, "your_data"))
    other = others[-1]
    other.get_by_text("Nothing has been released yet.").wait_for()
    press(other, "Continue or begin a ledger")
    field = other.locator(".st-key-own_owner input")
    field.fill(token)
    field.press("Enter")
    tool.settle(other)
    press(other, "Go on with its ledger")
    other.get_by_text("1 released").wait_for()
    practise(other, 2)

    victim = home(gate, page)
    victim.process.kill()
    victim.process.wait()
    page.reload()
    tool.settle(page)
    assert home(gate, page) != victim
    page.get_by_text("2 released").wait_for()  # also the one that the other browser made
    assert page.get_by_text("In memory: practice.csv").count() == 0  # it went with the replica, and is on no disk
    practise(page, 3)
    assert page.locator("[data-testid=stException]").count() == 0
    for each in (page, *others):
        each.context.close()

"""Two replicas keep one ledger: it goes on when one of them dies, and in another browser by its token."""

import io
import re
import zipfile
from pathlib import Path

import pytest

from tests.e2e import browser as tool

pytestmark = pytest.mark.full


def press(page, label):
    page.get_by_role("button", name=re.compile(label)).click()
    tool.settle(page)


def visit(gate, chromium):
    context = tool.new_context(chromium, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(f"{gate.address}/your_data")
    tool.settle(page)
    return context, page


def home(gate, context):
    """The replica that this browser is led to."""
    [cookie] = [cookie["value"] for cookie in context.cookies() if cookie["name"] == "dpgp_session"]
    return gate.replica_of(cookie)


def release(page, number):
    press(page, "Practise with the !Kung census")
    press(page, f"Make release {number}")
    page.get_by_text(re.compile("These values may be published|It protects as promised")).wait_for()


def test_the_ledger_goes_on_in_another_browser_and_when_a_replica_dies(gate, chromium):
    context, page = visit(gate, chromium)
    release(page, 1)
    with page.expect_download() as found:
        page.get_by_role("button", name=re.compile("Download release 1")).click()
    assert "release.json" in zipfile.ZipFile(io.BytesIO(Path(found.value.path()).read_bytes())).namelist()
    token = page.locator("[data-testid=stSidebar] [data-testid=stCode]").inner_text().strip()

    others = [visit(gate, chromium)]  # until one is led to the other replica
    while home(gate, others[-1][0]) == home(gate, context):
        others.append(visit(gate, chromium))
    other = others[-1][1]
    other.get_by_text("Nothing has been released yet.").wait_for()
    press(other, "Continue or begin a ledger")
    field = other.locator(".st-key-own_owner input")
    field.fill(token)
    field.press("Enter")
    tool.settle(other)
    press(other, "Go on with its ledger")
    other.get_by_text("1 released").wait_for()
    release(other, 2)

    victim = gate.replica(home(gate, context))
    victim.process.kill()
    victim.process.wait()
    page.reload()
    tool.settle(page)
    assert home(gate, context) != victim.port
    page.get_by_text("2 released").wait_for()  # also the one that the other browser made
    assert page.get_by_text("In memory: practice.csv").count() == 0  # it went with the replica, and is on no disk
    release(page, 3)
    assert page.locator("[data-testid=stException]").count() == 0
    for each, _ in [(context, page), *others]:
        each.close()

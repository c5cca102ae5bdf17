"""A replica dies between two releases of an own table: nothing released is lost, and the ledger's state is said."""

import io
import re
import zipfile
from pathlib import Path

from tests.e2e import browser as tool


def press(page, label):
    page.get_by_role("button", name=re.compile(label)).click()
    tool.settle(page)


def test_what_was_released_stays_and_the_ledger_goes_on_from_its_card(gate, chromium):
    context = tool.new_context(chromium, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(f"{gate.address}/your_data")
    tool.settle(page)
    press(page, "Practise with the !Kung census")
    press(page, "Make release 1")
    page.get_by_text("These values may be published.").wait_for()
    with page.expect_download() as found:
        page.get_by_role("button", name=re.compile("Download release 1")).click()
    released = Path(found.value.path()).read_bytes()
    card = zipfile.ZipFile(io.BytesIO(released)).read("release.json")
    [cookie] = [cookie["value"] for cookie in context.cookies() if cookie["name"] == "dpgp_session"]
    victim = gate.replica(gate.replica_of(cookie))
    victim.process.kill()
    victim.process.wait()

    page.reload()
    tool.settle(page)
    assert gate.replica_of(cookie) != victim.port
    page.get_by_text("This server knows nothing of what this browser released before").wait_for()
    assert (
        page.get_by_text("In memory: practice.csv").count() == 0
    )  # the table is gone with the replica, and is not on any disk
    assert page.locator("[data-testid=stException]").count() == 0

    press(page, "Continue or begin a ledger")
    page.locator(".st-key-own_card input[type=file]").set_input_files(
        {"name": "release.json", "mimeType": "application/json", "buffer": card}
    )
    press(page, "Continue its ledger")
    page.get_by_text("1 released").wait_for()
    assert page.get_by_text("This server knows nothing").count() == 0
    context.close()

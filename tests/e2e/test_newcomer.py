"""What somebody new does and reads: a terminal, the start page, a published zip."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import zipfile

import pytest

from dpgp_core.release.check import check_folder
from tests.e2e import browser as tool
from tests.e2e import newcomer
from tests.e2e.own_table import download, release


@pytest.mark.parametrize("goal", ["app", "test"])
def test_the_first_command_announces_its_duration(tmp_path, goal):
    command = ["make", "--dry-run", goal, f"VENV={tmp_path / 'none'}"]
    lines = subprocess.run(command, cwd=tool.ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    [said] = [at for at, line in enumerate(lines) if line.startswith('echo "Installing the dashboard')]
    assert newcomer.INSTALLING.fullmatch(lines[said].split('"')[1])
    assert "pip install" in lines[said + 1]


# ---- As somebody new would: from the start page, through the navigation, to a published zip that others can read.


@pytest.mark.full
def test_from_the_start_page_to_a_published_zip(visit, chromium, tmp_path):
    page = visit.open("")
    page.get_by_test_id("stTopNavSection").filter(has_text="Publish").click()
    page.get_by_test_id("stTopNavDropdownLink").filter(has_text="Your data & release").click()
    tool.settle(page)
    page.get_by_role("button", name="Practise with the !Kung census").click()
    tool.settle(page)
    tolerance = page.locator(".st-key-tolerance input")
    tolerance.fill("8")
    tolerance.press("Enter")
    tool.settle(page)
    assert "tolerance=8" in page.url
    release(page, 1, said="At \\d+ of 46 points the curve is not known to within ± 8 cm")
    archive = zipfile.ZipFile(io.BytesIO(download(page)))
    archive.extractall(tmp_path)
    card = json.loads(archive.read("release.json"))
    rows = list(csv.DictReader(io.StringIO(archive.read("values.csv").decode())))
    within = [float(row["curve_high_95"]) - float(row["curve_low_95"]) <= 16 + 1e-6 for row in rows]
    assert [row["within_tolerance"] == "1" for row in rows] == within
    assert card["values"]["within_tolerance"] == sum(within)
    assert page.get_by_text(re.compile(f"At {46 - sum(within)} of 46 points")).count() == 1
    assert check_folder(tmp_path).startswith("The files are those that release.json describes")
    assert visit.errors == []
    assert visit.external == []
    context = tool.new_context(chromium)
    paper = context.new_page()
    paper.set_content(archive.read("card.html").decode())
    assert "one person's height" in paper.inner_text("body")
    assert paper.locator("svg polygon").count() == 1
    printed = paper.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    context.close()

from __future__ import annotations

import pytest

from benchmarks.server import first_visit
from tests.e2e import browser as tool


@pytest.mark.skipif(tool.CHROMIUM is None, reason="NO BROWSER: chromium is not installed, so no first visit was made")
def test_a_page_has_its_row_and_its_moments_come_in_their_order(capsys):
    first_visit.main(["--pages", "attack", "--age", "0", "--settings", "DPGP_WARM=0"])
    *_, header, _, row = (line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines())
    assert header[1:4] == [f"first: {moment}" for moment in first_visit.MOMENTS]
    page, *seconds = row
    assert page == "attack"
    found = [float(each.removesuffix(" s")) for each in seconds]
    for heading, number, idle in (found[:3], found[3:]):
        assert 0 < heading <= idle
        assert 0 < number <= idle

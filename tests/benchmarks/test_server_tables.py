"""Tables of the server: first visits, load."""

from __future__ import annotations

import asyncio
import contextlib
import math

import numpy as np
import pytest

from benchmarks.server import first_visit, load
from benchmarks.server import table as load_table
from benchmarks.server.client import Session
from benchmarks.server.report import quantile, resident_megabytes
from benchmarks.server.table import growth
from benchmarks.server.walk import State, Walk
from benchmarks.shared.table import show
from tests.e2e import browser as tool


@pytest.mark.skipif(tool.CHROMIUM is None, reason="NO BROWSER: chromium is not installed, so no first visit was made")
def test_a_page_has_a_row_with_ordered_times(capsys):
    first_visit.main(["--pages", "attack", "--age", "0", "--settings", "DPGP_WARM=0"])
    *_, header, _, row = (line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines())
    assert header[1:6] == [f"first: {moment}" for moment in first_visit.MEASURED]
    page, *seconds = row
    assert page == "attack"
    found = [float(each.removesuffix(" s")) for each in seconds]
    for heading, number, seen, idle, browser in (found[:5], found[5:]):
        assert 0 < heading <= seen <= idle
        assert 0 < number <= seen
        assert browser > 0


@pytest.fixture(scope="module")
def server():
    with load.own_server() as (address, pid):
        yield address, pid


def test_a_session_moves_only_existing_sliders(server):
    async def answers():
        async with Session(server[0], "kung_curves") as tab:
            found = [await tab.open(), await tab.move(epsilon=0.5), await tab.move(epsilon=2, lengthscale_years=15)]
            with pytest.raises(KeyError):
                await tab.move(volume=11)
            return found

    for answer, epsilon in zip(asyncio.run(answers()), ("1", "0.5", "2"), strict=True):
        assert f"At epsilon = {epsilon} " in answer.text
        assert answer.exceptions == []
        assert answer.size > 10_000


def test_memory_of_the_server_is_seen(server):
    assert resident_megabytes(server[1]) > 50
    assert math.isnan(resident_megabytes(2**30))


def test_an_absent_server_is_an_error(capsys):
    given = ["--sessions", "1", "--seconds", "1", "--think", "0.1", "--idle", "0", "--address", "http://127.0.0.1:9"]
    opened, *others = load.main(given)
    assert opened.errors
    assert not any(phase.seconds for phase in (opened, *others))


@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, 2.0), (0.95, 4.0), (1.0, 4.0), (0.25, 1.0), (0.26, 2.0), (0.01, 1.0)]
)
def test_a_quantile_is_an_order_statistic(share, expected):
    assert quantile([3.0, 1.0, 4.0, 2.0], share) == expected


def test_a_short_walk_ends_with_its_table(server, capsys):
    phases = load.main(["--sessions", "1", "--seconds", "4", "--think", "0", "--idle", "0", "--address", server[0]])
    assert [phase.errors for phase in phases] == [[]] * 4
    assert phases[0].seconds
    assert len(phases[3].seconds) == sum(len(phase.seconds) for phase in phases[:3])
    assert "answered, look again, errors" in capsys.readouterr().out


def test_a_session_uploads_a_table_and_leaves(server):
    async def answers():
        async with Session(server[0], "your_data") as tab:
            await tab.open()
            given = await tab.upload("mine.csv", b"age,height\n1,2\n3,4\n")
            await tab.leave()
        async with Session(server[0], "your_data") as tab:
            return given, await tab.open()

    given, after = asyncio.run(answers())
    assert given.exceptions == after.exceptions == []
    assert "2. Declare" not in after.text
    assert 0 < given.first <= given.seconds


def test_growth_is_a_slope_with_its_error():
    rng = np.random.default_rng(1)
    t = np.linspace(0, 3600, 200)
    noisy = 300 + 7 * t / 3600 + rng.normal(0, 2, 200) - 500 * (t < 300)
    slope, error = growth(list(zip(t, noisy, strict=True)))
    assert abs(slope - 7) < 5 * error
    assert 0.1 < error < 3
    assert growth(list(zip(t, 5 * t / 3600, strict=True))) == (pytest.approx(5), pytest.approx(0, abs=1e-6))
    assert math.isnan(growth([])[0])
    assert math.isnan(growth([(0.0, 1.0)] * 30)[1])


def test_the_table_compares_every_target_with_walks(monkeypatch, capsys):
    served, loads = [], []

    @contextlib.contextmanager
    def serve(settings):
        served.append(settings)
        yield "http://127.0.0.1:9", 1

    async def walk(load, pid, idle):
        loads.append((load.sessions, load.seconds, idle))
        found = Walk(states=[State(300.0, 20), State(900.0, 200), State(700.0, 40)])
        found.opened.seconds, found.first.seconds = [0.1, 0.2, 15.0], [0.1, 0.1, 2.0]
        found.moved.errors, found.postponed = ["TimeoutError()"], 1
        found.memory = [(float(t), 300 + 36 * t / 3600) for t in range(200)]
        return found

    monkeypatch.setattr(load_table, "walked", walk)
    show(load_table.table(serve, 0.5))
    lines = capsys.readouterr().out.splitlines()
    assert loads == [(40, 90, 90), (6, 75, 0), (6, 135, 0)]
    assert served == [{}, {"DPGP_CACHE_MB": "16"}]
    assert {line.count("|") for line in lines} == {4}
    text = "\n".join(lines)
    for said in (
        "| 40 sessions, 90 s: first answer | p50 0.10, p95 2.00, max 2.0 s | p95 <= 3 s |",
        "| the same, complete | p50 0.20, p95 15.00, max 15.0 s | max <= 20 s |",
        "3, 1, 1 ['TimeoutError()'] | 0 errors |",
        "| 300, 900, 700 MB | <= 750 MB at last |",
        "| 20, 200, 40 | <= 60 at last |",
        "36 ± 0 MB/h, 1 errors | <= 5 MB/h, 0 errors |",
    ):
        assert said in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        *((each, "must be") for each in ("--sessions 0", "--think -1", "--seconds 0")),
        *((each, "error: --") for each in ("--address http://example.org", "--seconds 7200 --idle 1")),
        *((f"--table {each}", "--table must be in (0, 1]") for each in ("0", "2", "--address http://127.0.0.1:9")),
    ],
)
def test_a_load_that_cannot_be_is_refused(arguments, said, capsys):
    with pytest.raises(SystemExit):
        load.main(arguments.split())
    assert said in capsys.readouterr().err

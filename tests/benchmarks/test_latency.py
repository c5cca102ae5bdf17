from dataclasses import replace

import pytest

from benchmarks import latency as benchmark


def test_a_row_says_whether_its_target_is_met():
    met, missed = benchmark.milliseconds("a", 0.05, 0.02), benchmark.Row("b", 2.0, 3.0, "s")
    assert tuple(met.cells().values()) == ("a", "50 ms", "20 ms", "0.40", "met")
    assert tuple(missed.cells().values()) == ("b", "2 s", "3 s", "1.50", "missed by 50 %")


def test_small_batches_have_their_rows():
    rows = list(benchmark.batch_rows(300, 4, 40))
    assert [row.work.split(",")[0] for row in rows] == ["LiRA", "1-D excursion search", "sparse DP-GP fit"]
    assert [row.target for row in rows] == [5.0, 20.0, 20.0]
    assert all(row.measured > 0 for row in rows)


def test_design_rows_compare_with_a_cholesky():
    *kung, london = benchmark.design_rows(1)
    assert [row.target for row in kung] == [100.0, 100.0]
    assert london.work.startswith("C and design, n 4,766")
    assert (london.target, london.unit) == (1.0, "")


def test_page_rows_cover_every_release_page(monkeypatch):
    for name, shown in benchmark.EXHIBITS.items():
        monkeypatch.setitem(benchmark.EXHIBITS, name, replace(shown, lengthscales=(shown.lengthscale,)))
    works = [row.work for row in benchmark.page_rows(1)]
    assert [work for work in works if work.startswith("epsilon")] == [
        f"epsilon, delta, draw: {name}" for name in ("kung", "toy_1d", "london_hexes", "london_sales")
    ]
    assert sum(work.startswith("intervals") for work in works) == 4
    assert works.count("lengthscale: kung, 25 years (default)") == 1
    assert works.count("lengthscale: london_hexes, 15 km (slowest)") == 1


def test_a_page_computes_both_methods():
    outcomes, intervals = benchmark.Page("toy_1d").prepare(1.0)
    ours, paper = outcomes()
    assert ours.guarantee.theorem.startswith("2 releases composed")
    assert "Hall" in paper.guarantee.theorem
    narrow, wide = (float(halves.noise.mean()) for halves in intervals())
    assert narrow < wide


def test_scale_rows(capsys):
    seconds, memory, growth = benchmark.scale_rows(1000)
    assert (seconds.target, memory.target, growth.target) == (60.0, 8.0, 1.0)
    assert 0.01 < memory.measured < 8


def test_main_prints_the_parts_asked_for(capsys, monkeypatch):
    monkeypatch.setattr(benchmark, "design_rows", lambda repeats: [benchmark.Row("only this", 1.0, 0.5, "s")])
    benchmark.main(["--parts", "design"])
    machine, header, _, row = capsys.readouterr().out.splitlines()
    assert "cores" in machine
    assert header.strip("| ").split(" | ") == ["work", "target", "measured", "ratio"]
    assert row == "| only this | 1 s | 0.5 s | 0.50 | met |"
    with pytest.raises(SystemExit):
        benchmark.main(["--parts", "other"])

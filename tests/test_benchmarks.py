"""Every benchmark has its row, and every row runs."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from datetime import date

import numpy as np
import pytest

from benchmarks import __main__ as runner
from benchmarks import summary
from benchmarks.catalogue import CATALOGUE
from benchmarks.shared import judged, table
from benchmarks.shared.apart import ROOT
from benchmarks.shared.options import options_of


def test_every_printing_module_has_a_row():
    found = {
        ".".join(path.relative_to(ROOT / "benchmarks").with_suffix("").parts)
        for path in (ROOT / "benchmarks").rglob("*.py")
        if re.search(r"^def main\(", path.read_text(encoding="utf-8"), re.MULTILINE) and path.stem != "__main__"
    }
    rows = [row.module for row in CATALOGUE]
    assert sorted(found) == sorted(rows), "a benchmark is one file and one row of benchmarks/catalogue.py"


@pytest.mark.full  # it imports every benchmark
@pytest.mark.parametrize("name", [row.name for row in CATALOGUE])
def test_every_benchmark_says_what_it_prints(name, capsys):
    with pytest.raises(SystemExit) as ended:
        runner.main([name, "--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert f"python -m benchmarks {name}" in said


SMALL = {
    "bayes_ends": "--worlds mass --repeats 1",
    "bayes_inputs": "--data kung --epsilons 1 --draws 1",
    "bayes_several_inputs": "--inputs 2 --sizes 300 --repeats 1",
    "bayes_unseen": "--tables iris --epsilons 1 --draws 1",
    "citibike_table": "--replicates 2 --train 120 --test 15 --draws 2 --workers 1",
    "coverage": "--draws 1 --worlds 1 --epsilons 1",
    "dates": "--repeats 1",
    "excursion_tables": "--parts london --london-sets 3 --draws 2 --bayes-sets 0",
    "inputs": "--places even towns --outcomes normal --sizes 100 --epsilons 1 --repeats 1",
    "lira": "--shadows 100 --seeds 2 --cholesky 50",
    "load": "--sessions 1 --seconds 4 --think 0 --idle 0",
    "null_space": "--only cloaking --bounds usual --samples 60 --zips 12",
    "outcomes": "--worlds plane --sizes 60 --epsilons 5 --repeats 2 --protects inputs polynomial bins cloaking",
    "people": "--repeats 1",
    "scale": "--sizes 5 500 --test-points 12 --threads 1 --floor 300",
    "sparse_tables": "--repeats 2 --sizes 2000",
}


@pytest.mark.full
@pytest.mark.parametrize("name", SMALL)
def test_small_tables_are_printed_to_their_end(name, capsys, monkeypatch, tmp_path):
    """Those that no other test runs: three asked for what was gone, and stopped."""
    monkeypatch.setattr("benchmarks.bayes.inputs.SIZES", {1: (300,), 2: (300,), 3: (300,)})
    monkeypatch.chdir(tmp_path)  # some keep their results in a file, to go on where they were stopped
    runner.main([name, *SMALL[name].split()])
    assert capsys.readouterr().out.count("\n") >= 3


def test_the_runner_lists_them_in_a_line_each():
    shown = subprocess.run([sys.executable, "-m", "benchmarks"], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = shown.stdout.splitlines()
    for row in CATALOGUE:
        [line] = [each for each in lines if each.startswith(f"{row.name} ")]
        assert line.endswith(row.says)
        assert len(line) <= 120


def test_a_name_that_is_none_has_a_sentence():
    with pytest.raises(SystemExit, match=r"no benchmark is called 'speed'; `python -m benchmarks` lists them"):
        runner.main(["speed"])


def test_failing_benchmarks_are_named(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(runner, "_apart", lambda each: asked.append(each.name) or each.name != "load")
    with pytest.raises(SystemExit, match="these failed: load"):
        runner.main(["all"])
    assert asked == [row.name for row in CATALOGUE]


def test_documents_name_benchmarks_that_there_are():
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/results/*.md"), ROOT / "Makefile"]
    names = {row.name for row in CATALOGUE} | {"all", "NAME"}
    found = 0
    for path in documents:
        text = path.read_text(encoding="utf-8")
        if path.name != "CHANGELOG.md":  # it tells of what was
            named = re.findall(r"python -m benchmarks ([a-z_]+|NAME)", text)
            assert set(named) <= names, path.name
            assert not re.findall(r"-m benchmarks\.\w", text), path.name
            found += len(named)
    assert found > 15


RESULTS = sorted((ROOT / "benchmarks/results").glob("*.csv"))


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_kept_results_are_tidy(path):
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert len(set(head)) == len(head)
    assert {len(row) for row in rows} == {len(head)}
    assert len(set(map(tuple, rows))) == len(rows)
    for row in (dict(zip(head, each, strict=True)) for each in rows):
        assert date(2026, 1, 1) < date.fromisoformat(row["measured"])
        assert all(0 <= float(row[name]) <= 1 for name in row if name.startswith("coverage") and row[name])
        assert row.get("protects", "outputs") in {"outputs", "inputs and outputs", ""}


def test_every_file_of_results_is_described():
    text = (ROOT / "benchmarks/results/README.md").read_text(encoding="utf-8")
    assert [path.name for path in RESULTS if f"[{path.name}]({path.name})" not in text] == []


@pytest.mark.parametrize("name", summary.TABLES)
def test_documents_have_the_summary_tables_that_are_printed(name, capsys):
    table.show(summary.TABLES[name]())
    printed = capsys.readouterr().out
    documents = [ROOT / "docs/benchmarks.md", *ROOT.glob("benchmarks/results/*.md")]
    assert printed.count("\n") > 3
    assert any(printed in path.read_text(encoding="utf-8") for path in documents), f"summary --tables {name}"


def test_the_figure_is_drawn_from_the_results():
    assert summary.FIGURE.read_text(encoding="utf-8") == summary.figure(), "run: python -m benchmarks summary --figure"
    assert summary.FIGURE.name in (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")


def test_inputs_are_printed_with_their_columns(capsys):
    asked = "--places even --outcomes normal --sizes 50 --epsilons 1 --repeats 1 --protects inputs"
    runner.main(["inputs", *asked.split()])
    printed = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| inputs"))
    with (ROOT / "benchmarks/results/inputs.csv").open(encoding="utf-8") as file:
        assert printed.strip("| ").split(" | ") == file.readline().strip().split(",")[:-1]


def test_rows_are_printed_below_their_names(capsys):
    table.show(iter([{"a": 1, "b [s]": 0.12345}, {"a": 20, "b [s]": "-"}]))
    assert capsys.readouterr().out.splitlines() == ["| a | b [s] |", "|---|---|", "| 1 | 0.123 |", "| 20 | - |"]


def test_options_are_of_the_kinds_of_their_defaults():
    defaults = {"sizes": [300], "share": 0.5, "own": False, "out": None, "data": ["b"]}
    given = options_of("", ["--sizes", "1", "2", "--own"], {"data": ["a", "b"], "which": "xy"}, **defaults)
    assert (given.sizes, given.share, given.own, given.out) == ([1, 2], 0.5, True, None)
    assert (given.data, given.which) == (["b"], ["x", "y"])
    with pytest.raises(SystemExit):
        options_of("", ["--data", "c"], {"data": ["a", "b"]})


def test_the_standard_error_is_of_the_mean():
    mean, error = judged.error_of(np.array([[3.0, 3.0], [5.0, 5.0]]))
    assert (mean, error) == (4.0, pytest.approx(1.0))
    assert judged.error_of(np.array([[3.0, 3.0]])) == (3.0, 0.0)
    assert judged.shares([0.5, 1.0]) == ".50/1.00"

import contextlib
import io

import numpy as np
import pytest

from benchmarks import sparse_tables as benchmark


@pytest.fixture(scope="module")
def lines():
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        benchmark.main(["--repeats", "2", "--gamma", "0.3", "--sizes", "2000"])
    return stream.getvalue().splitlines()


def numbers(lines, label, start=""):
    first = next(i for i, line in enumerate(lines) if line.startswith(start))
    line = next(line for line in lines[first:] if line.strip().startswith(label))
    return np.array([float(cell) for cell in line[36:].split()])


def test_errors_fall_with_epsilon_and_ours_are_smaller(lines):
    ours, paper = numbers(lines, "whitened", "error"), numbers(lines, "paper", "error")
    assert (np.diff(paper) < 0).all()
    assert ours[-1] < ours[0]
    assert (ours < paper).all()
    assert (paper < numbers(lines, "paper, generic", "error")).all()


def test_coverage_is_a_share_and_rises_with_the_level(lines):
    for label in ("whitened: f", "paper: f", "paper with cross terms: y", "naive: f"):
        shares = numbers(lines, label, "calibration")
        assert ((shares >= 0) & (shares <= 1)).all()
        assert (np.diff(shares) >= 0).all()


def test_every_choice_is_in_the_table(lines):
    for label in benchmark.selections(0.3):
        assert (numbers(lines, label, "selection") > 0).all()


def test_seconds_are_printed(lines):
    assert any("growth_2d, n = 5189" in line for line in lines)
    assert any(line.startswith("  streaming n =     2,000") for line in lines)


def test_one_table_may_be_asked_for(capsys):
    benchmark.main(["--tables", "speed", "--sizes", "100"])
    assert "calibration" not in capsys.readouterr().out


def test_streamed_records_are_as_many_as_asked_for():
    assert sum(len(y) for _, y in benchmark.streamed(20_000)) == 20_000

"""Tables of methods: what they cost and how they err."""

import contextlib
import io

import numpy as np
import pytest

from benchmarks import scale, sparse_tables
from datasets import london_sales
from dpgp_core.gp.pivoted import factorise
from dpgp_core.kernels import EQ
from dpgp_core.strategies.noise_design import design_noise


def lines_of(module, *options):
    """The lines that a benchmark prints."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        module.main([*options])
    return stream.getvalue().splitlines()


def test_rows_of_scale():
    machine, header, _, *rows, growth, floor, work = lines_of(
        scale, "--sizes", "5", "500", "--test-points", "12", "--threads", "1", "--floor", "300"
    )
    assert "cores" in machine
    assert [line.split()[1] for line in rows] == ["5", "500"]
    assert {line.count("|") for line in rows} == {header.count("|")}
    assert growth.startswith("growth from n = 5 to 500: n^")
    assert "floor, n = 300: one dense Cholesky" in floor
    assert work.startswith("n = 500: ")


def test_numbers_that_are_not_times():
    row, data = scale.measure(900, 20, 1), london_sales.load(n=900)
    low, high = np.array(data.x_box).T
    X_test = np.random.default_rng(0).uniform(low, high, (20, 2))
    factored = factorise(EQ(lengthscale=15.0), data.X)
    designs = [design_noise(factored.matrix(X_test, 0.3), name) for name in ("trace", "logdet")]
    assert (row.n, row.pivots, row.rank) == (900, factored.rank, designs[0].rank)
    assert row.residual == pytest.approx(factored.residual)
    assert row.gap == pytest.approx(max(design.gap for design in designs))
    assert row.gap <= 1e-3
    assert row.trace_passes >= 2  # the certificate, and the final rescaling
    assert 0.01 < row.peak < 8
    assert row.release == pytest.approx(row.factor + row.matrix + row.trace)
    assert row.flops == 900 * row.pivots * (3 * row.pivots + 2 * row.rank * row.trace_passes)


def test_growth_is_an_exponent():
    times = {"factor": 0.0, "matrix": 0.0, "logdet": 0.0, "cpu": 0.0, "peak": 0.0, "pivots": 1, "residual": 0.0}
    rows = [
        scale.Row(n=n, trace=seconds, rank=1, gap=0.0, trace_passes=1, **times)
        for n, seconds in ((100, 0.5), (10_000, 50.0))
    ]
    assert scale.growth(rows) == pytest.approx(1.0)
    assert scale.growth(rows[1:]) is None
    assert "growth" not in scale.conclusions(rows[1:], rows[0], 1.0)


@pytest.fixture(scope="module")
def lines():
    return lines_of(sparse_tables, "--repeats", "2", "--gamma", "0.3", "--sizes", "2000")


def numbers_of(lines, label, start=""):
    first = next(i for i, line in enumerate(lines) if line.startswith(start))
    line = next(line for line in lines[first:] if line.strip().startswith(label))
    return np.array([float(cell) for cell in line[36:].split()])


def test_errors_fall_with_epsilon_and_ours_are_smaller(lines):
    ours, paper = numbers_of(lines, "whitened", "error"), numbers_of(lines, "paper", "error")
    assert (np.diff(paper) < 0).all()
    assert ours[-1] < ours[0]
    assert (ours < paper).all()


def test_coverage_rises_with_the_confidence_level(lines):
    for label in ("whitened: f", "paper: f", "paper with cross terms: y", "naive: f"):
        shares = numbers_of(lines, label, "calibration")
        assert ((shares >= 0) & (shares <= 1)).all()
        assert (np.diff(shares) >= 0).all()


def test_every_choice_is_in_the_table(lines):
    for label in sparse_tables.selections(0.3):
        assert (numbers_of(lines, label, "selection") > 0).all()
    assert any("growth_2d, n = 5189" in line for line in lines)
    assert any(line.startswith("  streaming n =     2,000") for line in lines)


def test_one_table_may_be_asked_for():
    assert not any("calibration" in line for line in lines_of(sparse_tables, "--tables", "speed", "--sizes", "100"))

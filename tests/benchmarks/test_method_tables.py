"""Tables of methods: what they cost and how they err."""

import contextlib
import functools
import io
import math

import numpy as np
import pytest

from benchmarks import measurement_cost, noise_design, scale, selection_table, sparse_tables
from datasets import london_sales
from dpgp_core.gp.pivoted import factorise
from dpgp_core.kernels import EQ
from dpgp_core.linalg import FactoredMatrix, column_lengths
from dpgp_core.strategies.noise_design import design_noise


def lines_of(module, *options):
    """The lines that a benchmark prints."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        module.main([*options])
    return stream.getvalue().splitlines()


def test_rows_of_the_cost_of_measuring():
    machine, header, _, *rows = lines_of(measurement_cost, "--directions", "2", "7", "--records", "30", "500")
    assert "cores" in machine
    assert header.startswith("| r | n | exact [s] | float [s] |")
    assert [row.split(" | ")[:2] for row in rows] == [[f"| {r}", f"{n}"] for n in (30, 500) for r in (2, 7)]
    assert {row.count("|") for row in rows} == {header.count("|")}


@pytest.mark.parametrize("largest", [0, 10**6])
def test_exactness_adds_little_noise(monkeypatch, largest):
    monkeypatch.setattr(measurement_cost, "LARGEST", largest)
    B = measurement_cost.strategy(6, 400, np.random.default_rng(1))
    assert isinstance(B, FactoredMatrix) == (largest == 0)
    squares = column_lengths(B)
    assert squares.min() * (1 + 1e-12) >= 0.25
    assert squares.max() * (1 - 1e-12) <= 1
    found = measurement_cost.cost(6, 400)
    assert 0 < float(found["more noise"]) < 1e-6
    # 400 outputs and entries of B, each rounded to 2^-20
    assert 0 < float(found["rounding / s"]) < 1e-3


@pytest.fixture(scope="module")
def small():
    return np.random.default_rng(1).normal(size=(4, 12))


def test_rows_of_noise_design():
    machine, matrix, header, _, *rows, note = lines_of(noise_design, "--steps", "3", "--seed", "5", "--starts", "2")
    assert "cores" in machine
    assert "numpy" in machine
    assert "(200, 287)" in matrix
    assert header.count("|") == rows[0].count("|") == 9
    starts = ["ours", "ours", "Algorithm 2, seed 5, 3 steps", "Algorithm 2, seed 6, 3 steps"]
    starts += ["Algorithm 2 as printed, seed 5, 3 steps", "Algorithm 2, literal"]
    assert [row.startswith(f"| {start}") for row, start in zip(rows, starts, strict=True)] == [True] * 6
    assert "extrapolated" not in rows[-1]
    assert "rescaling" in note


def test_vectorised_and_literal_gradients_agree(small):
    lambdas = np.random.default_rng(2).uniform(0.1, 0.9, 12)
    np.testing.assert_allclose(
        noise_design.gradient(lambdas, small), noise_design.literal_gradient(lambdas, small), rtol=1e-10
    )


def test_algorithm_2_solves_an_easy_problem(small):
    lambdas, _, converged = noise_design.algorithm_2(small, 20_000, np.random.default_rng(3))
    assert converged
    design = design_noise(small, "logdet", gap=1e-6)
    logdet, noise = noise_design.rescaled_quality(lambdas, small, design)
    assert logdet == pytest.approx(2 * np.linalg.slogdet(design.root)[1], abs=0.01)
    assert noise == pytest.approx(design.variance().mean(), rel=0.01)


def test_the_quality_of_our_weights_is_one(small):
    design = design_noise(small, "logdet", gap=0.5)
    logdet, noise = noise_design.rescaled_quality(3 * design.lambdas, small, design)
    assert logdet == pytest.approx(2 * np.linalg.slogdet(design.root)[1], rel=1e-10)
    assert noise == pytest.approx(design.variance().mean(), rel=1e-10)
    assert noise_design.rescaled_quality(-np.ones(12), small, design) == (None, None)  # they make no covariance


def test_lambdas_of_the_listing_as_printed_turn_negative(small):
    lambdas, _, converged = noise_design.algorithm_2(small, 200, np.random.default_rng(3), smallest=-np.inf)
    assert not converged
    assert lambdas.min() < 0


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


@functools.cache
def printed(*options):
    return lines_of(selection_table, "--dataset", "kung", *options)


def numbers(line):
    return [float(cell.rstrip("*")) for cell in line[22:].split()]


def block(lines, heading, rows):
    start = next(i for i, line in enumerate(lines) if line.startswith(heading)) + 1
    return np.array([numbers(line) for line in lines[start : start + rows]])


def one(lines, label):
    return np.array(numbers(next(line for line in lines if line.startswith(label))))


@pytest.mark.parametrize("options", [(), ("--clip", "1"), ("--objective", "logdet", "--calibration", "hall")], ids=str)
def test_the_rows_fit_together(options):
    lines = printed("--selection-epsilon", "1", *options)
    probabilities, errors = block(lines, "probability", 7), block(lines, "expected held-out", 7)
    np.testing.assert_allclose(probabilities.sum(axis=0), 100, atol=0.4)  # printed to 0.1
    after = one(lines, "after private choice")
    # weights carry a rounding of 0.05 %, errors of 0.05 cm; tiny weights of huge errors are left out
    heavy = np.where(probabilities >= 0.1, probabilities / 100 * errors**2, 0).sum(axis=0)
    np.testing.assert_allclose(after, np.sqrt(heavy), rtol=0.05)
    starred = [line for line in lines if "*" in line]
    assert sum(line.count("*") for line in starred) == 2 * len(selection_table.EPSILONS)
    assert (np.diff(errors, axis=1) >= 0).all()  # less budget, more error


def test_more_selection_budget_lowers_the_error():
    small, large = printed("--selection-epsilon", "0.2"), printed("--selection-epsilon", "5")
    assert (one(large, "after private choice") < one(small, "after private choice")).all()
    assert (one(large, "total epsilon")[1:] > one(small, "total epsilon")[1:]).all()
    assert one(large, "total epsilon")[0] == math.inf


def test_clipping_is_the_costlier_choice():
    plain, clipped = (one(printed(*options), "after private choice") for options in [(), ("--clip", "1")])
    assert (plain < clipped).all()


def test_total_spent():
    assert selection_table.total_spent(0.5, math.inf, "analytic") == math.inf
    assert 1.0 < selection_table.total_spent(0.5, 1.0, "analytic") <= 1.5
    # Hall's noise is larger than needed at epsilon 1
    assert selection_table.total_spent(0.5, 1.0, "hall") < selection_table.total_spent(0.5, 1.0, "analytic")


def test_hall_above_its_range_is_flagged():
    assert any("not proven" in line for line in printed("--calibration", "hall"))
    assert not any("not proven" in line for line in printed())


def test_london_has_its_rows():
    lines = lines_of(selection_table, "--dataset", "london_hexes")
    assert any(line.startswith("london_hexes: n = 300, 10 folds") for line in lines)
    seconds = next(line for line in lines if line.startswith("seconds per lengthscale")).split(":")[1].split(",")
    assert len(seconds) == 6
    assert min(map(float, seconds)) > 0


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
    assert (paper < numbers_of(lines, "paper, generic", "error")).all()


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

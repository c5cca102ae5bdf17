import numpy as np
import pytest

from benchmarks import scale as benchmark
from datasets import london_sales
from dpgp_core.gp.pivoted import factorise
from dpgp_core.kernels import EQ
from dpgp_core.strategies.noise_design import design_noise


@pytest.fixture(scope="module")
def row():
    return benchmark.measure(900, 20, 1)


def test_the_table_has_its_rows(capsys):
    benchmark.main(["--sizes", "5", "500", "--test-points", "12", "--threads", "1", "--floor", "300"])
    machine, header, _, *rows, growth, floor, work = capsys.readouterr().out.splitlines()
    assert "cores" in machine
    assert [line.split()[1] for line in rows] == ["5", "500"]
    assert {line.count("|") for line in rows} == {header.count("|")}
    assert growth.startswith("growth from n = 5 to 500: n^")
    assert "floor, n = 300: one dense Cholesky" in floor
    assert work.startswith("n = 500: ")


def test_numbers_that_are_not_times(row):
    data = london_sales.load(n=900)
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


def test_totals_are_sums(row):
    assert row.total == pytest.approx(row.factor + row.matrix + row.trace + row.logdet)
    assert row.release == pytest.approx(row.total - row.logdet)
    assert row.flops == 900 * row.pivots * (3 * row.pivots + 2 * row.rank * row.trace_passes)


def test_growth_is_an_exponent():
    times = {"factor": 0.0, "matrix": 0.0, "logdet": 0.0, "cpu": 0.0, "peak": 0.0, "pivots": 1, "residual": 0.0}
    rows = [
        benchmark.Row(n=n, trace=seconds, rank=1, gap=0.0, trace_passes=1, **times)
        for n, seconds in ((100, 0.5), (10_000, 50.0))
    ]
    assert benchmark.growth(rows) == pytest.approx(1.0)
    assert benchmark.growth(rows[1:]) is None
    assert "growth" not in benchmark.conclusions(rows[1:], rows[0], 1.0)


def test_pool_counts_passes():
    with benchmark.Pool(1) as pool:
        assert list(pool.map(abs, [-1, 2])) == [1, 2]
        assert pool.passes == 1

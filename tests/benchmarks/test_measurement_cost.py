import numpy as np
import pytest

from benchmarks import measurement_cost as benchmark
from dpgp_core.linalg import FactoredMatrix, column_lengths


def test_the_table_has_its_rows(capsys):
    benchmark.main(["--directions", "2", "7", "--records", "30", "500"])
    machine, header, _, *rows = capsys.readouterr().out.splitlines()
    assert "cores" in machine
    assert header.startswith("| r | n | exact [s] | float [s] |")
    assert [row.split(" | ")[:2] for row in rows] == [[f"| {r}", f"{n}"] for n in (30, 500) for r in (2, 7)]
    assert {row.count("|") for row in rows} == {header.count("|")}


@pytest.mark.parametrize("largest", [0, 10**6])
def test_exactness_adds_less_than_a_thousandth_of_the_noise(monkeypatch, largest):
    monkeypatch.setattr(benchmark, "LARGEST", largest)
    B = benchmark.strategy(6, 400, np.random.default_rng(1))
    assert isinstance(B, FactoredMatrix) == (largest == 0)
    squares = column_lengths(B)
    assert squares.min() * (1 + 1e-12) >= 0.25
    assert squares.max() * (1 - 1e-12) <= 1
    found = benchmark.cost(6, 400)
    assert 0 < float(found["more noise"]) < 1e-6
    # 400 outputs and entries of B, each rounded to 2^-20
    assert 0 < float(found["rounding / s"]) < 1e-3

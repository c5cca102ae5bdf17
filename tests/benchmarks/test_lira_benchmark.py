import pytest

from benchmarks.attacks import lira as benchmark
from dpgp_core.attack.roc import Estimate


def test_the_table_has_its_rows(capsys):
    benchmark.main(["--shadows", "100", "--seed", "4", "--seeds", "2", "--cholesky", "50"])
    machine, protocol, *rows, ours, published = capsys.readouterr().out.splitlines()
    assert "cores" in machine
    assert "inputs halves, 100 shadows" in protocol
    assert len(rows) == 4 * 2 * 4
    assert rows[0].startswith("r 0.1  sigma 0.5  L 3    seed 4   AUC")
    assert "given 0.958" in rows[0]
    assert "given 0.716" in rows[2]
    assert rows[-1].startswith("r 1    sigma 2    L 100  seed 5   TPR at 10%")
    assert "Cholesky of size 50" in ours
    assert "129 s" in published


def test_z_counts_the_noise_of_both_runs():
    row = benchmark.Golden(r=1.0, sigma=1.0, L=1, shadows=3_000, auc=0.5)
    # own standard error 0.01; a run of a third of the size has variance three times as large
    estimate = Estimate(0.54, 0.54 - 0.0196, 0.54 + 0.0196)
    assert benchmark.z_score(estimate, row, 9_000) == pytest.approx(2.0)


def test_cholesky_is_timed():
    assert benchmark.cholesky_seconds(20) > 0


def test_the_golden_row_is_met_and_timed():
    roc, seconds = benchmark.measure(benchmark.GOLDEN[0], "halves", 0, 10_000)
    assert seconds > 0
    assert abs(benchmark.z_score(roc.auc(), benchmark.GOLDEN[0], 10_000)) < 5

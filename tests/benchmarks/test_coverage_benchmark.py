import pytest

from benchmarks import coverage as benchmark


def test_the_table_has_its_rows(capsys):
    few = ["--draws", "1", "--worlds", "2", "--epsilons", "1"]
    benchmark.main([*few, "--mechanisms", "integral_bins", "paths"])
    header, rule, bins, paths = capsys.readouterr().out.splitlines()
    assert header == "| mechanism | ε | !Kung | London | diabetes | the model |"
    assert {line.count("|") for line in (header, rule, bins, paths)} == {7}
    for cell in bins.split("|")[3:7]:
        shares = [int(share) for share in cell.split("/")]
        assert shares == sorted(shares)
        assert shares[-1] > 80
    assert "none: the spread of posterior paths" in paths


def test_diabetes_lies_within_what_was_declared():
    data = benchmark.diabetes()
    assert (data.n, data.X.shape[1]) == (442, 2)
    assert data.clipped_y == pytest.approx(data.y)

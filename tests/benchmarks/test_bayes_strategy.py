from benchmarks import bayes_strategy as benchmark


def test_the_table_has_its_rows(capsys):
    benchmark.main(["--data", "kung", "--epsilons", "1"])
    _, unit, header, *rows = capsys.readouterr().out.splitlines()
    assert unit.startswith("Cholesky(2000)")
    assert header == benchmark.HEADER
    assert [row.split()[2] for row in rows] == ["one", "one", "auto", "auto"]
    assert {len(row) for row in rows} == {len(header)}
    assert max(float(row.split()[8]) for row in rows) <= 1e-2

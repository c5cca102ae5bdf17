import contextlib
import io
import math

import numpy as np
import pytest

from benchmarks import selection_table as benchmark


@pytest.fixture(scope="module")
def printed():
    """Return the lines printed for !Kung at the given options, split into cells."""

    def run(*options):
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            benchmark.main(["--dataset", "kung", *options])
        return stream.getvalue().splitlines()

    return run


def numbers(line):
    return [float(cell.rstrip("*")) for cell in line[22:].split()]


def block(lines, heading, rows):
    start = next(i for i, line in enumerate(lines) if line.startswith(heading)) + 1
    return np.array([numbers(line) for line in lines[start : start + rows]])


def one(lines, label):
    return np.array(numbers(next(line for line in lines if line.startswith(label))))


@pytest.mark.parametrize("options", [(), ("--clip", "1"), ("--objective", "logdet", "--calibration", "hall")], ids=str)
def test_the_rows_fit_together(printed, options):
    lines = printed("--selection-epsilon", "1", *options)
    probabilities, errors = block(lines, "probability", 7), block(lines, "expected held-out", 7)
    np.testing.assert_allclose(probabilities.sum(axis=0), 100, atol=0.4)  # printed to 0.1
    after = one(lines, "after private choice")
    # weights carry a rounding of 0.05 %, errors of 0.05 cm; tiny weights of huge errors are left out
    heavy = np.where(probabilities >= 0.1, probabilities / 100 * errors**2, 0).sum(axis=0)
    np.testing.assert_allclose(after, np.sqrt(heavy), rtol=0.05)
    starred = [line for line in lines if "*" in line]
    assert sum(line.count("*") for line in starred) == 2 * len(benchmark.EPSILONS)
    assert (np.diff(errors, axis=1) >= 0).all()  # less budget, more error


def test_more_selection_budget_lowers_the_error_and_raises_the_total(printed):
    small, large = printed("--selection-epsilon", "0.2"), printed("--selection-epsilon", "5")
    assert (one(large, "after private choice") < one(small, "after private choice")).all()
    assert (one(large, "total epsilon")[1:] > one(small, "total epsilon")[1:]).all()
    assert one(large, "total epsilon")[0] == math.inf


def test_clipping_is_the_costlier_choice(printed):
    plain, clipped = (one(printed(*options), "after private choice") for options in [(), ("--clip", "1")])
    assert (plain < clipped).all()


def test_total_spent():
    assert benchmark.total_spent(0.5, math.inf, "analytic") == math.inf
    assert 1.0 < benchmark.total_spent(0.5, 1.0, "analytic") <= 1.5
    # Hall's noise is larger than needed at epsilon 1
    assert benchmark.total_spent(0.5, 1.0, "hall") < benchmark.total_spent(0.5, 1.0, "analytic")


def test_hall_above_its_range_is_flagged(printed):
    assert any("not proven" in line for line in printed("--calibration", "hall"))
    assert not any("not proven" in line for line in printed())


def test_london_has_its_rows(capsys):
    benchmark.main(["--dataset", "london_hexes"])
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("london_hexes: n = 300, 10 folds") for line in lines)
    seconds = next(line for line in lines if line.startswith("seconds per lengthscale")).split(":")[1].split(",")
    assert len(seconds) == 6
    assert min(map(float, seconds)) > 0

import numpy as np
import pytest

from benchmarks import outcomes
from benchmarks.outcomes import WORLDS, along, contender, hindsight, measured


def test_every_contender_has_a_row_and_peers_have_no_interval(capsys):
    asked = ["--worlds", "plane", "--sizes", "60", "--epsilons", "5", "--repeats", "2"]
    outcomes.main([*asked, "--protects", "inputs", "polynomial", "bins", "cloaking"])
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[4:]]
    assert [row[3] for row in rows] == ["inputs", "polynomial", "bins", "cloaking"]
    assert all(np.isfinite(float(row[4])) for row in rows)
    assert [row[6] == "nan" for row in rows] == [False, True, True, False]


@pytest.mark.parametrize("name", ["normal", "plane"])
def test_truth_is_the_mean_of_a_very_large_table(name):
    """Of 200,000 records at one place: six standard errors."""
    world, rng = WORLDS[name], np.random.default_rng(0)
    place = world.grid[:1]
    y = np.clip(world.quantile(rng.uniform(0, 1, 200_000), along(place)), *world.bounds)
    assert abs(y.mean() - world.truth(along(place))[0]) < 6 * y.std() / np.sqrt(len(y))


def test_hindsight_is_no_worse_with_more_people_and_finer_bins():
    few, many = (hindsight("normal", n, 5.0, "bins", 3) for n in (100, 10_000))
    assert many.error < 0.5 * few.error


@pytest.mark.full
@pytest.mark.parametrize("name", WORLDS)
def test_the_error_falls_with_the_number_of_people(name):
    few, many = (measured(name, n, contender("inputs", 1.0, name), 4) for n in (300, 30_000))
    assert many.error < 0.4 * few.error

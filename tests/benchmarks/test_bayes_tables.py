"""Tables of Bayes cloaking: inputs, outcomes, groups, people, bounds and coverage."""

import re
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import bounds, groups, outcomes, people
from benchmarks import coverage as benchmark
from benchmarks.bayes.unseen import TABLES, constant_error, held_out, load
from benchmarks.outcomes import WORLDS, along, contender, hindsight, judged
from dpgp_core.accounting.gaussian import epsilon_of, noise_multiplier
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking

pytest.importorskip("sklearn", reason="scikit-learn is not installed, and it ships the tables")


@pytest.mark.parametrize("name", TABLES)
def test_what_is_declared_fits_the_table(name):
    data = load(name)
    low, high = np.array(data.x_box).T
    assert ((low <= data.X) & (high >= data.X)).mean() > 0.99
    assert (data.y == data.clipped_y).mean() > 0.97
    assert data.n >= 150
    assert constant_error(data) > 0


def test_every_record_has_residuals_and_every_level_coverage():
    residuals, inside = held_out("bayes_cells", load("iris"), 1.0, 2)
    assert residuals.shape == (2, 150)
    assert inside.shape == (4,)
    assert (np.diff(inside) >= 0).all()


def test_every_contender_has_a_row(capsys):
    asked = ["--worlds", "plane", "--sizes", "60", "--epsilons", "5", "--repeats", "2"]
    outcomes.main([*asked, "--protects", "inputs", "polynomial", "bins", "cloaking"])
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[4:]]
    assert [row[3] for row in rows] == ["inputs", "polynomial", "bins", "cloaking"]
    assert all(np.isfinite(float(row[4])) for row in rows)
    assert [row[6] == "nan" for row in rows] == [False, True, True, False]


@pytest.mark.parametrize("name", ["normal", "plane"])
def test_the_truth_is_a_very_large_tables_mean(name):
    """Of 200,000 records at one place: six standard errors."""
    world, rng = WORLDS[name], np.random.default_rng(0)
    place = world.grid[:1]
    y = np.clip(world.quantile(rng.uniform(0, 1, 200_000), along(place)), *world.bounds)
    assert abs(y.mean() - world.truth(along(place))[0]) < 6 * y.std() / np.sqrt(len(y))


def test_the_oracle_is_no_worse_with_more_people():
    few, many = (hindsight("normal", n, 5.0, "bins", 3) for n in (100, 10_000))
    assert many.error < 0.5 * few.error


@pytest.mark.full
@pytest.mark.parametrize("name", WORLDS)
def test_the_error_falls_with_the_number_of_people(name):
    world = WORLDS[name]
    few, many = (judged(world, n, contender("inputs", 1.0, world), 4) for n in (300, 30_000))
    assert many.error < 0.4 * few.error


# ---- The table of groups: a small group is known better beside a large one, and the large one is not known worse.


def test_a_small_group_gains_by_being_released_together():
    mechanism = BayesCloaking(epsilon=1.0, delta=1e-5)
    together, apart = groups.measured(mechanism, (400, 0.1, "7 cm apart"), 18).values()
    assert together[1].error < 0.8 * apart[1].error
    assert together[0].error < 1.15 * apart[0].error
    assert min(each.inside.mean() for each in together) > 0.9


# ---- The table of people: what it prints, and that a promise to people is cheaper than one to ten rows each.


def test_protecting_people_costs_less_than_ten_rows():
    mechanism = BayesCloaking(epsilon=1.0, delta=0.01, protects="inputs and outputs")
    group = replace(mechanism, epsilon=epsilon_of(people.MOST * noise_multiplier(1.0, 0.01), 0.01))
    counted_once = people.measured(mechanism, 300, 4, people=True)
    ten_rows = people.measured(group, 300, 4, people=False)
    assert counted_once.error < 0.8 * ten_rows.error
    assert counted_once.inside.mean() >= 0.85


# ---- The table of bought bounds: its rows, and that few people are outside of them.


def test_a_row_states_bought_bounds_and_their_cost():
    row = bounds.row("heights [cm]", 1000, 1.0, 1e-5, 1)
    cells = " | ".join(map(str, row.values()))
    said = r"heights \[cm\] \| 1000 \| (\S+) \.\.\. (\S+) \| .* \| (\S+) % \(at most (\S+)\) \| (\S+) \| (\S+)"
    found = re.fullmatch(said, cells)
    low, high, outside, most, error, ratio = (float(each) for each in found.groups())
    assert low < 140
    assert 190 < high <= 1000
    assert outside <= most <= 5
    assert 0 < error < 20
    assert 0.3 < ratio < 6


def test_every_table_fits_what_an_expert_declares():
    rng = bounds.np.random.default_rng(0)
    for table in bounds.TABLES.values():
        data = bounds.people(table, 2000, rng)
        assert data.clipped_count <= 5


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

import io
import random
import secrets
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.attacks import null_space as benchmark
from benchmarks.attacks import null_space_work as work
from benchmarks.attacks.null_space_work import Case, before, in_zips, number_files, numbers_in, samples
from benchmarks.audit_releases import files_in, neighbours
from dpgp_core.release import CHOICES, bundle, plan_release, publish, read_table


@pytest.fixture(autouse=True)
def same_bits(monkeypatch):
    monkeypatch.setattr(secrets, "token_bytes", random.Random(6).randbytes)


def released(name):
    """A release and its zip's files."""
    pair = neighbours(name)
    data = read_table(io.BytesIO(pair.tables[0]), pair.spec)
    published = publish(plan_release(pair.spec, data.X), data)
    ledger = pair.spec.new_ledger()
    ledger.spend([("", pair.spec.guarantee)])
    return published, files_in(bundle(published, ledger))


@pytest.mark.parametrize("name", CHOICES)
def test_the_files_with_numbers_are_those_of_the_zip(name):
    published, whole = released(name)
    found = number_files(published)
    assert found == {name: whole[name] for name in found}
    assert {each for each in whole if each.endswith((".csv", ".npz"))} == set(found)
    assert all(np.isfinite(each).all() for each in numbers_in(found))


def test_a_table_is_printed_and_goes_on_from_its_file(tmp_path, capsys, monkeypatch):
    few = ["--only", "cloaking", "--bounds", "usual", "--samples", "60", "--zips", "12", "--out", str(tmp_path / "out")]
    benchmark.main(few)
    header, _, row = capsys.readouterr().out.splitlines()
    assert row.count("|") == header.count("|") == 11
    assert row.startswith("| Cloaking | usual | 60, 12 | .507 / .605 / .923 | ")
    assert "REFUTED" not in row
    monkeypatch.setattr(benchmark, "measured", None)
    benchmark.main(few)
    assert capsys.readouterr().out.splitlines()[2] == row


def test_a_claim_that_is_proven_false_is_named():
    case = Case("cloaking", "usual", 1.0, 60, 12)
    true = [1.0, 0.6, 0.9, 5.0, 0.6, 0.5, 0.6, 0.9]
    assert "REFUTED" not in benchmark.row([case], [true])["mechanism"]  # before is no claim
    for false in ([*true[:5], 1.1, *true[6:]], [*true[:7], 1.1]):
        assert "**REFUTED**" in benchmark.row([case], [false])["mechanism"]


def pair_of(name, epsilon, bounds="usual"):
    case = Case(name, bounds, epsilon, 2000, 0)
    return (
        case.mechanism,
        case.pair.spec.points(),
        [read_table(io.BytesIO(t), case.pair.spec) for t in case.pair.tables],
    )


@pytest.mark.parametrize("name", ["cloaking", "refined", "inducing", "integral_bins"])
def test_before_has_the_distribution_of_today(name):
    mechanism, X_test, (data, _) = pair_of(name, 1.0)
    data = replace(data, y=data.y.mean() + 0 * data.y)
    old, new = before(mechanism, data, X_test, 2000), samples(mechanism, data, X_test, 2000)
    spread = new.std(axis=0) / np.sqrt(2000)
    assert np.abs(old.mean(axis=0) - new.mean(axis=0)).max() < 8 * spread.max()  # 1e-6 for 5.7 of their difference
    np.testing.assert_allclose(old.std(axis=0), new.std(axis=0), rtol=0.2)


def test_before_is_told_apart_and_today_is_not():
    mechanism, X_test, pair = pair_of("cloaking", 1.0)
    old, new = ([draw(mechanism, data, X_test, 800) for data in pair] for draw in (before, samples))
    accuracy, bound = benchmark.attacked(*old, 0.01)
    assert accuracy > 0.9
    assert bound > 1.0  # 200 of each that are all told apart prove 2.6
    accuracy, bound = benchmark.attacked(*new, 0.01)
    assert accuracy < 0.75  # 0.605 is allowed, and the standard error is 0.017
    assert bound <= 1.0


@pytest.mark.parametrize("name", ["sparse", "bayes_cells"])
def test_there_is_no_before_where_noise_is_not_added_once(name):
    mechanism, X_test, (data, _) = pair_of(name, 1.0)
    assert before(mechanism, data, X_test, 2) is None


def test_numbers_of_zips_differ_from_release_to_release():
    found, other = in_zips(neighbours("cloaking", points=40), 2)
    assert (found[0] != found[1]).sum() > 40
    assert found.shape == other.shape


def test_zips_of_strategies_that_differ_in_size_are_filled_up(monkeypatch):
    sizes = iter([2, 3, 1, 2])
    monkeypatch.setattr(work, "numbers_in", lambda files: [np.ones(3), np.ones(next(sizes))])
    found, other = in_zips(neighbours("cloaking"), 2)
    np.testing.assert_array_equal(found[:, 3:], [[1, 1, 0], [1, 1, 1]])
    np.testing.assert_array_equal(other[:, 3:], [[1, 0, 0], [1, 1, 0]])

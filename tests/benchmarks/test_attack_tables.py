"""Tables of attacks: the best linear score of a zip, and likelihood ratios."""

import io
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.attacks import lira, null_space
from benchmarks.attacks import null_space_work as work
from benchmarks.attacks.null_space_work import Case, before, in_zips, number_files, numbers_in, samples
from benchmarks.audit_releases import files_in, neighbours
from dpgp_core.attack.roc import Estimate
from dpgp_core.release import CHOICES, bundle, plan_release, publish, read_table

pytestmark = pytest.mark.usefixtures("same_bits")


@pytest.mark.parametrize("name", CHOICES)
def test_the_listed_files_are_those_of_the_zip(name):
    pair = neighbours(name)
    data = read_table(io.BytesIO(pair.tables[0]), pair.spec)
    published = publish(plan_release(pair.spec, data.X), data)
    ledger = pair.spec.new_ledger()
    ledger.spend([("", pair.spec.guarantee)])
    found, whole = number_files(published), files_in(bundle(published, ledger))
    assert found == {name: whole[name] for name in found}
    assert {each for each in whole if each.endswith((".csv", ".npz"))} == set(found)
    assert all(np.isfinite(each).all() for each in numbers_in(found))


def test_a_table_is_printed_and_resumed_from_file(tmp_path, capsys, monkeypatch):
    few = ["--only", "cloaking", "--bounds", "usual", "--samples", "60", "--zips", "12", "--out", str(tmp_path / "out")]
    null_space.main(few)
    header, _, row = capsys.readouterr().out.splitlines()
    assert row.count("|") == header.count("|") == 11
    assert row.startswith("| Cloaking | usual | 60, 12 | .507 / .605 / .923 | ")
    assert "REFUTED" not in row
    monkeypatch.setattr(null_space, "measured", None)
    null_space.main(few)
    assert capsys.readouterr().out.splitlines()[2] == row


def test_a_claim_that_is_proven_false_is_named():
    case = Case("cloaking", "usual", 1.0, 60, 12)
    true = [1.0, 0.6, 0.9, 5.0, 0.6, 0.5, 0.6, 0.9]
    assert "REFUTED" not in null_space.row([case], [true])["mechanism"]  # before is no claim
    for false in ([*true[:5], 1.1, *true[6:]], [*true[:7], 1.1]):
        assert "**REFUTED**" in null_space.row([case], [false])["mechanism"]


def pair_of(name):
    case = Case(name, "usual", 1.0, 2000, 0)
    tables = [read_table(io.BytesIO(table), case.pair.spec) for table in case.pair.tables]
    return case.mechanism, case.pair.spec.points(), tables


@pytest.mark.parametrize("name", ["cloaking", "refined", "inducing", "integral_bins"])
def test_before_has_the_distribution_of_today(name):
    mechanism, X_test, (data, _) = pair_of(name)
    data = replace(data, y=data.y.mean() + 0 * data.y)
    old, new = before(mechanism, data, X_test, 2000), samples(mechanism, data, X_test, 2000)
    spread = new.std(axis=0) / np.sqrt(2000)
    assert np.abs(old.mean(axis=0) - new.mean(axis=0)).max() < 8 * spread.max()  # 1e-6 for 5.7 of their difference
    np.testing.assert_allclose(old.std(axis=0), new.std(axis=0), rtol=0.2)


def test_only_the_earlier_release_is_distinguished():
    mechanism, X_test, pair = pair_of("cloaking")
    old, new = ([draw(mechanism, data, X_test, 800) for data in pair] for draw in (before, samples))
    accuracy, bound = null_space.attacked(*old, 0.01)
    assert accuracy > 0.9
    assert bound > 1.0  # 200 of each that are all told apart prove 2.6
    accuracy, bound = null_space.attacked(*new, 0.01)
    assert accuracy < 0.75  # 0.605 is allowed, and the standard error is 0.017
    assert bound <= 1.0


@pytest.mark.parametrize("name", ["sparse", "bayes_cells"])
def test_only_one_stage_mechanisms_have_a_baseline(name):
    mechanism, X_test, (data, _) = pair_of(name)
    assert before(mechanism, data, X_test, 2) is None


def test_numbers_of_zips_differ_from_release_to_release():
    found, other = in_zips(neighbours("cloaking", points=40), 2)
    assert (found[0] != found[1]).sum() > 40
    assert found.shape == other.shape


def test_strategies_of_different_sizes_are_padded(monkeypatch):
    sizes = iter([2, 3, 1, 2])
    monkeypatch.setattr(work, "numbers_in", lambda files: [np.ones(3), np.ones(next(sizes))])
    found, other = in_zips(neighbours("cloaking"), 2)
    np.testing.assert_array_equal(found[:, 3:], [[1, 1, 0], [1, 1, 1]])
    np.testing.assert_array_equal(other[:, 3:], [[1, 0, 0], [1, 1, 0]])


# ---- Likelihood ratios.


def test_the_table_of_likelihood_ratios_has_its_rows(capsys):
    lira.main(["--shadows", "100", "--seed", "4", "--seeds", "2", "--cholesky", "50"])
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
    row = lira.Golden(r=1.0, sigma=1.0, L=1, shadows=3_000, auc=0.5)
    # own standard error 0.01; a run of a third of the size has variance three times as large
    estimate = Estimate(0.54, 0.54 - 0.0196, 0.54 + 0.0196)
    assert lira.z_score(estimate, row, 9_000) == pytest.approx(2.0)

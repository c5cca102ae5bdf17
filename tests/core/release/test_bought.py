"""A release whose bounds are bought: one budget, one ledger entry, and all of the zip follows from noisy counts."""

import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.release import bundle, plan_release, publish, read_table, spec_to_json
from dpgp_core.release.bundle import digest
from dpgp_core.release.check import check_folder
from dpgp_core.release.measured_files import BOUNDS
from dpgp_core.release.parser import BAD_CONFIG, OK
from dpgp_core.release.plan import expected_half_widths
from dpgp_core.release.private_table import as_measured
from dpgp_core.release.publishing import useful, within_tolerance
from tests.core.release.worlds import (
    command,
    make_open,
    make_spec,
    make_zip,
    released,
    rows_of,
    unzipped,
    written,
)
from tests.core.replay import assert_same, gaussian_epsilon, gaussian_mu, taped


def wages(n=300):
    rng = np.random.default_rng(0)
    ages = np.random.default_rng(99).uniform(0, 90, n)
    rows = zip(ages, np.exp(10 + 0.4 * rng.standard_normal(n)), strict=True)
    return ("age,wage\n" + "".join(f"{age:.2f},{wage:.2f}\n" for age, wage in rows)).encode()


@pytest.fixture(scope="module")
def files():
    return make_zip(make_open(), wages())


def read(spec, table):
    return read_table(io.BytesIO(table), spec)


@pytest.mark.parametrize("mechanism", ["bayes", "bayes_cells"])
def test_all_measurements_together_keep_the_budget(mechanism):
    """On a neighbour, with the same noisy numbers: the zip is the same to the last byte."""
    spec = make_open(mechanism=mechanism)
    data = read(spec, wages())
    ledger = spec.new_ledger()
    ledger.spend([("wages", spec.guarantee)])
    plan = plan_release(spec, data.X)
    neighbour = replace(data, y=np.where(np.arange(data.n) == 7, 9e9, data.y))

    def zipped(each):
        return bundle(publish(plan, each), ledger)

    with taped() as first:
        before = zipped(data)
    with taped(first) as second:
        after = zipped(neighbour)
    assert before == after
    found = gaussian_epsilon(gaussian_mu(second), spec.delta)
    assert found <= spec.epsilon * (1 + 1e-6)
    assert found >= 0.3 * spec.epsilon
    counted = [a - b for a, b in zip(first.calls[0].exact, second.calls[0].exact, strict=True)]
    assert sum(each != 0 for each in counted) == 2


@pytest.mark.parametrize("changes", [{}, {"mechanism": "bayes_cells"}, {"y_kind": "number", "log": True}])
def test_the_plan_is_the_same_for_any_bounds(changes):
    spec = make_open(**changes)
    data = read(spec, wages())
    planned = plan_release(spec, data.X)
    assert planned.spec == spec
    bought = replace(spec.purchase.widest, bounds=(20.0, 3e5) if spec.log else (0.0, 3e5))
    bought = replace(bought, scale=bought.measured.width / 4)
    again = spec.built.plan_for(spec.public_table(data.X, outcome=bought), spec.points())
    assert_same(planned.plan, again)


def test_what_is_published_lies_within_the_bounds_bought():
    spec = make_open(tolerance=4000.0, centiles=True, epsilon=3.0, total_epsilon=3.0)
    data = read(spec, wages())
    with taped():  # the noise is 0
        published = released(spec, data)
    low, high = published.bought.interval
    assert low == 0
    assert 5e4 <= high <= 2e6
    assert ((data.y < low) | (data.y > high)).mean() <= 0.1
    assert (published.values > 0).all()
    assert (published.values <= high).all()
    assert published.outcome == published.bought.outcome
    assert published.outcome.bounds == (low, high)
    assert published.outcome.scale == (high - low) / 4
    assert within_tolerance(published).shape == (5,)
    assert "pounds" in useful(published)
    assert published.guarantee == spec.guarantee
    np.testing.assert_allclose(published.values, 23_900, rtol=0.3)


def test_logarithms_are_taken_within_the_bounds_bought():
    spec = make_open(log=True, y_kind="number", epsilon=3.0, total_epsilon=3.0)
    data = read(spec, wages())
    assert data.y.max() > 100  # as they are
    with taped():
        published = released(spec, data)
    low, high = published.bought.interval
    assert 0 < low < 2e4 < high
    assert ((published.values > 5e3) & (published.values < 1e5)).mean() > 0.7
    assert as_measured(published.outcome, data).y_bounds == pytest.approx((math.log(low), math.log(high)))
    zeros = read(spec, wages().replace(b"age,wage\n", b"age,wage\n10,0\n11,-5\n"))
    assert spec.purchase.measure(zeros).interval[0] >= 0.01


def visits(people=240, each=2):
    """Wages of people with several rows."""
    rng = np.random.default_rng(3)
    rows = [(who, rng.uniform(0, 90), np.exp(10 + 0.4 * rng.standard_normal())) for who in range(people)] * each
    return ("who,age,wage\n" + "".join(f"{who},{age:.2f},{wage:.2f}\n" for who, age, wage in rows)).encode()


def test_people_with_several_rows_buy_as_people(tmp_path, capsys):
    spec = make_open(person="who", mechanism="bayes_cells", epsilon=3.0, total_epsilon=3.0)
    data = read(spec, visits())
    assert plan_release(spec, data.X, data.person).spec == spec
    neighbour = replace(data, y=np.where(data.person == data.person[7], 9e9, data.y))
    with taped() as first:
        before = spec.purchase.measure(data)
    with taped(first) as second:
        after = spec.purchase.measure(neighbour)
    assert before.n == 240
    np.testing.assert_array_equal(before.counts, after.counts)
    assert gaussian_mu(second) <= math.sqrt(0.1) / noise_multiplier(3.0, spec.delta) * (1 + 1e-9)
    few = read(spec, visits(60, 8))
    with pytest.raises(ValueError, match="bounds of 60 people are not to be had"):
        plan_release(spec, few.X, few.person)
    assert command(tmp_path, visits(), spec_to_json(spec)) == OK
    written(unzipped((tmp_path / "out.zip").read_bytes()), tmp_path / "out")
    assert "the bounds follow" in check_folder(tmp_path / "out")
    assert "all rows of any one person" in capsys.readouterr().out


def test_counts_have_noise_for_k_rows():
    spec, one = make_open(rows_per_person=4), make_open()
    assert spec.purchase.multiplier == pytest.approx(4 * one.purchase.multiplier, rel=1e-6)
    together = 4 * math.hypot(1 / spec.purchase.multiplier, spec.built.guarantee.loss.mu)
    assert together == pytest.approx(1 / noise_multiplier(spec.epsilon, spec.delta), rel=1e-6)
    assert together <= spec.guarantee.loss.mu * (1 + 1e-9)


def test_too_few_people_are_refused_unspent():
    spec = make_open()
    with pytest.raises(ValueError, match="bounds of 150 people are not to be had"):
        plan_release(spec, read(spec, wages(150)).X)
    with pytest.raises(ValueError, match="before bounds are bought"):
        expected_half_widths(plan_release(spec, read(spec, wages()).X), [1.0])


def test_nobody_within_declared_bounds_causes_no_failure():
    """Logarithms need bounds above 0, and the declared ones begin at 0: those of all cells within them are taken."""
    spec = make_open(log=True, y_kind="number", y_bounds=[0, 100], epsilon=3.0, total_epsilon=3.0)
    published = released(spec, read(spec, wages()))
    assert published.outcome.bounds == published.bought.interval == (0.01, 100.0)


def test_bought_bounds_are_stated_in_every_output(tmp_path, capsys):
    spec = make_spec(mechanism="bayes_cells", y_bounds=(0.0, 1.0), y="wage", y_unit="pounds", y_kind="amount")
    assert command(tmp_path, wages(), spec_to_json(spec), "--buy-bounds", "0.01") == OK
    assert "Bounds bought with a share of 0.1 of the budget: 0 to" in capsys.readouterr().out
    files = unzipped((tmp_path / "out.zip").read_bytes())
    card = json.loads(files["release.json"])
    low, high = card["bounds"]["interval"]
    assert (card["guarantee"]["epsilon"], card["config"]["bounds_unit"]) == (1.0, 0.01)
    shares = "bought with a share of 0.1 of the budget (of mu squared)"
    assert f"{shares}: 0 to {high:.12g} pounds" in files["card.html"].decode()
    rows = files[BOUNDS].decode().splitlines()
    assert (rows[0], len(rows)) == ('"from","to","noisy_count"', 50)
    assert low <= float(rows_of(files)[0]["value"]) <= high
    assert command(tmp_path, wages(), spec_to_json(spec), "--buy-bounds", "0", "--force") == BAD_CONFIG
    assert "bounds_unit must lie in" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", ["counts", "interval", "missing", "short", "card"])
def test_counts_that_were_changed_are_found_out(files, tmp_path, wrong):
    folder = written(files, tmp_path)
    card, rows = json.loads(files["release.json"]), files[BOUNDS].decode().splitlines()
    if wrong == "counts":
        rows[-1] = "1.0,2.0,100000.0"
    if wrong == "short":
        rows = rows[:-1]
    if wrong == "interval":
        card["bounds"]["interval"][1] *= 10
    if wrong == "missing":
        del card["sha256"][BOUNDS]
    if wrong == "card":
        del card["bounds"]
    text = "\r\n".join([*rows, ""]).encode()
    (folder / BOUNDS).write_bytes(text)
    if BOUNDS in card["sha256"]:
        card["sha256"][BOUNDS] = digest(text)
    (folder / "release.json").write_text(json.dumps(card))
    with pytest.raises(ValueError, match=r"bounds do not follow|bounds.csv is damaged|says nothing of the bounds"):
        check_folder(folder)


HEIGHTS = "age,wage\n" + "".join(f"{1 + at % 80},{60 + at % 130}\n" for at in range(300))
FARTHEST = "age,wage\n" + "".join(f"{1 + at % 80},{(-1) ** at * 1.7e308!r}\n" for at in range(2000))


@pytest.mark.parametrize(
    ("table", "unit", "kind", "remedy"),
    [
        (HEIGHTS, 1e-12, "amount", "give a smallest size larger than 1e-12, or declare bounds"),
        (FARTHEST, 1000.0, "number", "measure the output in a larger unit, or declare bounds"),
    ],
    ids=["unit", "outcomes"],
)
def test_off_scale_values_are_never_called_useful(tmp_path, capsys, table, unit, kind, remedy):
    ledger = tmp_path / "ledger.json"
    spec = make_open(epsilon=2.0, total_epsilon=2.5, bounds_unit=unit, y_kind=kind)
    assert command(tmp_path, table.encode(), spec_to_json(spec), "--ledger", str(ledger), "--new-ledger") == OK
    said = capsys.readouterr().out
    assert "which reach the end of their scale" in said
    assert "None of the" in said
    assert remedy in said
    assert "epsilon = 2 of 2.5" in said  # as was measured
    folder = written(unzipped((tmp_path / "out.zip").read_bytes()), tmp_path / "out")
    assert "the bounds follow from the noisy counts" in check_folder(folder)
    assert json.loads((folder / "release.json").read_text())["bounds"]["off_scale"] is True
    assert "no value here is useful" in (folder / "card.html").read_text()
    header, *rows = (folder / "values.csv").read_text().splitlines()
    assert header.endswith('"within_tolerance"')
    assert {row.rpartition(",")[2] for row in rows} == {"0"}


def test_bounds_on_scale_are_not_called_off_it(files):
    assert json.loads(files["release.json"])["bounds"]["off_scale"] is False
    assert "within_tolerance" not in files["values.csv"].decode()

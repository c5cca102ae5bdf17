"""Measuring logarithms: what is measured is the logarithm of the clipped output, what is published its exponential."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.release import CHOICES, plan_release, preview, publish
from dpgp_core.release.check import check_folder
from dpgp_core.release.plan import foreseen
from dpgp_core.release.publishing import about, useful, within_tolerance
from dpgp_core.table import Outcome
from tests.core.release.conftest import written

PRICES = Outcome(name="price", bounds=(1e4, 1e7), unit="GBP", log=True)
PLAIN = replace(PRICES, log=False)


def test_outputs_become_logarithms_within_the_logarithms_of_the_bounds():
    y = np.array([1e4, 5e5, 1e7, 0.0, -3.0, 1e12])  # a price of 0 is clipped like any other below
    np.testing.assert_allclose(PRICES.taken(y), np.log([1e4, 5e5, 1e7, 1e4, 1e4, 1e7]), rtol=1e-14)
    np.testing.assert_allclose(PRICES.measured.bounds, (math.log(1e4), math.log(1e7)))
    np.testing.assert_allclose(PRICES.given_back(PRICES.taken(y[:3])), y[:3], rtol=1e-12)
    assert (PRICES.measured.unit, replace(PRICES, unit="").measured.unit) == ("ln GBP", "ln")


def test_each_output_is_taken_by_itself():
    y = np.array([2e4, 3e5, 4e6])
    for changed in range(3):
        other = y.copy()
        other[changed] = 9e5
        differ = PRICES.taken(y) != PRICES.taken(other)
        np.testing.assert_array_equal(differ, np.arange(3) == changed)


def test_without_logarithms_nothing_is_changed():
    y = np.array([1.0, -5.0, 1e9])
    assert PLAIN.taken(y) is y
    assert PLAIN.given_back(y) is y
    assert PLAIN.measured is PLAIN


def test_what_noise_drives_far_out_is_finite():
    np.testing.assert_allclose(PRICES.given_back(np.array([-1e6, 1e6])), [10.0, 1e10], rtol=1e-9)


def both(make_spec, mechanism):
    """Logarithms measured; and the same of a table whose outputs are logarithms already."""
    log = make_spec(mechanism=mechanism, log=True)
    taken = log.outcome.measured
    return log, replace(log, log=False, y_bounds=taken.bounds, y_unit=taken.unit)


@pytest.mark.parametrize("mechanism", CHOICES)
def test_it_is_the_release_of_a_table_of_logarithms_mapped_back(make_spec, read, mechanism, same_bits):
    log, plain = both(make_spec, mechanism)
    assert log.guarantee == plain.guarantee
    data = read(log)
    taken = replace(plain.public_table(data.X), y=data.y)
    found = []
    for spec, table in ((log, data), (plain, taken)):
        same_bits()
        found.append(publish(spec, table))
    one, other = found
    low, high = plain.y_bounds
    for mapped, logarithm in zip(
        (one.values, *one.curve, *one.outputs), (other.values, *other.curve, *other.outputs), strict=True
    ):
        expected = np.exp(np.clip(logarithm, 2 * low - high, 2 * high - low))
        np.testing.assert_allclose(mapped, expected, rtol=other.step, atol=2 * one.step)
    assert 0.099 < one.step / (other.step * log.y_bounds[0]) < 10.1  # as fine, at the lower bound; a power of ten
    assert (one.curve[0] <= one.values).all()
    assert (one.values <= one.curve[1]).all()


@pytest.mark.parametrize("mechanism", ["bayes_cells", "refined", "sparse"])
def test_the_zip_computes_its_values_again(tmp_path, make_spec, make_zip, mechanism):
    written(make_zip(make_spec(mechanism=mechanism, log=True, tolerance=1.5)), tmp_path)
    assert check_folder(tmp_path).startswith("The files are those that release.json describes, and all 9 values follow")
    card = json.loads((tmp_path / "release.json").read_text())
    assert card["config"]["log"] is True
    assert card["measured"] == "the natural logarithm of height"
    text = (tmp_path / "card.html").read_text()
    assert "errors are factors" in text
    assert "within a factor of 1.5" in text


def test_a_preview_is_in_the_units_of_the_output(make_spec, read):
    log, _ = both(make_spec, "refined")
    shown = preview(log, read(log))
    assert ((shown > 40) & (shown < 250)).all()
    again = preview(replace(log, mechanism="sparse"), read(replace(log, mechanism="sparse")))
    assert ((again > 40) & (again < 250)).all()


def test_what_is_of_use_is_a_factor(make_spec, make_published):
    spec = make_spec(grid=(3,), log=True, tolerance=2.0)
    low, high = np.array([1.0, 1.0, 0.0]), np.array([4.0, 4.1, 1.0])
    found = replace(make_published(spec, (1, 1, 1)), curve=(low, high))
    assert within_tolerance(found, spec).tolist() == [True, False, False]
    assert useful(found, spec).startswith("At 2 of 3 points the curve is not known to within a factor of 2 with 95 %")
    assert about(spec, 1.25) == "a factor of 1.25"
    silent = replace(spec, tolerance=None)  # bounds 50 ... 200: known to within a factor of 2 before
    assert within_tolerance(found, silent).tolist() == [False, False, False]


def test_other_budgets_are_foreseen_as_measured(make_spec, read):
    log, plain = both(make_spec, "cloaking")
    log, plain = replace(log, total_epsilon=10.0), replace(plain, total_epsilon=10.0)
    X = read(log).X
    one, other = (foreseen(plan_release(spec, X), len(X), (0.5, 2.0)) for spec in (log, plain))
    np.testing.assert_allclose(one, other, rtol=1e-9)

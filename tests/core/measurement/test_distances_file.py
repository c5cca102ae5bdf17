"""Distances in the two files of a statistic: everything comes back, and nothing that no release can have."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dpgp_core import BayesCloaking
from dpgp_core.measurement.statistics_file import statistics_from_files, statistics_to_files
from tests.core.measurement.sealing import arrays_of, sealed
from tests.core.tables import changed

X_TEST = np.linspace(0, 10, 5)[:, None]
FILES = {
    "outputs": (statistics_to_files, statistics_from_files),
    "inputs and outputs": (statistics_to_files, statistics_from_files),
}


@pytest.fixture(scope="module", params=[(protects, kind) for protects in FILES for kind in ("number", "amount")])
def case(request, make_dataset):
    protects, kind = request.param
    data = make_dataset(x_box=((0.0, 10.0),))
    data = changed(data, y=np.abs(data.y), y_bounds=(0.0, 4.0), y_kind=kind)
    mechanism = BayesCloaking(epsilon=1.0, delta=0.01, stages=2, gap=0.1, protects=protects)
    return mechanism.release(data, X_TEST).statistics[0], *FILES[protects]


def test_everything_comes_back(case):
    statistics, write, read = case
    card, npz = write(statistics)
    found = read(json.loads(json.dumps(card)), npz)
    one, other = statistics.distances, found.distances
    for name in ("B", "g", "z", "sd", "reach"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    spent = [[m.noise_multiplier for m in each.measurements] for each in (statistics, found)]
    assert spent[0] == spent[1]
    assert (one.above is None) == (other.above is None)
    if one.above is not None:
        np.testing.assert_array_equal(one.above.z, other.above.z)


def test_files_of_before_hold_none(case):
    statistics, write, read = case
    card, npz = write(replace(statistics, distances=None))
    assert "distances" not in card
    assert read(card, npz).distances is None


@pytest.mark.parametrize(
    ("name", "value"), [("reach", -1.0), ("reach", 1e300), ("sd", np.nan), ("sd", 1e300), ("z", 1e300), ("g", 1e300)]
)
def test_a_file_that_was_sealed_anew_with_what_no_release_has_is_refused(case, name, value):
    statistics, write, read = case
    card, npz = write(statistics)
    arrays = arrays_of(npz)
    arrays[f"distances_{name}"][:] = value
    again = sealed(card, arrays)
    with pytest.raises(ValueError, match="again from whoever released"):
        read(*again)

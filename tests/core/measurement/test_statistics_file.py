"""A released statistic in its two files: everything comes back, and no output is in them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dpgp_core import BayesCloaking
from dpgp_core.measurement.described_arrays import pack, unpack
from dpgp_core.measurement.statistics_file import statistics_from_files, statistics_to_files
from tests.core.measurement.sealing import (
    Y,
    arrays_of,
    cells_of_days,
    cells_of_groups,
    clustered,
    clusters_of_groups,
    known_cells,
    of_cells,
    of_records,
    positioned_cells,
    records_of_groups,
    sealed,
    through_json,
    written,
)
from tests.core.replay import assert_same
from tests.core.tables import changed

KINDS = [
    of_records,
    records_of_groups,
    of_cells,
    known_cells,
    positioned_cells,
    cells_of_groups,
    cells_of_days,
    clustered,
    clusters_of_groups,
]
X_TEST = np.linspace(0, 10, 5)[:, None]


def assert_comes_back(statistics):
    card, npz = statistics_to_files(statistics)
    again = statistics_from_files(through_json(card), npz)
    assert type(again) is type(statistics)
    assert_same(again, statistics)
    assert statistics_to_files(again) == (card, npz) == statistics_to_files(statistics)


@pytest.mark.parametrize("make", KINDS)
def test_everything_comes_back_to_the_last_bit(make):
    assert_comes_back(make())


def test_files_contain_no_output():
    card, npz = written(of_records())
    values = np.concatenate([array.astype(float).ravel() for array in arrays_of(npz).values()])
    assert not np.isin(Y, values).any()
    assert {"seed", "time", "date"}.isdisjoint(json.dumps(card))


@pytest.fixture(
    scope="module", params=[(p, kind) for p in ("outputs", "inputs and outputs") for kind in ("number", "amount")]
)
def about_people(request, make_dataset):
    """A statistic that holds how far people are from the curve."""
    protects, kind = request.param
    data = make_dataset(x_box=((0.0, 10.0),))
    data = changed(data, y=np.abs(data.y), y_bounds=(0.0, 4.0), y_kind=kind)
    mechanism = BayesCloaking(epsilon=1.0, delta=0.01, stages=2, gap=0.1, protects=protects)
    return mechanism.release(data, X_TEST).statistics[0]


def test_distances_come_back(about_people):
    assert about_people.distances is not None
    assert_comes_back(about_people)
    assert_comes_back(replace(about_people, distances=None))


@pytest.mark.parametrize(
    ("name", "value"), [("reach", -1.0), ("reach", 1e300), ("sd", np.nan), ("sd", 1e300), ("z", 1e300), ("g", 1e300)]
)
def test_impossible_distances_are_refused_despite_their_digest(about_people, name, value):
    card, npz = written(about_people)
    arrays = arrays_of(npz)
    arrays[f"distances_{name}"][:] = value
    with pytest.raises(ValueError, match="again from whoever released"):
        statistics_from_files(*sealed(card, arrays))


# ---- the arrays beside their description


ARRAYS = {"a": np.array([1.5, -2.0]), "b": np.arange(6, dtype="<i4").reshape(2, 3)}
SHAPES = {"a": ((2,), np.dtype("<f8")), "b": ((2, 3), np.dtype("<i4"))}


def test_another_description_or_number_is_refused():
    card, npz = pack({"schema": 1, "stages": [{"noise": 1.0}]}, ARRAYS)
    changed = {name: array + (np.arange(array.size) == 1).reshape(array.shape) for name, array in ARRAYS.items()}
    one_number = [pack({}, ARRAYS | {name: changed[name].astype(ARRAYS[name].dtype)})[1] for name in ARRAYS]
    edits = [({"more": 1}, npz), ({"stages": [{"noise": 0.5}]}, npz), *(({}, other) for other in one_number)]
    for more, content in edits:
        with pytest.raises(ValueError, match="do not match their sha256"):
            unpack(card | more, content, SHAPES)
    with pytest.raises(ValueError, match=r"statistics\.npz is not a readable"):
        unpack(card, npz, SHAPES | {"a": ((3,), np.dtype("<f8"))})
    with pytest.raises(ValueError, match="does not hold the arrays that the description announces"):
        unpack(card, npz, {"a": SHAPES["a"]})


def nested(depth):
    found = 1
    for _ in range(depth):
        found = [found]
    return found


@pytest.mark.parametrize(
    "value", [float("inf"), float("nan"), 10**5000, nested(10**5)], ids=["inf", "nan", "int", "deep"]
)
def test_descriptions_without_a_digest_are_refused(value):
    card, npz = pack({"schema": 1}, ARRAYS)
    with pytest.raises(ValueError, match=r"cannot be written as JSON; fetch both files again"):
        unpack(card | {"more": value}, npz, SHAPES)


@pytest.mark.parametrize("shape", [(0,), (-1,), (1 << 40,)])
def test_no_size_is_taken_on_trust(shape):
    card, npz = pack({"schema": 1}, ARRAYS)
    with pytest.raises(ValueError, match="must hold between 1 number and 2147483648 bytes"):
        unpack(card, npz, SHAPES | {"a": (shape, np.dtype("<f8"))})

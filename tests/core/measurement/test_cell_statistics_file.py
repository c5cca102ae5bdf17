"""A released statistic of cells, or with distances, in its files."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dpgp_core import BayesCloaking
from dpgp_core.levels import LevelSide
from dpgp_core.measurement.measurement import CellCounts, Measurement
from dpgp_core.measurement.statistics import CellStatistics, KnownCounts, Stage
from dpgp_core.measurement.statistics_file import statistics_from_files, statistics_to_files
from tests.core.measurement.sealing import arrays_of, sealed
from tests.core.tables import changed, columns


def strategy(r, M, seed):
    B = np.random.default_rng(seed).standard_normal((r, M))
    return B / np.linalg.norm(B, axis=0)


@pytest.fixture(scope="module")
def statistics():
    """Two stages over nine cells of a box of two inputs."""
    rng = np.random.default_rng(0)
    stages = tuple(
        Stage(
            measurement=Measurement(
                B=strategy(r, 9, r),
                low=np.full(9, -0.3 * r),
                high=np.full(9, 0.2 * r),
                bounds=(-7.0, 7.0),
                noise_multiplier=1.0 / r,
            ),
            g=rng.standard_normal(81),
            z=rng.standard_normal(r),
        )
        for r in (4, 2)
    )
    return CellStatistics(
        counts=CellCounts(B=strategy(3, 9, 1), noise_multiplier=2.5),
        z=rng.standard_normal(3),
        stages=stages,
        n=50,
        per_side=3,
        columns=columns(("a", "b"), ("m", ""), ((0.0, 1.0), (-1.0, 1.0))),
        y_name="y",
        y_unit="cm",
        bounds=(40.0, 180.0),
        y_scale=20.0,
        guarantee={"epsilon": 1.0},
    )


@pytest.fixture
def files(statistics):
    card, npz = statistics_to_files(statistics)
    return json.loads(json.dumps(card)), npz


def test_everything_comes_back(statistics, files):
    found = statistics_from_files(*files)
    for name in ("n", "per_side", "columns", "y_name", "y_unit", "bounds", "y_scale", "guarantee"):
        assert getattr(found, name) == getattr(statistics, name)
    np.testing.assert_array_equal(found.z, statistics.z)
    np.testing.assert_array_equal(found.counts.B, statistics.counts.B)
    assert found.counts.noise_sd == statistics.counts.noise_sd
    for mine, theirs in zip(found.stages, statistics.stages, strict=True):
        np.testing.assert_array_equal(mine.z, theirs.z)
        np.testing.assert_array_equal(mine.g, theirs.g)
        for name in ("B", "low", "high", "bounds", "noise_multiplier", "noise_sd"):
            np.testing.assert_array_equal(getattr(mine.measurement, name), getattr(theirs.measurement, name))


def test_the_files_are_the_same_each_time(statistics):
    assert statistics_to_files(statistics) == statistics_to_files(statistics)


def test_an_edited_description_is_refused(files):
    card, npz = files
    card["counts"].update(noise_multiplier=0.1)
    with pytest.raises(ValueError, match="do not match their sha256"):
        statistics_from_files(card, npz)


BROKEN = {
    "no kind": lambda card: card.pop("kind"),
    "no counts": lambda card: card.pop("counts"),
    "no digest": lambda card: card.pop("sha256"),
    "no cells": lambda card: card.update(cells_per_side=0),
    "too many cells": lambda card: card.update(cells_per_side=10**6),
    "half a cell": lambda card: card.update(cells_per_side=2.5),
    "numbers in words": lambda card: card["stages"][1].update(numbers="two"),
    "stages no list": lambda card: card.update(stages=7),
    "eleven inputs": lambda card: card["inputs"].update(names=["x"] * 11),
}


@pytest.mark.parametrize("edit", BROKEN.values(), ids=BROKEN)
def test_an_incomplete_description_is_a_sentence(files, edit):
    card, npz = files
    edit(card)
    with pytest.raises(ValueError, match="fetch both files again from whoever released them"):
        statistics_from_files(card, npz)


def test_another_schema_is_named(files):
    card, npz = files
    with pytest.raises(ValueError, match="have schema 3, and this version reads 1"):
        statistics_from_files(card | {"schema": 3}, npz)


FORGED = {
    "strategies above 1": (lambda a, c: a["B_1"].__setitem__((0, 0), 1 << 21), "strategy 1 holds numbers above 1"),
    "an endless number": (lambda a, c: a["z_0"].__setitem__(0, np.inf), "z must be 3 finite numbers"),
    "ends the wrong way": (lambda a, c: a["low_2"].__setitem__(0, 6.0), "interval"),
    "another noise": (lambda a, c: c["stages"][0].update(noise="none"), "stage 1 has an unknown kind of noise"),
    "no records": (lambda a, c: c.update(records=0), "n must be at least 1, got 0"),
}


@pytest.mark.parametrize(("edit", "message"), FORGED.values(), ids=FORGED)
def test_what_no_release_can_have_is_refused_though_the_digest_fits(files, edit, message):
    card, npz = files
    arrays = arrays_of(npz)
    edit(arrays, card)
    with pytest.raises(ValueError, match=message):
        statistics_from_files(*sealed(card, arrays))


@pytest.fixture
def known(statistics):
    """The same where inputs are public: 50 records, all in three cells."""
    return replace(statistics, counts=KnownCounts(numbers=np.array([20.0, 0, 0, 25, 0, 0, 0, 5, 0])), z=np.zeros(0))


def test_counts_that_are_public_come_back(known):
    card, npz = statistics_to_files(known)
    found = statistics_from_files(json.loads(json.dumps(card)), npz)
    np.testing.assert_array_equal(found.counts.numbers, known.counts.numbers)
    assert found.z.shape == (0,)
    assert statistics_to_files(found) == (card, npz)


def test_counts_that_no_table_can_have_are_refused(known):
    card, npz = statistics_to_files(known)
    arrays = arrays_of(npz)
    arrays["N"][0] += 1
    with pytest.raises(ValueError, match="the counts must add up to 50 records, not 51"):
        statistics_from_files(*sealed(card, arrays))


def of_groups():
    """One stage over three cells of each of three levels."""
    rng = np.random.default_rng(1)
    measurement = Measurement(
        B=strategy(4, 9, 0), low=np.full(9, -0.3), high=np.full(9, 0.2), bounds=(-7.0, 7.0), noise_multiplier=1.0
    )
    stage = Stage(measurement=measurement, g=rng.standard_normal(27), z=rng.standard_normal(4))
    return CellStatistics(
        counts=CellCounts(B=strategy(3, 9, 1), noise_multiplier=2.5),
        z=rng.standard_normal(3),
        stages=(stage,),
        n=50,
        per_side=3,
        columns=columns(("region", "age"), ("", "years"), ((0.0, 90.0),), (("a", "b", "other"), None)),
        y_name="y",
        y_unit="cm",
        bounds=(40.0, 180.0),
        y_scale=20.0,
        guarantee={"epsilon": 1.0},
    )


def test_levels_come_back():
    card, npz = statistics_to_files(of_groups())
    found = statistics_from_files(json.loads(json.dumps(card)), npz)
    assert found.x_levels == (("a", "b", "other"), None)
    assert isinstance(found.x_box[0], LevelSide)
    assert found.x_box == of_groups().x_box
    assert statistics_to_files(found) == (card, npz)


@pytest.mark.parametrize(
    "levels",
    [
        [["a", "b"], None],  # other cells than there are columns
        [["a", "b", "b"], None],
        [["a", "b", 3], None],
        [["a", "b", " c"], None],
        [["a", "b", "c\n"], None],
        ["abc", None],
        [None, None],
        [["a", "b", "c"]],
        [["a", "b", "c"], ["d", "e"]],
        [["a"], None],
        "levels",
        7,
        None,
        {"region": ["a", "b", "c"]},
    ],
    ids=str,
)
def test_levels_that_no_release_can_have_are_refused(levels):
    card, npz = statistics_to_files(of_groups())
    card["inputs"]["levels"] = levels
    card, npz = sealed(card, arrays_of(npz))
    with pytest.raises(ValueError, match=r"the statistics|statistics say"):
        statistics_from_files(json.loads(json.dumps(card)), npz)


def test_a_side_of_levels_is_as_derived():
    card, npz = statistics_to_files(of_groups())
    card["inputs"]["box"][0] = [0.0, 3.0]
    with pytest.raises(ValueError, match="which is a category"):
        statistics_from_files(*sealed(card, arrays_of(npz)))


def test_periods_come_back_and_divide_the_cells(statistics):
    with pytest.raises(ValueError, match="every strategy must have 63 columns"):
        replace(statistics, periods=(None, 7.0))
    M, nodes = 2 * 7, 9 * 2 * 7
    stage = Stage(
        measurement=Measurement(
            B=strategy(3, M, 0), low=np.full(M, -1.0), high=np.full(M, 1.0), bounds=(-7.0, 7.0), noise_multiplier=1.0
        ),
        g=np.zeros(nodes),
        z=np.zeros(3),
    )
    dated = replace(
        statistics,
        stages=(stage,),
        per_side=2,
        counts=KnownCounts(numbers=np.full(M, 2.0)),
        z=np.zeros(0),
        n=28,
        columns=columns(("day",), ("days since 2020-01-01",), ((0.0, 99.0),)),
        periods=(7.0,),
    )
    card, npz = statistics_to_files(dated)
    assert statistics_from_files(card, npz).periods == (7.0,)
    for wrong in ([7.0, 7.0], [-7.0], ["week"], 7):
        files = sealed({**card, "inputs": card["inputs"] | {"periods": wrong}}, arrays_of(npz))
        with pytest.raises(ValueError, match="statistics"):
            statistics_from_files(*files)


def test_files_without_periods_say_nothing_of_them(files):
    assert "periods" not in files[0]["inputs"]


# ---- Distances in the two files of a statistic: everything comes back, and nothing that no release can have.


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


def test_distances_come_back(case):
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

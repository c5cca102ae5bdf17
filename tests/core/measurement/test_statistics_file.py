"""A released statistic in its files: everything comes back, and nothing that no release can have."""

import io
import json
import struct
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.levels import LevelSide
from dpgp_core.measurement.described_arrays import check_schema, number, pack, pair, unpack, whole
from dpgp_core.measurement.measurement import LaplaceMeasurement, Measurement
from dpgp_core.measurement.statistics import Stage, Statistics
from dpgp_core.measurement.statistics_file import statistics_from_files, statistics_to_files
from tests.core.measurement.sealing import arrays_of, sealed
from tests.core.tables import columns

N = 30
BOUNDS = (50.0, 200.0)
Y = np.random.default_rng(0).uniform(*BOUNDS, N)


def stage(kind, r, seed, **amount):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((r, N))
    B /= np.linalg.norm(B, ord=1 if kind is LaplaceMeasurement else 2, axis=0)
    low = rng.uniform(50, 100, N)
    measurement = kind(B=B, low=low, high=low + 1 / 3, bounds=BOUNDS, **amount)
    return Stage(measurement=measurement, z=measurement.measure(Y))


@pytest.fixture(scope="module")
def statistics():
    return Statistics(
        stages=(stage(Measurement, 4, 1, noise_multiplier=1 / 3), stage(LaplaceMeasurement, 3, 2, epsilon=0.1)),
        X=np.random.default_rng(3).standard_normal((N, 2)),
        columns=columns(("age", "weight"), ("years", "kg"), ((0.0, 1 / 3), (-1.0, 1e9))),
        y_name="height",
        y_unit="cm",
        y_scale=25.742,
        guarantee={"epsilon": 1.1, "delta": 0.01, "protects": "outputs", "notes": ["a", "b"]},
    )


@pytest.fixture
def files(statistics):
    return statistics_to_files(statistics)


def through_json(card):
    return json.loads(json.dumps(card))


def repacked(npz, **changes):
    """The archive with some arrays replaced; None leaves one out."""
    arrays = arrays_of(npz) | changes
    stream = io.BytesIO()
    np.savez_compressed(stream, **{name: array for name, array in arrays.items() if array is not None})
    return stream.getvalue()


def test_everything_comes_back_to_the_last_bit(statistics, files):
    card, npz = files
    again = statistics_from_files(through_json(card), npz)
    for name in ("columns", "y_name", "y_unit", "y_scale", "guarantee", "bounds"):
        assert getattr(again, name) == getattr(statistics, name)
    assert (again.X == statistics.X).all()
    for new, old in zip(again.stages, statistics.stages, strict=True):
        assert type(new.measurement) is type(old.measurement)
        assert new.measurement.noise == old.measurement.noise
        assert (new.z == old.z).all()
        for name in ("B", "low", "high"):
            assert (getattr(new.measurement, name) == getattr(old.measurement, name)).all()
    assert statistics_to_files(again) == files


def test_files_are_the_same_bytes_each_time_and_hold_no_output(statistics, files):
    assert statistics_to_files(statistics) == files
    card, npz = files
    values = np.concatenate([array.astype(float).ravel() for array in arrays_of(npz).values()])
    assert not np.isin(Y, values).any()
    assert {"seed", "time", "date"}.isdisjoint(json.dumps(card))


@pytest.mark.parametrize(
    "edit", [lambda card: card["guarantee"].update(epsilon=0.1), lambda card: card.update(sha256="0" * 64)]
)
def test_an_edited_description_is_refused(files, edit):
    card, npz = files
    card = through_json(card)
    edit(card)
    with pytest.raises(ValueError, match="do not match their sha256"):
        statistics_from_files(card, npz)


@pytest.mark.parametrize(
    "changes",
    [
        {"z_0": None},
        {"extra": np.zeros(3)},
        {"z_0": np.zeros(5)},
        {"z_0": np.zeros((4, 1))},
        {"z_0": np.zeros(4, dtype="<f4")},
        {"z_0": np.zeros(4, dtype=">f8")},
        {"X": np.asfortranarray(np.ones((N, 2)))},
        {"z_0": np.zeros(10**6)},
        {"z_0": np.array([{}, {}, {}, {}], dtype=object)},
    ],
    ids=str,
)
def test_arrays_other_than_announced_are_refused(files, changes):
    card, npz = files
    with pytest.raises(ValueError, match=r"statistics\.npz .*fetch both files again"):
        statistics_from_files(card, repacked(npz, **changes))


@pytest.mark.parametrize(
    "damage",
    [lambda b: b"", lambda b: b"PK", lambda b: b[:-30], lambda b: b"x" * 400, lambda b: b[:200] + bytes(60) + b[260:]],
)
def test_a_damaged_archive_is_refused(files, damage):
    card, npz = files
    with pytest.raises(ValueError, match=r"statistics\.npz .*fetch both files again"):
        statistics_from_files(card, damage(npz))


def test_a_header_that_announces_more_than_the_file_holds_is_refused(files):
    """Four numbers whose header says 10^12: refused before any memory is taken."""
    card, npz = files
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(npz)) as old, zipfile.ZipFile(stream, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "z_0.npy":
                header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }\n"
                content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(32)
            new.writestr(name, content)
    with pytest.raises(ValueError, match="fetch both files again"):
        statistics_from_files(card, stream.getvalue())


@pytest.mark.parametrize("schema", [0, 2, "1", None])
def test_another_schema_is_named(files, schema):
    card, npz = files
    with pytest.raises(ValueError, match=f"have schema {schema!r}, and this version reads 1"):
        statistics_from_files(card | {"schema": schema}, npz)


@pytest.mark.parametrize(
    "edit",
    [
        lambda card: card.pop("columns"),
        lambda card: card.pop("sha256"),
        lambda card: card.update(columns=None),
        lambda card: card.update(columns=-1),
        lambda card: card.update(columns=10**12),
        lambda card: card.update(stages=[]),
        lambda card: card.update(stages=3),
        lambda card: card["stages"][0].pop("numbers"),
        lambda card: card["inputs"].update(names=7),
        lambda card: card.update(columns=1e400),
        lambda card: card.update(columns="many"),
    ],
)
def test_an_incomplete_description_is_refused_with_a_sentence(files, edit):
    card, npz = files
    card = through_json(card)
    edit(card)
    with pytest.raises(ValueError, match=r"statistics.* fetch both files again"):
        statistics_from_files(card, npz)


@pytest.mark.parametrize(
    ("edit", "changes", "message"),
    [
        (lambda card: card["stages"][0].update(noise_multiplier=-1.0), {}, "noise_multiplier must be"),
        (lambda card: card["stages"][0].update(noise="none"), {}, "unknown kind of noise"),
        (lambda card: None, {"B_0": np.full((4, N), 1 << 20, dtype="<i4")}, "norm 2, above 1"),
        (lambda card: None, {"B_0": np.full((4, N), -(1 << 31), dtype="<i4")}, "numbers above 1"),
        (lambda card: None, {"low_0": np.full(N, 60.0), "high_0": np.full(N, 60.0)}, "width above zero"),
        (lambda card: None, {"low_0": np.full(N, 0.0)}, "inside the declared bounds"),
        (lambda card: None, {"z_1": np.full(3, np.nan)}, "finite numbers"),
        (lambda card: card["output"].update(bounds=[50.0]), {}, "of another shape"),
    ],
)
def test_a_forged_file_that_no_release_can_be_is_refused(files, edit, changes, message):
    card, npz = files
    card = through_json(card)
    edit(card)
    with pytest.raises(ValueError, match=message):
        statistics_from_files(*sealed(card, arrays_of(npz) | changes))


def of_groups(statistics):
    X = np.stack([statistics.X[:, 0], np.arange(N) % 2.0], axis=1)
    inputs = columns(statistics.x_names, statistics.x_units, statistics.x_box[:1], (None, ("women", "men")))
    return replace(statistics, X=X, columns=inputs)


def test_levels_come_back(statistics):
    card, npz = statistics_to_files(of_groups(statistics))
    found = statistics_from_files(through_json(card), npz)
    assert found.x_levels == (None, ("women", "men"))
    assert isinstance(found.x_box[1], LevelSide)
    assert statistics_to_files(found) == (card, npz)


def test_files_of_before_speak_of_no_levels(statistics):
    card, _ = statistics_to_files(statistics)
    assert "levels" not in card["inputs"]


@pytest.mark.parametrize("levels", [[None, ["women"]], [None, ["a", "a"]], [["a", "b"], None], [None], "ab", [None, 3]])
def test_levels_that_do_not_fit_are_refused(statistics, levels):
    card, npz = statistics_to_files(of_groups(statistics))
    card["inputs"]["levels"] = levels
    card, npz = sealed(card, arrays_of(npz))
    with pytest.raises(ValueError, match="statistics"):
        statistics_from_files(through_json(card), npz)


def test_a_column_of_levels_holds_their_numbers(statistics):
    with pytest.raises(ValueError, match="'weight' has 2 levels"):
        replace(of_groups(statistics), X=of_groups(statistics).X + 0.5)


ARRAYS = {"a": np.array([1.5, -2.0]), "b": np.arange(6, dtype="<i4").reshape(2, 3)}
SHAPES = {"a": ((2,), np.dtype("<f8")), "b": ((2, 3), np.dtype("<i4"))}


def test_arrays_come_back_as_they_were_and_the_bytes_are_the_same_each_time():
    card, npz = pack({"schema": 1}, ARRAYS)
    assert (card, npz) == pack({"schema": 1}, ARRAYS)
    found = unpack(card, npz, SHAPES)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


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
def test_what_no_digest_can_be_made_of_is_a_sentence(value):
    card, npz = pack({"schema": 1}, ARRAYS)
    with pytest.raises(ValueError, match=r"cannot be written as JSON; fetch both files again"):
        unpack(card | {"more": value}, npz, SHAPES)


@pytest.mark.parametrize("shape", [(0,), (-1,), (1 << 40,)])
def test_no_size_is_taken_on_trust(shape):
    card, npz = pack({"schema": 1}, ARRAYS)
    with pytest.raises(ValueError, match="must hold between 1 number and 2147483648 bytes"):
        unpack(card, npz, SHAPES | {"a": (shape, np.dtype("<f8"))})


def test_numbers_are_numbers():
    assert (number(2), whole(3), pair([1, 2.5])) == (2.0, 3, (1.0, 2.5))
    for read, value in ((number, "2"), (number, True), (whole, 2.0), (whole, False), (pair, [1, 2, 3])):
        with pytest.raises(TypeError):
            read(value)
    with pytest.raises(ValueError, match="have schema 2, and this version reads 1"):
        check_schema({"schema": 2})

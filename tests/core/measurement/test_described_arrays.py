import numpy as np
import pytest

from dpgp_core.measurement.described_arrays import check_schema, number, pack, pair, unpack, whole

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

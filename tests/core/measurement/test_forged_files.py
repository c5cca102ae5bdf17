"""Files of a statistic that somebody has altered: each is refused with a sentence, sealed anew or not."""

import io
import struct
import zipfile

import numpy as np
import pytest

from dpgp_core.measurement.statistics_file import statistics_from_files
from tests.core.measurement.sealing import (
    N,
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
    written,
)

AGAIN = r"statistics.* fetch both files again from whoever released them"
EDITED = "do not match their sha256"
UNSEALED = [
    (of_records, lambda card: card["guarantee"].update(epsilon=0.1), EDITED),
    (of_records, lambda card: card.update(sha256="0" * 64), EDITED),
    (of_cells, lambda card: card["counts"].update(noise_multiplier=0.1), EDITED),
    *(
        (of_records, lambda card, s=schema: card.update(schema=s), f"have schema {schema!r}, and this version reads 1")
        for schema in (0, 2, "1", None)
    ),
    *(
        (of_records, edit, AGAIN)
        for edit in (
            lambda card: card.pop("columns"),
            lambda card: card.pop("sha256"),
            lambda card: card.update(columns=None),
            lambda card: card.update(columns=-1),
            lambda card: card.update(columns=10**12),
            lambda card: card.update(stages=3),
            lambda card: card["stages"][0].pop("numbers"),
            lambda card: card["inputs"].update(names=7),
            lambda card: card.update(columns=1e400),
        )
    ),
    *(
        (of_cells, edit, AGAIN)
        for edit in (
            lambda card: card.pop("kind"),
            lambda card: card.pop("counts"),
            lambda card: card.update(cells_per_side=0),
            lambda card: card.update(cells_per_side=10**6),
            lambda card: card.update(cells_per_side=2.5),
            lambda card: card["stages"][1].update(numbers="two"),
            lambda card: card["inputs"].update(names=["x"] * 11),
        )
    ),
    *(
        (clustered, lambda card, m=clusters: card.update(clusters=m), words)
        for clusters, words in (
            (0, "must have between 1 and 4096 clusters"),
            (4097, "must have between 1 and 4096 clusters"),
            (3, EDITED + "|" + AGAIN),
            (4.0, AGAIN),
            (None, AGAIN),
        )
    ),
]


@pytest.mark.parametrize(("make", "edit", "words"), UNSEALED)
def test_an_edited_or_incomplete_description_is_refused(make, edit, words):
    card, npz = written(make())
    edit(card)
    with pytest.raises(ValueError, match=words):
        statistics_from_files(card, npz)


def repacked(npz, **changes):
    """The archive with some arrays replaced; None leaves one out."""
    arrays = arrays_of(npz) | changes
    stream = io.BytesIO()
    np.savez_compressed(stream, **{name: array for name, array in arrays.items() if array is not None})
    return stream.getvalue()


def announcing(npz):
    """Four numbers whose header says 10^12: to be refused before any memory is taken."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(npz)) as old, zipfile.ZipFile(stream, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "z_0.npy":
                header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }\n"
                content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(32)
            new.writestr(name, content)
    return stream.getvalue()


DAMAGED = [
    lambda npz: repacked(npz, z_0=None),
    lambda npz: repacked(npz, extra=np.zeros(3)),
    lambda npz: repacked(npz, z_0=np.zeros(5)),
    lambda npz: repacked(npz, z_0=np.zeros((4, 1))),
    lambda npz: repacked(npz, z_0=np.zeros(4, dtype="<f4")),
    lambda npz: repacked(npz, z_0=np.zeros(4, dtype=">f8")),
    lambda npz: repacked(npz, X=np.asfortranarray(np.ones((N, 2)))),
    lambda npz: repacked(npz, z_0=np.zeros(10**6)),
    lambda npz: repacked(npz, z_0=np.array([{}, {}, {}, {}], dtype=object)),
    announcing,
    lambda npz: b"",
    lambda npz: b"PK",
    lambda npz: npz[:-30],
    lambda npz: b"x" * 400,
    lambda npz: npz[:200] + bytes(60) + npz[260:],
]


@pytest.mark.parametrize("damage", DAMAGED)
def test_an_archive_other_than_announced_is_refused(damage):
    card, npz = written(of_records())
    with pytest.raises(ValueError, match=r"statistics\.npz .*fetch both files again"):
        statistics_from_files(card, damage(npz))


def put(name, where, value):
    return lambda card, arrays: arrays[name].__setitem__(where, value)


def inputs(**found):
    return lambda card, arrays: card["inputs"].update(found)


def outcomes(**found):
    return lambda card, arrays: card["output"].update(found)


def put_before(name, arrays, **more):
    """More arrays, in the order that a description announces."""
    names = list(arrays)
    later = {each: arrays.pop(each) for each in names[names.index(name) :]}
    arrays.update(more | later)


def measured_counts(card, arrays):
    """Noisy counts instead of public ones."""
    card["counts"] = {"noise_multiplier": 2.0, "numbers": 3}
    del arrays["N"], arrays["places"]
    put_before("B_1", arrays, B_0=np.zeros((3, 4), dtype="<i4"), z_0=np.zeros(3))


def measured_positions(card, arrays):
    """Noisy positions in addition to known places."""
    card["positions"] = {"noise": "discrete Gaussian", "noise_multiplier": 2.0, "sides": 2}
    put_before("B_1", arrays, positions=np.zeros((2, 4)))


NONE = "^no release can hold what the statistics say: "
SIDE = [0.0, 1.0]
SEALED = [
    (of_records, lambda card, arrays: card["stages"][0].update(noise_multiplier=-1.0), "noise_multiplier must be"),
    (of_records, lambda card, arrays: card["stages"][0].update(noise="none"), "unknown kind of noise"),
    (of_records, put("B_0", ..., 1 << 20), "norm 2, above 1"),
    (of_records, put("B_0", ..., -(1 << 31)), "numbers above 1"),
    (
        of_records,
        lambda card, arrays: arrays.update(low_0=np.full(N, 60.0), high_0=np.full(N, 60.0)),
        "width above zero",
    ),
    (of_records, put("low_0", ..., 0.0), "inside the declared bounds"),
    (of_records, put("z_1", ..., np.nan), "finite numbers"),
    (of_records, lambda card, arrays: card["output"].update(bounds=[50.0]), "of another shape"),
    (of_cells, put("B_1", (0, 0), 1 << 21), "strategy 1 holds numbers above 1"),
    (of_cells, put("z_0", 0, np.inf), "z must be 3 finite numbers"),
    (of_cells, put("low_2", 0, 6.0), "interval"),
    (of_cells, lambda card, arrays: card["stages"][0].update(noise="none"), "stage 1 has an unknown kind of noise"),
    (known_cells, put("N", 0, 21.0), "the counts must add up to 50 records, not 51"),
    (positioned_cells, put("positions", (0, 0), np.inf), "z of positions must be 9 finite numbers"),
    (positioned_cells, put("positions", (1, 8), 1e9), "a noisy number must lie within"),
    (
        positioned_cells,
        lambda card, arrays: card["positions"].update(noise="none"),
        "the positions have an unknown kind of noise",
    ),
    (positioned_cells, lambda card, arrays: card["positions"].update(noise_multiplier=0.0), "noise_multiplier must be"),
    (
        positioned_cells,
        lambda card, arrays: (
            card["positions"].update(sides=1),
            arrays.update(positions=np.ascontiguousarray(arrays["positions"][:1])),
        ),
        "positions must have 2 rows, one for each side of numbers",
    ),
    (known_cells, put("places", 10, 21.0), "the places in a cell must add up to its number of records"),
    (known_cells, put("places", [0, 1], [1e6, -1e6]), "the places in a cell must add up to its number of records"),
    (known_cells, put("places", 0, np.nan), "places must be 81 finite numbers"),
    (clustered, put("clusters", (0, 1, 0), -0.1), "the ends of the clusters must lie within the box"),
    (clustered, put("clusters", (1, 1, 1), 1.1), "the ends of the clusters must lie within the box"),
    (clustered, put("clusters", (0, 0, 0), 0.3), "within the box, the low one first"),
    (clustered, put("clusters", (0, 2, 1), np.nan), "the ends of the clusters must lie within the box"),
    (clustered, lambda card, arrays: measured_counts(card, arrays), "whose counts and places are known and not"),
    (clustered, lambda card, arrays: measured_positions(card, arrays), "whose counts and places are known and not"),
    (clustered, put("N", ..., [25.0, 15.0, 10.0, 0.0]), "every cluster must hold a record"),
    (clustered, put("places", 35, np.inf), "places must be 36 finite numbers"),
    (clustered, inputs(periods=[7.0, None]), "statistics"),
    (clusters_of_groups, put("clusters", (1, 0, 0), 1.0), "every cluster must belong to one category"),
    (clusters_of_groups, put("clusters", (slice(None), 0, 0), 0.5), "every cluster must belong to one category"),
    (cells_of_groups, lambda card, arrays: card["inputs"]["box"].__setitem__(0, [0.0, 3.0]), "which is a category"),
    *(
        (records_of_groups, inputs(levels=found), "statistics")
        for found in ([None, ["women"]], [["a", "b"], None], [None, 3])
    ),
    *(
        (cells_of_groups, inputs(levels=found), "the statistics|statistics say")
        for found in (
            [["a", "b"], None],  # other cells than there are columns
            [["a", "b", "b"], None],
            [["a", "b", 3], None],
            [["a", "b", " c"], None],
            [["a", "b", "c\n"], None],
            [None, None],
            [["a", "b", "c"]],
            [["a", "b", "c"], ["d", "e"]],
            "levels",
            7,
            {"region": ["a", "b", "c"]},
        )
    ),
    *((cells_of_days, inputs(periods=found), "statistics") for found in ([7.0, 7.0], [-7.0], ["week"], 7)),
    *(
        (of_records, inputs(box=[side, SIDE]), NONE + problem)
        for side, problem in (
            ([5.0, 5.0], r"the box of input 1 must be .*low < high, got \[5, 5\]"),
            ([5.0, 1.0], r"the box of input 1 must be .*low < high, got \[5, 1\]"),
            ([-1e308, 1e308], "the box of input 1 must lie in -1e\\+15"),
        )
    ),
    *((of_cells, outcomes(bounds=bounds), NONE) for bounds in ([5, 5], [200, 50], [-1e308, 1e308])),
    (of_cells, outcomes(name="n" * 10**5), NONE),
    *((of_cells, inputs(box=[side] * 2), NONE) for side in ([1.0, 0.0], [1e9, 1e9 + 1e-7], [0, 1e-320])),
    *((of_cells, inputs(levels=found), NONE) for found in ([["a", "b"]] * 2, [["a"]], [[1, 2, 3], None])),
    (of_cells, inputs(names=["n" * 10**5, "b"], levels=[["a"], None]), NONE),
    (of_records, inputs(box=[SIDE] * 3), NONE + "x_box must have 2 entries"),
    (of_records, inputs(units=["a\nb", ""]), NONE + "the unit of input 1 must be one line"),
    (of_records, inputs(units=[]), NONE + "x_units must have 2 entries"),
    (of_cells, lambda card, arrays: card.update(records=10**13), "the number of records must"),
    (of_cells, lambda card, arrays: card.update(records=0.5), "statistics"),
]


@pytest.mark.parametrize(("make", "edit", "words"), SEALED)
def test_impossible_contents_are_refused_despite_their_digest(make, edit, words):
    card, npz = written(make())
    arrays = arrays_of(npz)
    edit(card, arrays)
    with pytest.raises(ValueError, match=words):
        statistics_from_files(*sealed(card, arrays))

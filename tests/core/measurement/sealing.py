"""Statistics of records and of cells, their two files, and what a forger makes of these."""

import io
import json
from dataclasses import replace

import numpy as np

from dpgp_core.measurement.described_arrays import pack
from dpgp_core.measurement.measurement import CellCounts, LaplaceMeasurement, Measurement, from_zero
from dpgp_core.measurement.statistics import CellStatistics, KnownCounts, MeasuredLocations, Stage, Statistics
from dpgp_core.measurement.statistics_file import statistics_to_files
from tests.core.tables import columns

N = 30  # records
BOUNDS = (50.0, 200.0)
Y = np.random.default_rng(0).uniform(*BOUNDS, N)
PUBLIC = {"y_name": "height", "y_unit": "cm", "y_scale": 25.742}


def arrays_of(npz):
    with np.load(io.BytesIO(npz), allow_pickle=False) as archive:
        return dict(archive)


def sealed(card, arrays):
    """The two files with a digest that fits: whoever alters them can compute it anew."""
    return pack({key: value for key, value in card.items() if key != "sha256"}, arrays)


def through_json(card):
    return json.loads(json.dumps(card))


def written(statistics):
    """The two files, as whoever reads them has them."""
    card, npz = statistics_to_files(statistics)
    return through_json(card), npz


def _stage(kind, r, seed, **amount):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((r, N))
    B /= np.linalg.norm(B, ord=1 if kind is LaplaceMeasurement else 2, axis=0)
    low = rng.uniform(50, 100, N)
    measurement = kind(B=B, low=low, high=low + 1 / 3, bounds=BOUNDS, **amount)
    return Stage(measurement=measurement, z=measurement.measure(Y))


def of_records():
    """Two stages over thirty records of two inputs, with noise of both kinds."""
    return Statistics(
        stages=(_stage(Measurement, 4, 1, noise_multiplier=1 / 3), _stage(LaplaceMeasurement, 3, 2, epsilon=0.1)),
        X=np.random.default_rng(3).standard_normal((N, 2)),
        columns=columns(("age", "weight"), ("years", "kg"), ((0.0, 1 / 3), (-1.0, 1e9))),
        guarantee={"epsilon": 1.1, "delta": 0.01, "protects": "outputs", "notes": ["a", "b"]},
        **PUBLIC,
    )


def records_of_groups():
    """The same with women and men for the second input."""
    records = of_records()
    X = np.stack([records.X[:, 0], np.arange(N) % 2.0], axis=1)
    inputs = columns(records.x_names, records.x_units, records.x_box[:1], (None, ("women", "men")))
    return replace(records, X=X, columns=inputs)


def strategy(r, M, seed):
    B = np.random.default_rng(seed).standard_normal((r, M))
    return B / np.linalg.norm(B, axis=0)


def cell_stage(r, M, nodes, seed=0, low=-0.3, high=0.2, multiplier=1.0):
    """A stage over M columns whose curve has so many nodes."""
    low, high = np.full(M, low), np.full(M, high)
    measurement = Measurement(
        B=strategy(r, M, seed), low=low, high=high, bounds=(-7.0, 7.0), noise_multiplier=multiplier
    )
    rng = np.random.default_rng(seed)
    return Stage(measurement=measurement, g=rng.standard_normal(nodes), z=rng.standard_normal(r))


def of_cells(**changes):
    """Two stages over nine cells of a box of two inputs, with changes."""
    made = {
        "counts": CellCounts(B=strategy(3, 9, 1), noise_multiplier=2.5),
        "z": np.random.default_rng(0).standard_normal(3),
        "stages": tuple(cell_stage(r, 9, 81, r, -0.3 * r, 0.2 * r, 1.0 / r) for r in (4, 2)),
        "n": 50,
        "per_side": 3,
        "columns": columns(("a", "b"), ("m", ""), ((0.0, 1.0), (-1.0, 1.0))),
        "bounds": (40.0, 180.0),
        "guarantee": {"epsilon": 1.0},
    }
    return CellStatistics(**made | PUBLIC | changes)


def positioned_cells():
    """The same with locations in the cells, along both sides."""
    measurement = from_zero(np.eye(9), np.ones(9), (0.0, 1.0), 3.0)
    z = np.random.default_rng(6).standard_normal((2, 9))
    return of_cells(locations=MeasuredLocations(measurement=measurement, z=z))


def known_cells():
    """The same where inputs are public: 50 records, all in the middles of three cells."""
    places = np.zeros(81)
    places[[10, 37, 67]] = 20, 25, 5
    counts = KnownCounts(numbers=np.array([20.0, 0, 0, 25, 0, 0, 0, 5, 0]), node_sums=places)
    return of_cells(counts=counts, z=np.zeros(0))


def cells_of_groups():
    """One stage over three cells of each of three levels."""
    inputs = columns(("region", "age"), ("", "years"), ((0.0, 90.0),), (("a", "b", "other"), None))
    return of_cells(stages=(cell_stage(4, 9, 27),), columns=inputs)


def cells_of_days():
    """One stage over two cells of each day of a week, whose counts are known."""
    return of_cells(
        stages=(cell_stage(3, 14, 126, low=-1.0, high=1.0),),
        per_side=2,
        counts=KnownCounts(numbers=np.full(14, 2.0), node_sums=np.full(126, 2 / 9)),
        z=np.zeros(0),
        n=28,
        columns=columns(("day",), ("days since 2020-01-01",), ((0.0, 99.0),)),
        periods=(7.0,),
    )


def clustered(**changes):
    """One stage over four clusters of two public inputs, everybody in the middle of a cluster, with changes."""
    low = np.array([[0.0, -1.0], [0.25, -0.5], [0.5, 0.5], [1.0, 1.0]])
    high = np.array([[0.2, 1.0], [0.5, -0.5], [0.75, 1.0], [1.0, 1.0]])
    places = np.zeros((4, 9))
    places[:, 4] = 20, 15, 10, 5
    made = {
        "stages": (cell_stage(3, 4, 36),),
        "per_side": None,
        "clusters": np.stack([low, high]),
        "counts": KnownCounts(numbers=places[:, 4], node_sums=places.ravel()),
        "z": np.zeros(0),
    }
    return of_cells(**made | changes)


def clusters_of_groups(**changes):
    """One stage over four clusters of three levels, three nodes each, with changes."""
    ends = np.array(
        [[[0.0, 5.0], [1.0, 5.0], [2.0, 0.0], [2.0, 50.0]], [[0.0, 8.0], [1.0, 5.0], [2.0, 40.0], [2.0, 90.0]]]
    )
    places = np.zeros((4, 3))
    places[:, 1] = 20, 15, 10, 5
    made = {
        "stages": (cell_stage(3, 4, 12),),
        "clusters": ends,
        "counts": KnownCounts(numbers=places[:, 1], node_sums=places.ravel()),
        "columns": cells_of_groups().columns,
    }
    return clustered(**made | changes)

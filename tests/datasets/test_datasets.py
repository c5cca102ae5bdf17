"""One contract for every data set, and the heights that the first page shows."""

import importlib
import inspect
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import datasets
from datasets import DATASETS, FROM_FILES, excursion_1d, kung, london_excursion, plumes_2d
from datasets.british_grid import fit_grid
from dpgp_core.levels import number_sides
from tests.refusals import each

FOLDER = Path(datasets.__file__).parent
SEEDED = [module for module in DATASETS if "seed" in inspect.signature(module.load).parameters]
of_each = pytest.mark.parametrize("module", DATASETS, ids=[module.NAME for module in DATASETS])


@of_each
def test_a_data_set_states_what_is_public(module):
    data = datasets.load(module.NAME)
    assert data.name == module.NAME
    assert data.X.shape == (data.n, data.dim)
    assert data.X.dtype == data.y.dtype == np.float64
    assert data.n >= 2
    assert all(column.shape == (data.n,) for column in data.labels.values())
    stated = (module.TITLE, data.y_name, data.y_unit, data.privacy_unit, data.source, data.licence, data.bounds_reason)
    assert all(text.strip() for text in (*stated, *data.x_names, *data.x_units))
    low, high = np.array(data.x_box).T
    assert ((low <= data.X) & (high >= data.X)).all()
    assert data.y_bounds == module.Y_BOUNDS


@pytest.mark.parametrize(
    ("name", "column"),
    [("kung", "height_cm"), ("london_hexes", "median_price_gbp"), ("london_sales", "median_price_gbp")],
)
def test_public_values_are_independent_of_private_ones(name, column, monkeypatch):
    before = datasets.load(name)
    read = pd.read_csv

    def tripled(path):
        table = read(path)
        return table.assign(**{column: table[column] * 3}) if column in table else table

    monkeypatch.setattr(pd, "read_csv", tripled)
    after = datasets.load(name)
    assert not np.array_equal(after.y, before.y)
    assert (after.y_bounds, after.x_box, after.y_scale) == (before.y_bounds, before.x_box, before.y_scale)
    np.testing.assert_array_equal(after.X, before.X)


@of_each
def test_loading_twice_gives_equal_and_separate_arrays(module):
    first, second = module.load(), module.load()
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)
    assert not np.shares_memory(first.y, second.y)


@pytest.mark.parametrize("module", SEEDED, ids=[module.NAME for module in SEEDED])
def test_the_seed_decides_and_the_size_is_honoured(module):
    [size] = {"n", "girls"} & inspect.signature(module.load).parameters.keys()
    first, same, other = (module.load(**{size: 40, "seed": seed}) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.X, same.X)
    np.testing.assert_array_equal(first.y, same.y)
    assert not np.array_equal(first.y[:40], other.y[:40])
    assert (first.people if size == "girls" else first.n) == 40
    for wrong in ({size: 0}, {size: -3}, {"seed": -1}):
        with pytest.raises(ValueError, match=rf"^{size}.* must be at least 1 and seed at least 0, got "):
            module.load(**wrong)


@pytest.mark.parametrize("module", SEEDED, ids=[module.NAME for module in SEEDED])
def test_seeded_data_sets_are_called_simulated(module):
    assert module.load().simulated


def test_every_dataset_file_is_listed():
    files = [path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"]
    modules = [importlib.import_module(f"datasets.{stem}") for stem in files]
    named = {module.NAME for module in modules if hasattr(module, "NAME")}
    assert named == {module.NAME for module in (*DATASETS, *FROM_FILES)}


@pytest.mark.parametrize("exhibit", datasets.EXHIBITS.values(), ids=list(datasets.EXHIBITS))
def test_an_exhibit_fits_its_records(exhibit):
    data = exhibit.load()
    assert len(exhibit.ratios) == len(number_sides(data.x_box))
    assert exhibit.simulated == data.simulated
    assert list(exhibit.lengthscales) == sorted(set(exhibit.lengthscales))
    assert exhibit.lengthscale in exhibit.lengthscales
    assert exhibit.scene != "curve" or data.dim == 1
    assert exhibit.scene != "map" or "cell" in data.labels
    if exhibit.sparse is not None:
        assert exhibit.sparse.start in exhibit.sparse.inducing
        assert (exhibit.sparse.load or exhibit.load)().dim == data.dim


def test_exhibits_have_names_and_titles_of_their_own():
    declared = [exhibit for module in DATASETS for exhibit in module.EXHIBITS]
    assert len({exhibit.name for exhibit in declared}) == len({exhibit.title for exhibit in declared}) == len(declared)
    shown = {**datasets.EXHIBITS, **datasets.STUDIES}
    assert sorted(shown) == sorted(exhibit.name for exhibit in declared)
    assert all(shown[exhibit.name] is exhibit for exhibit in declared)


REFUSALS = (
    (lambda: datasets.load("paris"), r"no dataset named 'paris'; the names are kung, london_hexes, .*toy_1d"),
    (lambda: datasets.load("kung", colour=1), "no option 'colour'; its options are dims"),
    (lambda: datasets.load("london_hexes", colour=1), "no option 'colour'; it takes none"),
    (lambda: datasets.load("london_ppd"), "'london_ppd' needs ppd, postcodes: paths of files that you have downloaded"),
    (lambda: datasets.exhibit("citibike"), r"no page shows a dataset named 'citibike'; the names are kung, kung_2d, "),
    *each(lambda dims: kung.load(dims=dims), r"dims must be 1 \(age\) or 2 \(age and weight\)", (0, 3, "2", None)),
    (lambda: kung.load(dims=2, groups=True), "dims must be 1"),
    *each(
        lambda threshold: london_excursion.load(threshold=threshold),
        "threshold must be a finite ln price",
        (math.nan, math.inf),
    ),
    *each(lambda noise: excursion_1d.truth(noise=noise), "noise must be at least 0 and below 1", (-0.1, 1.0, math.nan)),
    (lambda: plumes_2d.truth(noise=1.0), "noise must be at least 0 and below 1, got 1.0"),
    (lambda: excursion_1d.targets(0), "count must be at least 1, got 0"),
    (lambda: plumes_2d.targets(0), "n and count must be at least 1 and seed at least 0, got n=400, count=0"),
    (lambda: fit_grid(np.zeros((3, 2)), np.zeros((3, 2))), "at least 10 points, got 3"),
)


@pytest.mark.parametrize(("call", "said"), REFUSALS)
def test_unknown_names_are_refused_with_the_alternatives(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_the_287_women_and_girls_are_loaded():
    one, two = kung.load(), kung.load(dims=2)
    assert (one.X.shape, one.x_names, one.x_units) == ((287, 1), ("age",), ("years",))
    assert (two.X.shape, two.x_names, two.x_units) == ((287, 2), ("age", "weight"), ("years", "kg"))
    np.testing.assert_array_equal(two.X[:, :1], one.X)
    np.testing.assert_array_equal(two.y, one.y)
    np.testing.assert_array_equal(two.X[0], [63.0, 36.4858065])  # the first female of the census file
    assert two.y[0] == 139.7


def test_published_constants():
    data = kung.load()
    assert data.X.max() == 85.6  # targets: ages 0 to 85.6
    assert data.y_bounds == (58.27, 158.27)
    assert data.y_scale == 25.742
    assert data.output_range == pytest.approx(100)
    assert data.clipped_count == 10  # targets: 10 records clipped


def test_the_whole_census_by_sex():
    data = kung.load(groups=True)
    assert data.X.shape == (544, 2)
    assert data.x_levels == (None, ("women and girls", "men and boys"))
    np.testing.assert_array_equal(data.X[data.X[:, 1] == 0][:, :1], kung.load().X)
    assert data.clipped_count == 0
    assert data.person is None

"""A release with a curve for each group, from a configuration and a table to the zip and back."""

import csv
import io
import json

import numpy as np
import pytest

from dpgp_core.bayes.reading import difference
from dpgp_core.measurement.statistics_file import statistics_from_files
from dpgp_core.release import foreseen, plan_release, publish, read_table, spec_from_json, spec_to_json
from dpgp_core.release.check import check_folder
from tests.core.release.conftest import written

LEVELS = ("women, girls", "men, boys")
CONFIG = {
    "schema": 1,
    "x": ["age", "sex"],
    "x_units": ["years", ""],
    "x_box": [[0, 90], None],
    "x_levels": [None, list(LEVELS)],
    "y": "height",
    "y_unit": "cm",
    "y_bounds": [40, 200],
    "unit": "one person",
    "grid": [5, None],
    "epsilon": 2,
    "delta": 1e-5,
    "total_epsilon": 6,
    "lengthscale": [25, None],
}


def spec_of(**changes):
    return spec_from_json(json.dumps(CONFIG | changes))


def table(n=120):
    rng = np.random.default_rng(0)
    age, sex = rng.uniform(0, 90, n), rng.integers(0, 2, n)
    height = 60 + 90 * (1 - np.exp(-age / 8)) + 12 * sex + rng.normal(0, 6, n)
    rows = [f'{a:.2f},"{LEVELS[s]}",{h:.2f}\n' for a, s, h in zip(age, sex, height, strict=True)]
    return ("age,sex,height\n" + "".join(rows)).encode()


def test_a_configuration_comes_back_equal():
    spec = spec_of()
    again = spec_from_json(spec_to_json(spec))
    assert again == spec
    assert hash(again) == hash(spec)
    assert json.loads(spec_to_json(spec))["x_box"] == [[0, 90], None]
    assert spec_of(lengthscale=[25]) == spec


@pytest.mark.parametrize("mechanism", ["bayes_cells", "bayes"])
def test_the_zip_names_levels_and_its_values_follow_from_what_was_measured(mechanism, tmp_path, make_zip):
    spec = spec_of(mechanism=mechanism)
    files = make_zip(spec, table())
    rows = list(csv.DictReader(io.StringIO(files["values.csv"].decode())))
    assert [row["sex"] for row in rows] == list(LEVELS) * 5
    assert {float(row["age"]) for row in rows} == {0.0, 22.5, 45.0, 67.5, 90.0}
    card = json.loads(files["release.json"])
    assert card["values"]["columns"]["sex"] == "input, one of women, girls, men, boys"
    page = files["card.html"].decode()
    assert "each sex (women, girls, men, boys)" in page
    assert files["figure.svg"].decode().count("<polygon") == 2
    assert "all 10 values follow" in check_folder(written(files, tmp_path))
    statistics = statistics_from_files(card["statistics"], files["statistics.npz"])
    assert statistics.x_levels == (None, LEVELS)
    found = difference(statistics, LEVELS[1], LEVELS[0], np.array([[45.0, 0.0]]))
    value = {row["sex"]: float(row["value"]) for row in rows if row["age"] == "45"}
    assert found.mean[0] == pytest.approx(value[LEVELS[1]] - value[LEVELS[0]], abs=0.2)


def test_a_name_that_a_spreadsheet_would_run_is_text(make_zip):
    spec = spec_of(x_levels=[None, ["=1+1", 'a "b"']])
    content = table().replace(b'"women, girls"', b"=1+1").replace(b'"men, boys"', b'"a ""b"""')
    rows = list(csv.DictReader(io.StringIO(make_zip(spec, content)["values.csv"].decode())))
    assert [row["sex"] for row in rows[:2]] == ["'=1+1", 'a "b"']


@pytest.mark.parametrize("mechanism", ["refined", "sparse", "integral_bins", "cloaking"])
def test_mechanisms_of_numbers_say_which_to_use(mechanism):
    with pytest.raises(
        ValueError, match=f"mechanism '{mechanism}' takes inputs that are numbers, and 'sex' has levels"
    ):
        spec_of(mechanism=mechanism)


def test_what_other_budgets_bring_is_foreseen_for_groups():
    spec = spec_of()
    data = read_table(io.BytesIO(table()), spec)
    few, many = foreseen(plan_release(spec, data.X), data.n, (0.5, 5.0))
    assert many < few


def test_a_table_of_other_levels_is_not_published():
    spec = spec_of()
    data = read_table(io.BytesIO(table()), spec)
    with pytest.raises(ValueError, match="differ in x_levels"):
        publish(spec_of(x_levels=[None, ["a", "b"]]), data)


def test_dates_a_period_and_levels_go_together():
    dated = {"x": ["day", "sex"], "x_box": [["2020-01-01", "2023-12-31"], None], "lengthscale": [100, None]}
    spec = spec_of(**dated)
    assert spec_from_json(spec_to_json(spec)) == spec
    assert spec.dates[0].name == "day"
    assert spec.points().shape == (10, 2)
    seasonal = spec_of(**dated, dates={"day": {"period": "year"}})
    assert seasonal.periods[0] == pytest.approx(365.2425)
    assert seasonal.levels == spec.levels
    assert spec_from_json(spec_to_json(seasonal)) == seasonal

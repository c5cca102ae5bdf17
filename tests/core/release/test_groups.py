"""A release with a curve for each group: to the zip and back, and as people are handed it."""

import json

import numpy as np
import pytest
from matplotlib.figure import Figure

from dpgp_core.bayes.refit import difference
from dpgp_core.figures.drawing import COLOURS
from dpgp_core.measurement.statistics_file import statistics_from_files
from dpgp_core.release.picture import groups_of
from tests.core.release.worlds import GROWTH, make_published, make_spec, make_zip, rows_of

LEVELS = ("women, girls", "men, boys")


def spec_of(**changes):
    given = {"x_levels": (None, LEVELS), "x_box": ((0, 90), None), "y_bounds": (40, 200), "epsilon": 2}
    return make_spec(**GROWTH | given | {"total_epsilon": 6, "lengthscale": (25, None)} | changes)


def table(n=120):
    rng = np.random.default_rng(0)
    age, sex = rng.uniform(0, 90, n), rng.integers(0, 2, n)
    height = 60 + 90 * (1 - np.exp(-age / 8)) + 12 * sex + rng.normal(0, 6, n)
    rows = [f'{a:.2f},"{LEVELS[s]}",{h:.2f}\n' for a, s, h in zip(age, sex, height, strict=True)]
    return ("age,sex,height\n" + "".join(rows)).encode()


@pytest.mark.parametrize("mechanism", ["bayes_cells", "bayes"])
def test_the_zip_names_categories_and_reproduces_values(mechanism):
    spec = spec_of(mechanism=mechanism)
    files = make_zip(spec, table())
    rows = rows_of(files)
    assert [row["sex"] for row in rows] == list(LEVELS) * 5
    assert {float(row["age"]) for row in rows} == {0.0, 22.5, 45.0, 67.5, 90.0}
    card = json.loads(files["release.json"])
    assert card["values"]["columns"]["sex"] == "input, one of women, girls, men, boys"
    page = files["card.html"].decode()
    assert "each sex (women, girls, men, boys)" in page
    picture = files["figure.svg"].decode()
    assert all(f">{level}</text>" in picture for level in LEVELS)
    statistics = statistics_from_files(card["statistics"], files["statistics.npz"])
    assert statistics.x_levels == (None, LEVELS)
    found = difference(statistics, LEVELS[1], LEVELS[0], np.array([[45.0, 0.0]]))
    value = {row["sex"]: float(row["value"]) for row in rows if row["age"] == "45"}
    assert found.mean[0] == pytest.approx(value[LEVELS[1]] - value[LEVELS[0]], abs=0.2)


def test_a_category_like_a_formula_is_text():
    spec = spec_of(x=["age", "=sex"], x_levels=[None, ["=1+1", 'a "b"']])
    content = table().replace(b'"women, girls"', b"=1+1").replace(b'"men, boys"', b'"a ""b"""')
    rows = rows_of(make_zip(spec, content.replace(b"sex", b"=sex", 1)))
    assert [row["'=sex"] for row in rows[:2]] == ["'=1+1", 'a "b"']


GROUPS = ("women & girls", "men", "other")


def of_groups(**changes):
    return make_spec(**GROWTH | {"x_levels": (None, GROUPS), "grid": (4, None)} | changes)


def test_drawing_removes_categories_and_orders_coordinates():
    spec = of_groups(
        x=("lat", "sex", "day", "lon"),
        x_units=("°", "", "h", "°"),
        grid=(2, None, 3, 4),
        x_box=((51.0, 52.0), None, (0.0, 24.0), (-1.0, 0.0)),
        x_levels=(None, ("men", "women"), None, None),
        lengthscale=(9.0, None, 5.0, 8.0),
        coordinates=("lon", "lat"),
    )
    groups, drawn = groups_of(spec)
    assert (drawn.x, drawn.grid, drawn.lengthscale) == (("lon", "lat", "day"), (4, 2, 3), (8.0, 9.0, 5.0))
    for code, group in enumerate(groups):
        own = spec.points()[group.rows]
        np.testing.assert_array_equal(own[:, 1], code)
        np.testing.assert_array_equal(own[:, [3, 0, 2]], group.X)


def drawn(published):
    return published.plot(Figure(figsize=(10, 5), dpi=72).subplots())


def test_each_group_has_its_own_curve():
    ax = drawn(make_published(of_groups(), [1.0] * 12))
    assert len(ax.collections) == len(ax.lines) == 3
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [*GROUPS, "95 % interval for the curve"]
    assert [line.get_color() for line in ax.lines] == list(COLOURS[:3])

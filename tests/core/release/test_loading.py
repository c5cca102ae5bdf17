"""A published release read back: what it says is what was published, and nothing else is needed."""

import io
import json
import zipfile

import numpy as np
import pytest

from dpgp_core import EQ, load
from dpgp_core.release.bundle import FILE
from tests.core.release.test_groups import LEVELS, spec_of, table


def packed(files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.fixture(scope="module")
def of_groups(make_zip):
    return make_zip(spec_of(mechanism="bayes_cells"), table())


@pytest.fixture(params=["zip", "folder", "npz"])
def written(request, tmp_path, of_groups):
    if request.param == "zip":
        path = tmp_path / "release.zip"
        path.write_bytes(packed(of_groups))
        return path
    for name, content in of_groups.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path if request.param == "folder" else tmp_path / FILE


def column(files, name, level=None):
    lines = [line.strip() for line in io.StringIO(files["values.csv"].decode())]
    import csv

    rows = list(csv.DictReader(lines))
    return np.array([float(row[name]) for row in rows if level is None or row["sex"] == level])


def test_values_and_intervals_are_those_that_were_published(written, of_groups):
    release = load(written)
    assert release.levels == {"sex": LEVELS}
    for level in LEVELS:
        at = release.places(np.linspace(0, 90, 5), {"sex": level})
        np.testing.assert_allclose(release.predict(at), column(of_groups, "value", level), atol=0.06)
        low, high = release.interval(at)
        np.testing.assert_allclose(low, column(of_groups, "curve_low_95", level), atol=0.06)
        np.testing.assert_allclose(high, column(of_groups, "curve_high_95", level), atol=0.06)
        median, most = release.quantile(0.5, at), release.quantile(0.975, at)
        np.testing.assert_allclose(most, column(of_groups, "output_high_95", level), atol=0.06)
        assert (median < most).all()


def test_budget_difference_and_refit_cost_nothing_and_are_there(written):
    release = load(str(written))
    assert release.guarantee.budget.epsilon == 2
    at = release.places(np.linspace(10, 80, 4), {"sex": LEVELS[0]})
    apart = release.difference(LEVELS[1], LEVELS[0], at)
    other = release.places(np.linspace(10, 80, 4), {"sex": LEVELS[1]})
    np.testing.assert_allclose(apart.mean, release.predict(other) - release.predict(at), atol=1e-6)
    found = release.refit(at, kernels=[EQ(lengthscale=[25.0])], noise_variances=[0.1])
    assert found.mean.shape == (4,)


def test_a_release_where_inputs_are_public_comes_back_too(zip_of, tmp_path):
    files = zip_of("bayes")
    (tmp_path / "r.zip").write_bytes(packed(files))
    release = load(tmp_path / "r.zip")
    low, high = json.loads(files["release.json"])["config"]["x_box"][0]
    at = release.places(np.linspace(low, high, 9))
    np.testing.assert_allclose(release.predict(at), column(files, "value"), atol=0.06)


def test_what_is_no_release_is_said(tmp_path, zip_of, of_groups):
    (tmp_path / "a.zip").write_bytes(b"no zip")
    (tmp_path / "b.zip").write_bytes(packed({"notes.txt": b"x"}))
    kept_nothing = {name: content for name, content in of_groups.items() if name != FILE}
    (tmp_path / "c.zip").write_bytes(packed(kept_nothing))
    (tmp_path / "d.zip").write_bytes(packed(zip_of("sparse")))
    for name, said in (("a", "damaged"), ("b", "holds no release.json"), ("c", "keeps no"), ("d", "keeps no")):
        with pytest.raises(ValueError, match=said):
            load(tmp_path / f"{name}.zip")
    with pytest.raises(ValueError, match=r"there is no release\.json"):
        load(tmp_path / "nowhere.npz")


def test_arguments_that_do_not_fit_are_named(written):
    release = load(written)
    ages = np.array([20.0])
    with pytest.raises(ValueError, match="say which group"):
        release.places(ages)
    with pytest.raises(ValueError, match="has no level 'cats'"):
        release.places(ages, {"sex": "cats"})
    with pytest.raises(ValueError, match="one column for each of age"):
        release.places(np.ones((2, 3)), {"sex": LEVELS[0]})
    at = release.places(ages, {"sex": LEVELS[0]})
    with pytest.raises(ValueError, match="probability must lie between"):
        release.quantile(1.0, at)
    with pytest.raises(ValueError, match="level must lie between"):
        release.interval(at, 0.0)


def test_where_inputs_are_hidden_it_is_read_with_the_models_it_was_made_with(tmp_path, make_zip):
    """Rough curves and people who scatter little among them, which only many people show: it was read without."""
    one = {"x": ["age"], "x_units": ["years"], "x_box": [[0, 90]], "x_levels": None, "grid": [9], "lengthscale": [25]}
    spec = spec_of(**one, mechanism="bayes_cells", epsilon=5)
    files = make_zip(spec, table(900))
    (tmp_path / "r.zip").write_bytes(packed(files))
    release = load(tmp_path / "r.zip")
    assert len(release.models) == len(spec.built.models(spec.x_box, 1.0, "any outcomes", 900))
    np.testing.assert_allclose(release.predict(np.linspace(0, 90, 9)[:, None]), column(files, "value"), atol=0.06)

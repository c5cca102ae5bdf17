"""A zip is checked, and a published release is read again."""

import io
import json
import os
import zipfile

import numpy as np
import pytest

from dpgp_core import EQ, load
from dpgp_core.measurement.described_arrays import FILE
from dpgp_core.release.bundle import digest
from dpgp_core.release.check import check_folder
from dpgp_core.release.json_text import spec_from_object
from tests.core.release.test_groups import LEVELS, spec_of, table
from tests.core.release.worlds import make_spec, make_zip, rows_of, written, zip_of


@pytest.fixture
def folder(tmp_path):
    return written(zip_of(), tmp_path)


@pytest.mark.parametrize("name", ["values.csv", "map.npz", "statistics.npz"])
def test_a_changed_or_missing_file_is_named(folder, name):
    (folder / name).write_bytes((folder / name).read_bytes() + b"1")
    with pytest.raises(ValueError, match=f"{name} is not the file that release.json describes"):
        check_folder(folder)
    (folder / name).unlink()
    with pytest.raises(ValueError, match=f"{name} is missing or too large"):
        check_folder(folder)


def test_names_on_a_card_reach_no_other_file(tmp_path):
    (tmp_path / "mine").write_text("private")
    folder = written(zip_of(), tmp_path / "release")
    edited(folder, ("sha256", "../mine"), '"0"')
    assert check_folder(folder).startswith("The files are those that release.json describes")


def test_values_that_do_not_follow_are_found(folder):
    replaced(folder, "values.csv", with_cell(zip_of(), "value", str(column(zip_of(), "value")[0] + 1)))
    with pytest.raises(ValueError, match=r"values\.csv does not follow from what was measured"):
        check_folder(folder)


NOT_NUMBERS = ["0", "-1", "1e308", "1e-320", "1" + "0" * 300, '"x"', "null", "[]"]


def edited(folder, path, text):
    """The card with another value somewhere, as JSON text."""
    card = json.loads((folder / "release.json").read_text())
    at = card
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = "here"
    (folder / "release.json").write_text(json.dumps(card).replace('"here"', text))


def replaced(folder, name, content):
    """Another file under the name, with its digest on the card."""
    (folder / name).write_bytes(content)
    edited(folder, ("sha256", name), json.dumps(digest(content)))


def arrays_file(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def with_cell(files, name, cell):
    """The table with another text in its first row."""
    header, first, *rest = files["values.csv"].decode().splitlines()
    cells = first.split(",")
    cells[header.replace('"', "").split(",").index(name)] = cell
    return "\r\n".join([header, ",".join(cells), *rest, ""]).encode()


@pytest.mark.parametrize("text", NOT_NUMBERS)
def test_an_impossible_step_is_explained(folder, text):
    edited(folder, ("values", "step"), text)
    with pytest.raises(ValueError, match=r"^the step of the values must "):
        check_folder(folder)


@pytest.mark.parametrize("text", [each for each in NOT_NUMBERS if each not in ("0", "1e-320")])
def test_noise_that_no_release_has_is_a_sentence(tmp_path, text):
    written(zip_of("sparse"), tmp_path)
    edited(tmp_path, ("statistics", "noise", "sa"), text)
    with pytest.raises(ValueError, match=r"^the noise sa must "):
        check_folder(tmp_path)
    edited(tmp_path, ("statistics", "noise"), text)
    with pytest.raises(ValueError, match=r"^the description of the noise is damaged"):
        check_folder(tmp_path)


def test_a_map_of_another_shape_is_a_sentence(folder):
    with np.load(folder / "map.npz") as archive:
        arrays = {name: archive[name] for name in archive.files}
    replaced(folder, "map.npz", arrays_file(**arrays | {"z": arrays["z"][1:]}))
    with pytest.raises(ValueError, match=r"map\.npz is damaged; fetch the zip again"):
        check_folder(folder)


def test_nothing_in_a_strangers_file_is_executed(folder):
    class Command:
        def __reduce__(self):
            return os.mkdir, (str(folder / "executed"),)

    commands = {name: np.array([Command()], dtype=object) for name in ("offset", "map", "z")}
    replaced(folder, "map.npz", arrays_file(**commands))
    with pytest.raises(ValueError, match=r"map\.npz is damaged; fetch the zip again"):
        check_folder(folder)
    assert not (folder / "executed").exists()


def test_invalid_cards_and_large_files_are_refused(folder, monkeypatch):
    (folder / "release.json").write_text(json.dumps({"schema": 1}))
    with pytest.raises(ValueError, match=r"release\.json is not of a release with statistics"):
        check_folder(folder)
    monkeypatch.setattr("dpgp_core.release.check.MOST_BYTES", 10)
    with pytest.raises(ValueError, match=r"^release\.json is missing or too large"):
        check_folder(folder)


@pytest.mark.parametrize("mechanism", ["bayes", "bayes_cells"])
def test_centiles_follow_from_what_was_measured_too(tmp_path, mechanism):
    files = make_zip(make_spec(mechanism=mechanism, centiles=True, y_kind="amount"))
    assert "values and centiles follow from the measured numbers" in check_folder(written(files, tmp_path))
    replaced(tmp_path, "values.csv", with_cell(files, "centile_97", "51"))
    with pytest.raises(ValueError, match=r"values\.csv does not follow from what was measured"):
        check_folder(tmp_path)


@pytest.mark.parametrize("name", ["x" * 100_000, "x" * 240, "<script>" * 9000])
def test_a_foreign_name_is_never_repeated_at_length(tmp_path, name):
    files = dict(zip_of())
    card = json.loads(files["release.json"])
    card["sha256"] = {name: "0"}
    written(files | {"release.json": json.dumps(card).encode()}, tmp_path)
    with pytest.raises(ValueError, match="fetch the zip again") as caught:
        check_folder(tmp_path)
    assert len(str(caught.value)) < 130
    with pytest.raises(ValueError, match="unknown key") as caught:
        spec_from_object(card["config"] | {name: 1})
    assert len(str(caught.value)) < 700
    assert name not in str(caught.value)


# ---- A published release read back: what it says is what was published, and nothing else is needed.


def packed(files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.fixture(scope="module")
def of_groups():
    return make_zip(spec_of(mechanism="bayes_cells"), table())


@pytest.fixture(params=["zip", "folder", "npz"])
def kept(request, tmp_path, of_groups):
    if request.param == "zip":
        (tmp_path / "release.zip").write_bytes(packed(of_groups))
        return tmp_path / "release.zip"
    written(of_groups, tmp_path)
    return tmp_path if request.param == "folder" else tmp_path / FILE


def column(files, name, level=None):
    return np.array([float(row[name]) for row in rows_of(files) if level is None or row["sex"] == level])


def test_a_release_that_was_published_is_read_again(kept, of_groups):
    """Values, intervals and the budget are those of the zip; differences and refits cost nothing."""
    release = load(str(kept))
    assert release.levels == {"sex": LEVELS}
    assert release.guarantee.budget.epsilon == 2
    women, men = (release.places(np.linspace(0, 90, 5), {"sex": level}) for level in LEVELS)
    for level, at in zip(LEVELS, (women, men), strict=True):
        np.testing.assert_allclose(release.predict(at), column(of_groups, "value", level), atol=0.06)
        low, high = release.interval(at)
        np.testing.assert_allclose(low, column(of_groups, "curve_low_95", level), atol=0.06)
        np.testing.assert_allclose(high, column(of_groups, "curve_high_95", level), atol=0.06)
        median, most = release.quantile(0.5, at), release.quantile(0.975, at)
        np.testing.assert_allclose(most, column(of_groups, "output_high_95", level), atol=0.06)
        assert (median < most).all()
    apart = release.difference(LEVELS[1], LEVELS[0], women)
    np.testing.assert_allclose(apart.mean, release.predict(men) - release.predict(women), atol=1e-6)
    found = release.refit(women, kernels=[EQ(lengthscale=[25.0])], noise_variances=[0.1])
    assert found.mean.shape == (5,)


def test_what_is_no_release_is_said(tmp_path, of_groups):
    (tmp_path / "a.zip").write_bytes(b"no zip")
    (tmp_path / "b.zip").write_bytes(packed({"notes.txt": b"x"}))
    kept_nothing = {name: content for name, content in of_groups.items() if name != FILE}
    (tmp_path / "c.zip").write_bytes(packed(kept_nothing))
    (tmp_path / "d.zip").write_bytes(packed(zip_of("sparse")))
    (tmp_path / "e.zip").write_bytes(packed(zip_of("refined")))
    refusals = {"a": "damaged", "b": "holds no release.json", "c": "keeps no", "d": "another mech", "e": "another mech"}
    for name, said in refusals.items():
        with pytest.raises(ValueError, match=said):
            load(tmp_path / f"{name}.zip")
    with pytest.raises(ValueError, match=r"there is no release\.json"):
        load(tmp_path / "nowhere.npz")


def test_a_zip_bomb_is_not_unpacked(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "r.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("release.json", b" " * 10_000)
    monkeypatch.setattr("dpgp_core.release.check.MOST_BYTES", 5_000)
    with pytest.raises(ValueError, match=r"unpacks to more than 0\.004768 MB, the limit; fetch it again"):
        load(tmp_path / "r.zip")


def test_arguments_that_do_not_fit_are_named(tmp_path, of_groups):
    release, ages = load(written(of_groups, tmp_path)), np.array([20.0])
    at = release.places(ages, {"sex": LEVELS[0]})
    for call, words in (
        (lambda: release.places(ages), "say which group"),
        (lambda: release.places(ages, {"sex": "cats"}), "has no level 'cats'"),
        (lambda: release.places(np.ones((2, 3)), {"sex": LEVELS[0]}), "one column for each of age"),
        (lambda: release.quantile(1.0, at), "probability must lie strictly between"),
        (lambda: release.interval(at, 0.0), "level must lie strictly between"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def test_private_releases_are_read_with_their_models(tmp_path):
    """Rough curves and people who scatter little among them, which only many people show: it was read without."""
    one = {"x": ["age"], "x_units": ["years"], "x_box": [[0, 90]], "x_levels": None, "grid": [9], "lengthscale": [25]}
    spec = spec_of(**one, mechanism="bayes_cells", epsilon=5)
    files = make_zip(spec, table(900))
    (tmp_path / "r.zip").write_bytes(packed(files))
    release = load(tmp_path / "r.zip")
    assert len(release.models) == len(spec.built.models(spec.x_box, 1.0, "any outcomes", 900))
    np.testing.assert_allclose(release.predict(np.linspace(0, 90, 9)[:, None]), column(files, "value"), atol=0.06)


@pytest.mark.parametrize("mechanism", ["bayes", "bayes_cells"])
@pytest.mark.parametrize(
    "forged",
    [
        {"loss": {"kind": "gaussian", "mu": 0.1}},
        {"epsilon": 0.05, "loss": {"kind": "approximate", "epsilon": 0.05, "delta": 1e-5, "times": 1}},
        {"epsilon": 0.05, "loss": {"kind": "pure", "epsilon": 0.05, "rho": None, "times": 1}},
        {"delta": 0.0, "loss": {"kind": "pure", "epsilon": 1.0, "rho": None, "times": 1}},
    ],
    ids=["mu", "approximate", "pure", "no delta"],
)
def test_less_noise_than_the_guarantee_requires_is_found(tmp_path, mechanism, forged):
    folder = written(zip_of(mechanism), tmp_path)
    guarantee = json.loads((folder / "release.json").read_text())["guarantee"]
    assert load(folder).statistics.mu == pytest.approx(guarantee["loss"]["mu"], rel=1e-9)
    edited(folder, ("guarantee",), json.dumps(guarantee | forged))
    with pytest.raises(ValueError, match=r"less private than it claims, or its files were changed; fetch it again"):
        load(folder)


def test_exact_counts_of_protected_inputs_are_found(tmp_path):
    folder = written(zip_of("bayes"), tmp_path)
    edited(folder, ("guarantee", "protects"), '"inputs and outputs"')
    with pytest.raises(ValueError, match=r"^statistics\.npz has the exact counts of records, and the guarantee"):
        load(folder)

import io
import json

import numpy as np
import pytest

from dpgp_core.release import CHOICES
from dpgp_core.release.bundle import digest
from dpgp_core.release.check import check_folder
from dpgp_core.release.json_text import spec_from_object
from tests.core.release.conftest import written


@pytest.fixture
def folder(tmp_path, zip_of):
    return written(zip_of(), tmp_path)


@pytest.mark.parametrize("mechanism", CHOICES)
def test_it_computes_the_values_again_without_the_table(tmp_path, zip_of, mechanism):
    said = check_folder(written(zip_of(mechanism), tmp_path))
    assert said.startswith("The files are those that release.json describes, and all 9 values follow")


@pytest.mark.parametrize("name", ["values.csv", "map.npz", "statistics.npz"])
def test_a_changed_or_missing_file_is_named(folder, name):
    (folder / name).write_bytes((folder / name).read_bytes() + b"1")
    with pytest.raises(ValueError, match=f"{name} is not the file that release.json describes"):
        check_folder(folder)
    (folder / name).unlink()
    with pytest.raises(ValueError, match=f"{name} is missing or too large"):
        check_folder(folder)


def test_values_that_do_not_follow_are_found(folder):
    header, row, *rest = (folder / "values.csv").read_bytes().decode().split("\r\n")
    age, value, *ends = row.split(",")
    changed = "\r\n".join([header, ",".join([age, str(float(value) + 1), *ends]), *rest]).encode()
    (folder / "values.csv").write_bytes(changed)
    edited(folder, ("sha256", "values.csv"), json.dumps(digest(changed)))
    with pytest.raises(ValueError, match=r"values\.csv does not follow from what was measured"):
        check_folder(folder)


def test_another_card_is_refused(folder):
    (folder / "release.json").write_text(json.dumps({"schema": 1}))
    with pytest.raises(ValueError, match=r"release\.json is not of a release with statistics"):
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


@pytest.mark.parametrize("text", NOT_NUMBERS)
def test_a_step_that_no_release_has_is_a_sentence(folder, text):
    edited(folder, ("values", "step"), text)
    with pytest.raises(ValueError, match=r"^the step of the values must "):
        check_folder(folder)


@pytest.mark.parametrize("text", [each for each in NOT_NUMBERS if each not in ("0", "1e-320")])
def test_noise_that_no_release_has_is_a_sentence(tmp_path, zip_of, text):
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
    stream = io.BytesIO()
    np.savez(stream, **(arrays | {"z": arrays["z"][1:]}))
    (folder / "map.npz").write_bytes(stream.getvalue())
    edited(folder, ("sha256", "map.npz"), json.dumps(digest(stream.getvalue())))
    with pytest.raises(ValueError, match=r"map\.npz is damaged; fetch the zip again"):
        check_folder(folder)


@pytest.mark.parametrize("mechanism", ["bayes", "bayes_cells"])
def test_centiles_follow_from_what_was_measured_too(tmp_path, make_spec, make_zip, mechanism):
    files = make_zip(make_spec(mechanism=mechanism, centiles=True, y_kind="amount"))
    assert "values and centiles follow from the measured numbers" in check_folder(written(files, tmp_path))
    header, first, *rest = files["values.csv"].decode().splitlines()
    cells = first.split(",")
    cells[header.replace('"', "").split(",").index("centile_97")] = "51"
    changed = "\r\n".join([header, ",".join(cells), *rest, ""]).encode()
    (tmp_path / "values.csv").write_bytes(changed)
    edited(tmp_path, ("sha256", "values.csv"), json.dumps(digest(changed)))
    with pytest.raises(ValueError, match=r"values\.csv does not follow from what was measured"):
        check_folder(tmp_path)


@pytest.mark.parametrize("name", ["x" * 100_000, "x" * 240, "<script>" * 9000])
def test_a_foreign_name_is_never_repeated_at_length(tmp_path, zip_of, name):
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

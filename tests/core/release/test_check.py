import json

import pytest

from dpgp_core.release.check import check_folder


@pytest.fixture
def folder(tmp_path, make_spec, make_table, make_zip):
    for name, content in make_zip(make_spec(), make_table()).items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def test_a_release_as_it_was_made_passes(folder):
    assert check_folder(folder).startswith("The files are those that release.json describes, and all ")


def test_a_changed_value_is_noticed(folder):
    lines = (folder / "values.csv").read_text().splitlines()
    lines[1] = lines[1].replace("1", "2") if "1" in lines[1] else lines[1] + "0"
    (folder / "values.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=r"values\.csv is not the file that release\.json describes"):
        check_folder(folder)


def test_a_missing_file_is_named(folder):
    (folder / "values.csv").unlink()
    with pytest.raises(ValueError, match=r"values\.csv is missing or too large"):
        check_folder(folder)


def test_another_card_is_refused(folder):
    (folder / "release.json").write_text(json.dumps({"schema": 1}))
    with pytest.raises(ValueError, match=r"release\.json is not of a release with statistics"):
        check_folder(folder)

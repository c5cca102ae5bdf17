"""What is in a zip."""

import csv
import hashlib
import io
import json
import platform
import re
import struct
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import scipy

import dpgp_core
from dpgp_core.release import CHOICES, bundle, ledger_from_json, spec_from_json
from dpgp_core.release.bundle import column_text, csv_text, safe_text
from dpgp_core.release.check import values_again
from dpgp_core.release.measured_files import measured_files
from tests.core.release.worlds import make_spec, make_table, make_zip, read, released, unzipped, zip_of


def cells(files):
    """The columns of the table in a zip, as they are written."""
    header, *rows = csv.reader(io.StringIO(files["values.csv"].decode()))
    return dict(zip(header, zip(*rows, strict=True), strict=True))


@pytest.mark.parametrize("mechanism", CHOICES)
def test_what_is_in_the_zip(mechanism):
    spec, files = make_spec(mechanism=mechanism), zip_of(mechanism)
    measured = ["statistics.npz"] if mechanism in ("bayes", "bayes_cells", "sparse") else ["map.npz", "statistics.npz"]
    assert list(files) == ["values.csv", "card.html", "figure.svg", *measured, "release.json", "reproduce.py"]
    columns, card = cells(files), json.loads(files["release.json"])
    assert card["sha256"] == {name: hashlib.sha256(files[name]).hexdigest() for name in list(files)[:-2]}
    ends = ["curve_low_95", "curve_high_95", "output_low_95", "output_high_95"]
    assert list(columns) == ["age", "value", *ends]
    np.testing.assert_allclose(np.array(columns["age"], dtype=float), spec.points()[:, 0])
    assert card["values"]["rows"] == len(columns["value"]) == 9
    assert list(card["values"]["columns"]) == list(columns)
    decimals = {len(cell.partition(".")[2]) for cell in columns["value"]}
    assert decimals == {len(f"{card['values']['step']:.9f}".rstrip("0").partition(".")[2])}


@pytest.mark.parametrize("mechanism", CHOICES)
def test_the_table_marks_what_is_within_the_tolerance(mechanism):
    files = make_zip(make_spec(mechanism=mechanism, tolerance=30.0))
    columns, card = cells(files), json.loads(files["release.json"])
    low, high = (np.array(columns[f"curve_{end}_95"], dtype=float) for end in ("low", "high"))
    expected = [str(int(round(each, 6) <= 60)) for each in high - low]
    assert list(columns["within_tolerance"]) == expected
    assert card["values"]["tolerance"] == card["config"]["tolerance"] == 30
    assert card["values"]["within_tolerance"] == expected.count("1")
    assert list(card["values"]["columns"]) == list(columns)


@pytest.mark.parametrize("mechanism", CHOICES)
def test_accounting_can_be_redone_from_the_card_alone(mechanism):
    spec, card = make_spec(mechanism=mechanism), zip_of(mechanism)["release.json"]
    assert spec_from_json(card) == spec
    ledger = ledger_from_json(card)
    assert ledger.limit == spec.limit
    assert [guarantee for _, guarantee in ledger.entries] == [spec.guarantee]
    found = json.loads(card)
    for name in ("epsilon", "delta", "protects", "neighbours", "unit", "theorem", "assumptions", "not_covered", "loss"):
        assert found["guarantee"][name] not in (None, "", []), name
    assert found["guarantee"]["protects"] == ("inputs and outputs" if spec.protects_inputs else "outputs")
    assert found["public"]["n"] == 40
    versions = (dpgp_core.__version__, platform.python_version(), np.__version__, scipy.__version__)
    assert tuple(found["software"].values()) == versions


@pytest.mark.parametrize("mechanism", CHOICES)
def test_no_output_is_in_the_zip(mechanism):
    everything = b"\n".join(zip_of(mechanism).values())
    heights = [line.split(",")[1] for line in make_table().decode().splitlines()[1:]]
    assert len(heights) == 40
    for height in heights:  # like 163.2718
        assert height.encode() not in everything
        assert struct.pack("<d", float(height)) not in everything
    # what would be computed from them, to the six digits at which chance would not produce it
    values = np.array(heights, dtype=float)
    for figure in (values.mean(), values.std(), values.min(), values.max(), np.median(values), values.sum()):
        assert f"{figure:.7g}"[:7].encode() not in everything


def test_equal_releases_make_equal_zips_without_a_seed_or_a_time():
    spec = make_spec()
    published = released(spec, read(spec))
    ledger = spec.new_ledger()
    ledger.spend([("a", spec.guarantee)])
    content = bundle(published, ledger)
    assert content == bundle(published, ledger)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {each.date_time for each in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        card = archive.read("release.json").decode()
    assert "seed" not in card
    assert not re.search(r"20\d\d-\d\d-\d\d|\d\d:\d\d", card)


def test_a_release_that_the_ledger_does_not_count_is_refused():
    spec = make_spec()
    published = released(spec, read(spec))
    elsewhere = make_spec(epsilon=0.5).new_ledger()
    elsewhere.spend([("another", make_spec(epsilon=0.5).guarantee)])
    for ledger in (spec.new_ledger(), elsewhere):
        with pytest.raises(ValueError, match=r"does not count this release; spend spec.guarantee"):
            bundle(published, ledger)


def test_the_card_lists_what_was_spent_before():
    spec = make_spec(epsilon=0.5, total_epsilon=5.0)
    other = replace(spec, mechanism="cloaking", cells=None)
    ledger = spec.new_ledger()
    ledger.spend([("first", other.guarantee), ("second", spec.guarantee)])
    published = released(spec, read(spec))
    card = json.loads(unzipped(bundle(published, ledger))["release.json"])
    assert [entry["what"] for entry in card["ledger"]["entries"]] == ["first", "second"]
    assert card["ledger"]["spent"]["epsilon"] == pytest.approx(ledger.epsilon(1e-5))


def test_very_large_strategies_are_left_out(monkeypatch):
    monkeypatch.setattr("dpgp_core.release.measured_files._MOST", 10)
    files = make_zip(make_spec())
    assert "statistics.npz" not in files
    assert "too large for a file" in json.loads(files["release.json"])["statistics"]["why"]


def test_centiles_stand_in_the_table_and_the_card():
    files = make_zip(make_spec(mechanism="bayes_cells", centiles=True))
    assert list(cells(files))[-5:] == [f"centile_{each}" for each in (3, 15, 50, 85, 97)]
    assert "97 in 100" in json.loads(files["release.json"])["values"]["columns"]["centile_97"]
    assert "centiles of people" in files["figure.svg"].decode()


def test_text_that_a_spreadsheet_would_run_gets_an_apostrophe():
    for start in ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"):
        assert safe_text(f'{start}HYPERLINK("http://x")') == f'\'{start}HYPERLINK("http://x")'
    for text in ("age", "a=b", "größe", "", "'=1"):
        assert safe_text(text) == text


def test_numbers_stay_numbers():
    assert column_text(np.array([-1.5, 0.25, 1e-12])) == ["-1.5", "0.25", "1e-12"]
    assert column_text(np.array([-1.5, 2.0]), step=0.01) == ["-1.50", "2.00"]
    assert column_text(np.array([-1500.0, 200.0]), step=100.0) == ["-1500", "200"]


def test_headers_are_quoted_and_safe_in_any_separator():
    text = csv_text({'=1+"a"': ["-1", "2"], "x;=2+3": ["3", "4"], "a,b": ["5", "6"]})
    header, *rows = csv.reader(io.StringIO(text))
    assert header == ['\'=1+"a"', "x;=2+3", "a,b"]
    assert rows == [["-1", "3", "5"], ["2", "4", "6"]]
    assert text.splitlines()[0] == '"\'=1+""a""","x;=2+3","a,b"'


def test_of_many_rows_a_file_holds_their_counts_and_gives_the_values():
    spec = replace(make_spec(), mechanism="bayes", cells=None, delta=1e-6)
    data = read(spec, n=6000)
    published = released(spec, data)
    about, files = measured_files(published)
    assert (about["records"], about["counts"]) == (6000, {"known": "inputs are public"})
    values, _ = values_again(spec, spec.outcome, about, files)
    assert (np.abs(np.clip(values, *spec.y_bounds) - published.values) <= published.step).all()


def test_a_missing_or_damaged_file_is_a_sentence():
    spec = replace(make_spec(), mechanism="cloaking", cells=None)
    published = released(spec, read(spec))
    about, files = measured_files(published)

    with pytest.raises(ValueError, match=r"map\.npz is missing; fetch the zip again"):
        values_again(spec, spec.outcome, about, {})
    with pytest.raises(ValueError, match=r"map\.npz is damaged"):
        values_again(spec, spec.outcome, about, {"map.npz": files["map.npz"][:40]})

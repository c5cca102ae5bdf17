"""What is in a zip."""

import csv
import functools
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
from dpgp_core.release.bundle import csv_text, safe_text
from dpgp_core.release.check import check_folder, values_again
from dpgp_core.release.measured_files import BOUNDS, measured_files
from tests.core.release.test_bought import wages
from tests.core.release.test_groups import spec_of as of_groups
from tests.core.release.test_groups import table as of_both_sexes
from tests.core.release.test_inputs import PLACES, of_london, of_visits
from tests.core.release.test_inputs import table as visits
from tests.core.release.test_whose import BUDGETS, YES_NO
from tests.core.release.test_whose import rows_of as rows_of_people
from tests.core.release.worlds import (
    make_open,
    make_spec,
    make_table,
    make_zip,
    read,
    released,
    unzipped,
    written,
    zip_of,
)


def cells(files):
    """The columns of the table in a zip, as they are written."""
    header, *rows = csv.reader(io.StringIO(files["values.csv"].decode()))
    return dict(zip(header, zip(*rows, strict=True), strict=True))


RELEASES = {name: (make_spec(mechanism=name), make_table()) for name in CHOICES} | {
    "tolerance": (make_spec(tolerance=30.0), make_table()),
    "logarithms": (make_spec(mechanism="sparse", log=True, tolerance=1.5), make_table()),
    "bought bounds": (make_open(mechanism="bayes_cells"), wages()),
    "groups": (of_groups(mechanism="bayes_cells"), of_both_sexes()),
    "dates": (of_visits(mechanism="refined", grid=(9,), epsilon=1.0, y_kind="number"), visits(n=60)),
    "places": (of_london(), PLACES),
    "people": (make_spec(mechanism="bayes_cells", person="who", **BUDGETS), rows_of_people(30, 3)),
    "four rows of each": (make_spec(rows_per_person=4, **YES_NO), rows_of_people(20, 2)),
}


@functools.cache
def files_of(kind):
    return zip_of(kind) if kind in CHOICES else make_zip(*RELEASES[kind])


@pytest.mark.parametrize("kind", RELEASES)
def test_what_is_in_the_zip(kind):
    (spec, _), files = RELEASES[kind], files_of(kind)
    linear = ["map.npz"] if spec.mechanism not in ("bayes", "bayes_cells", "sparse") else []
    bought = [BOUNDS] if spec.purchase else []
    assert list(files)[:-2] == ["values.csv", "card.html", "figure.svg", *linear, "statistics.npz", *bought]
    assert list(files)[-2:] == ["release.json", "reproduce.py"]
    columns, card = cells(files), json.loads(files["release.json"])
    assert card["sha256"] == {name: hashlib.sha256(files[name]).hexdigest() for name in list(files)[:-2]}
    ends = ["curve_low_95", "curve_high_95", "output_low_95", "output_high_95"]
    assert list(columns)[: len(spec.x) + 5] == [*spec.x, "value", *ends]
    if kind not in ("groups", "dates"):  # which have words for numbers
        inputs = np.array([columns[name] for name in spec.x], dtype=float).T
        np.testing.assert_allclose(inputs, spec.points())
    assert card["values"]["rows"] == len(columns["value"]) == len(spec.points())
    assert list(card["values"]["columns"]) == list(columns)
    decimals = {len(cell.partition(".")[2]) for cell in columns["value"]}
    assert decimals == {len(f"{card['values']['step']:.9f}".rstrip("0").partition(".")[2])}


@pytest.mark.parametrize("kind", RELEASES)
def test_values_and_accounting_follow_from_the_zip_alone(tmp_path, kind):
    (spec, _), files = RELEASES[kind], files_of(kind)
    said = check_folder(written(files, tmp_path))
    assert said.startswith("The files are those that release.json describes, ")
    assert f"and all {len(spec.points())} values follow" in said
    assert ("the bounds follow from the noisy counts" in said) == bool(spec.purchase)
    assert spec_from_json(files["release.json"]) == spec
    ledger = ledger_from_json(files["release.json"])
    assert ledger.limit == spec.limit
    assert [guarantee for _, guarantee in ledger.entries] == [spec.guarantee]
    card = json.loads(files["release.json"])
    for name in ("epsilon", "delta", "protects", "neighbours", "unit", "theorem", "assumptions", "not_covered", "loss"):
        assert card["guarantee"][name] not in (None, "", []), name
    assert card["guarantee"]["protects"] == ("inputs and outputs" if spec.protects_inputs else "outputs")
    versions = (dpgp_core.__version__, platform.python_version(), np.__version__, scipy.__version__)
    assert tuple(card["software"].values()) == versions


def test_the_table_marks_what_is_within_the_tolerance():
    columns, card = cells(files_of("tolerance")), json.loads(files_of("tolerance")["release.json"])
    low, high = (np.array(columns[f"curve_{end}_95"], dtype=float) for end in ("low", "high"))
    expected = [str(int(round(each, 6) <= 60)) for each in high - low]
    assert list(columns["within_tolerance"]) == expected
    assert card["values"]["tolerance"] == card["config"]["tolerance"] == 30
    assert card["values"]["within_tolerance"] == expected.count("1")


def test_errors_of_logarithms_are_factors():
    files = files_of("logarithms")
    card, page = json.loads(files["release.json"]), files["card.html"].decode()
    assert (card["config"]["log"], card["measured"]) == (True, "the natural logarithm of height")
    assert "errors are factors" in page
    assert "within a factor of 1.5" in page


_POSITIONS = rb' (?:d|x|y|cx|cy|width|height|transform|viewBox|points)="[^"]*"'
"""Positions on the sheet of a figure: some 240 numbers of six digits, of which one is like an output now and then."""


@pytest.mark.parametrize("mechanism", CHOICES)
def test_no_output_is_in_the_zip(mechanism):
    everything = re.sub(_POSITIONS, b"", b"\n".join(zip_of(mechanism).values()))
    heights = [line.split(",")[1] for line in make_table().decode().splitlines()[1:]]
    assert len(heights) == 40
    for height in heights:  # like 163.2718
        assert height.encode() not in everything
        assert struct.pack("<d", float(height)) not in everything
    # what would be computed from them, to the six digits at which chance would not produce it
    values = np.array(heights, dtype=float)
    for figure in (values.mean(), values.std(), values.min(), values.max(), np.median(values), values.sum()):
        assert f"{figure:.7g}"[:7].encode() not in everything


def test_equal_releases_make_equal_zips():
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


def test_an_uncounted_release_is_refused():
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


def test_spreadsheet_formulas_get_an_apostrophe():
    for start in ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"):
        assert safe_text(f'{start}HYPERLINK("http://x")') == f'\'{start}HYPERLINK("http://x")'
    for text in ("age", "a=b", "größe", "", "'=1"):
        assert safe_text(text) == text


def test_headers_are_quoted_and_safe_in_any_separator():
    text = csv_text({'=1+"a"': ["-1", "2"], "x;=2+3": ["3", "4"], "a,b": ["5", "6"]})
    header, *rows = csv.reader(io.StringIO(text))
    assert header == ['\'=1+"a"', "x;=2+3", "a,b"]
    assert rows == [["-1", "3", "5"], ["2", "4", "6"]]
    assert text.splitlines()[0] == '"\'=1+""a""","x;=2+3","a,b"'


@pytest.mark.full
def test_large_zips_hold_counts_and_give_values():
    spec = replace(make_spec(), mechanism="bayes", cells=None, delta=1e-6)
    data = read(spec, n=6000)
    published = released(spec, data)
    about, files = measured_files(published)
    assert (about["records"], about["counts"]) == (6000, {"known": "inputs are public", "places": True})
    [values] = values_again(spec, spec.outcome, about, files)
    assert (np.abs(np.clip(values, *spec.y_bounds) - published.values) <= published.step).all()


def test_a_missing_or_damaged_file_is_a_sentence():
    spec = replace(make_spec(), mechanism="cloaking", cells=None)
    published = released(spec, read(spec))
    about, files = measured_files(published)

    with pytest.raises(ValueError, match=r"map\.npz is missing; fetch the zip again"):
        values_again(spec, spec.outcome, about, {})
    with pytest.raises(ValueError, match=r"map\.npz is damaged"):
        values_again(spec, spec.outcome, about, {"map.npz": files["map.npz"][:40]})

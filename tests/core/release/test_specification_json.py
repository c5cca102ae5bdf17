import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp_core.release import CHOICES, spec_from_json, spec_to_json
from dpgp_core.release.json_text import spec_from_object, spec_to_object
from dpgp_core.release.specification import EXAMPLE
from tests.core.release.anything import anything
from tests.fuzz_configs import OPTIONAL

GOOD = spec_to_object(EXAMPLE)


@pytest.mark.parametrize("mechanism", CHOICES)
def test_round_trip(make_spec, mechanism):
    spec = make_spec(mechanism=mechanism, unit="größe", noise_variance=0.1 + 0.2, tolerance=2.5)
    assert spec_from_json(spec_to_json(spec)) == spec
    assert spec_from_json(spec_to_json(spec)).tolerance == 2.5  # equality leaves it out
    assert spec_from_json(spec_to_json(spec).encode()) == spec


def test_a_release_card_is_a_configuration():
    assert spec_from_json(json.dumps({"schema": 1, "config": GOOD, "ledger": {"anything": 1}})) == EXAMPLE


def test_what_has_a_default_may_be_left_out():
    assert {"y_kind", "centiles", "person", "rows_per_person"} <= OPTIONAL  # as in configurations of before
    found = spec_from_object({key: value for key, value in GOOD.items() if key not in OPTIONAL})
    assert found == replace(EXAMPLE, x_units=("",), y_unit="", total_epsilon=1.0)
    assert not found.centiles  # equality leaves it out


def test_how_the_table_is_written_stands_beside_all_else():
    declared = {"separator": ";", "numbers": "1.234,5", "encoding": "cp1252", "missing": [-999, "x"]}
    spec = spec_from_object(GOOD | declared | {"date_order": "day/month/year", "not_private": "for its owner's eyes"})
    assert spec.writing.missing == (-999.0, "x")
    assert declared.items() <= json.loads(spec_to_json(spec)).items()
    assert "not_private" not in json.loads(spec_to_json(spec))
    assert spec_from_json(spec_to_json(spec)) == spec


WRONG = {
    "unknown key": (
        GOOD | {"epsilom": 1},
        "the configuration has the unknown key 'epsilom'; its keys are x, x_box, y, ",
    ),
    "seed": (GOOD | {"seed": 1}, "unknown key 'seed'"),
    "no bounds": ({key: GOOD[key] for key in GOOD if key != "y_bounds"}, "lacks 'y_bounds'; add it"),
    "schema": (GOOD | {"schema": 2}, "must have schema 1, the only one"),
    "schema true": (GOOD | {"schema": True}, "must have schema 1"),
    "bounds text": (GOOD | {"y_bounds": ["50", "200"]}, "y_bounds must be a number, got '50'"),
    "bounds an object": (GOOD | {"y_bounds": {"low": 50}}, "y_bounds must be a list in square brackets, got an object"),
    "nested": ({"config": [GOOD]}, "must be a JSON object"),
    "nested twice": ({"config": {"config": GOOD}}, "unknown key 'config'"),
}


@pytest.mark.parametrize(("found", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_configuration_is_named_with_its_remedy(found, message):
    with pytest.raises(ValueError, match=message):
        spec_from_json(json.dumps(found))


@given(st.sampled_from(list(GOOD)), anything)
def test_any_value_of_any_key_is_accepted_or_refused_with_its_name(key, value):
    try:
        found = spec_from_object(GOOD | {key: value})
    except ValueError as error:
        refusal = error
    else:
        assert spec_from_json(spec_to_json(found)) == found
        return
    assert type(refusal) is ValueError
    assert len(str(refusal)) < 400
    assert "\n" not in str(refusal)


@pytest.mark.parametrize("kind", ["number", "amount", "count", "yes/no"])
def test_the_kind_of_outcome_and_centiles_come_back(make_spec, kind):
    rate = kind == "yes/no"
    spec = make_spec(mechanism="bayes", y_kind=kind, y_bounds=(0, 1) if rate else (0, 200), centiles=not rate)
    found = spec_from_json(spec_to_json(spec))
    assert (found, found.y_kind) == (spec, kind)
    assert found.centiles == spec.centiles  # equality leaves it out

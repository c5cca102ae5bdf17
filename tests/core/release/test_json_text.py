"""Configurations, ledgers and numbers in JSON: what comes back, and what is refused."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp_core import checks
from dpgp_core.accounting.guarantee import Budget
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.accounting.losses import ApproximateLoss, GaussianLoss, PureLoss
from dpgp_core.kernels import Matern12
from dpgp_core.mechanisms import PosteriorSampling
from dpgp_core.release import CHOICES, ledger_from_json, ledger_to_json, spec_from_json, spec_to_json
from dpgp_core.release.json_text import (
    MAX_BYTES,
    MAX_ENTRIES,
    MAX_LEDGER_BYTES,
    check_keys,
    guarantee_from_object,
    guarantee_to_object,
    read_object,
    spec_from_object,
    spec_to_object,
    write_object,
)
from dpgp_core.release.specification import EXAMPLE
from tests.fuzz_configs import OPTIONAL

GOOD = spec_to_object(EXAMPLE)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=6,
)


@pytest.mark.parametrize("mechanism", CHOICES)
def test_a_specification_comes_back(make_spec, mechanism):
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


WRONG_SPECIFICATIONS = {
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


@pytest.mark.parametrize(("found", "message"), WRONG_SPECIFICATIONS.values(), ids=WRONG_SPECIFICATIONS)
def test_a_wrong_configuration_is_named_with_its_remedy(found, message):
    with pytest.raises(ValueError, match=message):
        spec_from_json(json.dumps(found))


@given(st.sampled_from(list(GOOD)), ANYTHING)
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


LOSSES = [GaussianLoss(0.25), PureLoss(0.5), PureLoss(0.5, 0.03, 3), ApproximateLoss(0.4, 1e-6, 2)]


@pytest.fixture
def promise(make_spec):
    """A guarantee of a given loss, claiming what the loss amounts to at delta 1e-5."""

    def make(loss):
        budget = Budget(epsilon=loss.epsilon(1e-5), delta=1e-5)
        return replace(make_spec().guarantee, loss=loss, budget=budget)

    return make


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_a_ledger_comes_back(promise, loss):
    ledger = Ledger(limit=Budget(epsilon=3.0, delta=1e-5), entries=[("a", promise(loss)), ("größe", promise(loss))])
    found = ledger_from_json(ledger_to_json(ledger))
    assert (found.limit, found.entries) == (ledger.limit, ledger.entries)
    assert found.epsilon(1e-5) == ledger.epsilon(1e-5)


def test_what_is_spent_is_written_and_computed_anew(promise):
    ledger = Ledger(limit=Budget(epsilon=3.0, delta=1e-5), entries=[("a", promise(LOSSES[0]))] * 2)
    text = ledger_to_json(ledger)
    written = json.loads(text)["ledger"]["spent"]["epsilon"]
    assert written == ledger.epsilon(1e-5) > 0
    assert ledger_from_json(text.replace(repr(written), "0")).epsilon(1e-5) == written


def test_a_ledger_without_limit_and_entries():
    assert ledger_from_json(ledger_to_json(Ledger())) == Ledger()


def test_a_ledger_that_says_nothing_of_inputs_declares_nothing():
    assert not ledger_from_json('{"schema": 1, "ledger": {"limit": null, "entries": []}}').inputs_public


def test_a_loss_of_another_kind_is_never_written_smaller():
    mechanism = PosteriorSampling(
        kernel=Matern12(lengthscale=2.0), r=2.0, sigma=0.8, delta=0.01, n=12, x_box=((0.0, 10.0),)
    )
    guarantee = mechanism.guarantee
    found = guarantee_from_object(guarantee_to_object(guarantee))
    assert found.loss == ApproximateLoss(guarantee.proven_epsilon, 0.01)
    assert found.loss.epsilon(0.01) >= guarantee.loss.epsilon(0.01)
    assert found.loss.epsilon(0.001) >= guarantee.loss.epsilon(0.001)


def test_a_claim_a_little_below_its_loss_is_refused(promise):
    found = guarantee_to_object(promise(GaussianLoss(1.0)))
    little = {"epsilon": found["epsilon"] * 0.9999}
    for changes in (little, {"loss": {"kind": "gaussian", "mu": 1.1}}, {"delta": 1e-9}):
        with pytest.raises(ValueError, match=r"claims epsilon = .*, and its loss amounts to"):
            guarantee_from_object(found | changes)
    assert guarantee_from_object(found | {"epsilon": found["epsilon"] * (1 - 1e-9)})  # a rounding error is no fraud


def test_what_is_not_established_keeps_its_mark(promise):
    found = guarantee_to_object(promise(GaussianLoss(1.0))) | {"epsilon": 0.5, "established": False}
    assert not guarantee_from_object(found).established


def test_the_largest_ledger_that_is_written_can_be_read(promise):
    ledger = Ledger(limit=Budget(epsilon=1e5, delta=1e-5), entries=[("x" * 200, promise(LOSSES[0]))] * MAX_ENTRIES)
    text = ledger_to_json(ledger)
    assert len(text.encode()) < MAX_LEDGER_BYTES
    assert len(ledger_from_json(text).entries) == MAX_ENTRIES
    ledger.entries.append(ledger.entries[0])
    with pytest.raises(ValueError, match="has 101 entries, more than 100, the limit"):
        ledger_from_json(ledger_to_json(ledger))


WRONG_LEDGERS = {
    "no schema": ({"ledger": {}}, "must be a JSON object with schema 1 and a key 'ledger'"),
    "entries": ({"schema": 1, "ledger": {"limit": None, "entries": 3}}, "entries must be a list in square brackets"),
    "limit": ({"schema": 1, "ledger": {"limit": 3, "entries": []}}, "the ledger's limit must be a JSON object, got 3"),
    "pure limit": (
        {"schema": 1, "ledger": {"limit": {"epsilon": 1, "delta": 0}, "entries": []}},
        "limit must have a delta above 0",
    ),
}


@pytest.mark.parametrize(("found", "message"), WRONG_LEDGERS.values(), ids=WRONG_LEDGERS)
def test_a_wrong_ledger_is_named(found, message):
    with pytest.raises(ValueError, match=message):
        ledger_from_json(json.dumps(found))


@given(st.sampled_from(["loss", "epsilon", "delta", "protects", "unit", "assumptions", "releases"]), ANYTHING)
def test_any_value_in_a_guarantee_is_accepted_or_refused(key, value):
    found = guarantee_to_object(EXAMPLE.guarantee) | {key: value}
    try:
        guarantee = guarantee_from_object(found)
    except ValueError as error:
        refusal = error
    else:
        assert guarantee.loss.epsilon(guarantee.budget.delta) <= guarantee.budget.epsilon * (1 + 1e-6)
        return
    assert "\n" not in str(refusal)
    assert len(str(refusal)) < 400


@pytest.mark.parametrize("rows", [1, 7, None])
def test_which_rows_are_hidden_together_is_kept(promise, rows):
    found = guarantee_to_object(replace(promise(GaussianLoss(0.2)), rows=rows))
    assert guarantee_from_object(found).rows == rows
    del found["rows"]
    assert guarantee_from_object(found).rows == 1  # so it was when nobody asked


def test_the_column_of_people_is_kept(promise):
    found = guarantee_to_object(replace(promise(GaussianLoss(0.2)), rows=None, person="who"))
    assert guarantee_from_object(found).person == "who"
    del found["person"]
    assert guarantee_from_object(found).person == ""  # files from before do not name it
    with pytest.raises(ValueError, match="person must be a line"):
        guarantee_from_object(found | {"person": 3})


@pytest.mark.parametrize("rows", [0, 1001, "2", True, 1.5])
def test_no_other_number_of_rows_is_read(promise, rows):
    with pytest.raises(ValueError, match="rows must"):
        guarantee_from_object(guarantee_to_object(promise(GaussianLoss(0.2))) | {"rows": rows})


WRONG_TEXTS = {
    "array": (b"[]", "must be one JSON object"),
    "empty": (b"", "is not valid JSON at line 1"),
    "second line": (b'{\n"a": }', "is not valid JSON at line 2"),
    "Latin-1": (b'{"a": "\xe9"}', "is not UTF-8 text"),
    "UTF-16": ("{}".encode("utf-16"), "is not UTF-8 text"),
    "twice": (b'{"a": {"b": 1, "b": 1}}', "has the key 'b' twice"),
    "NaN": (b'{"a": NaN}', "holds NaN, which is not a JSON number"),
    "minus infinity": (b'{"a": -Infinity}', "holds -Infinity"),
    "beyond all numbers": (b'{"a": [1e400]}', "holds a number beyond 1.8e308"),
    "minus beyond all": (b'{"a": -1e999}', "holds a number beyond 1.8e308"),
    "5,000 digits": (b'{"a": ' + b"9" * 5000 + b"}", "holds a number beyond 1.8e308"),
    "deep": (b"[" * 100_000, "is nested too deeply"),
    "deep object": (b'{"a":' * 100_000, "is nested too deeply"),
    "long": (b" " * (MAX_BYTES + 1), f"is larger than {MAX_BYTES} bytes"),
}


@pytest.mark.parametrize(("text", "message"), WRONG_TEXTS.values(), ids=WRONG_TEXTS)
def test_anything_but_one_plain_object_is_refused(text, message):
    with pytest.raises(ValueError, match=f"^it {message}") as caught:
        read_object(text, "it")
    assert type(caught.value) is ValueError
    assert caught.value.__cause__ is None


def test_whole_numbers_that_only_a_float_holds_are_floats():
    digits = "9" * 300
    assert read_object(f'{{"a": {digits}, "b": -{digits}, "c": 123}}', "it") == {"a": 1e300, "b": -1e300, "c": 123}


def test_a_repeated_key_is_found_without_comparing_every_pair():
    """500,000 keys, the last one twice: compared in pairs they take hours, and the test does not end."""
    text = "{" + ",".join(f'"{number}":0' for number in range(500_000)) + ',"499999":0}'
    with pytest.raises(ValueError, match="has the key '499999' twice"):
        read_object(text, "it", most=10_000_000)


def test_a_byte_order_mark_is_accepted():
    assert read_object(b'\xef\xbb\xbf{"a": 1}', "it") == {"a": 1}


def test_keys_are_all_known_and_complete():
    check_keys({"a": 1, "c": 2}, "it", required=["a"], optional=["b", "c"])
    with pytest.raises(ValueError, match=r"it has the unknown key 'd'; its keys are a, b"):
        check_keys({"a": 1, "d": 2}, "it", required=["a"], optional=["b"])
    with pytest.raises(ValueError, match=r"it lacks 'b'; add it"):
        check_keys({"a": 1}, "it", required=["a", "b"])


def test_what_is_written_is_exact_and_refuses_nan():
    found = {"a": 0.1 + 0.2, "b": ["é", None, True], "c": {}}
    assert read_object(write_object(found), "it") == found
    with pytest.raises(ValueError, match="infinite or undefined"):
        write_object({"a": float("nan")})


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200)))
def test_any_text_is_an_object_or_a_sentence(text):
    try:
        found = read_object(text, "it")
    except ValueError as error:
        refusal = error
    else:
        assert isinstance(found, dict)
        return
    assert type(refusal) is ValueError
    assert str(refusal).startswith("it ")


words = st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.integers(-(10**15), 10**15) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(words, values, max_size=5))
def test_reads_what_the_standard_library_reads(found):
    assert read_object(json.dumps(found), "it") == found


@pytest.mark.parametrize("number", [float("inf"), float("nan")])
def test_what_json_cannot_hold_is_refused_in_words_of_our_own(number):
    with pytest.raises(ValueError, match="a number is infinite or undefined, and JSON has none that is") as caught:
        write_object({"a": number})
    assert caught.value.__context__ is None


@pytest.mark.parametrize("value", ["a\nb", "a\x00", "\ud800", "\u2028", "\x85", "\x7f", "a\tb"])
def test_text_must_be_one_visible_line(value):
    with pytest.raises(ValueError, match="one line of visible text"):
        checks.text("unit", value)


@pytest.mark.parametrize("value", ["age", "=age", "größe (cm)", "身長", "€/m²", 'O\'Neil "x"', "a\u200cb"])
def test_text_of_any_language_is_accepted(value):
    assert checks.text("unit", value) == value


@pytest.mark.parametrize(
    ("value", "message"), [(3, "must be text in quotes, got 3"), (" a", "start or end with a space")]
)
def test_other_text_is_refused(value, message):
    with pytest.raises(ValueError, match=message):
        checks.text("unit", value)


@pytest.mark.parametrize(
    "value",
    ["x" * 10**6, 10**5000, -(10**400), [[1] * 10**5], {"a": {}}, None, 1e308, True],
    ids=lambda value: type(value).__name__,
)
def test_any_value_is_shown_briefly(value):
    assert 0 < len(checks.excerpt(value)) <= 70


@pytest.mark.parametrize(
    "value",
    [True, "3", None, [1], float("nan"), float("inf"), 10**5000, -1, 5.1],
    ids=lambda value: type(value).__name__,
)
def test_numbers_out_of_range_or_of_another_kind_are_refused(value):
    with pytest.raises(ValueError, match=r"^size must"):
        checks.number("size", value, 0, 5)


def test_numbers_become_floats():
    assert checks.number("size", 5, 0, 5) == 5.0
    assert isinstance(checks.number("size", 5, 0, 5), float)


@pytest.mark.parametrize("value", [1.0, True, "1", None, 0, 10, 10**30])
def test_whole_numbers(value):
    with pytest.raises(ValueError, match=r"^cells must"):
        checks.whole("cells", value, 1, 9)
    assert checks.whole("cells", 9, 1, 9) == 9

"""Configurations, ledgers and numbers in JSON: what comes back, and what is refused."""

import json
from dataclasses import replace

import pytest

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
    guarantee_from_object,
    guarantee_to_object,
    read_object,
    spec_from_object,
    spec_to_object,
    write_object,
)
from dpgp_core.release.specification import EXAMPLE
from tests.core.release.test_groups import spec_of as of_groups
from tests.core.release.test_inputs import GERMAN, of_london, of_visits
from tests.core.release.worlds import make_open, make_spec

GOOD = spec_to_object(EXAMPLE)
OPTIONAL = GOOD.keys() - {"x", "x_box", "y", "y_bounds", "unit", "grid", "epsilon", "delta"}


RATE = {"y_kind": "yes/no", "y_bounds": (0, 1)}
SPECS = [
    *(make_spec(mechanism=name, unit="größe", noise_variance=0.1 + 0.2, tolerance=2.5) for name in CHOICES),
    *(make_spec(mechanism="bayes", y_kind=kind, y_bounds=(0, 200), centiles=True) for kind in ("amount", "count")),
    make_spec(mechanism="bayes", **RATE),
    make_spec(log=True),
    make_open(bounds_share=0.2),
    of_groups(),
    of_london(),
    of_visits(dates=GERMAN),
]


@pytest.mark.parametrize("spec", SPECS)
def test_a_specification_comes_back(spec):
    text = spec_to_json(spec)
    again = spec_from_json(text.encode())
    assert again == spec
    assert hash(again) == hash(spec)
    assert spec_to_json(again) == text  # equality leaves tolerance and centiles out


def test_what_has_a_default_may_be_left_out():
    assert {"y_kind", "centiles", "person", "rows_per_person"} <= OPTIONAL  # as in configurations of before
    found = spec_from_object({key: value for key, value in GOOD.items() if key not in OPTIONAL})
    assert found == replace(EXAMPLE, x_units=("",), y_unit="", total_epsilon=1.0)
    assert not found.centiles  # equality leaves it out


def test_the_writing_of_a_table_is_stored():
    declared = {"separator": ";", "numbers": "1.234,5", "encoding": "cp1252", "missing": [-999, "x"]}
    spec = spec_from_object(GOOD | declared | {"date_order": "day/month/year", "not_private": "for its owner's eyes"})
    assert spec.writing.missing == (-999.0, "x")
    assert declared.items() <= json.loads(spec_to_json(spec)).items()
    assert "not_private" not in json.loads(spec_to_json(spec))
    assert spec_from_json(spec_to_json(spec)) == spec


LOSSES = [GaussianLoss(0.25), PureLoss(0.5), PureLoss(0.5, 0.03, 3), ApproximateLoss(0.4, 1e-6, 2)]


@pytest.fixture
def promise():
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
    assert ledger_from_json(ledger_to_json(Ledger())) == Ledger()
    # one of before says nothing of inputs, and declares nothing
    assert not ledger_from_json('{"schema": 1, "ledger": {"limit": null, "entries": []}}').inputs_public


def test_what_is_spent_is_written_and_computed_anew(promise):
    ledger = Ledger(limit=Budget(epsilon=3.0, delta=1e-5), entries=[("a", promise(LOSSES[0]))] * 2)
    text = ledger_to_json(ledger)
    written = json.loads(text)["ledger"]["spent"]["epsilon"]
    assert written == ledger.epsilon(1e-5) > 0
    assert ledger_from_json(text.replace(repr(written), "0")).epsilon(1e-5) == written


def test_other_losses_are_never_written_smaller():
    mechanism = PosteriorSampling(
        kernel=Matern12(lengthscale=2.0), r=2.0, sigma=0.8, delta=0.01, n=12, x_box=((0.0, 10.0),)
    )
    guarantee = mechanism.guarantee
    found = guarantee_from_object(guarantee_to_object(guarantee))
    assert found.loss == ApproximateLoss(guarantee.proven_epsilon, 0.01)
    assert found.loss.epsilon(0.01) >= guarantee.loss.epsilon(0.01)
    assert found.loss.epsilon(0.001) >= guarantee.loss.epsilon(0.001)


def test_a_claim_below_its_loss_is_refused(promise):
    found = guarantee_to_object(promise(GaussianLoss(1.0)))
    little = {"epsilon": found["epsilon"] * 0.9999}
    for changes in (little, {"loss": {"kind": "gaussian", "mu": 1.1}}, {"delta": 1e-9}):
        with pytest.raises(ValueError, match=r"claims epsilon = .*, and its loss amounts to"):
            guarantee_from_object(found | changes)
    assert guarantee_from_object(found | {"epsilon": found["epsilon"] * (1 - 1e-9)})  # a rounding error is no fraud
    assert not guarantee_from_object(found | {"epsilon": 0.5, "established": False}).established


def test_the_largest_ledger_can_be_read(promise):
    ledger = Ledger(limit=Budget(epsilon=1e5, delta=1e-5), entries=[("x" * 200, promise(LOSSES[0]))] * MAX_ENTRIES)
    text = ledger_to_json(ledger)
    assert len(text.encode()) < MAX_LEDGER_BYTES
    assert len(ledger_from_json(text).entries) == MAX_ENTRIES
    ledger.entries.append(ledger.entries[0])
    with pytest.raises(ValueError, match="has 101 entries, more than 100, the limit"):
        ledger_from_json(ledger_to_json(ledger))


@pytest.mark.parametrize(("rows", "person"), [(1, ""), (7, ""), (None, "who")])
def test_which_rows_are_hidden_together_is_kept(promise, rows, person):
    found = guarantee_to_object(replace(promise(GaussianLoss(0.2)), rows=rows, person=person))
    again = guarantee_from_object(found)
    assert (again.rows, again.person) == (rows, person)
    before = {key: value for key, value in found.items() if key not in ("rows", "person")}
    again = guarantee_from_object(before)
    assert (again.rows, again.person) == (1, "")  # so it was when nobody asked


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


def test_huge_whole_numbers_become_floats():
    digits = "9" * 300
    assert read_object(f'{{"a": {digits}, "b": -{digits}, "c": 123}}', "it") == {"a": 1e300, "b": -1e300, "c": 123}


def test_repeated_keys_are_found_quickly():
    """500,000 keys, the last one twice: compared in pairs they take hours, and the test does not end."""
    text = "{" + ",".join(f'"{number}":0' for number in range(500_000)) + ',"499999":0}'
    with pytest.raises(ValueError, match="has the key '499999' twice"):
        read_object(text, "it", most=10_000_000)


def test_what_is_written_is_exact_and_refuses_nan():
    found = {"a": 0.1 + 0.2, "b": ["é", None, True], "c": {}}
    assert (
        read_object(write_object(found), "it")
        == read_object(b"\xef\xbb\xbf" + write_object(found).encode(), "it")
        == found
    )
    for number in (float("inf"), float("nan")):
        with pytest.raises(ValueError, match="a number is infinite or undefined, which JSON cannot contain") as caught:
            write_object({"a": number})
        assert caught.value.__context__ is None


def test_text_of_any_language_and_numbers_are_accepted():
    for value in ("age", "=age", "größe (cm)", "身長", "€/m²", 'O\'Neil "x"', "a\u200cb"):
        assert checks.text("unit", value) == value
    assert isinstance(checks.number("size", 5, 0, 5), float)
    assert checks.whole("cells", 9, 1, 9) == 9


def test_any_value_is_shown_briefly():
    for value in ("x" * 10**6, 10**5000, -(10**400), [[1] * 10**5], {"a": {}}, None, 1e308, True):
        assert 0 < len(checks.excerpt(value)) <= 70

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp_core.accounting.guarantee import Budget
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.accounting.losses import ApproximateLoss, GaussianLoss, PureLoss
from dpgp_core.kernels import Matern12
from dpgp_core.mechanisms import PosteriorSampling
from dpgp_core.release import ledger_from_json, ledger_to_json
from dpgp_core.release.json_text import MAX_ENTRIES, MAX_LEDGER_BYTES, guarantee_from_object, guarantee_to_object
from dpgp_core.release.specification import EXAMPLE
from tests.core.release.anything import anything

LOSSES = [GaussianLoss(0.25), PureLoss(0.5), PureLoss(0.5, 0.03, 3), ApproximateLoss(0.4, 1e-6, 2)]


@pytest.fixture
def promise(make_spec):
    """A guarantee of a given loss, claiming what the loss amounts to at delta 1e-5."""

    def make(loss):
        budget = Budget(epsilon=loss.epsilon(1e-5), delta=1e-5)
        return replace(make_spec().guarantee, loss=loss, budget=budget)

    return make


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_round_trip(promise, loss):
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


WRONG = {
    "no schema": ({"ledger": {}}, "must be a JSON object with schema 1 and a key 'ledger'"),
    "entries": ({"schema": 1, "ledger": {"limit": None, "entries": 3}}, "entries must be a list in square brackets"),
    "limit": ({"schema": 1, "ledger": {"limit": 3, "entries": []}}, "the ledger's limit must be a JSON object, got 3"),
    "pure limit": (
        {"schema": 1, "ledger": {"limit": {"epsilon": 1, "delta": 0}, "entries": []}},
        "limit must have a delta above 0",
    ),
}


@pytest.mark.parametrize(("found", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_ledger_is_named(found, message):
    with pytest.raises(ValueError, match=message):
        ledger_from_json(json.dumps(found))


@given(st.sampled_from(["loss", "epsilon", "delta", "protects", "unit", "assumptions", "releases"]), anything)
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

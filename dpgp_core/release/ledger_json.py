"""Guarantees and ledgers as JSON: complete enough to add up what was spent from the text alone."""

from __future__ import annotations

from typing import Any

from .. import checks
from ..accounting.guarantee import MOST_ROWS, Budget, Guarantee, Protects
from ..accounting.ledger import Ledger
from ..accounting.losses import ApproximateLoss, GaussianLoss, PrivacyLoss, PureLoss
from .strict_json import check_keys, read_object, write_object

SCHEMA = 1
MAX_ENTRIES = 100
MAX_LEDGER_BYTES = 200_000  # of a file with a ledger; an entry takes 1,500
_MOST = 1e6  # of an epsilon or mu
_TOLERANCE = 1 + 1e-6

_PROTECTS: dict[str, Protects] = {"outputs": "outputs", "inputs and outputs": "inputs and outputs"}
_TEXTS = ("protects", "neighbours", "unit", "theorem")
_LISTS = ("assumptions", "not_covered")
_LETTERS = 2_000


def ledger_to_json(ledger: Ledger) -> str:
    """The ledger as JSON text; ``ledger_from_json`` reads it back."""
    return write_object({"schema": SCHEMA, "ledger": ledger_to_object(ledger)})


def ledger_from_json(text: str | bytes) -> Ledger:
    """Read a ledger, or the ledger inside a ``release.json``.

    Raises:
        ValueError: it is no such JSON, or an entry claims less than its loss amounts to.
    """
    members = read_object(text, "the ledger", MAX_LEDGER_BYTES)
    if members.get("schema") != SCHEMA or "ledger" not in members:
        raise ValueError(f"the ledger must be a JSON object with schema {SCHEMA} and a key 'ledger'")
    return ledger_from_object(members["ledger"])


def ledger_to_object(ledger: Ledger) -> dict[str, Any]:
    """The ledger as a JSON object; ``spent`` is for readers and is computed anew when it is read."""
    limit = None if ledger.limit is None else {"epsilon": ledger.limit.epsilon, "delta": ledger.limit.delta}
    spent = None if ledger.limit is None else {"epsilon": ledger.epsilon(ledger.limit.delta)}
    entries = [entry_to_object(what, guarantee) for what, guarantee in ledger.entries]
    members = {"limit": limit, "spent": spent, "inputs_public": ledger.inputs_public, "entries": entries}
    return members | ({"begun_again": ledger.begun_again} if ledger.begun_again else {})


def ledger_from_object(found: object) -> Ledger:
    """Read a ledger from a JSON object.

    Raises:
        ValueError: see ``ledger_from_json``.
    """
    optional = ("spent", "inputs_public", "begun_again")
    keys = _object(found, "the ledger", required=("limit", "entries"), optional=optional)
    limit = None if keys["limit"] is None else _budget(keys["limit"], "the ledger's limit")
    if limit is not None and limit.delta == 0:
        raise ValueError("the ledger's limit must have a delta above 0")
    inputs_public = keys.get("inputs_public", False)
    if not isinstance(inputs_public, bool):
        raise ValueError("the ledger must have inputs_public true or false")
    listed = checks.entries("the ledger's entries", keys["entries"])
    if len(listed) > MAX_ENTRIES:
        raise ValueError(f"the ledger has {len(listed)} entries, more than {MAX_ENTRIES}, the limit")
    return Ledger(
        limit=limit,
        entries=[entry_from_object(entry) for entry in listed],
        inputs_public=inputs_public,
        begun_again=_sentence("begun_again", keys.get("begun_again", "")),
    )


def entry_to_object(what: str, guarantee: Guarantee) -> dict[str, Any]:
    """One release that was counted, as a JSON object."""
    return {"what": what, "guarantee": guarantee_to_object(guarantee)}


def entry_from_object(found: object) -> tuple[str, Guarantee]:
    """Read one release that was counted. Raises ValueError as ``ledger_from_json`` does."""
    keys = _object(found, "an entry of the ledger", required=("what", "guarantee"))
    return _sentence("what", keys["what"]), guarantee_from_object(keys["guarantee"])


def guarantee_to_object(guarantee: Guarantee) -> dict[str, Any]:
    """The promise as a JSON object, with the loss from which its accounting can be redone."""
    budget = {"epsilon": guarantee.budget.epsilon, "delta": guarantee.budget.delta}
    named = {name: getattr(guarantee, name) for name in _TEXTS}
    listed = {name: list(getattr(guarantee, name)) for name in _LISTS}
    extent = {"established": guarantee.established, "releases": guarantee.releases, "rows": guarantee.rows}
    column = {"person": guarantee.person} if guarantee.person else {}
    return budget | named | listed | extent | column | {"loss": _loss_to_object(guarantee)}


def guarantee_from_object(found: object) -> Guarantee:
    """Read a promise from a JSON object.

    Raises:
        ValueError: a value is out of range, or the loss amounts to more than the budget claims.
    """
    what = "a guarantee"
    names = ("epsilon", "delta", *_TEXTS, *_LISTS, "established", "releases", "loss")
    keys = _object(found, what, required=names, optional=("rows", "person"))
    rows = keys.get("rows", 1)  # files from before people could have several say nothing
    budget = _budget({"epsilon": keys["epsilon"], "delta": keys["delta"]}, what)
    loss = _loss_from_object(keys["loss"])
    if not isinstance(keys["established"], bool):
        raise ValueError(f"{what} must have established true or false")
    if keys["established"] and loss.epsilon(budget.delta) > budget.epsilon * _TOLERANCE:
        raise ValueError(
            f"{what} claims epsilon = {budget.epsilon:.4g}, and its loss amounts to {loss.epsilon(budget.delta):.4g}; "
            "use the file as it was written"
        )
    return Guarantee(
        budget=budget,
        loss=loss,
        protects=_PROTECTS[checks.one_of("protects", keys["protects"], list(_PROTECTS))],
        neighbours=_sentence("neighbours", keys["neighbours"]),
        unit=_sentence("unit", keys["unit"]),
        theorem=_sentence("theorem", keys["theorem"]),
        assumptions=_sentences("assumptions", keys["assumptions"]),
        not_covered=_sentences("not_covered", keys["not_covered"]),
        established=keys["established"],
        releases=checks.whole("releases", keys["releases"], 1, 10**9),
        rows=None if rows is None else checks.whole("rows", rows, 1, MOST_ROWS),
        person=_sentence("person", keys.get("person", "")),
    )


def _loss_to_object(guarantee: Guarantee) -> dict[str, Any]:
    loss = guarantee.loss
    if isinstance(loss, GaussianLoss):
        return {"kind": "gaussian", "mu": loss.mu}
    if isinstance(loss, PureLoss):
        return {"kind": "pure", "epsilon": loss.pure_epsilon, "rho": loss.rho, "times": loss.times}
    if isinstance(loss, ApproximateLoss):
        budget = {"epsilon": loss.approximate_epsilon, "delta": loss.approximate_delta}
        return {"kind": "approximate"} | budget | {"times": loss.times}
    # any other kind as the pair that it proves: adds up to more than it does itself, never to less
    budget = {"epsilon": guarantee.proven_epsilon, "delta": guarantee.budget.delta}
    return {"kind": "approximate"} | budget | {"times": 1}


def _loss_from_object(found: object) -> PrivacyLoss:
    what = "a loss"
    kind = found.get("kind") if isinstance(found, dict) else None
    checks.one_of("the kind of a loss", kind, ("gaussian", "pure", "approximate"))
    if kind == "gaussian":
        keys = _object(found, what, required=("kind", "mu"))
        return GaussianLoss(checks.number("mu", keys["mu"], 1e-12, _MOST))
    if kind == "pure":
        keys = _object(found, what, required=("kind", "epsilon", "rho", "times"))
        rho = None if keys["rho"] is None else checks.number("rho", keys["rho"], 1e-12, _MOST)
        times = checks.whole("times", keys["times"], 1, 10**9)
        return PureLoss(checks.number("epsilon", keys["epsilon"], 1e-12, _MOST), rho, times)
    keys = _object(found, what, required=("kind", "epsilon", "delta", "times"))
    budget = _budget({"epsilon": keys["epsilon"], "delta": keys["delta"]}, what)
    return ApproximateLoss(budget.epsilon, budget.delta, checks.whole("times", keys["times"], 1, 10**9))


def _budget(found: object, what: str) -> Budget:
    keys = _object(found, what, required=("epsilon", "delta"))
    epsilon = checks.number(f"epsilon of {what}", keys["epsilon"], 1e-4, _MOST)
    return Budget(epsilon=epsilon, delta=checks.number(f"delta of {what}", keys["delta"], 0, 0.999))


def _object(found: object, what: str, *, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise ValueError(f"{what} must be a JSON object, got {checks.shown(found)}")
    check_keys(found, what, required=required, optional=optional)
    return found


def _sentence(name: str, value: object) -> str:
    if not isinstance(value, str) or len(value) > _LETTERS or not checks.visible(value):
        raise ValueError(f"{name} must be a line of at most {_LETTERS} letters, got {checks.shown(value)}")
    return value


def _sentences(name: str, values: object) -> tuple[str, ...]:
    return tuple(_sentence(f"each entry of {name}", value) for value in checks.entries(name, values))

"""JSON that somebody wrote by hand or received, read strictly; ledgers and promises, complete enough to add them up."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from .. import checks
from ..accounting.guarantee import MOST_ROWS, Budget, Guarantee, Protects
from ..accounting.ledger import Ledger
from ..accounting.losses import ApproximateLoss, GaussianLoss, PrivacyLoss, PureLoss
from ..checks import shown

MAX_BYTES = 5_000_000
_LONGEST_WHOLE = 18  # digits; a longer whole number is read as a float


def read_object(text: str | bytes, what: str, most: int = MAX_BYTES) -> dict[str, Any]:
    """Read one JSON object.

    Args:
        text: UTF-8 bytes, or text.
        what: what it is, to start the message with.
        most: how long it may be.

    Raises:
        ValueError: it is longer than ``most``, not UTF-8, not JSON, not an object, or names a key twice.
    """
    if len(text) > most:
        raise ValueError(f"{what} is larger than {most} bytes, the limit; is it the right file?")
    problem = "is not valid JSON"
    try:
        value = json.loads(
            text.decode("utf-8-sig") if isinstance(text, bytes) else text,
            object_pairs_hook=_without_repeats,
            parse_constant=_refuse_constant,
            parse_int=_whole,
            parse_float=_finite,
        )
    except UnicodeDecodeError:
        problem = "is not UTF-8 text"
    except json.JSONDecodeError as error:
        problem = f"is not valid JSON at line {error.lineno}"
    except RecursionError:
        problem = "is nested too deeply"
    except _Refused as error:
        problem = str(error)
    else:
        if isinstance(value, dict):
            return value
        problem = "must be one JSON object in curly brackets"
    raise ValueError(f"{what} {problem}; correct it, or start from the printed example")


def write_object(found: Mapping[str, Any], indent: int | None = 2) -> str:
    """JSON text of an object: keys in the order given, numbers exact; in one line where nothing is indented.

    Raises:
        ValueError: a number is infinite or undefined.
    """
    separators = None if indent else (",", ":")
    try:
        return json.dumps(found, indent=indent, ensure_ascii=False, allow_nan=False, separators=separators) + "\n"
    except ValueError:
        problem = "a number is infinite or undefined, and JSON has none that is; declare finite numbers"
    raise ValueError(problem)


def check_keys(found: Mapping[str, Any], what: str, *, required: Iterable[str], optional: Iterable[str] = ()) -> None:
    """Raise ValueError unless the keys are all known and none that is required is missing."""
    needed = list(required)
    known = [*needed, *optional]
    for key in found:
        if key not in known:
            raise ValueError(f"{what} has the unknown key {shown(key)}; its keys are {', '.join(known)}")
    missing = [key for key in needed if key not in found]
    if missing:
        raise ValueError(f"{what} lacks {', '.join(map(repr, missing))}; add it")


class _Refused(Exception):
    """JSON that Python would read, and we do not."""


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Refused(f"has the key {shown(key)} twice")
            seen.add(key)
    return members


def _refuse_constant(name: str) -> float:
    raise _Refused(f"holds {name}, which is not a JSON number")


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_WHOLE else _finite(digits)


def _finite(digits: str) -> float:
    if math.isfinite(number := float(digits)):
        return number
    raise _Refused("holds a number beyond 1.8e308, which nobody can compute with")


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

"""Read JSON strictly that somebody wrote by hand or received: configurations, ledgers and guarantees."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, astuple, fields
from functools import partial
from typing import Any, get_args

from .. import checks
from ..accounting.guarantee import MOST_ROWS, Budget, Guarantee, Protects
from ..accounting.ledger import Ledger
from ..accounting.losses import ApproximateLoss, GaussianLoss, PrivacyLoss, PureLoss
from ..reading.look import MARK
from ..reading.writing import KEYS, Writing
from .specification import ReleaseSpec

MAX_BYTES = 5_000_000
_LONGEST_WHOLE = 18  # digits; a longer whole number is read as a float


def read_object(text: str | bytes, name: str, most: int = MAX_BYTES) -> dict[str, Any]:
    """Read one JSON object, and refuse what Python's reader would accept although it is not JSON, or ambiguous.

    Args:
        text: UTF-8 bytes, or text.
        name: name of the text, with which a message begins.
        most: largest length of the text.

    Raises:
        ValueError: the text is longer than ``most``, is not UTF-8, not JSON or not an object, or repeats a key.
    """
    if len(text) > most:
        raise ValueError(f"{name} is larger than {most} bytes, the limit; is it the right file?")
    problem = "is not valid JSON"
    try:
        value = json.loads(
            text.decode("utf-8-sig") if isinstance(text, bytes) else text,
            object_pairs_hook=_without_repeats,
            parse_constant=_refuse_constant,
            parse_int=_whole_digits,
            parse_float=_finite,
        )
    except UnicodeDecodeError:
        problem = "is not UTF-8 text"
    except json.JSONDecodeError as error:
        problem = f"is not valid JSON at line {error.lineno}"
    except RecursionError:
        problem = "is nested too deeply"
    except ValueError as error:  # raised by the hooks below
        problem = str(error)
    else:
        if isinstance(value, dict):
            return value
        problem = "must be one JSON object in curly brackets"
    raise ValueError(f"{name} {problem}; correct it, or start from the printed example")


def write_object(members: Mapping[str, Any], indent: int | None = 2) -> str:
    """Return an object as JSON text with its keys in order and exact numbers; on one line if ``indent`` is None.

    Raises:
        ValueError: a number is infinite or undefined.
    """
    separators = None if indent else (",", ":")
    try:
        return json.dumps(members, indent=indent, ensure_ascii=False, allow_nan=False, separators=separators) + "\n"
    except ValueError:
        problem = "a number is infinite or undefined, which JSON cannot contain; declare finite numbers"
    raise ValueError(problem)


def _check_keys(members: Mapping[str, Any], name: str, required: Sequence[str], optional: Iterable[str]) -> None:
    """Raise ValueError if a key is unknown, or a required one is missing."""
    keys = [*required, *optional]
    for key in members:
        if key not in keys:
            raise ValueError(f"{name} has the unknown key {checks.excerpt(key)}; its keys are {', '.join(keys)}")
    if missing := [repr(key) for key in required if key not in members]:
        raise ValueError(f"{name} lacks {', '.join(missing)}; add it")


# Hooks that refuse what Python would read although it is not JSON


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict[str, Any]()
    for key, value in pairs:
        if key in members:
            raise ValueError(f"has the key {checks.excerpt(key)} twice")
        members[key] = value
    return members


def _refuse_constant(name: str) -> float:
    raise ValueError(f"holds {name}, which is not a JSON number")


def _whole_digits(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_WHOLE else _finite(digits)


def _finite(digits: str) -> float:
    if math.isfinite(number := float(digits)):
        return number
    raise ValueError("holds a number beyond 1.8e308, which nobody can compute with")


Reader = Callable[[str, object], Any]
"""Function that reads the value of a key, and raises ValueError if it is not valid."""


def read_members(members: object, name: str, readers: Mapping[str, Reader], **left_out: Any) -> dict[str, Any]:
    """Read the members of a JSON object, each by its reader.

    Args:
        members: the object.
        name: name of the object, with which a message begins.
        readers: reader of each member, by key.
        left_out: default values of members that may be left out.

    Raises:
        ValueError: it is not an object, a key is unknown or missing, or a value is not valid.
    """
    if not isinstance(members, dict):
        raise ValueError(f"{name} must be a JSON object, got {checks.excerpt(members)}")
    _check_keys(members, name, [key for key in readers if key not in left_out], left_out)
    return left_out | {key: readers[key](key, value) for key, value in members.items()}


def _or_null(reader: Reader) -> Reader:
    return lambda name, value: None if value is None else reader(name, value)


def _sentence(name: str, value: object) -> str:
    if not isinstance(value, str) or len(value) > _LETTERS or not checks.visible(value):
        raise ValueError(f"{name} must be a line of at most {_LETTERS} letters, got {checks.excerpt(value)}")
    return value


def _sentences(name: str, values: object) -> tuple[str, ...]:
    return tuple(_sentence(f"each entry of {name}", value) for value in checks.entries(name, values))


SCHEMA = 1
MAX_ENTRIES = 100
MAX_LEDGER_BYTES = 200_000  # bytes of a file with a ledger; an entry takes 1,500
_MOST = 1e6  # largest epsilon or mu
_TOLERANCE = 1 + 1e-6
_LETTERS = 2_000
_LOSS_NUMBER, _TIMES = partial(checks.number, low=1e-12, high=_MOST), partial(checks.whole, low=1, high=10**9)
_BUDGET: dict[str, Reader] = {
    "epsilon": partial(checks.number, low=1e-4, high=_MOST),
    "delta": partial(checks.number, low=0, high=0.999),
}
_LEDGER: dict[str, Reader] = {
    "limit": _or_null(lambda name, value: Budget(**read_members(value, "the ledger's limit", _BUDGET))),
    "spent": lambda name, value: None,
    "inputs_public": checks.switch,
    "entries": checks.entries,
    "begun_again": _sentence,
}
_GUARANTEE: dict[str, Reader] = {
    "protects": partial(checks.one_of, allowed=get_args(Protects)),
    "neighbours": _sentence,
    "unit": _sentence,
    "theorem": _sentence,
    "assumptions": _sentences,
    "not_covered": _sentences,
    "established": checks.switch,
    "releases": _TIMES,
    "rows": _or_null(partial(checks.whole, low=1, high=MOST_ROWS)),
    "person": _sentence,
}
_LOSSES: dict[str, tuple[type[GaussianLoss | PureLoss | ApproximateLoss], dict[str, Reader]]] = {
    "gaussian": (GaussianLoss, {"mu": _LOSS_NUMBER}),
    "pure": (PureLoss, {"epsilon": _LOSS_NUMBER, "rho": _or_null(_LOSS_NUMBER), "times": _TIMES}),
    "approximate": (ApproximateLoss, _BUDGET | {"times": _TIMES}),
}
"""Class of each kind of privacy loss, and readers of its numbers in the order of the class."""


def ledger_to_json(ledger: Ledger) -> str:
    """Return the ledger as JSON text, which ``ledger_from_json`` reads."""
    return write_object({"schema": SCHEMA, "ledger": ledger_to_object(ledger)})


def ledger_from_json(text: str | bytes) -> Ledger:
    """Read a ledger, or the ledger inside a ``release.json``.

    Raises:
        ValueError: it is not such JSON, or an entry claims a smaller budget than its privacy loss has.
    """
    members = read_object(text, "the ledger", MAX_LEDGER_BYTES)
    if members.get("schema") != SCHEMA or "ledger" not in members:
        raise ValueError(f"the ledger must be a JSON object with schema {SCHEMA} and a key 'ledger'")
    return ledger_from_object(members["ledger"])


def ledger_to_object(ledger: Ledger) -> dict[str, Any]:
    """Return the ledger as a JSON object. Its ``spent`` is for readers; it is computed anew when the ledger is read."""
    limit = ledger.limit
    members = {
        "limit": limit and asdict(limit),
        "spent": limit and {"epsilon": ledger.epsilon(limit.delta)},
        "inputs_public": ledger.inputs_public,
        "entries": [entry_to_object(*entry) for entry in ledger.entries],
    }
    return members | ({"begun_again": ledger.begun_again} if ledger.begun_again else {})


def ledger_from_object(value: object) -> Ledger:
    """Read a ledger from a JSON object."""
    keys = read_members(value, "the ledger", _LEDGER, spent=None, inputs_public=False, begun_again="")
    del keys["spent"]
    if keys["limit"] is not None and keys["limit"].delta == 0:
        raise ValueError("the ledger's limit must have a delta above 0")
    listed = keys["entries"]
    if len(listed) > MAX_ENTRIES:
        raise ValueError(f"the ledger has {len(listed)} entries, more than {MAX_ENTRIES}, the limit")
    return Ledger(**keys | {"entries": [entry_from_object(entry) for entry in listed]})


def entry_to_object(name: str, guarantee: Guarantee) -> dict[str, Any]:
    """Return one counted release as a JSON object."""
    return {"what": name, "guarantee": guarantee_to_object(guarantee)}


def entry_from_object(value: object) -> tuple[str, Guarantee]:
    """Read one counted release."""
    readers: dict[str, Reader] = {"what": _sentence, "guarantee": lambda name, value: guarantee_from_object(value)}
    keys = read_members(value, "an entry of the ledger", readers)
    return keys["what"], keys["guarantee"]


def guarantee_to_object(guarantee: Guarantee) -> dict[str, Any]:
    """Return the guarantee as a JSON object, with the privacy loss from which its budget can be computed again."""
    members = {name: getattr(guarantee, name) for name in _GUARANTEE if name != "person" or guarantee.person}
    return asdict(guarantee.budget) | members | {"loss": _loss_to_object(guarantee)}


def guarantee_from_object(value: object) -> Guarantee:
    """Read a guarantee from a JSON object.

    Raises:
        ValueError: a value is out of range, or the privacy loss exceeds the budget.
    """
    readers = _BUDGET | _GUARANTEE | {"loss": _loss_from_object}
    # files of older versions, in which people could not have several rows, lack these
    keys = read_members(value, "a guarantee", readers, rows=1, person="")
    budget, loss = Budget(epsilon=keys.pop("epsilon"), delta=keys.pop("delta")), keys["loss"]
    if keys["established"] and loss.epsilon(budget.delta) > budget.epsilon * _TOLERANCE:
        raise ValueError(
            f"a guarantee claims epsilon = {budget.epsilon:.4g}, and its loss amounts to "
            f"{loss.epsilon(budget.delta):.4g}; use the file as it was written"
        )
    return Guarantee(budget=budget, **keys)


def _loss_to_object(guarantee: Guarantee) -> dict[str, Any]:
    loss = guarantee.loss
    for kind, (loss_class, readers) in _LOSSES.items():
        if isinstance(loss, loss_class):
            return {"kind": kind} | dict(zip(readers, astuple(loss), strict=True))
    # as its (epsilon, delta) pair, which never composes to less than the loss itself
    budget = {"epsilon": guarantee.proven_epsilon, "delta": guarantee.budget.delta}
    return {"kind": "approximate"} | budget | {"times": 1}


def _loss_from_object(name: str, value: object) -> PrivacyLoss:
    kind = value.get("kind") if isinstance(value, dict) else None
    checks.one_of("the kind of a loss", kind, list(_LOSSES))
    loss_class, readers = _LOSSES[str(kind)]
    keys = read_members(value, "a loss", {"kind": lambda name, value: value} | readers)
    return loss_class(*(keys[name] for name in readers))


_CONFIGURATION = "the configuration"
_SETTINGS = [each for each in fields(ReleaseSpec) if each.init]
_REQUIRED = [each.name for each in _SETTINGS if each.default is MISSING and each.default_factory is MISSING]
_OPTIONAL = ["schema", *(each.name for each in _SETTINGS if each.name not in (*_REQUIRED, "writing")), *KEYS]


def spec_to_json(spec: ReleaseSpec) -> str:
    """Return the configuration as JSON text, which ``spec_from_json`` reads back to an equal value."""
    return write_object(spec_to_object(spec))


def spec_from_json(text: str | bytes) -> ReleaseSpec:
    """Read a configuration, or the configuration inside a ``release.json``.

    Raises:
        ValueError: it is not such JSON; the message names the key and a remedy.
    """
    members = read_object(text, _CONFIGURATION)
    return spec_from_object(members.get("config", members))


def spec_to_object(spec: ReleaseSpec) -> dict[str, Any]:
    """Return the configuration as a JSON object. The sides of categories, which follow from others, are left out."""
    members = {"schema": SCHEMA} | {each.name: getattr(spec, each.name) for each in _SETTINGS}
    box = [
        None if each.levels else [each.dates.day(end).isoformat() for end in each.box] if each.dates else each.box
        for each in spec.columns
    ]
    dates = {each.name: {"format": each.format, "period": each.period} for each in spec.dates}
    return members | asdict(members.pop("writing")) | {"x_box": box, "dates": dates}


def spec_from_object(config: object) -> ReleaseSpec:
    """Read a configuration from a JSON object.

    Raises:
        ValueError: a key is unknown, missing or has a wrong value.
    """
    if not isinstance(config, dict):
        raise ValueError("the configuration must be a JSON object in curly brackets; start from the printed example")
    members = {key: value for key, value in config.items() if key != MARK}
    _check_keys(members, _CONFIGURATION, _REQUIRED, _OPTIONAL)
    schema = members.pop("schema", SCHEMA)
    if schema != SCHEMA or isinstance(schema, bool):
        raise ValueError(f"the configuration must have schema {SCHEMA}, the only one that this version reads")
    writing = Writing(**{key: members.pop(key) for key in KEYS if key in members})
    return ReleaseSpec(writing=writing, **members)

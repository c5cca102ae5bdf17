"""JSON that somebody wrote by hand or received: read strictly, or refused with a sentence."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

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


def write_object(found: Mapping[str, Any]) -> str:
    """JSON text of an object: indented, keys in the order given, numbers exact, no NaN."""
    return json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


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

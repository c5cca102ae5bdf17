"""A specification as JSON: the configuration of the command line, and part of every ``release.json``."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from ..levels import LevelSide
from ..reading.look import MARK
from ..reading.writing import KEYS, Writing, writing_to_object
from .specification import ReleaseSpec
from .strict_json import check_keys, read_object, write_object

SCHEMA = 1
WHAT = "the configuration"

EXAMPLE = ReleaseSpec(
    x=("age",),
    x_units=("years",),
    x_box=((0.0, 100.0),),
    y="height",
    y_unit="cm",
    y_bounds=(50.0, 200.0),
    unit="one person",
    epsilon=1.0,
    delta=1e-5,
    total_epsilon=3.0,
    lengthscale=(25.0,),
    grid=(51,),
)


def spec_to_json(spec: ReleaseSpec) -> str:
    """The configuration as JSON text; ``spec_from_json`` reads it back to an equal value."""
    return write_object(spec_to_object(spec))


def spec_from_json(text: str | bytes) -> ReleaseSpec:
    """Read a configuration, or the configuration inside a ``release.json``.

    Raises:
        ValueError: it is no such JSON; the message names the key and the remedy.
    """
    members = read_object(text, WHAT)
    return spec_from_object(members.get("config", members))


def spec_to_object(spec: ReleaseSpec) -> dict[str, Any]:
    """The configuration as a JSON object; what is derived of categories is left out."""
    members = {"schema": SCHEMA} | {field.name: getattr(spec, field.name) for field in fields(spec) if field.init}
    dates = {each.name: each for each in spec.dates}
    box = (
        None
        if isinstance(side, LevelSide)
        else [dates[name].day(end).isoformat() for end in side]
        if name in dates
        else side
        for name, side in zip(spec.x, spec.x_box, strict=True)
    )
    about = {name: {"format": each.format, "period": each.period} for name, each in dates.items()}
    writing = writing_to_object(members.pop("writing"))
    return members | writing | {"x_box": list(box), "dates": about}


def spec_from_object(found: object) -> ReleaseSpec:
    """Read a configuration from a JSON object.

    Raises:
        ValueError: a key is unknown, missing or has a wrong value.
    """
    if not isinstance(found, dict):
        raise ValueError(f"{WHAT} must be a JSON object in curly brackets; start from the printed example")
    found = {key: value for key, value in found.items() if key != MARK}
    settings = [field for field in fields(ReleaseSpec) if field.init]
    names = [field.name for field in settings if field.name != "writing"]
    required = [field.name for field in settings if field.default is MISSING and field.default_factory is MISSING]
    optional = [name for name in ("schema", *names, *KEYS) if name not in required]
    check_keys(found, WHAT, required=required, optional=optional)
    if found.get("schema", SCHEMA) != SCHEMA or isinstance(found.get("schema"), bool):
        raise ValueError(f"{WHAT} must have schema {SCHEMA}, the only one that this version reads")
    writing = Writing(**{key: found[key] for key in KEYS if key in found})
    return ReleaseSpec(writing=writing, **{key: value for key, value in found.items() if key in names})

"""Which inputs are dates: those whose side of the box is declared as two dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import checks
from ..dates import ISO, Dates, Format, checked_format, declared_day, shown
from ..seasons import check_room

Declared = Mapping[str, Mapping[str, object]] | Sequence[Dates]
"""More about inputs that are dates, by name: ``{"format": ..., "period": ...}``; or as ``date_inputs`` returned it."""
_SAID = ("format", "period")


def date_inputs(
    names: Sequence[str], box: Sequence[object], declared: Declared | None = None, *, order: Format | None = None
) -> tuple[tuple[Dates, ...], tuple[object, ...]]:
    """The inputs that are dates, and the box with their sides in days since the first; other sides as they were.

    Args:
        names: of the D inputs.
        box: a side for each; two ISO dates make an input one of dates, whose first day is the first of them.
        declared: more about those inputs.
        order: of day, month and year, where nothing is said of an input; None for year, month, day.

    Raises:
        ValueError: something is said about an input that is no date, or is out of range.
    """
    known, said = _known(declared), _said(declared)
    for name in (*known, *said):
        if name not in names:
            raise ValueError(f"dates speak of {checks.shown(name)}, which is no input; name it in x too")
    sides = dict(zip(names, box, strict=True))
    for name, side in sides.items():
        if is_date_box(side):
            about = said.get(name) or {key: getattr(known[name], key) for key in _SAID if name in known}
            known[name], sides[name] = _declared(name, side, {"format": order or ISO} | about)
        elif name not in known and name in said:
            raise ValueError(f"x_box of {name!r}, which is declared a date, must be two dates such as {shown(ISO)}")
    periods = tuple(known[name] for name in names if name in known)
    for each in periods:
        if each.period_days is not None:
            check_room(f"period of {each.name!r}", each.period_days, checks.interval("x_box", sides[each.name]))
    return periods, tuple(sides.values())


def is_date_box(side: object) -> bool:
    """Whether a side of a box is declared in texts, which makes its input one of dates."""
    return isinstance(side, list | tuple) and any(isinstance(end, str) for end in side)


def _known(declared: Declared | None) -> dict[str, Dates]:
    if declared is None or isinstance(declared, Mapping):
        return {}
    pairs = checks.entries("dates", declared)
    if not all(isinstance(each, Dates) for each in pairs):
        raise ValueError(f"dates must be an object that names inputs, such as {EXAMPLE}; got a list")
    return {each.name: each for each in pairs if isinstance(each, Dates)}


EXAMPLE = '{"day": {"format": "day/month/year", "period": "year"}}'


def _said(declared: Declared | None) -> dict[str, dict[str, object]]:
    if not isinstance(declared, Mapping):
        return {}
    for name, about in declared.items():
        if not isinstance(about, Mapping) or not about.keys() <= set(_SAID):
            raise ValueError(
                f"dates of {checks.shown(name)} must be an object with format or period, such as {EXAMPLE}"
            )
    return {name: dict(about) for name, about in declared.items()}


def _declared(name: str, side: object, about: Mapping[str, Any]) -> tuple[Dates, tuple[float, float]]:
    ends = checks.entries(f"x_box of {name!r}", side)
    if len(ends) != 2:
        raise ValueError(f"x_box of {name!r} must be two dates [first, last], got {len(ends)} entries")
    first, last = (declared_day(f"each end of x_box of {name!r}", end) for end in ends)
    if first >= last:
        raise ValueError(f"x_box of {name!r} must be [first, last], got [{first}, {last}]; swap or widen them")
    checked_format(f"format of {name!r}", about["format"])
    dates = Dates(name=name, first=first.isoformat(), **about)
    return dates, (0.0, float((last - first).days))

"""The released curve or map as an SVG picture that stands by itself: no script, no font, nothing to fetch.

A release is taken apart first: a curve or map for each combination of levels, its axes in their order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import MAXYEAR, date, timedelta
from html import escape
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import BoolArray, FloatArray
from ..dates import Dates
from ..levels import Interval
from .publishing import Published, known_share, within_tolerance
from .specification import CENTILES, ReleaseSpec

COLOURS = ("#E69F00", "#56B4E9", "#A65628", "#CC79A7", "#009E73", "#D55E00")
"""Of released curves (Okabe & Ito 2008), as on the screen: never the blue of private values."""
_DASHES = ("", "8 3", "2 2", "8 3 2 3", "12 4")
_WIDTH, _BELOW = 680, 48  # of the picture; under the plot
_LEFT, _TOP = 66, 26  # edges of the plot
_LOWEST = 480  # bottom of a tall map
_MOST_OBLONG = 5
_WELL_KNOWN, _FAINTEST = 0.5, 0.15  # share of a value that colours run over; opacity of one without information
_GREY = "#8a8a8a"
_APART = 11  # px between the numbers of two lines
_SCALE = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))  # viridis


@dataclass(frozen=True, kw_only=True, eq=False)
class Group:
    """One combination of levels; the only one, where no input has any.

    Attributes:
        number: of the group, from 0.
        name: of the levels; empty where no input has any.
        rows: which of all points are its own, in the order in which they are drawn (P_g,).
        X: these points (P_g, D'), inputs with levels left out.
    """

    number: int
    name: str
    rows: NDArray[np.intp]
    X: FloatArray

    @property
    def colour(self) -> str:
        """Of its line."""
        return COLOURS[self.number % len(COLOURS)]

    @property
    def dash(self) -> str:
        """Of its line, as an attribute of SVG; empty for none."""
        dash = _DASHES[self.number // len(COLOURS) % len(_DASHES)]
        return f' stroke-dasharray="{dash}"' if dash else ""


def groups_of(spec: ReleaseSpec) -> tuple[list[Group], ReleaseSpec]:
    """The groups, and the specification that each of them is drawn by.

    It has no levels; longitude is its first input and latitude its second, where two are declared so.
    """
    east = [spec.x.index(name) for name in spec.coordinates or ()]
    levels = [d for d, name in enumerate(spec.x) if name in spec.levels]
    order = [*east, *(d for d in range(len(spec.x)) if d not in (*east, *levels))]
    drawn = spec
    if order != list(range(len(spec.x))):
        moved: dict[str, Any] = {
            name: tuple(getattr(spec, name)[d] for d in order) for name in ("x", "x_units", "x_box", "grid")
        }
        lengths = dict(zip((each.name for each in spec.numbers), spec.lengthscale or (), strict=True))
        drawn = replace(spec, **moved, lengthscale=tuple(lengths[name] for name in moved["x"]), x_levels=None)
    numbers = np.arange(np.prod(spec.grid)).reshape(spec.grid).transpose([*levels, *order])
    names = [", ".join(each) for each in product(*(spec.levels[spec.x[d]] for d in levels))]
    X, rows = drawn.points(), numbers.reshape(len(names), -1)
    return [Group(number=i, name=name, rows=rows[i], X=X) for i, name in enumerate(names)], drawn


class _Ends(NamedTuple):
    """Right and lower edge of the plot."""

    right: float
    bottom: float


_WIDE = _Ends(580, 252)


def figure(published: Published) -> str:
    """The values with the curve's interval along one input, or a map over the first two at the middle of others.

    Where inputs have levels: a curve for each of them, or the map of the first. Values of no use are grey. Drawn from
    released and declared values alone.
    """
    within, (groups, drawn) = within_tolerance(published), groups_of(published.spec)
    draw, ends = (_curves, _WIDE) if len(drawn.x) == 1 else (_map, _ends_of_map(drawn))
    body = draw(groups, _in_per_cent(published), within, drawn, ends)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {ends.bottom + _BELOW:.0f}" '
        f'font-family="sans-serif" font-size="12" role="img">'
        f"<title>{escape(f'{published.spec.y}, released with differential privacy')}</title>"
        f"{body}</svg>\n"
    )


def _in_per_cent(published: Published) -> Published:
    """Shares of yes as numbers from 0 to 100; other outcomes as they are."""
    if published.outcome.kind != "yes/no":
        return published
    low, high = published.curve
    outcome = replace(published.outcome, unit="% yes", bounds=(0.0, 100.0), kind="number")
    return replace(published, values=100 * published.values, curve=(100 * low, 100 * high), outcome=outcome)


def _ends_of_map(spec: ReleaseSpec) -> _Ends:
    """A kilometre is as long across as up, and so is any unit that both inputs share; other maps fill the width.

    So do boxes more than ``_MOST_OBLONG`` times as long one way as the other.
    """
    if spec.degrees is None and not spec.x_units[0] == spec.x_units[1] != "":
        return _WIDE
    worth = (1.0, 1.0) if spec.degrees is None else spec.degrees.kilometres
    across, up = (each * (high - low) for each, (low, high) in zip(worth, spec.x_box[:2], strict=True))
    if not 1 / _MOST_OBLONG <= across / up <= _MOST_OBLONG:
        return _WIDE
    size = min((_WIDE.right - _LEFT) / across, (_LOWEST - _TOP) / up)
    return _Ends(_LEFT + size * across, _TOP + size * up)


def _curves(groups: Sequence[Group], published: Published, within: BoolArray, spec: ReleaseSpec, ends: _Ends) -> str:
    """A curve for each group, and who is who where there are several."""
    outcome, drawn = published.outcome, np.stack([*published.curve, *published.centiles])
    least, most = outcome.bounds[0] - outcome.width / 2, outcome.bounds[1] + outcome.width / 2
    bottom, top = max(float(drawn.min()), least), min(float(drawn.max()), most)
    up = (bottom, top) if bottom < top else (least, most)
    caption = "line: released value; band: 95 % interval of the curve"
    caption += "" if within.all() else "; dotted grey: of no use"
    caption += "; thin lines: centiles of people" if published.centiles else ""
    curves = "".join(_curve(group, published, within, spec, up, ends) for group in groups)
    legend = _legend(groups, ends) if len(groups) > 1 else ""
    numbers = _centile_numbers(groups, published, up, ends)
    axes = _axes(spec, ends, up, marks(*up, whole=outcome.kind == "count"), _named(outcome.name, outcome.unit))
    return f"{curves}{numbers}{_text(_LEFT, 14, caption)}{legend}{axes}"


def _legend(groups: Sequence[Group], ends: _Ends) -> str:
    drawn, step = "", min(16.0, (ends.bottom - _TOP) / len(groups))
    for group in groups:
        y = _TOP + step * (group.number + 0.5)
        drawn += (
            f'<path d="M{ends.right + 4:.1f} {y:.1f}h16" stroke="{group.colour}" stroke-width="2"{group.dash}/>'
            f"{_text(ends.right + 24, y + 4, _cut(group.name, 12))}"
        )
    return drawn


def _curve(group: Group, published: Published, within: BoolArray, spec: ReleaseSpec, up: Interval, ends: _Ends) -> str:
    """The band, the line over it, dotted where it is of no use, and thin lines for centiles."""
    within, lines = within[group.rows], [*published.curve, published.values, *published.centiles]
    across = _scaled(group.X[:, 0], spec.x_box[0], _LEFT, ends.right)
    low, high, middle, *centiles = (_scaled(each[group.rows], up, ends.bottom, _TOP) for each in lines)
    band = _points(np.r_[across, across[::-1]], np.r_[low, high[::-1]])
    known, unknown = f'"{group.colour}"{group.dash}', f'"{_GREY}" stroke-dasharray="2 3"'
    line = "".join(
        f'<line x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}" stroke-width="2" '
        f"stroke={known if useful and still else unknown}/>"
        for (a, b, useful), (c, d, still) in pairwise(zip(across, middle, within, strict=True))
    )
    thin = "".join(
        f'<polyline points="{_points(across, y)}" fill="none" stroke="{group.colour}" stroke-width=".8"/>'
        for y in centiles
    )
    return f'<polygon points="{band}" fill="{group.colour}" fill-opacity=".22"/>{line}{thin}'


def _centile_numbers(groups: Sequence[Group], published: Published, up: Interval, ends: _Ends) -> str:
    """Of every centile line, inside the plot at its right end, moved apart where lines end close together."""
    listed = sorted(
        (float(_scaled(values[group.rows[-1]], up, ends.bottom, _TOP)), centile, group.colour)
        for group in groups
        for centile, values in zip(CENTILES, published.centiles, strict=False)
    )
    heights = [y for y, *_ in listed]
    for i in range(1, len(heights)):
        heights[i] = max(heights[i], heights[i - 1] + _APART)
    lowest = ends.bottom - 2
    for i in reversed(range(len(heights))):
        heights[i] = min(heights[i], lowest)
        lowest = heights[i] - _APART
    return "".join(
        f'<text x="{ends.right - 3:.1f}" y="{y + 4:.1f}" text-anchor="end" font-size="11" font-weight="600" '
        f'stroke="#fff" stroke-width="3" paint-order="stroke" fill="{colour}">{centile}</text>'
        for y, (_, centile, colour) in zip(heights, listed, strict=True)
    )


def _map(groups: Sequence[Group], published: Published, within: BoolArray, spec: ReleaseSpec, ends: _Ends) -> str:
    """Of the first group. Colours run over the values that are known well; others fade, as where nobody is."""
    group, outcome = groups[0], published.outcome
    middle = group.rows.reshape(spec.grid)
    for size in reversed(spec.grid[2:]):
        middle = middle[..., size // 2]
    values, useful, share = published.values[middle], within[middle], known_share(published)[middle]
    well = useful & (share >= _WELL_KNOWN)
    coloured = values[well] if well.any() else values[useful] if useful.any() else values
    low, high = float(coloured.min()), float(coloured.max())
    across, up = _edges(values.shape[0], _LEFT, ends.right), _edges(values.shape[1], ends.bottom, _TOP)
    cells = ""
    for (i, j), value in np.ndenumerate(values):
        fill = f'"{_colour(float(value), low, high)}"{_faded(float(share[i, j]))}' if useful[i, j] else f'"{_GREY}"'
        cells += (
            f'<rect x="{across[i]:.1f}" y="{up[j + 1]:.1f}" width="{across[i + 1] - across[i]:.1f}" '
            f'height="{up[j] - up[j + 1]:.1f}" fill={fill}/>'
        )
    bar = "".join(
        f'<rect x="{ends.right + 14:.1f}" y="{y}" width="12" height="2.2" '
        f'fill="{_colour(ends.bottom - y, 0, ends.bottom - _TOP)}"/>'
        for y in range(_TOP, int(ends.bottom), 2)
    )
    limits = _text(ends.right + 30, _TOP + 8, f"{high:.6g}") + _text(ends.right + 30, ends.bottom, f"{low:.6g}")
    grey = "" if useful.all() else "; grey: of no use"
    grey += "" if share.min() >= 1 else "; faded: little is known"
    of = f" of {group.name}" if group.name else ""
    title = _text(_LEFT, 14, f"colour: {_named(outcome.name, outcome.unit)}{of}, released{grey}")
    cells = f'<g shape-rendering="crispEdges">{cells}{bar}</g>'
    axes = _axes(spec, ends, spec.x_box[1], _marks_along(spec, 1), _named(spec.x[1], spec.x_units[1]))
    return cells + limits + title + axes


def _faded(share: float) -> str:
    """Opacity of a cell whose value is known so well."""
    return "" if share >= 1 else f' fill-opacity="{max(share, _FAINTEST):.2f}"'


def _axes(spec: ReleaseSpec, ends: _Ends, up: Interval, up_marks: list[Mark], name: str) -> str:
    right, bottom = ends
    drawn = f'<path d="M{_LEFT} {_TOP}V{bottom:.1f}H{right:.1f}" fill="none" stroke="#444"/>'
    for value, text in _marks_along(spec, 0):
        at = float(_scaled(value, spec.x_box[0], _LEFT, right))
        drawn += f'<path d="M{at:.1f} {bottom:.1f}v4" stroke="#444"/>' + _text(at, bottom + 17, text, "middle")
    for value, text in up_marks:
        at = float(_scaled(value, up, bottom, _TOP))
        drawn += f'<path d="M{_LEFT} {at:.1f}h-4" stroke="#444"/>' + _text(_LEFT - 7, at + 4, text, "end")
    drawn += _text((_LEFT + right) / 2, bottom + 38, _named(spec.x[0], spec.x_units[0]), "middle")
    middle = f"translate(14 {(_TOP + bottom) / 2:.0f}) rotate(-90)"
    return f'{drawn}<g transform="{middle}">{_text(0, 0, name, "middle")}</g>'


def _marks_along(spec: ReleaseSpec, d: int) -> list[Mark]:
    """Marks along an input."""
    name, box = spec.x[d], spec.x_box[d]
    return marks(*box, spec.dates_of(name), whole=are_years(name, spec.x_units[d], box))


def _scaled(values: FloatArray | float, ends: Interval, start: float, stop: float) -> FloatArray:
    """Values cut to the ends of an axis, which lie at start and stop."""
    return np.asarray(start + (np.clip(values, *ends) - ends[0]) / (ends[1] - ends[0]) * (stop - start))


def _edges(count: int, start: float, stop: float) -> FloatArray:
    """Where cells end whose middles are regular points from start to stop, the first and last ones cut there."""
    middles = np.linspace(start, stop, count)
    return np.concatenate([[start], (middles[1:] + middles[:-1]) / 2, [stop]])


def _points(x: FloatArray, y: FloatArray) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))


def _colour(value: float, low: float, high: float) -> str:
    position = (len(_SCALE) - 1) * (min(max((value - low) / (high - low), 0.0), 1.0) if high > low else 0.5)
    channels = (np.interp(position, range(len(_SCALE)), channel) for channel in zip(*_SCALE, strict=True))
    return "#" + "".join(f"{round(float(channel)):02x}" for channel in channels)


def _named(name: str, unit: str) -> str:
    return _cut(f"{name} [{unit}]" if unit else name, 60)


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


MOST = 5
_MONTHS = (1, 3, 6, *(12 * size * power for power in (1, 10, 100, 1000) for size in (1, 2, 5)))
_DAYS = (1, 2, 5, 10)

Mark = tuple[float, str]


def marks(low: float, high: float, dates: Dates | None = None, *, whole: bool = False) -> list[Mark]:
    """Marks in low ... high and their texts, at most five.

    Args:
        low: start of the axis, of dates in days since the first.
        high: its end.
        dates: of an input that is one of dates; None for numbers.
        whole: whether they are whole numbers, as years and counts are.
    """
    if dates is None:
        return [(value, f"{value:.12g}") for value in _numbers(low, high, 1.0 if whole else 0.0)]
    return [(float((day - dates.day(0)).days), text) for day, text in _days(dates.day(low), dates.day(high))]


def are_years(name: str, unit: str, side: Interval) -> bool:
    """Whether an input is one of calendar years, by its name or unit and its public box."""
    words = f"{name} {unit}".lower()
    return 1000 <= side[0] < side[1] <= 3000 and any(word in words for word in ("year", "jahr", "année", "año"))


def _numbers(low: float, high: float, least: float) -> Iterator[float]:
    """Multiples of 1, 2 or 5 times a power of ten; not closer than ``least``."""
    size = 10.0 ** math.floor(math.log10((high - low) / MOST))
    step = max(least, next(size * each for each in (1, 2, 5, 10, 20) if (high - low) / (size * each) <= MOST))
    return (step * each + 0.0 for each in range(math.ceil(low / step), math.floor(high / step) + 1))


def _days(start: date, end: date) -> list[tuple[date, str]]:
    """Every so many days, or first days of every so many months."""
    length = (end - start).days
    for step in _DAYS:
        if length / step < MOST:
            return [(day, day.isoformat()) for day in (start + timedelta(step * k) for k in range(length // step + 1))]
    for step in _MONTHS:
        months = range(-(-_month(start, up=True) // step) * step, _month(end) + 1, step)
        if 1 <= len(months) <= MOST:
            break
    days = [date(month // 12, month % 12 + 1, 1) for month in months if month // 12 <= MAXYEAR]
    return [(day, f"{day.year:04d}" if step % 12 == 0 else f"{day.year:04d}-{day.month:02d}") for day in days]


def _month(day: date, *, up: bool = False) -> int:
    """Months since year 0 at the first of its month, or of the next one."""
    return 12 * day.year + day.month - 1 + (1 if up and day.day > 1 else 0)

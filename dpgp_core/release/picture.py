"""Draw a release as curves, one for each group, or as a map. Only released and declared values are used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import BoolArray, FloatArray
from ..checks import cut
from ..dates import Dates
from ..figures.drawing import COLOURS, Curve, Side, draw_curves, draw_grid
from ..figures.ticks import are_years, marks
from ..levels import Interval
from .specification import CENTILES, ReleaseSpec

if TYPE_CHECKING:
    from ..figures.drawing import Axes

_MOST_OBLONG = 5  # ratio of sides beyond which a map is stretched to fill the axes
_LONGEST = 60  # characters of the title of an axis
_AIR = 0.5  # share of the bounds' width by which the axis may extend beyond the bounds


@dataclass(frozen=True, kw_only=True, eq=False)
class Group:
    """A combination of categories; the only one if no input is categorical.

    Attributes:
        number: number of the group, from 0.
        name: its categories; "" if no input is categorical.
        rows: indices (P_g,) of its points, in the order in which they are drawn.
        X: these points (P_g, D'), without the categorical inputs.
    """

    number: int
    name: str
    rows: NDArray[np.intp]
    X: FloatArray

    @property
    def colour(self) -> str:
        """Colour of the group's line."""
        return COLOURS[self.number % len(COLOURS)]


def groups_of(spec: ReleaseSpec) -> tuple[list[Group], ReleaseSpec]:
    """Return the groups, and the specification with which each of them is drawn.

    This specification has no categorical inputs. If longitude and latitude are declared, they are its first and second
    input.
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Lines:
    """Released numbers at all points (P,), in the unit in which they are drawn.

    Attributes:
        title: title of the outcome, with the unit.
        bounds: bounds of the outcome.
        values: values of the curve.
        low: lower end of its interval.
        high: upper end of its interval.
        useful: which values are certain enough to be useful.
        shares: how much is known of each value, from 0 to 1.
        centiles: values of each of ``CENTILES``; empty unless declared.
        counts: whether outcomes are whole numbers.
    """

    title: str
    bounds: Interval
    values: FloatArray
    low: FloatArray
    high: FloatArray
    useful: BoolArray
    shares: FloatArray
    centiles: Sequence[FloatArray] = ()
    counts: bool = False


def draw_release(ax: Axes, spec: ReleaseSpec, lines: Lines) -> None:
    """Draw a curve for each group, or a map of the first group over the first two inputs, at the middle of others."""
    groups, plain = groups_of(spec)
    across = side_of(plain.x[0], plain.x_units[0], plain.x_box[0], spec.dates_of(plain.x[0]))
    if len(plain.x) == 1:
        curves = [_curve(group, lines) for group in groups]
        drawn = np.stack([lines.low, lines.high, *lines.centiles])
        draw_curves(ax, curves, across, upright(lines.title, lines.bounds, drawn, counts=lines.counts))
        return
    cells = groups[0].rows.reshape(plain.grid)
    for size in reversed(plain.grid[2:]):
        cells = cells[..., size // 2]
    up = side_of(plain.x[1], plain.x_units[1], plain.x_box[1], spec.dates_of(plain.x[1]))
    of = f" of {groups[0].name}" if groups[0].name else ""
    shares = np.where(lines.useful, np.maximum(lines.shares, 1e-9), 0.0)
    title = cut(f"{lines.title}{of}", _LONGEST)
    draw_grid(ax, lines.values[cells], shares[cells], across, up, title, ratio=_ratio(plain))


def is_map(spec: ReleaseSpec) -> bool:
    """Return whether a release is drawn as a map with the same scale in both directions."""
    return len(spec.numbers) > 1 and _ratio(groups_of(spec)[1]) is not None


def side_of(name: str, unit: str, box: Interval, dates: Dates | None) -> Side:
    """Return the axis of an input."""
    title = name if dates is not None or not unit else f"{name} [{unit}]"
    return Side(cut(title, _LONGEST), box, marks(*box, dates, whole=are_years(name, unit, box)))


def upright(title: str, bounds: Interval, drawn: FloatArray, *, counts: bool = False) -> Side:
    """Return the axis of the outcome. It includes everything that is drawn, except what is far outside the bounds.

    Args:
        title: of the outcome, with the unit.
        bounds: of the outcome.
        drawn: all values that are drawn, of any shape.
        counts: whether outcomes are whole numbers.
    """
    air = _AIR * (bounds[1] - bounds[0])
    least, most = bounds[0] - air, bounds[1] + air
    bottom, top = max(float(drawn.min()), least), min(float(drawn.max()), most)
    ends = (bottom, top) if bottom < top else (least, most)
    return Side(cut(title, _LONGEST), ends, marks(*ends, whole=counts))


def _curve(group: Group, lines: Lines) -> Curve:
    rows = group.rows
    return Curve(
        number=group.number,
        name=cut(group.name, _LONGEST // 2),
        x=group.X[:, 0],
        values=lines.values[rows],
        low=lines.low[rows],
        high=lines.high[rows],
        useful=lines.useful[rows],
        centiles={name: each[rows] for name, each in zip(CENTILES, lines.centiles, strict=False)},
    )


def _ratio(spec: ReleaseSpec) -> float | None:
    """Return the length of the second input's unit over the first one's; None if they are hardly comparable."""
    if spec.degrees is None and not spec.x_units[0] == spec.x_units[1] != "":
        return None
    worth = (1.0, 1.0) if spec.degrees is None else spec.degrees.kilometres
    across, up = (each * (high - low) for each, (low, high) in zip(worth, spec.x_box[:2], strict=True))
    return worth[1] / worth[0] if 1 / _MOST_OBLONG <= across / up <= _MOST_OBLONG else None

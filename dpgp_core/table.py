"""A table, described once: its columns, its outcome, and the public bounds that a guarantee rests on.

Readers, releases and estimators make ``Column`` and ``Outcome`` of declarations, and hand them on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from . import checks
from .arrays import FloatArray
from .checks import check_interval
from .dates import ISO, Dates, Format, checked_format, declared_day, example
from .levels import Interval, Levels, check_codes, check_levels, checked_levels, side_of, sides_of_inputs
from .seasons import check_room

Kind = Literal["number", "amount", "count", "yes/no"]
"""Kinds of outcomes: any number; one of 0 or more and skewed, as wages are; a whole number of 0 or more; 0 or 1."""
KINDS: tuple[Kind, ...] = get_args(Kind)
_UNDECLARED: Interval = (math.nan, math.nan)
MOST_RATIO = 1e12  # of bounds whose logarithm is measured


@dataclass(frozen=True, kw_only=True)
class Column:
    """An input of a table: a number, a date or a category. All of it is declared and public.

    Args:
        name: of the column.
        unit: of its numbers; of dates it is derived, days since the first.
        box: (low, high), the domain and not the range of the data, in ``unit``; derived where there are levels.
        levels: of a category; X then holds the number of a level, 0 ... L - 1. None for a number.
        dates: how a date is written and when its first day is; None for any other column.

    Raises:
        ValueError: levels or box are none, or a period comes too seldom in the box.
    """

    name: str
    unit: str = ""
    box: Interval = _UNDECLARED
    levels: Levels | None = None
    dates: Dates | None = None

    def __post_init__(self) -> None:
        if self.levels is not None:
            object.__setattr__(self, "levels", checked_levels(self.name, self.levels))
            side = side_of(self.levels)
            if self.box is not _UNDECLARED and tuple(self.box) != side:
                raise ValueError(f"x_box of {self.name!r}, which is a category, is derived; leave it out")
            object.__setattr__(self, "box", side)
        check_interval(f"x_box of {self.name}", self.box)
        if self.dates is not None:
            object.__setattr__(self, "unit", self.dates.unit)
            if self.period is not None:
                check_room(f"period of {self.name!r}", self.period, self.box)

    @property
    def period(self) -> float | None:
        """After which the outcome may come again, in ``unit``."""
        return None if self.dates is None else self.dates.period_days

    def text(self, value: float) -> str:
        """A value as a table writes it: a level, a date, or a number to 10 digits."""
        if self.levels is not None:
            return self.levels[int(value)]
        return f"{value:.10g}" if self.dates is None else self.dates.text(value)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The public description of a table's private output.

    Taking logarithms first costs no privacy: y_j -> ln(clip(y_j, bounds)) is a public function of one record alone, so
    tables that differ in one record still do, and its result lies within the logarithms of the bounds, which is all
    that the proof of a mechanism needs of an output. Going back by exp is a public function of the release.

    Args:
        name, unit: of the column.
        bounds: declared public (low, high), in ``unit``; neighbours may differ by high - low. Above 0 where ``log``.
        kind: an assumption of methods, never of the promise.
        scale: public constant that outputs are divided by before modelling, in the unit of ``measured``.
        log: whether its natural logarithm is measured; errors are then factors.

    Raises:
        ValueError: bounds are reversed, not of the kind or without logarithms, or the scale is not above 0.
    """

    name: str
    unit: str = ""
    bounds: Interval
    kind: Kind = "number"
    scale: float = 1.0
    log: bool = False

    def __post_init__(self) -> None:
        check_interval("y_bounds", self.bounds)
        kind, (low, high) = self.kind, self.bounds
        if kind not in KINDS:
            raise ValueError(f"the kind of outcome must be one of {', '.join(KINDS)}, got {kind!r}")
        if kind == "yes/no" and (low, high) != (0.0, 1.0):
            raise ValueError(f"outcomes declared yes/no have the bounds 0 and 1, got {low:g} and {high:g}")
        if kind in ("amount", "count") and low < 0:
            raise ValueError(f"an outcome declared {kind} has bounds of 0 or more, got {low:g}; declare it a number")
        if self.log and low <= 0:
            raise ValueError(f"y_bounds must lie above 0 where logarithms are measured, got low = {low:g}; raise it")
        if self.log and high / low > MOST_RATIO * (1 + 1e-9):
            raise ValueError(
                f"y_bounds are a factor {high / low:g} apart, more than {MOST_RATIO:g}; narrow them for log"
            )
        if not (np.isfinite(self.scale) and self.scale > 0):
            raise ValueError(f"y_scale must be a positive number, got {self.scale}")

    @property
    def width(self) -> float:
        """Width of the bounds, high - low, in ``unit``."""
        return self.bounds[1] - self.bounds[0]

    @property
    def midpoint(self) -> float:
        """Public centre, (low + high) / 2, in ``unit``."""
        return (self.bounds[0] + self.bounds[1]) / 2

    @property
    def measured(self) -> Outcome:
        """The same as it is measured: of logarithms any number, within theirs of the bounds, in "ln GBP"."""
        if not self.log:
            return self
        bounds = math.log(self.bounds[0]), math.log(self.bounds[1])
        return replace(self, unit=f"ln {self.unit}".strip(), bounds=bounds, kind="number", log=False)

    def taken(self, y: FloatArray) -> FloatArray:
        """Outputs (n,) as they are measured; each by itself, so that a neighbour's differ in one."""
        y = of_kind(self.kind, y)
        return np.log(np.clip(y, *self.bounds)) if self.log else y

    def given_back(self, values: FloatArray) -> FloatArray:
        """Released values of any shape in ``unit``: of a curve of logarithms the median, ends of intervals as such.

        Values beyond the bounds by more than their ratio, where noise is all there is, are cut there.
        """
        if not self.log:
            return values
        low, high = self.measured.bounds
        return np.asarray(np.exp(np.clip(values, 2 * low - high, 2 * high - low)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Inputs:
    """Anything about D inputs, with a ``Column`` for each."""

    columns: tuple[Column, ...]

    @property
    def x_names(self) -> tuple[str, ...]:
        """Names of the D inputs."""
        return tuple(each.name for each in self.columns)

    @property
    def x_units(self) -> tuple[str, ...]:
        """Units of the D inputs."""
        return tuple(each.unit for each in self.columns)

    @property
    def x_box(self) -> tuple[Interval, ...]:
        """D declared public (low, high) pairs."""
        return tuple(each.box for each in self.columns)

    @property
    def numbers(self) -> tuple[Column, ...]:
        """The inputs that are numbers or dates."""
        return tuple(each for each in self.columns if each.levels is None)

    @property
    def categories(self) -> tuple[int, ...]:
        """Positions of the inputs that are categories."""
        return tuple(d for d, each in enumerate(self.columns) if each.levels is not None)

    @property
    def x_levels(self) -> tuple[Levels | None, ...] | None:
        """Of each input its levels, and None where it is a number; None where all are."""
        levels = tuple(each.levels for each in self.columns)
        return levels if any(levels) else None


class Notice(NamedTuple):
    """A sentence about a table for the eyes of its owner. Not private.

    Attributes:
        rows: that it concerns.
        of: out of how many.
        sentence: with both numbers, and what to check.
    """

    rows: int
    of: int
    sentence: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset(Inputs):
    """Inputs X, private outputs y, and everything about them that is public.

    Records are finite numbers by definition, those of neighbours too, so NaN and infinity are refused here.

    The outputs enter a model as (clip(y, y_bounds) - midpoint) / y_scale. Bounds, midpoint
    and scale are declared constants, never statistics of y: centring or scaling by the
    private mean would let one record move every other. Outputs are moved into their declared kind first, each by
    itself: to refuse one would reveal with certainty that it is there.

    Args:
        name: short identifier, as in ``datasets.load(name)``.
        X: inputs (n, D), in the units of the columns. Public unless a mechanism says otherwise.
        y: outputs (n,), in the unit of the outcome. Private; kept unclipped, moved into their kind by ``of_kind``.
        privacy_unit: whom one record is about, for example "one woman's height".
        source, licence: of the figures.
        bounds_reason: why the bounds are public knowledge.
        simulated: True if the outputs were generated, not observed.
        labels: public per-record columns for display only, each (n,).
        person: whose row each is (n,), any values that are equal for rows of one person; None: every row is another
            person's. Neither released nor an input.
        left_out: rows of the table that lacked a value, or people who had no complete row; public, as n is.
        rows_left_out: rows that were left out, as far as their number is public. Where people have several rows and
            inputs are private, these are the rows that do not say whose they are.
        notices: about the table, for the eyes of its owner, in no file. Not private.

    Raises:
        ValueError: shapes disagree, a value is not finite, or an input is not of its levels. Messages about inputs
            repeat none of them.
    """

    name: str
    X: FloatArray
    y: FloatArray
    outcome: Outcome
    privacy_unit: str
    source: str = ""
    licence: str = ""
    bounds_reason: str = ""
    simulated: bool = False
    labels: Mapping[str, NDArray[np.generic]] = field(default_factory=dict)
    person: NDArray[np.generic] | None = None
    left_out: int = 0
    rows_left_out: int = 0
    notices: tuple[Notice, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.X.ndim != 2 or 0 in self.X.shape:
            raise ValueError(f"X must have shape (n, D) with n >= 1 and D >= 1, got {self.X.shape}")
        n, dim = self.X.shape
        if self.y.shape != (n,):
            raise ValueError(f"y must have shape ({n},) to match X, got {self.y.shape}")
        if len(self.columns) != dim:
            raise ValueError(f"columns must have {dim} entries, one per column of X, got {len(self.columns)}")
        if not (np.isfinite(self.X).all() and np.isfinite(self.y).all()):
            raise ValueError("X and y must be finite; remove or fill missing values first")
        check_levels([each.levels for each in self.columns])
        check_codes(self.X, self.x_box, self.x_names)
        object.__setattr__(self, "y", of_kind(self.y_kind, self.y))
        if self.person is not None and self.person.shape != (n,):
            raise ValueError(f"person must have shape ({n},), whose row each is, got {self.person.shape}")

    @property
    def y_name(self) -> str:
        """Name of the output."""
        return self.outcome.name

    @property
    def y_unit(self) -> str:
        """Its unit."""
        return self.outcome.unit

    @property
    def y_bounds(self) -> Interval:
        """Its declared public (low, high)."""
        return self.outcome.bounds

    @property
    def y_scale(self) -> float:
        """Public constant that outputs are divided by before modelling, in ``y_unit``."""
        return self.outcome.scale

    @property
    def y_kind(self) -> Kind:
        """Its declared kind."""
        return self.outcome.kind

    @cached_property
    def people(self) -> int:
        """Number of people: of records, where every row is another person's."""
        return self.n if self.person is None else len(np.unique(self.person))

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.X)

    @property
    def dim(self) -> int:
        """Number of input columns D."""
        return int(self.X.shape[1])

    @property
    def midpoint(self) -> float:
        """Public centre of the output, (low + high) / 2, in ``y_unit``."""
        return self.outcome.midpoint

    @property
    def output_range(self) -> float:
        """d: largest change of one clipped output between neighbours, high - low, in ``y_unit``."""
        return self.outcome.width

    @property
    def half_range(self) -> float:
        """Half the range of the public bounds, in model units."""
        return self.output_range / self.y_scale / 2

    @property
    def clipped_y(self) -> FloatArray:
        """Outputs clipped to the public bounds (n,), in ``y_unit``. Private."""
        return np.clip(self.y, *self.y_bounds)

    @property
    def clipped_count(self) -> int:
        """How many outputs lie outside the bounds. Private: shown only as an educational overlay."""
        low, high = self.y_bounds
        return int(((self.y < low) | (self.y > high)).sum())

    def standardised(self) -> FloatArray:
        """Model outputs (clip(y) - midpoint) / y_scale, shape (n,), no unit. Private."""
        return (self.clipped_y - self.midpoint) / self.y_scale

    def in_data_units(self, f: FloatArray) -> FloatArray:
        """Map model outputs of any shape back to ``y_unit``: f * y_scale + midpoint."""
        return f * self.y_scale + self.midpoint

    def public_part(self) -> Dataset:
        """Everything but the outputs, which are set to the midpoint; public where the inputs are."""
        outcome = replace(self.outcome, kind="number")
        return replace(self, y=np.full(self.n, self.midpoint), labels={}, outcome=outcome, notices=())

    def subset(self, rows: NDArray[np.intp]) -> Dataset:
        """The records at ``rows`` (k,), with the same public description. Which rows must be chosen without y."""
        labels = {name: column[rows] for name, column in self.labels.items()}
        person = None if self.person is None else self.person[rows]
        return replace(self, X=self.X[rows], y=self.y[rows], labels=labels, person=person)


def of_kind(kind: Kind, y: FloatArray) -> FloatArray:
    """Outcomes y of any shape moved to the nearest of their kind, each by itself; a half to the even neighbour."""
    if kind == "number":
        return y
    whole = y if kind == "amount" else np.rint(y)
    return np.clip(whole, 0.0, 1.0 if kind == "yes/no" else None) + 0.0


def pair_of(value: object, name: str) -> Interval:
    """A declared (low, high) as floats; ValueError for anything else."""
    ends: Any = value
    try:
        low, high = (float(end) for end in ends)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be two numbers (low, high), got {checks.cut(repr(value))}; declare both"
        ) from None
    return low, high


EXAMPLE_OF_DATES = '{"day": {"format": "day/month/year", "period": "year"}}'
DeclaredDates = Mapping[str, Mapping[str, object]] | Sequence[Dates]
"""More about inputs that are dates, by name: ``{"format": ..., "period": ...}``; or as they were declared before."""


def declared_columns(
    names: Sequence[str],
    box: Sequence[object],
    *,
    units: Sequence[str] | None = None,
    levels: Sequence[object] | None = None,
    dates: DeclaredDates | None = None,
    order: Format | None = None,
) -> tuple[Column, ...]:
    """Columns out of lists with an entry for each input.

    Args:
        box: a (low, high) pair for each input; two ISO dates make it one of dates, whose first day is the first of
            them. Nothing, or None, for one with levels.
        units: of the inputs; None for none.
        levels: of each input, None for a number; None where all are.
        dates: more about inputs that are dates.
        order: of day, month and year, where a date has no format; None for year, month, day.

    Raises:
        ValueError: lists have other lengths, or an entry is none that can be.
    """
    listed = [None] * len(names) if levels is None else list(levels)
    if len(listed) != len(names):
        raise ValueError(f"x_levels must have {len(names)} entries, one per column of x, got {len(listed)}")
    checked = [None if each is None else checked_levels(name, each) for name, each in zip(names, listed, strict=True)]
    check_levels(checked)
    sides = sides_of_inputs(box, checked, names)
    texts = [""] * len(names) if units is None else list(units)
    if len(texts) != len(names):
        raise ValueError(f"x_units must have {len(names)} entries, one per column of x, got {len(texts)}")
    by_name = _dates_by_name(names, dates)
    columns = []
    for name, unit, side, each in zip(names, texts, sides, checked, strict=True):
        said = by_name.get(name)
        if each is not None:
            columns.append(Column(name=name, unit=unit, levels=each))
        elif is_date_box(side):
            form = {"format": said.format, "period": said.period} if isinstance(said, Dates) else said or {}
            columns.append(column_of_dates(name, side, **{"format": order or ISO} | form))
        elif isinstance(said, dict):
            raise ValueError(f"x_box of {name!r}, which is declared a date, must be two dates such as {example(ISO)}")
        else:
            ends = pair_of(side, "each entry of x_box")
            columns.append(Column(name=name, unit=unit, box=ends, dates=said))
    return tuple(columns)


def is_date_box(side: object) -> bool:
    """Whether a side of a box is declared in texts, which makes its input one of dates."""
    return isinstance(side, list | tuple) and any(isinstance(end, str) for end in side)


def column_of_dates(name: str, side: object, *, format: object = ISO, period: Any = None) -> Column:
    """A column of dates whose side of the box is two ISO dates. ValueError names the end that is none."""
    ends = checks.entries(f"x_box of {name!r}", side)
    if len(ends) != 2:
        raise ValueError(f"x_box of {name!r} must be two dates [first, last], got {len(ends)} entries")
    first, last = (declared_day(f"each end of x_box of {name!r}", end) for end in ends)
    if first >= last:
        raise ValueError(f"x_box of {name!r} must be [first, last], got [{first}, {last}]; swap or widen them")
    dates = Dates(
        name=name, first=first.isoformat(), format=checked_format(f"format of {name!r}", format), period=period
    )
    return Column(name=name, box=(0.0, float((last - first).days)), dates=dates)


def _dates_by_name(names: Sequence[str], declared: DeclaredDates | None) -> dict[str, Dates | dict[str, Any]]:
    """Dates that were declared before, or their formats and periods, by name."""
    by_name = dict[str, Dates | dict[str, Any]]()
    if isinstance(declared, Mapping):
        for name, form in declared.items():
            if not isinstance(form, Mapping) or not form.keys() <= {"format", "period"}:
                raise ValueError(
                    f"dates of {checks.excerpt(name)} must be an object with format or period, such as "
                    f"{EXAMPLE_OF_DATES}"
                )
            by_name[name] = dict(form)
    elif declared is not None:
        for each in checks.entries("dates", declared):
            if not isinstance(each, Dates):
                raise ValueError(f"dates must be an object that names inputs, such as {EXAMPLE_OF_DATES}; got a list")
            by_name[each.name] = each
    unknown = next((name for name in by_name if name not in names), None)
    if unknown is not None:
        raise ValueError(f"dates speak of {checks.excerpt(unknown)}, which is no input; name it in x too")
    return by_name

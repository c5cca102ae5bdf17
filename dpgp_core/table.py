"""Description of a table: its columns, its outcome, and the public bounds on which guarantees rest.

Readers, releases and estimators convert declarations to ``Column`` and ``Outcome``, which all other code uses.
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
"""Kinds of outcomes: any number; a skewed number that is at least 0, such as a wage; a whole number >= 0; 0 or 1."""
KINDS: tuple[Kind, ...] = get_args(Kind)
_UNDECLARED: Interval = (math.nan, math.nan)
MOST_RATIO = 1e12  # largest high / low if the logarithm is measured


@dataclass(frozen=True, kw_only=True)
class Column:
    """Description of an input: a number, a date or a category. Everything in it is declared and public.

    Args:
        name: name of the column.
        unit: unit of its numbers; derived for dates ("days since" the first day).
        box: (low, high), in ``unit``: the domain of the input, never the range of the data. Derived for categories.
        levels: the categories; X then holds the index 0 ... L - 1 of a category. None for a number or a date.
        dates: format and first day of a date; None for any other column.

    Raises:
        ValueError: levels or box are invalid, or fewer than two periods fit into the box.
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
        """Declared period of the input, in ``unit``; None if there is none."""
        return None if self.dates is None else self.dates.period_days

    def text(self, value: float) -> str:
        """Return a value of X as it is written in a table: a category, a date, or a number with 10 digits."""
        if self.levels is not None:
            return self.levels[int(value)]
        return f"{value:.10g}" if self.dates is None else self.dates.text(value)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Public description of the private output of a table.

    Measuring the logarithm of the output needs no further proof: y_j -> ln(clip(y_j, bounds)) is a public function of
    one record, so tables that differ in one record still differ in one, and its values lie between the logarithms of
    the bounds. The proofs of the mechanisms assume no more about an output. Transforming results back by exp is
    post-processing.

    Args:
        name: name of the column.
        unit: its unit.
        bounds: declared public (low, high), in ``unit``; neighbours may differ by high - low. Above 0 if ``log``.
        kind: kind of outcome. Accuracy may depend on it, but the guarantee does not.
        scale: public constant by which outputs are divided before modelling, in the unit of ``measured``.
        log: whether the natural logarithm of the output is measured; errors are then factors.

    Raises:
        ValueError: bounds are reversed, do not fit the kind or have no logarithm, or the scale is not positive.
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
        """Description of the quantity that is measured: the outcome itself, or its logarithm (in "ln GBP", say)."""
        if not self.log:
            return self
        bounds = math.log(self.bounds[0]), math.log(self.bounds[1])
        return replace(self, unit=f"ln {self.unit}".strip(), bounds=bounds, kind="number", log=False)

    def to_measured(self, y: FloatArray) -> FloatArray:
        """Return outputs y (n,) as they are measured: of their kind, and as logarithms if ``log``.

        Each output is transformed separately, so that neighbouring data sets still differ in one output.
        """
        y = of_kind(self.kind, y)
        return np.log(np.clip(y, *self.bounds)) if self.log else y

    def from_measured(self, values: FloatArray) -> FloatArray:
        """Return released values of any shape in ``unit``; the inverse of ``to_measured``.

        If logarithms were measured, a curve of means becomes a curve of medians, and ends of intervals stay ends of
        intervals. Values are clipped to (low^2 / high, high^2 / low), beyond which they can only be noise.
        """
        if not self.log:
            return values
        low, high = self.measured.bounds
        return np.asarray(np.exp(np.clip(values, 2 * low - high, 2 * high - low)))


class Described:
    """Base class of objects that describe D inputs by a ``Column`` each."""

    columns: tuple[Column, ...]

    @property
    def numbers(self) -> tuple[Column, ...]:
        """The inputs that are numbers or dates."""
        return tuple(each for each in self.columns if each.levels is None)

    @property
    def levels(self) -> dict[str, Levels]:
        """Declared categories of each categorical input, by name."""
        return {each.name: each.levels for each in self.columns if each.levels is not None}


@dataclass(frozen=True, kw_only=True, eq=False)
class Inputs(Described):
    """Base class of objects whose inputs are given by their columns alone."""

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
        """Declared public sides of the box, D pairs (low, high)."""
        return tuple(each.box for each in self.columns)

    @property
    def categories(self) -> tuple[int, ...]:
        """Indices of the inputs that are categories."""
        return tuple(d for d, each in enumerate(self.columns) if each.levels is not None)

    @property
    def x_levels(self) -> tuple[Levels | None, ...] | None:
        """Categories of each input, None for a number or a date; None if no input is a category."""
        levels = tuple(each.levels for each in self.columns)
        return levels if any(levels) else None


class Notice(NamedTuple):
    """A message about a table for its owner only. It may depend on private values and must not be published.

    Attributes:
        rows: number of rows that it concerns.
        of: number of rows altogether.
        sentence: text, with both numbers and what to check.
    """

    rows: int
    of: int
    sentence: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset(Inputs):
    """Inputs X and private outputs y with their public description.

    A record consists of finite numbers, also in a neighbouring data set; NaN and infinity are therefore refused here.

    The outputs enter a model as (clip(y, y_bounds) - midpoint) / y_scale. Bounds, midpoint and scale are declared
    constants and never statistics of y: if outputs were centred by their private mean, one record would move all.
    Before that, each output is moved to the nearest value of the declared kind. It is not refused, because a refusal
    would reveal with certainty that such an output is in the data.

    Args:
        name: short identifier, as in ``datasets.load(name)``.
        X: inputs (n, D), in the units of the columns. Public unless a mechanism protects inputs.
        y: outputs (n,), in the unit of the outcome. Private; not clipped, but moved to their kind by ``of_kind``.
        outcome: description of y.
        privacy_unit: what one record is about, for example "one woman's height".
        source: where the data come from.
        licence: licence of the data.
        bounds_reason: why the bounds are public knowledge.
        simulated: whether the outputs were simulated.
        labels: public columns for display only, each (n,).
        person: identifies the person of each row (n,), by any values that are equal for rows of the same person; None
            if each row belongs to a different person. It is neither an input nor released.
        left_out: number of rows that lacked a value, or of people without a complete row; public, as n is.
        rows_left_out: number of rows that were left out, as far as it is public. If people have several rows and inputs
            are private, only rows without a person are counted.
        notices: messages for the owner of the table. They are private and are not written to any file.

    Raises:
        ValueError: shapes disagree, a value is not finite, or a categorical input is not an index of its levels.
            Messages repeat no input.
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
            raise ValueError(f"person must have shape ({n},), with the person of each row, got {self.person.shape}")

    @property
    def y_name(self) -> str:
        """Name of the output."""
        return self.outcome.name

    @property
    def y_unit(self) -> str:
        """Unit of the output."""
        return self.outcome.unit

    @property
    def y_bounds(self) -> Interval:
        """Declared public bounds (low, high) of the output."""
        return self.outcome.bounds

    @property
    def y_scale(self) -> float:
        """Public constant that outputs are divided by before modelling, in ``y_unit``."""
        return self.outcome.scale

    @property
    def y_kind(self) -> Kind:
        """Declared kind of the output."""
        return self.outcome.kind

    @cached_property
    def people(self) -> int:
        """Number of people; the number of records if each row belongs to a different person."""
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
        """Largest change of one clipped output between neighbouring data sets, d = high - low, in ``y_unit``."""
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
        """Number of outputs outside the bounds. Private; pages show it only together with other true data."""
        low, high = self.y_bounds
        return int(((self.y < low) | (self.y > high)).sum())

    def standardised(self) -> FloatArray:
        """Model outputs (clip(y) - midpoint) / y_scale, shape (n,), no unit. Private."""
        return (self.clipped_y - self.midpoint) / self.y_scale

    def in_data_units(self, f: FloatArray) -> FloatArray:
        """Map model outputs of any shape back to ``y_unit``: f * y_scale + midpoint."""
        return f * self.y_scale + self.midpoint

    def public_part(self) -> Dataset:
        """Return the data set with all outputs set to the midpoint. It is public if the inputs are public."""
        outcome = replace(self.outcome, kind="number")
        return replace(self, y=np.full(self.n, self.midpoint), labels={}, outcome=outcome, notices=())

    def subset(self, rows: NDArray[np.intp]) -> Dataset:
        """Return the records at indices ``rows`` (k,), with the same description. Choose ``rows`` without using y."""
        labels = {name: column[rows] for name, column in self.labels.items()}
        person = None if self.person is None else self.person[rows]
        return replace(self, X=self.X[rows], y=self.y[rows], labels=labels, person=person)


def of_kind(kind: Kind, y: FloatArray) -> FloatArray:
    """Return outcomes y of any shape, each moved to the nearest value of its kind; halves are rounded to even."""
    if kind == "number":
        return y
    whole = y if kind == "amount" else np.rint(y)
    return np.clip(whole, 0.0, 1.0 if kind == "yes/no" else None) + 0.0


def pair_of(value: object, name: str) -> Interval:
    """Return a declared (low, high) as floats; raise ValueError for anything else."""
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
"""Formats and periods of date inputs, ``{name: {"format": ..., "period": ...}}``, or a list of ``Dates``."""


def declared_columns(
    names: Sequence[str],
    box: Sequence[object],
    *,
    units: Sequence[str] | None = None,
    levels: Sequence[object] | None = None,
    dates: DeclaredDates | None = None,
    order: Format | None = None,
) -> tuple[Column, ...]:
    """Make columns of declarations that are lists with an entry for each input.

    Args:
        names: names of the inputs.
        box: a pair (low, high) for each input. Two ISO dates declare an input that is a date; the first of them is its
            first day. The entry of a categorical input is None or left out.
        units: units of the inputs; None for none.
        levels: categories of each input, None for a number; None if no input is categorical.
        dates: formats and periods of date inputs.
        order: format of date inputs for which none is declared; None for "year-month-day".

    Raises:
        ValueError: lists have different lengths, or an entry is invalid.
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
    """Whether a side of a box is declared by texts, which means that its input is a date."""
    return isinstance(side, list | tuple) and any(isinstance(end, str) for end in side)


def column_of_dates(name: str, side: object, *, format: object = ISO, period: Any = None) -> Column:
    """Make a column of dates from its side of the box, two ISO dates; raise ValueError if an end is not a date."""
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
    """Return ``Dates``, or formats and periods, by the name of the input."""
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

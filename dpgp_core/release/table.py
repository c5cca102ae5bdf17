"""What is public about a table: columns, their domain and bounds, whose rows it holds, and where a curve is wanted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .. import checks
from ..accounting.guarantee import MOST_ROWS, Budget, Guarantee, for_rows
from ..arrays import FloatArray
from ..bayes.cells import MOST
from ..bounds.cells import LEAST_UNIT, MOST_UNIT, RoundCells, sides_of
from ..bounds.purchase import LEAST_SHARE, MOST_SHARE
from ..data import KINDS, Kind, check_kind
from ..dates import Dates
from ..levels import Levels, LevelSide, beside_categories, levels_by_column, whole_box
from ..mechanisms import BayesCloaking
from ..mechanisms.base import Mechanism
from ..mechanisms.catalogue import Entry
from ..reading.date_inputs import date_inputs
from ..reading.writing import Writing
from ..seasons import Periods, check_periods
from .units import Coordinates, OutputScale, declared_coordinates

MAX_INPUTS = 10
CENTILES = (3, 15, 50, 85, 97)  # of a growth chart
MAX_GRID = 2_500  # points of the prediction grid in all
RESERVED = (
    "value",
    "curve_low_95",
    "curve_high_95",
    "output_low_95",
    "output_high_95",
    *(f"centile_{centile}" for centile in CENTILES),
    "within_tolerance",
)  # columns of the released table


@dataclass(frozen=True, kw_only=True)
class DeclaredTable:
    """Everything that is public about a table, declared before it is looked at.

    Args:
        x: names of the D input columns.
        x_units: D units; none if left out.
        x_box: D public (low, high) pairs; inputs outside are refused, or moved to its edge where inputs are private;
            predictions fill it. Two dates, ("2019-01-01", "2023-12-31"), make an input one of dates: kept as days
            since the first of them. None for an input with levels.
        y: name of the private output column.
        y_unit: its unit, if it has one.
        y_bounds: public (low, high) that outputs are clipped to, in ``y_unit``. With ``bounds_unit``: what the bounds
            that are bought stay within; null in a configuration for anything.
        unit: what is hidden, for example "one person's height".
        grid: points along each input, 2 or more, at which predictions are made; never at private positions. None for
            an input with levels: there is a curve for each.
        coordinates: names of the input columns that are longitude and latitude in degrees, if two are: distances
            between them are then in km.
        dates: more about inputs that are dates, by name: {"day": {"format": "day/month/year", "period": "year"}};
            kept as ``Dates``. Their order is that of ``writing`` if it is not said here.
        log: measure the natural logarithm of the output, as prices need: errors are then factors.
        y_kind: what an output is: one of ``data.KINDS``.
        x_levels: for each input its declared public levels, 2 to 20 texts, if it is a category, and None if it is a
            number. What is none of them counts as "other" where that is a level, and is refused elsewhere. None: all
            inputs are numbers.
        person: name of the column that says whose row each is, where people may have several: neither an input nor
            released; None without.
        rows_per_person: most rows of one person where no column says whose they are; 1: every row is another person's.
        bounds_unit: the smallest size of an output that matters, in ``y_unit``, where bounds are bought; None where
            they are declared.
        bounds_share: of mu^2, that is for bounds where they are bought.
        writing: how the table is written: separator, numbers, encoding, and the words that mean missing, yes and no.

    Attributes:
        output_scale: both ways between the output as declared and as measured; as read, before bounds are bought.
        degrees: what the degrees of ``coordinates`` are worth in km; None without.

    Raises:
        ValueError: a declaration is missing, of the wrong kind or out of range; the message names it and the remedy.
    """

    x: tuple[str, ...]
    x_units: tuple[str, ...] = ()
    x_box: tuple[tuple[float, float], ...]
    y: str
    y_unit: str = ""
    y_bounds: tuple[float, float]
    unit: str
    grid: tuple[int, ...]
    coordinates: tuple[str, str] | None = None
    dates: tuple[Dates, ...] = ()
    log: bool = False
    y_kind: Kind = "number"
    x_levels: tuple[Levels | None, ...] | None = None
    person: str | None = None
    rows_per_person: int = 1
    bounds_unit: float | None = None
    bounds_share: float = 0.1
    writing: Writing = field(default_factory=Writing)
    output_scale: OutputScale = field(init=False, repr=False, compare=False)
    degrees: Coordinates | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._check_columns()
        self._check_output()
        self._check_coordinates()
        self._check_grid()

    @property
    def output_range(self) -> float:
        """Largest change of one output, as measured."""
        low, high = self.output_scale.measured_bounds
        return high - low

    @property
    def measured_kind(self) -> Kind:
        """``y_kind``, as measured: a logarithm is any number."""
        return "number" if self.output_scale.log else self.y_kind

    @property
    def periods(self) -> Periods:
        """Of each input, in days; () where none has one."""
        days = {each.name: each.period_days for each in self.dates}
        return check_periods([days.get(name) for name in self.x], len(self.x))

    @property
    def measured_units(self) -> tuple[str, ...]:
        """``x_units`` of the inputs as they are kept: of dates, days since the first."""
        dates = {each.name: each.unit for each in self.dates}
        return tuple(dates.get(name, unit) for name, unit in zip(self.x, self.x_units, strict=True))

    def dates_of(self, name: str) -> Dates | None:
        """What is declared of an input that is a date; None for a number."""
        return next((each for each in self.dates if each.name == name), None)

    @property
    def levels(self) -> dict[str, Levels]:
        """Of the inputs that are categories, by name."""
        pairs = zip(self.x, self.x_levels or (), strict=False)
        return {name: levels for name, levels in pairs if levels is not None}

    @property
    def numbers(self) -> tuple[str, ...]:
        """Names of the inputs that are numbers."""
        return tuple(name for name in self.x if name not in self.levels)

    def of_numbers(self, name: str, values: object) -> list[object]:
        """A list that was given for each input, without what stands for categories, where None may stand.

        Raises:
            ValueError: it is no list, or of another length, or something stands there.
        """
        entries = checks.entries(name, values)
        if len(entries) == len(self.numbers):
            return list(entries)
        pairs = list(zip(self.x, checks.entries(name, values, len(self.x)), strict=True))
        wrong = next((each for each, value in pairs if each in self.levels and value is not None), None)
        if wrong is not None:
            raise ValueError(f"{name} has an entry for {wrong!r}, which is a category; write null there")
        return [value for each, value in pairs if each not in self.levels]

    def in_units(self, lengths: Sequence[float]) -> tuple[float, ...]:
        """Lengths along the inputs that are numbers in ``x_units``, out of km for ``coordinates``."""
        degrees = self.degrees
        pairs = zip(self.numbers, lengths, strict=True)
        return tuple(length if degrees is None else degrees.in_degrees(name, length) for name, length in pairs)

    def points(self) -> FloatArray:
        """The public prediction points (P, D): a regular grid over the box, the last input running fastest.

        Along dates, the nearest days; along categories, the number of each level.
        """
        axes = [
            np.arange(count, dtype=float) if name in self.levels else np.linspace(*side, count)
            for name, side, count in zip(self.x, self.x_box, self.grid, strict=True)
        ]
        axes = [np.rint(axis) if self.dates_of(name) else axis for name, axis in zip(self.x, axes, strict=True)]
        return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_columns(self) -> None:
        self._set("x", checks.texts("x", self.x))
        if not 1 <= len(self.x) <= MAX_INPUTS:
            raise ValueError(f"x must name 1 ... {MAX_INPUTS} input columns, got {len(self.x)}")
        checks.text("y", self.y)
        if len({*self.x, self.y}) <= len(self.x):
            raise ValueError("x and y must name different columns; name each column once")
        reserved = [name for name in self.x if name in RESERVED]
        if reserved:
            raise ValueError(f"x names {reserved[0]!r}, a column of the released table; rename it in your file")
        self._set("rows_per_person", checked_rows(self.person, self.rows_per_person, [*self.x, self.y]))
        units = ("",) * len(self.x) if self.x_units in (None, ()) else self.x_units
        self._set("x_units", checks.texts("x_units", units, empty=True))
        checks.entries("x_units", self.x_units, len(self.x))
        self._check_levels()
        levels = self.x_levels or (None,) * len(self.x)
        numbers = [None if isinstance(side, LevelSide) else side for side in checks.entries("x_box", self.x_box)]
        whole = beside_categories(self.of_numbers("x_box", numbers), levels)
        dates, boxes = date_inputs(self.x, whole, self.dates, order=self.writing.date_order)
        self._set("dates", dates)
        sides = [checks.interval("each entry of x_box", pair) for pair in self.of_numbers("x_box", boxes)]
        self._set("x_box", whole_box(sides, levels))

    def _check_levels(self) -> None:
        if self.x_levels is None:
            return
        pairs = zip(self.x, checks.entries("x_levels", self.x_levels, len(self.x)), strict=True)
        levels = levels_by_column(self.x, {name: each for name, each in pairs if each is not None})
        self._set("x_levels", levels if any(levels) else None)

    def _check_output(self) -> None:
        checks.text("y_unit", self.y_unit, empty=True)
        checks.text("unit", self.unit)
        if self.writing.two_valued and self.y_kind != "yes/no":
            raise ValueError(f'yes and no are words of an outcome declared "yes/no", and y_kind is {self.y_kind!r}')
        if not isinstance(self.log, bool):
            raise ValueError(f"log must be true or false, got {checks.shown(self.log)}")
        self._set("y_kind", checks.one_of("y_kind", self.y_kind, list(KINDS)))
        if self.log and self.y_kind in ("count", "yes/no"):
            raise ValueError(f"log measures numbers and amounts, not outcomes declared {self.y_kind}; leave log out")
        self._set("bounds_unit", checked_unit(self.bounds_unit))
        self._set("bounds_share", checked_share(self.bounds_share))
        self._set("y_bounds", checked_bounds(self.y_bounds, self.bounds_unit, self.y_kind, log=self.log))
        check_kind(self.y_kind, self.y_bounds)
        log = self.log and self.bounds_unit is None  # before bounds are known, outputs are read as they are
        self._set("output_scale", OutputScale(bounds=self.y_bounds, unit=self.y_unit, log=log))

    def _check_coordinates(self) -> None:
        self._set("degrees", None)
        if self.coordinates is None:
            return
        self._set("coordinates", checks.texts("coordinates", self.coordinates))
        box = dict(zip(self.x, self.x_box, strict=True))
        dates = [each.name for each in self.dates]
        self._set("degrees", declared_coordinates(self.coordinates, box, dates, self.levels))

    def _check_grid(self) -> None:
        sides = zip(self.x, checks.entries("grid", self.grid, len(self.x)), strict=True)
        self._set("grid", tuple(self._points_along(name, count) for name, count in sides))
        for name, count, (_, last) in zip(self.x, self.grid, self.x_box, strict=True):
            if self.dates_of(name) and count > last + 1:
                raise ValueError(f"grid has {count} points along {name!r}, whose box has {last + 1:g} days; use fewer")
        points = math.prod(self.grid)
        if points > MAX_GRID:
            raise ValueError(f"grid has {points} points in all, more than {MAX_GRID}, the limit; use fewer per input")

    def _points_along(self, name: str, count: object) -> int:
        if name not in self.levels:
            return checks.whole("each entry of grid", count, 2, MAX_GRID)
        levels = len(self.levels[name])
        if count not in (None, levels):
            raise ValueError(f"grid has {checks.shown(count)} for {name!r}, of {levels} levels; write null there")
        return levels


def checked_unit(unit: object) -> float | None:
    """The smallest size, or None where bounds are declared.

    Raises:
        ValueError: it is no number in range.
    """
    return None if unit is None else checks.number("bounds_unit", unit, LEAST_UNIT, MOST_UNIT)


def checked_share(share: object) -> float:
    """The share of mu^2 that bounds cost, where they are bought.

    Raises:
        ValueError: it is no number in range.
    """
    return checks.number("bounds_share", share, LEAST_SHARE, MOST_SHARE)


def checked_bounds(bounds: object, unit: float | None, kind: Kind, *, log: bool) -> tuple[float, float]:
    """The bounds as declared; those of all cells where they are bought and nothing is declared.

    Raises:
        ValueError: they are no bounds, neither declared nor bought, or there is nothing to buy.
    """
    if unit is None:
        if bounds is None and kind == "yes/no":
            return 0.0, 1.0
        if bounds is None:
            raise ValueError(
                "y_bounds must be [low, high]. Where nobody knows them, give bounds_unit, the smallest size of an "
                "outcome that matters. They are then bought with a share of the budget"
            )
        return checks.interval("y_bounds", bounds)
    cells = RoundCells(unit=unit, sides=sides_of(kind, log=log))
    return cells.interval(0, cells.count - 1) if bounds is None else checks.interval("y_bounds", bounds)


def check_buyer(mechanism: str, choice: Entry, y_scale: float | None) -> None:
    """Raise ValueError unless a mechanism can do with bounds that are bought: it makes everything itself from them."""
    if not choice.automatic:
        raise ValueError(f"mechanism {mechanism!r} needs declared bounds; use 'bayes_cells' or 'bayes' to buy them")
    if y_scale is not None:
        raise ValueError("y_scale follows from the bounds where they are bought; leave it out")


def checked_rows(person: str | None, rows_per_person: int, columns: Sequence[str]) -> int:
    """How many rows of one person are declared at most; 1 where a column says whose each is.

    Args:
        person: name of that column, or None.
        rows_per_person: as declared.
        columns: the inputs and the output.

    Raises:
        ValueError: both are declared, or one is out of range.
    """
    rows = checks.whole("rows_per_person", rows_per_person, 1, MOST_ROWS)
    if person is None:
        return rows
    checks.text("person", person)
    if person in columns:
        raise ValueError(f"person names {person!r}, which is an input or the output too; name the column of people")
    if rows > 1:
        raise ValueError("person and rows_per_person are two answers to one question; with person leave the other out")
    return rows


def check_mechanism(person: str | None, mechanism: str, choice: Entry, inputs: int) -> None:
    """Raise ValueError unless the mechanism hides all rows of a person, where a column says whose each is."""
    if person is None:
        return
    if not choice.people:
        raise ValueError(
            f"mechanism {mechanism!r} hides one row, and person says that people may have several. Use 'bayes_cells' "
            "or 'bayes', or declare rows_per_person instead of person"
        )
    if inputs not in MOST:
        raise ValueError(f"people with several rows are counted over at most {max(MOST)} input columns, not {inputs}")


def promise(built: Mechanism, unit: str, person: str | None, rows: int, budget: Budget) -> Guarantee:
    """The promise of one release to whom was declared.

    Args:
        built: the mechanism; where rows > 1, for the budget of one row.
        unit: whom it is to.
        person: see ``checked_rows``.
        rows: most rows of a person.
        budget: of all rows of a person together.
    """
    if person is not None and isinstance(built, BayesCloaking):
        return replace(built.promise_to(unit, people=True), person=person)
    return for_rows(built.guarantee.for_unit(unit), rows, budget)

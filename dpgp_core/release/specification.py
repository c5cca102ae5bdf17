"""The specification of a release: all public choices, made before the data are seen, and checked once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..accounting.gaussian import check_budget, rounded_up, written
from ..accounting.guarantee import (
    COMPLETE_PEOPLE,
    COMPLETE_ROWS,
    MOST_ROWS,
    Budget,
    Guarantee,
    budget_of_one_row,
    for_rows,
)
from ..accounting.ledger import Ledger
from ..arrays import FloatArray, lattice
from ..bayes.cells import MOST_SIDES
from ..bounds.buying import LEAST_SHARE, MOST_SHARE, Purchase, with_bounds_bought
from ..bounds.cells import LEAST_UNIT, MOST_UNIT, declared_bounds
from ..dates import Dates
from ..levels import Levels, LevelSide
from ..mechanisms import BayesCloaking
from ..mechanisms.base import Mechanism
from ..mechanisms.catalogue import CATALOGUE, KERNEL_NAMES, Entry, Parameters
from ..reading.writing import Writing
from ..seasons import Periods, check_periods, periodic
from ..table import KINDS, Column, Dataset, Described, Inputs, Kind, Outcome, declared_columns, is_date_box
from .degrees import Coordinates, declared_coordinates

CHOICES = {name: entry for name, entry in CATALOGUE.items() if entry.released}
"""Mechanisms of the catalogue by name, the recommended one first."""
MAX_INPUTS = 10
MAX_GRID = 2_500  # largest number of points of the prediction grid
MAX_CELLS, DEFAULT_CELLS = 400, 6  # cells of the box: largest number in all; default along each input
_ROWS, _DISPERSION = "declare rows_per_person instead of person", "the dispersion of outcomes, which centiles need"
_USUAL_DELTA = 1e-6  # delta of the limit if one release has delta 0
CENTILES = (3, 15, 50, 85, 97)  # those of a growth chart
COLUMNS = {
    "value": "released value at the inputs in the columns before it; if logarithms were measured, the median",
    "curve_low_95": "lower end of the 95 % interval for the curve, if the model is right",
    "curve_high_95": "upper end of this interval",
    "output_low_95": "lower end of the 95 % interval for one further record's output, if the model is right",
    "output_high_95": "upper end of this interval",
    **{
        f"centile_{centile}": f"value that {centile} in 100 further records' outputs stay below, if the model is right"
        for centile in CENTILES
    },
    "within_tolerance": "1 if the curve is known as precisely as declared, so that the value is useful; 0 otherwise",
}
"""Columns of the released table after the inputs."""
_CHECKS: dict[str, Callable[[str, object], object]] = {
    "y": checks.text,
    "y_unit": partial(checks.text, empty=True),
    "unit": checks.text,
    "log": checks.switch,
    "y_kind": partial(checks.one_of, allowed=KINDS),
    "rows_per_person": partial(checks.whole, low=1, high=MOST_ROWS),
    "bounds_share": partial(checks.number, low=LEAST_SHARE, high=MOST_SHARE),
    "epsilon": partial(checks.number, low=1e-3, high=100),
    "delta": partial(checks.number, low=0, high=0.1),
    "noise_variance": partial(checks.number, low=1e-4, high=1e4),
    "mechanism": partial(checks.one_of, allowed=list(CHOICES)),
    "kernel": partial(checks.one_of, allowed=list(KERNEL_NAMES)),
    "centiles": checks.switch,
}
"""Checks of declarations that do not depend on others."""


@dataclass(frozen=True, kw_only=True)
class ReleaseSpec(Described):
    """Everything that a release needs besides the table. All of it is public: declarations, and how to release.

    Args:
        x: names of the D input columns.
        x_units: D units; no units if left out.
        x_box: D public (low, high) pairs, over which values are predicted. Inputs outside are refused; if inputs are
            private, they are moved to the edge. Two dates, such as ("2019-01-01", "2023-12-31"), declare an input of
            dates. None for a categorical input.
        y, y_unit: name and unit of the private output column.
        y_bounds: public (low, high) to which outputs are clipped, in ``y_unit``. With ``bounds_unit``, the widest
            bounds that may be bought; null in a configuration for no restriction.
        unit: what the release hides, in words, for example "one person's height".
        grid: number of points along each input, at least 2, at which values are predicted; never at private inputs.
            None for a categorical input, because each category has a curve.
        coordinates: names of the two input columns that are longitude and latitude in degrees, if there are any;
            distances are then in km.
        dates: further declarations of inputs that are dates, by name, such as {"day": {"format": "day/month/year",
            "period": "year"}}; kept as ``Dates``. If the format is left out, that of ``writing`` applies.
        log: whether to measure the natural logarithm of the output, as for prices; errors are then factors.
        y_kind: kind of the output, one of ``table.KINDS``.
        x_levels: declared public categories of each input, 2 to 20 texts, or None for a number; None if all inputs are
            numbers. Any other text counts as "other" if that is a category, and is refused otherwise.
        person: name of the column that identifies people, if they may have several rows. It is neither an input nor
            released.
        rows_per_person: largest number of rows of one person, if no column identifies people; 1 if every row describes
            another person.
        bounds_unit: smallest size of an output that matters, in ``y_unit``, if bounds are bought; None otherwise.
        bounds_share: share of mu^2 that is spent on bounds if they are bought.
        epsilon, delta: budget of one release, for all rows of one person as declared. Only "integral_bins" has a delta
            of 0.
        total_epsilon: declared limit for all releases of the same table together; None for this one alone.
        total_delta: delta of that limit; None for ``delta``, or for 1e-6 if ``delta`` is 0.
        lengthscale: lengthscale of the kernel for each numerical input, in ``x_units``, or in km for ``coordinates``;
            None for a quarter of the box. Only mechanisms with one kernel use it.
        noise_variance: variance of one record about the curve, divided by the prior variance of the curve.
        y_scale: public size of the curve's variation, in the unit that is measured; None for a quarter of the bounds'
            width.
        mechanism: one of ``CHOICES``.
        kernel: one of ``KERNEL_NAMES``.
        cells: number of cells of the box along each input, for mechanisms that divide the box; None for 6.
        tolerance: values are marked as useful if the curve is known to within +- this, in ``y_unit``, or within this
            factor if ``log``. None for what is known from the bounds alone: half their width, or the square root of
            their ratio.
        centiles: whether to publish the 3rd, 15th, 50th, 85th and 97th centile of one further record's output too.

    Attributes:
        outcome: the output; as it is read, if bounds are yet to be bought.
        degrees: lengths of the degrees of ``coordinates`` in km; None without coordinates.
        lengths: ``lengthscale`` of the numerical inputs, all in ``x_units``.
        limit: declared budget for all releases of the same table.
        purchase: the first step, in which bounds are bought; None if they are declared.
        built: the mechanism with the budget that the first step leaves; its prior has variance 1 in model units.
        guarantee: guarantee of one release, which is known before any data are read.

    Raises:
        ValueError: a declaration is missing, of the wrong kind or out of range; the message names it and a remedy.
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
    epsilon: float
    delta: float
    total_epsilon: float | None = None
    total_delta: float | None = None
    lengthscale: tuple[float, ...] | None = None
    noise_variance: float = 0.3
    y_scale: float | None = None
    mechanism: str = "bayes_cells"
    kernel: str = "EQ"
    cells: int | None = None
    tolerance: float | None = field(default=None, compare=False)  # it changes neither measurements nor values
    centiles: bool = field(default=False, compare=False)  # likewise
    columns: tuple[Column, ...] = field(init=False, repr=False, compare=False)
    outcome: Outcome = field(init=False, repr=False, compare=False)
    degrees: Coordinates | None = field(init=False, repr=False, compare=False)
    lengths: tuple[float, ...] = field(init=False, repr=False, compare=False)
    limit: Budget = field(init=False, repr=False, compare=False)
    purchase: Purchase | None = field(init=False, repr=False, compare=False)
    built: Mechanism = field(init=False, repr=False, compare=False)
    guarantee: Guarantee = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._set(**{name: check(name, getattr(self, name)) for name, check in _CHECKS.items()})
        self._check_columns()
        self._check_outcome()
        self._check_grid()
        self._check_mechanism()
        self._check_scales()
        self._check_budget()

    @property
    def choice(self) -> Entry:
        """Entry of the mechanism in the catalogue."""
        return CHOICES[self.mechanism]

    @property
    def max_rows(self) -> int:
        """Largest number of rows of a table, or of people if they may have several rows."""
        return self.choice.kind.rows_for(len(self.numbers))

    @property
    def protects_inputs(self) -> bool:
        """Whether inputs are private. If they are not, whatever depends only on inputs may be published."""
        return self.guarantee.protects != "outputs"

    @property
    def periods(self) -> Periods:
        """Period of each input in days; () if none has one."""
        return check_periods([each.period for each in self.columns], len(self.x))

    def dates_of(self, name: str) -> Dates | None:
        """Return the declarations of an input that is a date; None for a number."""
        return next((each.dates for each in self.columns if each.name == name), None)

    def in_units(self, lengths: Sequence[float]) -> tuple[float, ...]:
        """Return lengths along the numerical inputs in ``x_units``; those of ``coordinates`` are given in km."""
        pairs, degrees = zip(self.numbers, lengths, strict=True), self.degrees
        return tuple(length if degrees is None else degrees.in_degrees(each.name, length) for each, length in pairs)

    def points(self) -> FloatArray:
        """Return the public points (P, D) of prediction: a regular grid over the box; the last input varies fastest.

        Points along dates are the nearest days; categories are represented by their numbers.
        """
        axes = [
            np.arange(count, dtype=float) if each.levels else np.linspace(*each.box, count)
            for each, count in zip(self.columns, self.grid, strict=True)
        ]
        axes = [np.rint(axis) if each.dates else axis for each, axis in zip(self.columns, axes, strict=True)]
        return lattice(axes)

    def public_table(
        self, X: FloatArray, person: NDArray[np.generic] | None = None, outcome: Outcome | None = None
    ) -> Dataset:
        """Return the public part of a table: every output is the middle of the bounds, or for counts and yes/no their
        low end.

        Args:
            person: identifiers of the person of each row (n,), if people may have several.
            outcome: outcome with bought bounds; None for the declared one.
        """
        outcome = (outcome or self.outcome).measured
        low, high = outcome.bounds
        middle = math.ceil(low) if outcome.kind in ("count", "yes/no") else low + (high - low) / 2
        return Dataset(
            name="public part",
            X=X,
            y=np.full(len(X), float(middle)),
            columns=self.columns,
            outcome=outcome,
            privacy_unit=self.unit,
            person=person,
        )

    def new_ledger(self) -> Ledger:
        """Return an empty ledger with the declared limit."""
        return Ledger(limit=self.limit)

    def _set(self, **values: object) -> None:
        """Set declarations to their checked values."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _lengthscales(self, given: object) -> Sequence[object]:
        """Return the given lengthscales without the None of categorical inputs."""
        entries = checks.entries("lengthscale", given)
        if len(entries) == len(self.numbers):
            return entries
        pairs = list(zip(self.columns, checks.entries("lengthscale", given, len(self.x)), strict=True))
        for each, value in pairs:
            if each.levels and value is not None:
                raise ValueError(f"lengthscale has an entry for {each.name!r}, which is a category; write null there")
        return [value for each, value in pairs if not each.levels]

    def _check_columns(self) -> None:
        self._set(x=checks.texts("x", self.x))
        if not 1 <= len(self.x) <= MAX_INPUTS:
            raise ValueError(f"x must name 1 ... {MAX_INPUTS} input columns, got {len(self.x)}")
        if len({*self.x, self.y}) <= len(self.x):
            raise ValueError("x and y must name different columns; name each column once")
        if reserved := [name for name in self.x if name in COLUMNS]:
            raise ValueError(f"x names {reserved[0]!r}, a column of the released table; rename it in your file")
        if self.person is not None and checks.text("person", self.person) in (*self.x, self.y):
            raise ValueError(f"person names {self.person!r}, an input or the output too; name the column of people")
        if self.person is not None and self.rows_per_person > 1:
            raise ValueError("person and rows_per_person are two answers to one question; leave one of them out")
        units = ("",) * len(self.x) if self.x_units in (None, ()) else checks.texts("x_units", self.x_units, empty=True)
        box = [
            side
            if side is None or isinstance(side, LevelSide) or is_date_box(side)
            else checks.interval("each entry of x_box", side)
            for side in checks.entries("x_box", self.x_box)
        ]
        levels = None if self.x_levels is None else checks.entries("x_levels", self.x_levels)
        columns = declared_columns(
            self.x, box, units=units, levels=levels, dates=self.dates, order=self.writing.date_order
        )
        self._set(columns=columns, x_units=units, x_box=tuple(each.box for each in columns))
        dates = tuple(each.dates for each in columns if each.dates)
        self._set(x_levels=Inputs(columns=columns).x_levels, dates=dates, degrees=None)
        if self.coordinates is not None:
            self._set(coordinates=checks.texts("coordinates", self.coordinates))
            self._set(degrees=declared_coordinates(self.coordinates, columns))

    def _check_outcome(self) -> None:
        kind, bought = self.y_kind, self.bounds_unit is not None
        if self.writing.two_valued and kind != "yes/no":
            raise ValueError(f'yes and no are words of an outcome declared "yes/no", and y_kind is {kind!r}')
        if self.log and kind in ("count", "yes/no"):
            raise ValueError(f"log measures numbers and amounts, not outcomes declared {kind}; leave log out")
        if self.centiles and kind == "yes/no":
            raise ValueError("yes/no outcomes have a rate and no centiles; leave centiles out")
        if bought:
            self._set(bounds_unit=checks.number("bounds_unit", self.bounds_unit, LEAST_UNIT, MOST_UNIT))
        self._set(y_bounds=declared_bounds(self.y_bounds, self.bounds_unit, kind, log=self.log))
        log = self.log and not bought  # bought bounds may be wide and begin anywhere, because they are not known yet
        outcome = Outcome(name=self.y, unit=self.y_unit, bounds=self.y_bounds, kind=kind, log=log)
        width = outcome.measured.width
        if bought and self.y_scale is not None:
            raise ValueError("y_scale follows from the bounds where they are bought; leave it out")
        if self.y_scale is not None:
            self._set(y_scale=checks.number("y_scale", self.y_scale, 1e-4 * width, 1e4 * width))
        self._set(outcome=replace(outcome, scale=width / 4 if self.y_scale is None else self.y_scale))
        if self.tolerance is not None:
            low, high = (1e-30, checks.MOST) if bought else (1e-6 * width, 10 * width)
            low, high = (1.000001, 1e6) if self.log else (low, high)
            self._set(tolerance=checks.number("tolerance", self.tolerance, low, high))

    def _check_grid(self) -> None:
        counts = zip(self.columns, checks.entries("grid", self.grid, len(self.x)), strict=True)
        self._set(grid=tuple(_points_along(each, count) for each, count in counts))
        if (points := math.prod(self.grid)) > MAX_GRID:
            raise ValueError(f"grid has {points} points in all, more than {MAX_GRID}, the limit; use fewer per input")

    def _check_mechanism(self) -> None:
        """Check declarations against what the mechanism can do."""
        can, inputs, people, category = self.choice.kind, len(self.numbers), bool(self.person), [*self.levels, ""][0]
        ours = "use 'bayes_cells', or 'bayes' if the inputs are public"
        less = "leave one out, or use 'bayes' if the inputs are public"
        limit, periods = self.choice.max_inputs, len(periodic(self.periods))
        most, names = f"takes at most {limit} input columns", ", ".join(can.kernel_names)
        too_many = people and not 1 <= inputs <= MOST_SIDES
        refusals = (
            (
                people and not can.people,
                f"protects rows, and {self.person!r} identifies people",
                f"{ours}, or {_ROWS}",
            ),
            (too_many, f"counts people over at most {MOST_SIDES} input columns", "leave some out"),
            (self.bounds_unit and not can.automatic, "needs declared bounds", f"{ours}, to buy them"),
            (category and not can.levels, f"takes inputs that are numbers, and {category!r} has levels", ours),
            (inputs > limit, f"{most}, got {inputs}", less),
            (self.kernel not in can.kernel_names, f"needs kernel {names}, got {self.kernel!r}", "name it"),
            (periods and not can.automatic, "has one kernel, which is not periodic", f"leave period out, or {ours}"),
            (can.automatic and inputs + periods > limit, f"{most}, a period counting as one", less),
            (
                self.centiles and not can.measures_dispersion,
                f"does not measure {_DISPERSION}",
                f"leave centiles out, or {ours}",
            ),
            (self.cells is not None and not can.uses_cells, "does not use cells", "leave it out"),
        )
        for wrong, problem, remedy in refusals:
            if wrong:
                raise ValueError(f"mechanism {self.mechanism!r} {problem}; {remedy}")

    def _check_scales(self) -> None:
        unit_lengths = self.in_units([1.0] * len(self.numbers))
        widths = [(each.box[1] - each.box[0]) / unit for each, unit in zip(self.numbers, unit_lengths, strict=True)]
        given = [width / 4 for width in widths] if self.lengthscale is None else self.lengthscale
        lengthscale = tuple(
            checks.number("each entry of lengthscale", value, 1e-3 * width, 1e3 * width)
            for value, width in zip(self._lengthscales(given), widths, strict=True)
        )
        self._set(lengthscale=lengthscale, lengths=self.in_units(lengthscale))
        if not self.choice.kind.uses_cells:
            return
        cells = checks.whole("cells", DEFAULT_CELLS if self.cells is None else self.cells, 1, MAX_CELLS)
        if cells ** len(self.x) > MAX_CELLS:
            raise ValueError(f"cells = {cells} along each of {len(self.x)} inputs makes more than {MAX_CELLS} in all")
        self._set(cells=cells)

    def _check_budget(self) -> None:
        total = self.epsilon if self.total_epsilon is None else self.total_epsilon
        total = checks.number("total_epsilon", total, 1e-3, 1000)
        if self.choice.kind.pure != (self.delta == 0):
            needed = "must be 0" if self.choice.kind.pure else "must be above 0"
            raise ValueError(f"delta {needed} for mechanism {self.mechanism!r}, got {self.delta:g}")
        total_delta = (self.delta or _USUAL_DELTA) if self.total_delta is None else self.total_delta
        total_delta = checks.number("total_delta", total_delta, 0, 0.1)
        if total_delta == 0:
            raise ValueError("total_delta must be above 0, because releases of all kinds are added up at it; try 1e-6")
        check_budget(self.epsilon, self.delta or total_delta)
        self._set(total_epsilon=total, total_delta=total_delta, limit=Budget(epsilon=total, delta=total_delta))
        one_row = budget_of_one_row(self.epsilon, self.delta, self.rows_per_person)
        self._set(built=self._build(one_row), purchase=None)
        self._set(guarantee=self._promise())
        if self.bounds_unit is not None:  # a share of the budget is for the first step, the rest for the mechanism
            purchase = Purchase(
                epsilon=one_row.epsilon,
                delta=one_row.delta,
                share=self.bounds_share,
                unit=self.bounds_unit,
                outcome=self.outcome,
                log=self.log,
                people=self.person is not None,
            )
            self._set(purchase=purchase, built=self._build(purchase.rest))
            self._set(guarantee=with_bounds_bought(self.guarantee))
        if (one := self.guarantee.loss.epsilon(total_delta)) > total * (1 + 1e-9):
            raise ValueError(
                f"one release spends epsilon = {written(rounded_up(one))} at delta = {total_delta:g}, "
                f"above total_epsilon = {total:g}. Lower epsilon or declare a larger total"
            )

    def _build(self, one_row: Budget) -> Mechanism:
        return self.choice.build(
            Parameters(
                kernel=KERNEL_NAMES[self.kernel](lengthscale=self.lengths),
                noise_variance=self.noise_variance,
                epsilon=one_row.epsilon,
                delta=one_row.delta,
                x_box=self.x_box,
                cells=self.cells,
                periods=self.periods,
            )
        )

    def _promise(self) -> Guarantee:
        """Return the guarantee of one release for the declared privacy unit."""
        budget, built = Budget(epsilon=self.epsilon, delta=self.delta), self.built
        if self.person is not None and isinstance(built, BayesCloaking):
            promise = replace(built.promise_to(self.unit, people=True), person=self.person)
        else:
            promise = for_rows(built.guarantee.for_unit(self.unit), self.rows_per_person, budget)
        if self.writing.missing is None and not self.writing.two_valued:
            return promise  # a table with an incomplete row is refused
        by_people = self.person is not None and promise.protects != "outputs"
        return replace(promise, assumptions=(*promise.assumptions, COMPLETE_PEOPLE if by_people else COMPLETE_ROWS))


def _points_along(column: Column, count: object) -> int:
    """Return the number of points along an input: as declared, or one for each category."""
    if column.levels is not None:
        levels = len(column.levels)
        if count not in (None, levels):
            raise ValueError(
                f"grid has {checks.excerpt(count)} for {column.name!r}, of {levels} levels; write null there"
            )
        return levels
    points, last = checks.whole("each entry of grid", count, 2, MAX_GRID), column.box[1]
    if column.dates and points > last + 1:
        raise ValueError(f"grid has {points} points along {column.name!r}, whose box has {last + 1:g} days; use fewer")
    return points


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

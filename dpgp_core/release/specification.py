"""What is to be released: every public choice, made before the data are looked at, checked once, and kept as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..accounting.gaussian import check_budget, rounded_up
from ..accounting.guarantee import MOST_ROWS, Budget, Guarantee, budget_of_one_row, for_rows
from ..accounting.ledger import Ledger
from ..arrays import FloatArray, lattice
from ..bayes.cells import MOST
from ..bounds.cells import LEAST_UNIT, MOST_UNIT, RoundCells, sides_of
from ..bounds.purchase import LEAST_SHARE, MOST_SHARE, Purchase, with_bounds_bought
from ..dates import Dates
from ..levels import Levels, LevelSide
from ..mechanisms import BayesCloaking
from ..mechanisms.base import Mechanism
from ..mechanisms.catalogue import CATALOGUE, KERNEL_NAMES, Entry, Parameters
from ..reading.look import MARK
from ..reading.writing import KEYS, Writing, writing_to_object
from ..seasons import Periods, check_periods, periodic
from ..table import KINDS, Column, Dataset, Kind, Outcome, check_kind, declared_columns, is_date_box, levels_of
from .degrees import Coordinates, declared_coordinates
from .json_text import check_keys, read_object, write_object

CHOICES = {name: entry for name, entry in CATALOGUE.items() if entry.released}
"""Rows of the catalogue by name, the recommended one first."""
MAX_INPUTS = 10
MAX_GRID = 2_500  # points of the prediction grid in all
MAX_CELLS, DEFAULT_CELLS = 400, 6  # of the box in all; along each input
_USUAL_DELTA = 1e-6  # of the limit, where one release has none
CENTILES = (3, 15, 50, 85, 97)  # of a growth chart
_ENDS = ("curve_low_95", "curve_high_95", "output_low_95", "output_high_95")
RESERVED = ("value", *_ENDS, *(f"centile_{centile}" for centile in CENTILES), "within_tolerance")
"""Columns of the released table."""


@dataclass(frozen=True, kw_only=True)
class ReleaseSpec:
    """Everything that a release needs besides the table, all of it public: what is declared of it, and how to release.

    Args:
        x: names of the D input columns.
        x_units: D units; none if left out.
        x_box: D public (low, high) pairs; inputs outside are refused, or moved to its edge where inputs are private;
            predictions fill it. Two dates, ("2019-01-01", "2023-12-31"), make an input one of dates: kept as days
            since the first of them. None for an input with levels.
        y, y_unit: name and unit of the private output column.
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
        y_kind: what an output is: one of ``table.KINDS``.
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
        epsilon, delta: the budget of one release, for all rows of one person as declared; delta is 0 for
            "integral_bins", and only for it.
        total_epsilon: declared limit for all releases of the same table together; None for this one alone.
        total_delta: delta of that limit; None for ``delta``, or 1e-6 where that is 0.
        lengthscale: of the kernel, one per input, in ``x_units``; in km for ``coordinates``. None for an input with
            levels, or left out there. None for a quarter of the box; only mechanisms with one kernel use it.
        noise_variance: variance of one record about the curve over the variance of the curve.
        y_scale: public size of the curve's variation, as measured; None for a quarter of the bounds' width.
        mechanism: one of ``CHOICES``.
        kernel: one of ``KERNEL_NAMES``.
        cells: cells of the box along each input, for mechanisms that divide it; None for 6 there.
        tolerance: values are of use where the curve is known to within +- this, in ``y_unit``, or to within this factor
            where ``log``; marked in the released table, and nothing else depends on it. None for what the bounds alone
            say: half of their width, or the root of their ratio.
        centiles: publish the 3rd, 15th, 50th, 85th and 97th centile of one further record's output too.

    Attributes:
        columns: of the inputs.
        outcome: the output; before bounds are bought, as it is read.
        degrees: what the degrees of ``coordinates`` are worth in km; None without.
        built: the mechanism; its prior has variance 1 in model units.
        guarantee: the promise of one release, known before any data are read.

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
    tolerance: float | None = field(default=None, compare=False)  # the same is measured and computed whatever it is
    centiles: bool = field(default=False, compare=False)  # likewise
    columns: tuple[Column, ...] = field(init=False, repr=False, compare=False)
    outcome: Outcome = field(init=False, repr=False, compare=False)
    degrees: Coordinates | None = field(init=False, repr=False, compare=False)
    built: Mechanism = field(init=False, repr=False, compare=False)
    guarantee: Guarantee = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._check_columns()
        self._check_outcome()
        self._check_grid()
        self._check_mechanism()
        self._check_scales()
        self._check_budget()

    @property
    def choice(self) -> Entry:
        """What the mechanism can do, and how large a table it takes."""
        return CHOICES[self.mechanism]

    @property
    def limit(self) -> Budget:
        """The declared limit for all releases of the same table."""
        assert self.total_epsilon is not None  # as _check_budget sets it
        return Budget(epsilon=self.total_epsilon, delta=self.total_delta or self.delta)

    @property
    def output_range(self) -> float:
        """Largest change of one output, as measured."""
        return self.outcome.measured.width

    @property
    def of_use(self) -> float:
        """``tolerance``, or its default: half of the widest interval with which a released value says something."""
        if self.tolerance is not None:
            return self.tolerance
        return math.exp(self.output_range / 2) if self.log else self.output_range / 2

    @property
    def tolerances(self) -> tuple[float, float]:
        """Least and largest ``tolerance`` that has a meaning; any, before bounds are bought."""
        if self.log:
            return 1.000001, 1e6
        if self.bounds_unit is not None:
            return 1e-30, checks.MOST
        return 1e-6 * self.output_range, 10 * self.output_range

    @property
    def protects_inputs(self) -> bool:
        """Whether inputs are private; if not, whatever depends on inputs alone may be published."""
        return self.guarantee.protects != "outputs"

    @property
    def periods(self) -> Periods:
        """Of each input, in days; () where none has one."""
        return check_periods([each.period for each in self.columns], len(self.x))

    @property
    def levels(self) -> dict[str, Levels]:
        """Of the inputs that are categories, by name."""
        return {each.name: each.levels for each in self.columns if each.levels is not None}

    @property
    def numbers(self) -> tuple[Column, ...]:
        """The inputs that are numbers or dates."""
        return tuple(each for each in self.columns if each.levels is None)

    @property
    def lengths(self) -> tuple[float, ...]:
        """``lengthscale`` in ``x_units`` throughout; of the inputs that are numbers."""
        assert self.lengthscale is not None  # as _check_scales sets it
        return self.in_units(self.lengthscale)

    def dates_of(self, name: str) -> Dates | None:
        """What is declared of an input that is a date; None for a number."""
        return next((each.dates for each in self.columns if each.name == name), None)

    def in_units(self, lengths: Sequence[float]) -> tuple[float, ...]:
        """Lengths along the inputs that are numbers in ``x_units``, out of km for ``coordinates``."""
        pairs, degrees = zip(self.numbers, lengths, strict=True), self.degrees
        return tuple(length if degrees is None else degrees.in_degrees(each.name, length) for each, length in pairs)

    def points(self) -> FloatArray:
        """The public prediction points (P, D): a regular grid over the box, the last input running fastest.

        Along dates, the nearest days; along categories, the number of each level.
        """
        axes = [
            np.arange(count, dtype=float) if each.levels else np.linspace(*each.box, count)
            for each, count in zip(self.columns, self.grid, strict=True)
        ]
        axes = [np.rint(axis) if each.dates else axis for each, axis in zip(self.columns, axes, strict=True)]
        return lattice(axes)

    def public_table(self, X: FloatArray, person: NDArray[np.generic] | None = None) -> Dataset:
        """The public part of a table as it is measured: every output is the middle of the bounds, or no, or none."""
        outcome = self.outcome.measured
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
        """An empty ledger with the declared limit."""
        return Ledger(limit=self.limit)

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _of_numbers(self, name: str, values: object) -> list[object]:
        """A list given for each input, without the None that stands for categories."""
        entries = checks.entries(name, values)
        if len(entries) == len(self.numbers):
            return list(entries)
        pairs = list(zip(self.columns, checks.entries(name, values, len(self.x)), strict=True))
        wrong = next((each.name for each, value in pairs if each.levels and value is not None), None)
        if wrong is not None:
            raise ValueError(f"{name} has an entry for {wrong!r}, which is a category; write null there")
        return [value for each, value in pairs if not each.levels]

    def _check_columns(self) -> None:
        self._set(x=checks.texts("x", self.x))
        if not 1 <= len(self.x) <= MAX_INPUTS:
            raise ValueError(f"x must name 1 ... {MAX_INPUTS} input columns, got {len(self.x)}")
        checks.text("y", self.y)
        if len({*self.x, self.y}) <= len(self.x):
            raise ValueError("x and y must name different columns; name each column once")
        reserved = [name for name in self.x if name in RESERVED]
        if reserved:
            raise ValueError(f"x names {reserved[0]!r}, a column of the released table; rename it in your file")
        self._check_rows()
        units = checks.texts("x_units", ("",) * len(self.x) if self.x_units in (None, ()) else self.x_units, empty=True)
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
        self._set(
            columns=columns, x_units=units, x_box=tuple(each.box for each in columns), x_levels=levels_of(columns)
        )
        self._set(dates=tuple(each.dates for each in columns if each.dates), degrees=None)
        if self.coordinates is not None:
            self._set(coordinates=checks.texts("coordinates", self.coordinates))
            self._set(degrees=declared_coordinates(self.coordinates, columns))

    def _check_rows(self) -> None:
        """Whose rows they are: as a column says, or so many of each person at most."""
        rows = checks.whole("rows_per_person", self.rows_per_person, 1, MOST_ROWS)
        if self.person is None:
            return
        checks.text("person", self.person)
        if self.person in (*self.x, self.y):
            raise ValueError(
                f"person names {self.person!r}, which is an input or the output too; name the column of people"
            )
        if rows > 1:
            raise ValueError(
                "person and rows_per_person are two answers to one question; with person leave the other out"
            )

    def _check_outcome(self) -> None:
        checks.text("y_unit", self.y_unit, empty=True)
        checks.text("unit", self.unit)
        if self.writing.two_valued and self.y_kind != "yes/no":
            raise ValueError(f'yes and no are words of an outcome declared "yes/no", and y_kind is {self.y_kind!r}')
        if not isinstance(self.log, bool):
            raise ValueError(f"log must be true or false, got {checks.shown(self.log)}")
        checks.one_of("y_kind", self.y_kind, list(KINDS))
        if self.log and self.y_kind in ("count", "yes/no"):
            raise ValueError(f"log measures numbers and amounts, not outcomes declared {self.y_kind}; leave log out")
        bought = self.bounds_unit is not None
        if bought:
            self._set(bounds_unit=checks.number("bounds_unit", self.bounds_unit, LEAST_UNIT, MOST_UNIT))
        self._set(bounds_share=checks.number("bounds_share", self.bounds_share, LEAST_SHARE, MOST_SHARE))
        self._set(y_bounds=declared_bounds(self.y_bounds, self.bounds_unit, self.y_kind, log=self.log))
        check_kind(self.y_kind, self.y_bounds)
        outcome = Outcome(
            name=self.y, unit=self.y_unit, bounds=self.y_bounds, kind=self.y_kind, log=self.log and not bought
        )
        width = outcome.measured.width
        if bought and self.y_scale is not None:
            raise ValueError("y_scale follows from the bounds where they are bought; leave it out")
        if self.y_scale is not None:
            self._set(y_scale=checks.number("y_scale", self.y_scale, 1e-4 * width, 1e4 * width))
        self._set(outcome=replace(outcome, scale=width / 4 if self.y_scale is None else self.y_scale))
        if self.tolerance is not None:
            self._set(tolerance=checks.number("tolerance", self.tolerance, *self.tolerances))

    def _check_grid(self) -> None:
        counts = zip(self.columns, checks.entries("grid", self.grid, len(self.x)), strict=True)
        self._set(grid=tuple(_points_along(each, count) for each, count in counts))
        points = math.prod(self.grid)
        if points > MAX_GRID:
            raise ValueError(f"grid has {points} points in all, more than {MAX_GRID}, the limit; use fewer per input")

    def _check_mechanism(self) -> None:
        checks.one_of("mechanism", self.mechanism, list(CHOICES))
        name, choice, inputs = f"mechanism {self.mechanism!r}", self.choice, len(self.numbers)
        if self.person is not None and not choice.people:
            raise ValueError(
                f"{name} hides one row, and person says that people may have several. Use 'bayes_cells' or 'bayes', or "
                "declare rows_per_person instead of person"
            )
        if self.person is not None and inputs not in MOST:
            raise ValueError(
                f"people with several rows are counted over at most {max(MOST)} input columns, not {inputs}"
            )
        if self.bounds_unit is not None and not choice.automatic:
            raise ValueError(f"{name} needs declared bounds; use 'bayes_cells' or 'bayes' to buy them")
        checks.one_of("kernel", self.kernel, list(KERNEL_NAMES))
        if self.levels and not choice.levels:
            raise ValueError(
                f"{name} takes inputs that are numbers, and {next(iter(self.levels))!r} has levels; use 'bayes_cells', "
                "or 'bayes' if the inputs are public"
            )
        if inputs > choice.max_inputs:
            raise ValueError(
                f"{name} takes at most {choice.max_inputs} input columns, got {inputs}. Leave some out, or use 'bayes' "
                "if the inputs are public"
            )
        if self.kernel not in choice.kernels:
            raise ValueError(f"{name} needs kernel {' or '.join(choice.kernels)}, got {self.kernel!r}")
        if self.periods and not choice.automatic:
            raise ValueError(
                f"{name} has one kernel, which is not periodic; leave period out, or use 'bayes' or 'bayes_cells'"
            )
        if choice.automatic and inputs + len(periodic(self.periods)) > choice.max_inputs:
            raise ValueError(
                f"{name} takes at most {choice.max_inputs} input columns, a period counting as one. Leave one out, or "
                "use 'bayes' if the inputs are public"
            )
        if not isinstance(self.centiles, bool):
            raise ValueError(f"centiles must be true or false, got {checks.shown(self.centiles)}")
        if self.centiles and not choice.scatter:
            raise ValueError(
                f"{name} does not measure how far people are apart, which centiles need. Leave centiles out, or use "
                "'bayes' or 'bayes_cells'"
            )
        if self.centiles and self.y_kind == "yes/no":
            raise ValueError("yes/no outcomes have a rate and no centiles; leave centiles out")

    def _check_scales(self) -> None:
        unit_lengths = self.in_units([1.0] * len(self.numbers))
        sides = zip(self.numbers, unit_lengths, strict=True)
        widths = [(each.box[1] - each.box[0]) / unit for each, unit in sides]
        given = [width / 4 for width in widths] if self.lengthscale is None else self.lengthscale
        lengths = zip(self._of_numbers("lengthscale", given), widths, strict=True)
        name = "each entry of lengthscale"
        self._set(lengthscale=tuple(checks.number(name, value, 1e-3 * width, 1e3 * width) for value, width in lengths))
        self._set(noise_variance=checks.number("noise_variance", self.noise_variance, 1e-4, 1e4))
        if not self.choice.uses_cells and self.cells is not None:
            raise ValueError(f"mechanism {self.mechanism!r} does not use cells; leave it out")
        if self.choice.uses_cells:
            cells = checks.whole("cells", DEFAULT_CELLS if self.cells is None else self.cells, 1, MAX_CELLS)
            if cells ** len(self.x) > MAX_CELLS:
                raise ValueError(
                    f"cells = {cells} along each of {len(self.x)} inputs makes more than {MAX_CELLS} in all"
                )
            self._set(cells=cells)

    def _check_budget(self) -> None:
        self._set(epsilon=checks.number("epsilon", self.epsilon, 1e-3, 100))
        total = self.epsilon if self.total_epsilon is None else self.total_epsilon
        self._set(total_epsilon=checks.number("total_epsilon", total, 1e-3, 1000))
        self._set(delta=checks.number("delta", self.delta, 0, 0.1))
        if self.choice.pure != (self.delta == 0):
            needed = "must be 0" if self.choice.pure else "must be above 0"
            raise ValueError(f"delta {needed} for mechanism {self.mechanism!r}, got {self.delta:g}")
        total_delta = (self.delta or _USUAL_DELTA) if self.total_delta is None else self.total_delta
        self._set(total_delta=checks.number("total_delta", total_delta, 0, 0.1))
        if self.total_delta == 0:
            raise ValueError("total_delta must be above 0, because releases of all kinds are added up at it; try 1e-6")
        check_budget(self.epsilon, self.delta or self.limit.delta)
        check_budget(self.limit.epsilon, self.limit.delta)
        self._set(built=self._build(), guarantee=None)
        self._set(guarantee=self._promise())
        one = self.guarantee.loss.epsilon(self.limit.delta)
        if one > self.limit.epsilon * (1 + 1e-9):
            raise ValueError(
                f"one release spends epsilon = {rounded_up(one).normalize():f} at delta = {self.limit.delta:g}, "
                f"above total_epsilon = {self.total_epsilon:g}. Lower epsilon or declare a larger total"
            )

    def _build(self) -> Mechanism:
        one_row = budget_of_one_row(self.epsilon, self.delta, self.rows_per_person)
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
        """The promise of one release to whom was declared; where bounds are bought, for both stages together."""
        budget, built = Budget(epsilon=self.epsilon, delta=self.delta), self.built
        if self.person is not None and isinstance(built, BayesCloaking):
            guarantee = replace(built.promise_to(self.unit, people=True), person=self.person)
        else:
            guarantee = for_rows(built.guarantee.for_unit(self.unit), self.rows_per_person, budget)
        if self.bounds_unit is None:
            return guarantee
        Purchase(epsilon=self.epsilon, delta=self.delta, share=self.bounds_share)
        return with_bounds_bought(guarantee)


def declared_bounds(bounds: object, unit: float | None, kind: Kind, *, log: bool) -> tuple[float, float]:
    """The bounds as declared; where they are bought in cells of this unit and nothing is declared, those of all cells.

    Raises:
        ValueError: they are no bounds, neither declared nor bought, or there is nothing to buy.
    """
    if unit is not None:
        cells = RoundCells(unit=unit, sides=sides_of(kind, log=log))
        return cells.interval(0, cells.count - 1) if bounds is None else checks.interval("y_bounds", bounds)
    if bounds is None and kind == "yes/no":
        return 0.0, 1.0
    if bounds is None:
        raise ValueError(
            "y_bounds must be [low, high]. Where nobody knows them, give bounds_unit, the smallest size of an "
            "outcome that matters. They are then bought with a share of the budget"
        )
    return checks.interval("y_bounds", bounds)


def _points_along(column: Column, count: object) -> int:
    """Points of the grid along an input: as declared, or one for each level."""
    if column.levels is not None:
        levels = len(column.levels)
        if count not in (None, levels):
            raise ValueError(
                f"grid has {checks.shown(count)} for {column.name!r}, of {levels} levels; write null there"
            )
        return levels
    points, last = checks.whole("each entry of grid", count, 2, MAX_GRID), column.box[1]
    if column.dates and points > last + 1:
        raise ValueError(f"grid has {points} points along {column.name!r}, whose box has {last + 1:g} days; use fewer")
    return points


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
    box = [
        None if each.levels else [each.dates.day(end).isoformat() for end in each.box] if each.dates else each.box
        for each in spec.columns
    ]
    about = {each.name: {"format": each.format, "period": each.period} for each in spec.dates}
    return members | writing_to_object(members.pop("writing")) | {"x_box": box, "dates": about}


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

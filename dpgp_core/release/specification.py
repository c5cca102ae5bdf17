"""What is to be released: every public choice, made before the data are looked at and checked once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..accounting.gaussian import check_budget
from ..accounting.guarantee import Budget, Guarantee
from ..accounting.ledger import Ledger
from ..accounting.rounding import rounded_up
from ..arrays import FloatArray
from ..mechanisms.base import Mechanism
from ..mechanisms.catalogue import KERNEL_NAMES, Entry
from . import number_checks
from .choices import CHOICES, DECLARED, build
from .declared.coordinates import Coordinates
from .declared.output_scale import OutputScale

MAX_INPUTS = 10
MAX_GRID = 2_500  # points of the prediction grid in all
MAX_CELLS = 400  # cells of the box in all
DEFAULT_CELLS = 6
RESERVED = (
    "value",
    "curve_low_95",
    "curve_high_95",
    "output_low_95",
    "output_high_95",
    "within_tolerance",
)  # columns of the released table


@dataclass(frozen=True, kw_only=True)
class ReleaseSpec:
    """Everything that a release needs besides the table, all of it public.

    Args:
        x: names of the D input columns.
        x_units: D units.
        x_box: D public (low, high) pairs; inputs outside are refused, or moved to its edge where inputs are private;
            predictions fill it.
        y: name of the private output column.
        y_unit: its unit.
        y_bounds: public (low, high) that outputs are clipped to, in ``y_unit``.
        unit: whom one row is about, for example "one person's height".
        epsilon, delta: the budget of one release; delta is 0 for "integral_bins", and only for it.
        total_epsilon: declared limit for all releases of the same table together.
        total_delta: delta of that limit; None for ``delta``.
        lengthscale: of the kernel, one per input, in ``x_units``; in km for ``coordinates``.
        noise_variance: variance of one record about the curve over the variance of the curve.
        y_scale: public size of the curve's variation, as measured; None for a quarter of the bounds' width.
        mechanism: one of ``CHOICES``.
        kernel: one of ``KERNEL_NAMES``.
        grid: points along each input, 2 or more, at which predictions are made; never at private positions.
        cells: cells of the box along each input, for mechanisms that divide it; None for 6 there.
        tolerance: values are of use where the curve is known to within +- this, in ``y_unit``, or to within this factor
            where ``log``; marked in the released table, and nothing else depends on it. None for what the bounds alone
            say: half of their width, or the root of their ratio.
        coordinates: names of the input columns that are longitude and latitude in degrees, if two are: distances
            between them are then in km.
        log: measure the natural logarithm of the output, as prices need: errors are then factors.

    Attributes:
        built: the mechanism.
        guarantee: the promise of one release, known before any data are read.

    Raises:
        ValueError: a declaration is missing, of the wrong kind or out of range; the message names it and the remedy.
    """

    x: tuple[str, ...]
    x_units: tuple[str, ...]
    x_box: tuple[tuple[float, float], ...]
    y: str
    y_unit: str
    y_bounds: tuple[float, float]
    unit: str
    epsilon: float
    delta: float
    total_epsilon: float
    total_delta: float | None = None
    lengthscale: tuple[float, ...]
    noise_variance: float = 0.3
    y_scale: float | None = None
    mechanism: str = "bayes_cells"
    kernel: str = "EQ"
    grid: tuple[int, ...]
    cells: int | None = None
    tolerance: float | None = field(default=None, compare=False)  # the same is measured and computed whatever it is
    log: bool = False
    coordinates: tuple[str, str] | None = None
    built: Mechanism = field(init=False, repr=False, compare=False)
    guarantee: Guarantee = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._check_columns()
        self._check_model()
        self._check_grid()
        self._check_budget()

    @property
    def choice(self) -> Entry:
        """What the mechanism can do, and how large a table it takes."""
        return CHOICES[self.mechanism]

    @property
    def limit(self) -> Budget:
        """The declared limit for all releases of the same table."""
        return Budget(epsilon=self.total_epsilon, delta=self.total_delta or self.delta)

    @property
    def output_range(self) -> float:
        """Largest change of one output, as measured."""
        low, high = self.output_scale.measured_bounds
        return high - low

    @property
    def output_scale(self) -> OutputScale:
        """Both ways between the output as declared and as measured."""
        return OutputScale(bounds=self.y_bounds, unit=self.y_unit, log=self.log)

    @property
    def scale(self) -> float:
        """``y_scale``, or its public default; as measured."""
        return self.output_range / 4 if self.y_scale is None else self.y_scale

    @property
    def degrees(self) -> Coordinates | None:
        """What the degrees of ``coordinates`` are worth in km; None without."""
        if self.coordinates is None:
            return None
        (longitude, latitude), box = self.coordinates, dict(zip(self.x, self.x_box, strict=True))
        return Coordinates(longitude=longitude, latitude=latitude, longitudes=box[longitude], latitudes=box[latitude])

    @property
    def lengths(self) -> tuple[float, ...]:
        """``lengthscale`` in ``x_units`` throughout."""
        return self._in_units(self.lengthscale)

    @property
    def of_use(self) -> float:
        """``tolerance``, or its default: half of the widest interval with which a released value says something."""
        if self.tolerance is not None:
            return self.tolerance
        return math.exp(self.output_range / 2) if self.log else self.output_range / 2

    @property
    def protects_inputs(self) -> bool:
        """Whether inputs are private; if not, whatever depends on inputs alone may be published."""
        return self.guarantee.protects != "outputs"

    def new_ledger(self) -> Ledger:
        """An empty ledger with the declared limit."""
        return Ledger(limit=self.limit)

    def points(self) -> FloatArray:
        """The public prediction points (P, D): a regular grid over the box, the last input running fastest."""
        axes = [np.linspace(low, high, count) for (low, high), count in zip(self.x_box, self.grid, strict=True)]
        return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_columns(self) -> None:
        self._set("x", number_checks.texts("x", self.x))
        if not 1 <= len(self.x) <= MAX_INPUTS:
            raise ValueError(f"x must name 1 ... {MAX_INPUTS} input columns, got {len(self.x)}")
        number_checks.text("y", self.y)
        if len({*self.x, self.y}) <= len(self.x):
            raise ValueError("x and y must name different columns; name each column once")
        reserved = [name for name in self.x if name in RESERVED]
        if reserved:
            raise ValueError(f"x names {reserved[0]!r}, a column of the released table; rename it in your file")
        self._set("x_units", number_checks.texts("x_units", self.x_units, empty=True))
        number_checks.entries("x_units", self.x_units, len(self.x))
        boxes = number_checks.entries("x_box", self.x_box, len(self.x))
        self._set("x_box", tuple(number_checks.interval("each entry of x_box", pair) for pair in boxes))
        number_checks.text("y_unit", self.y_unit, empty=True)
        self._set("y_bounds", number_checks.interval("y_bounds", self.y_bounds))
        if not isinstance(self.log, bool):
            raise ValueError(f"log must be true or false, got {number_checks.shown(self.log)}")
        self.output_scale  # noqa: B018  # checks the bounds
        self._check_coordinates()
        number_checks.text("unit", self.unit)

    def _in_units(self, lengths: Sequence[float]) -> tuple[float, ...]:
        degrees = self.degrees
        return tuple(
            length if degrees is None else degrees.in_degrees(name, length)
            for name, length in zip(self.x, lengths, strict=True)
        )

    def _check_coordinates(self) -> None:
        if self.coordinates is None:
            return
        self._set("coordinates", number_checks.texts("coordinates", self.coordinates))
        if len(self.coordinates) != 2 or len(set(self.coordinates) & set(self.x)) != 2:
            raise ValueError("coordinates must be two different names of x: [longitude, latitude]")
        self.degrees  # noqa: B018  # checks the box

    def _check_model(self) -> None:
        number_checks.one_of("mechanism", self.mechanism, list(CHOICES))
        number_checks.one_of("kernel", self.kernel, list(KERNEL_NAMES))
        if len(self.x) > self.choice.max_inputs:
            raise ValueError(
                f"mechanism {self.mechanism!r} takes at most {self.choice.max_inputs} input columns, "
                f"got {len(self.x)}; leave some out, or use 'bayes' if the inputs are public"
            )
        if self.kernel not in self.choice.kernels:
            allowed = " or ".join(self.choice.kernels)
            raise ValueError(f"mechanism {self.mechanism!r} needs kernel {allowed}, got {self.kernel!r}")
        scales = number_checks.entries("lengthscale", self.lengthscale, len(self.x))
        unit_lengths = self._in_units([1.0] * len(self.x))
        widths = [(high - low) / unit for (low, high), unit in zip(self.x_box, unit_lengths, strict=True)]
        lengthscale = tuple(
            number_checks.number("each entry of lengthscale", value, 1e-3 * width, 1e3 * width)
            for value, width in zip(scales, widths, strict=True)
        )
        self._set("lengthscale", lengthscale)
        self._set("noise_variance", number_checks.number("noise_variance", self.noise_variance, 1e-4, 1e4))
        if self.y_scale is not None:
            self._set(
                "y_scale",
                number_checks.number("y_scale", self.y_scale, 1e-4 * self.output_range, 1e4 * self.output_range),
            )

        if self.tolerance is not None:
            finest, widest = (1.000001, 1e6) if self.log else (1e-6 * self.output_range, 10 * self.output_range)
            self._set("tolerance", number_checks.number("tolerance", self.tolerance, finest, widest))

    def _check_grid(self) -> None:
        counts = number_checks.entries("grid", self.grid, len(self.x))
        self._set("grid", tuple(number_checks.whole("each entry of grid", count, 2, MAX_GRID) for count in counts))
        points = math.prod(self.grid)
        if points > MAX_GRID:
            raise ValueError(f"grid has {points} points in all, more than {MAX_GRID}, the limit; use fewer per input")
        if not self.choice.uses_cells:
            if self.cells is not None:
                raise ValueError(f"mechanism {self.mechanism!r} does not use cells; leave it out")
            return
        cells = number_checks.whole("cells", DEFAULT_CELLS if self.cells is None else self.cells, 1, MAX_CELLS)
        if cells ** len(self.x) > MAX_CELLS:
            raise ValueError(f"cells = {cells} along each of {len(self.x)} inputs makes more than {MAX_CELLS} in all")
        self._set("cells", cells)

    def _check_budget(self) -> None:
        self._set("epsilon", number_checks.number("epsilon", self.epsilon, 1e-3, 100))
        self._set("total_epsilon", number_checks.number("total_epsilon", self.total_epsilon, 1e-3, 1000))
        self._set("delta", number_checks.number("delta", self.delta, 0, 0.1))
        if self.choice.pure != (self.delta == 0):
            needed = "must be 0" if self.choice.pure else "must be above 0"
            raise ValueError(f"delta {needed} for mechanism {self.mechanism!r}, got {self.delta:g}")
        total_delta = number_checks.number(
            "total_delta", self.delta if self.total_delta is None else self.total_delta, 0, 0.1
        )
        if total_delta == 0:
            raise ValueError("total_delta must be above 0, because releases of all kinds are added up at it; try 1e-6")
        check_budget(self.epsilon, self.delta or total_delta)
        check_budget(self.total_epsilon, total_delta)
        self._set("total_delta", total_delta)
        declared = {name: getattr(self, name) for name in DECLARED} | {"lengthscale": self.lengths}
        self._set("built", build(**declared))
        self._set("guarantee", self.built.guarantee.for_unit(self.unit))
        one = self.guarantee.loss.epsilon(total_delta)
        if one > self.total_epsilon * (1 + 1e-9):
            raise ValueError(
                f"one release spends epsilon = {rounded_up(one).normalize():f} at delta = {total_delta:g}, "
                f"above total_epsilon = {self.total_epsilon:g}; lower epsilon or declare a larger total"
            )

"""What is to be released: every public choice, made before the data are looked at, checked once, and kept as JSON."""

from __future__ import annotations

import math
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from .. import checks
from ..accounting.gaussian import check_budget, rounded_up
from ..accounting.guarantee import Budget, Guarantee, budget_of_one_row
from ..accounting.ledger import Ledger
from ..bounds.purchase import Purchase, with_bounds_bought
from ..levels import LevelSide, number_sides
from ..mechanisms.base import Mechanism
from ..mechanisms.catalogue import CATALOGUE, KERNEL_NAMES, Entry, Parameters
from ..reading.look import MARK
from ..reading.writing import KEYS, Writing, writing_to_object
from ..seasons import Periods, periodic
from .json_text import check_keys, read_object, write_object
from .table import DeclaredTable, check_buyer, check_mechanism, promise

CHOICES = {name: entry for name, entry in CATALOGUE.items() if entry.released}
"""Rows of the catalogue by name, the recommended one first."""
DECLARED = ("mechanism", "kernel", "lengthscale", "noise_variance", "epsilon", "delta", "x_box", "cells", "periods")
"""What of a specification decides the mechanism: the arguments of ``build``."""


def build(
    mechanism: str,
    kernel: str,
    lengthscale: tuple[float, ...],
    noise_variance: float,
    epsilon: float,
    delta: float,
    x_box: tuple[tuple[float, float], ...],
    cells: int | None,
    periods: Periods = (),
) -> Mechanism:
    """The mechanism of a specification; the prior has variance 1 in model units."""
    return CHOICES[mechanism].build(
        Parameters(
            kernel=KERNEL_NAMES[kernel](lengthscale=lengthscale),
            noise_variance=noise_variance,
            epsilon=epsilon,
            delta=delta,
            x_box=x_box,
            cells=cells,
            periods=periods,
        )
    )


MAX_CELLS = 400  # cells of the box in all
DEFAULT_CELLS = 6
_USUAL_DELTA = 1e-6  # of the limit, where one release has none


@dataclass(frozen=True, kw_only=True)
class ReleaseSpec(DeclaredTable):
    """Everything that a release needs besides the table, all of it public: what is declared of it, and how to release.

    Args:
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
        built: the mechanism.
        guarantee: the promise of one release, known before any data are read.

    Raises:
        ValueError: a declaration is missing, of the wrong kind or out of range; the message names it and the remedy.
    """

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
    built: Mechanism = field(init=False, repr=False, compare=False)
    guarantee: Guarantee = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_model()
        self._check_cells()
        self._check_centiles()
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
    def scale(self) -> float:
        """``y_scale``, or its public default; as measured."""
        return self.output_range / 4 if self.y_scale is None else self.y_scale

    @property
    def lengths(self) -> tuple[float, ...]:
        """``lengthscale`` in ``x_units`` throughout; of the inputs that are numbers."""
        assert self.lengthscale is not None  # as _check_model sets it
        return self.in_units(self.lengthscale)

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

    def new_ledger(self) -> Ledger:
        """An empty ledger with the declared limit."""
        return Ledger(limit=self.limit)

    def _check_model(self) -> None:
        checks.one_of("mechanism", self.mechanism, list(CHOICES))
        check_mechanism(self.person, self.mechanism, self.choice, len(self.numbers))
        if self.bounds_unit is not None:
            check_buyer(self.mechanism, self.choice, self.y_scale)
        checks.one_of("kernel", self.kernel, list(KERNEL_NAMES))
        if self.levels and not self.choice.levels:
            raise ValueError(
                f"mechanism {self.mechanism!r} takes inputs that are numbers, and {next(iter(self.levels))!r} has "
                "levels; use 'bayes_cells', or 'bayes' if the inputs are public"
            )
        if len(self.numbers) > self.choice.max_inputs:
            raise ValueError(
                f"mechanism {self.mechanism!r} takes at most {self.choice.max_inputs} input columns, "
                f"got {len(self.numbers)}. Leave some out, or use 'bayes' if the inputs are public"
            )
        if self.kernel not in self.choice.kernels:
            allowed = " or ".join(self.choice.kernels)
            raise ValueError(f"mechanism {self.mechanism!r} needs kernel {allowed}, got {self.kernel!r}")
        if self.periods and not self.choice.automatic:
            raise ValueError(
                f"mechanism {self.mechanism!r} has one kernel, which is not periodic; leave period out, or use "
                "'bayes' or 'bayes_cells'"
            )
        if self.choice.automatic and len(self.numbers) + len(periodic(self.periods)) > self.choice.max_inputs:
            raise ValueError(
                f"mechanism {self.mechanism!r} takes at most {self.choice.max_inputs} input columns, a period counting "
                "as one. Leave one out, or use 'bayes' if the inputs are public"
            )
        unit_lengths = self.in_units([1.0] * len(self.numbers))
        sides = number_sides(self.x_box)
        widths = [(high - low) / unit for (low, high), unit in zip(sides, unit_lengths, strict=True)]
        quarters = [width / 4 for width in widths]
        scales = quarters if self.lengthscale is None else self.of_numbers("lengthscale", self.lengthscale)
        lengthscale = tuple(
            checks.number("each entry of lengthscale", value, 1e-3 * width, 1e3 * width)
            for value, width in zip(scales, widths, strict=True)
        )
        self._set("lengthscale", lengthscale)
        self._set("noise_variance", checks.number("noise_variance", self.noise_variance, 1e-4, 1e4))
        if self.y_scale is not None:
            self._set(
                "y_scale",
                checks.number("y_scale", self.y_scale, 1e-4 * self.output_range, 1e4 * self.output_range),
            )
        if self.tolerance is not None:
            self._set("tolerance", checks.number("tolerance", self.tolerance, *self.tolerances))

    def _check_cells(self) -> None:
        if not self.choice.uses_cells:
            if self.cells is not None:
                raise ValueError(f"mechanism {self.mechanism!r} does not use cells; leave it out")
            return
        cells = checks.whole("cells", DEFAULT_CELLS if self.cells is None else self.cells, 1, MAX_CELLS)
        if cells ** len(self.x) > MAX_CELLS:
            raise ValueError(f"cells = {cells} along each of {len(self.x)} inputs makes more than {MAX_CELLS} in all")
        self._set("cells", cells)

    def _check_centiles(self) -> None:
        if not isinstance(self.centiles, bool):
            raise ValueError(f"centiles must be true or false, got {checks.shown(self.centiles)}")
        if self.centiles and not self.choice.scatter:
            raise ValueError(
                f"mechanism {self.mechanism!r} does not measure how far people are apart, which centiles need. Leave "
                "centiles out, or use 'bayes' or 'bayes_cells'"
            )
        if self.centiles and self.y_kind == "yes/no":
            raise ValueError("yes/no outcomes have a rate and no centiles; leave centiles out")

    def _check_budget(self) -> None:
        self._set("epsilon", checks.number("epsilon", self.epsilon, 1e-3, 100))
        total = self.epsilon if self.total_epsilon is None else self.total_epsilon
        self._set("total_epsilon", checks.number("total_epsilon", total, 1e-3, 1000))
        self._set("delta", checks.number("delta", self.delta, 0, 0.1))
        if self.choice.pure != (self.delta == 0):
            needed = "must be 0" if self.choice.pure else "must be above 0"
            raise ValueError(f"delta {needed} for mechanism {self.mechanism!r}, got {self.delta:g}")
        usual_delta = self.delta or _USUAL_DELTA
        total_delta = checks.number(
            "total_delta", usual_delta if self.total_delta is None else self.total_delta, 0, 0.1
        )
        if total_delta == 0:
            raise ValueError("total_delta must be above 0, because releases of all kinds are added up at it; try 1e-6")
        check_budget(self.epsilon, self.delta or total_delta)
        self._set("total_delta", total_delta)
        check_budget(self.limit.epsilon, total_delta)
        one_row = budget_of_one_row(self.epsilon, self.delta, self.rows_per_person)
        declared = {name: getattr(self, name) for name in DECLARED} | {"lengthscale": self.lengths}
        self._set("built", build(**declared | {"epsilon": one_row.epsilon, "delta": one_row.delta}))
        budget = Budget(epsilon=self.epsilon, delta=self.delta)
        self._set("guarantee", promise(self.built, self.unit, self.person, self.rows_per_person, budget))
        if self.bounds_unit is not None:
            Purchase(epsilon=self.epsilon, delta=self.delta, share=self.bounds_share)
            self._set("guarantee", with_bounds_bought(self.guarantee))
        one = self.guarantee.loss.epsilon(total_delta)
        if one > self.limit.epsilon * (1 + 1e-9):
            raise ValueError(
                f"one release spends epsilon = {rounded_up(one).normalize():f} at delta = {total_delta:g}, "
                f"above total_epsilon = {self.total_epsilon:g}. Lower epsilon or declare a larger total"
            )


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

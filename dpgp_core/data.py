"""The data contract: values, names, units, and the public bounds that a guarantee rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .arrays import FloatArray
from .checks import check_interval
from .levels import Levels, check_codes, check_levels, checked_levels, whole_box

Kind = Literal["number", "amount", "count", "yes/no"]
"""What an outcome is: any number; one of 0 or more and skewed, as wages are; a whole number of 0 or more; 0 or 1."""
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset:
    """Inputs X, private outputs y, and everything about them that is public.

    Records are finite numbers by definition, those of neighbours too, so NaN and infinity are refused here.

    The outputs enter a model as (clip(y, y_bounds) - midpoint) / y_scale. Bounds, midpoint
    and scale are declared constants, never statistics of y: centring or scaling by the
    private mean would let one record move every other. Outputs are moved into their declared kind first, each by
    itself: to refuse one would tell with certainty that it is there.

    Args:
        name: short identifier, as in ``datasets.load(name)``.
        X: inputs (n, D), in ``x_units``. Public unless a mechanism says otherwise.
        y: outputs (n,), in ``y_unit``. Private; kept unclipped, moved into their kind by ``of_kind``.
        x_names, x_units: D names and D units.
        y_name, y_unit: name and unit of the output.
        y_bounds: declared public (low, high) in ``y_unit``; neighbours may differ by high - low.
        x_box: D declared public (low, high) pairs: the domain, not the range of the data. Sides along categories are
            derived, and may be left out.
        privacy_unit: whom one record is about, for example "one woman's height".
        source, licence: where the figures come from and on what terms.
        bounds_reason: why the bounds are public knowledge.
        y_scale: public constant (in ``y_unit``) that outputs are divided by before modelling.
        simulated: True if the outputs were generated, not observed.
        labels: public per-record columns for display only, each (n,).
        y_kind: declared kind of the outcome: what a method may expect of it, never what is promised.
        person: whose row each is (n,), any values that are equal for rows of one person; None: every row is another
            person's. Neither released nor an input.
        x_levels: of each input its declared public levels, where it is a category, and None where it is a number; a
            column of X then holds the number of a level, 0 ... L - 1. None: all are numbers.
        left_out: rows of the table that lacked a value, or people who had no complete row; public, as n is.
        told: sentences about the table for the eyes of its owner, in no file. Not private.

    Raises:
        ValueError: shapes disagree, a value is not finite, bounds are reversed or not of the declared kind, or an
            input is not of its levels. What is said of inputs names none of them.
    """

    name: str
    X: FloatArray
    y: FloatArray
    x_names: tuple[str, ...]
    x_units: tuple[str, ...]
    y_name: str
    y_unit: str
    y_bounds: tuple[float, float]
    x_box: tuple[tuple[float, float], ...]
    privacy_unit: str
    source: str
    licence: str
    bounds_reason: str
    y_scale: float = 1.0
    simulated: bool = False
    labels: Mapping[str, NDArray[np.generic]] = field(default_factory=dict)
    y_kind: Kind = "number"
    person: NDArray[np.generic] | None = None
    x_levels: tuple[Levels | None, ...] | None = None
    left_out: int = 0
    told: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        n, dim = _shape(self.X)
        self._derive_box(dim)
        if self.y.shape != (n,):
            raise ValueError(f"y must have shape ({n},) to match X, got {self.y.shape}")
        if not (len(self.x_names) == len(self.x_units) == len(self.x_box) == dim):
            raise ValueError(f"x_names, x_units and x_box must each have {dim} entries, one per column of X")
        if not (np.isfinite(self.X).all() and np.isfinite(self.y).all()):
            raise ValueError("X and y must be finite; remove or fill missing values first")
        check_interval(self.y_bounds, "y_bounds")
        for name, box in zip(self.x_names, self.x_box, strict=True):
            check_interval(box, f"x_box of {name}")
        if not (np.isfinite(self.y_scale) and self.y_scale > 0):
            raise ValueError(f"y_scale must be a positive number, got {self.y_scale}")
        check_kind(self.y_kind, self.y_bounds)
        object.__setattr__(self, "y", of_kind(self.y_kind, self.y))
        if self.person is not None and self.person.shape != (n,):
            raise ValueError(f"person must have shape ({n},), whose row each is, got {self.person.shape}")

    def _derive_box(self, dim: int) -> None:
        if self.x_levels is None:
            return
        if not len(self.x_levels) == len(self.x_names) == dim:
            raise ValueError(f"x_levels and x_names must each have {dim} entries, one per column of X")
        pairs = zip(self.x_names, self.x_levels, strict=True)
        levels = tuple(None if each is None else checked_levels(name, each) for name, each in pairs)
        check_levels(levels)
        object.__setattr__(self, "x_levels", levels)
        object.__setattr__(self, "x_box", whole_box(self.x_box, levels))
        check_codes(self.X, self.x_box, self.x_names)

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
        return (self.y_bounds[0] + self.y_bounds[1]) / 2

    @property
    def output_range(self) -> float:
        """d: largest change of one clipped output between neighbours, high - low, in ``y_unit``."""
        return self.y_bounds[1] - self.y_bounds[0]

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
        """Everything but the outputs, which stand at the midpoint; public where the inputs are."""
        return replace(self, y=np.full(self.n, self.midpoint), labels={}, y_kind="number")

    def subset(self, rows: NDArray[np.intp]) -> Dataset:
        """The records at ``rows`` (k,), with the same public description. Which rows must be chosen without y."""
        labels = {name: column[rows] for name, column in self.labels.items()}
        person = None if self.person is None else self.person[rows]
        return replace(self, X=self.X[rows], y=self.y[rows], labels=labels, person=person)


def check_kind(kind: Kind, bounds: tuple[float, float]) -> None:
    """Raise ValueError unless bounds are of a kind of outcome."""
    if kind not in KINDS:
        raise ValueError(f"the kind of outcome must be one of {', '.join(KINDS)}, got {kind!r}")
    if kind == "yes/no" and bounds != (0.0, 1.0):
        raise ValueError(f"outcomes declared yes/no have the bounds 0 and 1, got {bounds[0]:g} and {bounds[1]:g}")
    if kind in ("amount", "count") and bounds[0] < 0:
        raise ValueError(f"an outcome declared {kind} has bounds of 0 or more, got {bounds[0]:g}; declare it a number")


def of_kind(kind: Kind, y: FloatArray) -> FloatArray:
    """Outcomes y of any shape moved to the nearest of their kind, each by itself; a half to the even neighbour."""
    if kind == "number":
        return y
    whole = y if kind == "amount" else np.rint(y)
    return np.clip(whole, 0.0, 1.0 if kind == "yes/no" else None) + 0.0


def _shape(X: FloatArray) -> tuple[int, int]:
    if X.ndim != 2 or X.shape[0] < 1 or X.shape[1] < 1:
        raise ValueError(f"X must have shape (n, D) with n >= 1 and D >= 1, got {X.shape}")
    return X.shape[0], X.shape[1]

"""The public part of a release: what is measured, how wide intervals will be, and the step of rounding."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from ..arrays import FloatArray
from ..data import Dataset
from ..gp.inference import Inference
from ..gp.uncertainty import Of
from ..mechanisms.base import Mechanism, Plan, Planned, PlannedForBudget, Release
from ..mechanisms.bayes_cloaking import BayesPlan
from .bought import check_enough, stand_in
from .specification import ReleaseSpec

People = NDArray[np.generic]
"""Whose row each is (n,)."""
LEVEL = 0.95
"""Of every published interval."""
_ROUNDING = 0.01  # of the narrowest interval's half: for people, privacy does not depend on it
_FINEST, _COARSEST = 1e-6, 1e-2  # of the bounds' width
_UNKNOWN = 1e-4  # of the bounds' width, where intervals are known after the release only
_SOLVE_FAILED = (
    "the model cannot be computed on these inputs; try a lengthscale nearer to the spacing of the grid, "
    "a larger noise_variance or fewer cells"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasePlan:
    """The public part of a release, computed once: it depends on the specification and on inputs that are public.

    Attributes:
        spec: what is to be released.
        X: the inputs it was made for (n, D); None where inputs are private.
        person: whose row each is (n,), where that and X are public.
        X_test: prediction points (P, D).
        plan: the mechanism's, where it has one.
        half_width: half of the curve's interval at ``LEVEL`` (P,), as measured; None if known after the release only.
        half_outputs: the same for one further record's output.
        step: released values are multiples of it, a power of ten in ``y_unit``.
    """

    spec: ReleaseSpec
    X: FloatArray | None
    person: People | None
    X_test: FloatArray
    plan: Plan | BayesPlan | None
    half_width: FloatArray | None
    half_outputs: FloatArray | None
    step: float

    @property
    def inference(self) -> Inference | None:
        """How the model was computed, for mechanisms that have a choice."""
        return self.plan.inference if isinstance(self.plan, Plan) else None

    def made_for(self, dataset: Dataset) -> bool:
        """Whether it was made for these inputs and people, where they are public."""
        pairs = ((self.X, dataset.X), (self.person, dataset.person))
        return all(a is b or (a is not None and b is not None and np.array_equal(a, b)) for a, b in pairs)


def plan_release(spec: ReleaseSpec, X: FloatArray, person: People | None = None) -> ReleasePlan:
    """Compute all that does not depend on the outputs, nor on the inputs where they are private.

    Args:
        spec: what is to be released.
        X: inputs of the table (n, D).
        person: whose row each is (n,), where people may have several. Where inputs are private, the number of people
            is all that is used of it and of X.

    Raises:
        ValueError: the model cannot be computed on these inputs.
    """
    if spec.bounds_unit is not None:
        check_enough(spec, len(X) if person is None else len(np.unique(person)))
        return replace(plan_release(stand_in(spec), X, person), spec=spec)
    X_test, mechanism = spec.points(), spec.built
    plan: Plan | BayesPlan | None = None
    half_width = half_outputs = None
    with solvable():
        if isinstance(mechanism, Planned):
            plan = mechanism.plan(X, X_test)
        elif isinstance(mechanism, PlannedForBudget):  # where inputs are private, it knows their number alone
            plan = mechanism.plan_for(without_outputs(spec, X, person), X_test)
        if not spec.protects_inputs and not isinstance(plan, BayesPlan):
            # how wide these intervals are does not depend on the draw
            numbered = released(mechanism, plan, without_outputs(spec, X, person), X_test, np.random.default_rng(0))
            half_width, half_outputs = half_widths(numbered, "function"), half_widths(numbered, "outputs")
    public_X = None if spec.protects_inputs else X
    return ReleasePlan(
        spec=spec,
        X=public_X,
        person=None if public_X is None else person,
        X_test=X_test,
        plan=plan,
        half_width=half_width,
        half_outputs=half_outputs,
        step=_step(spec, half_width),
    )


def released(
    mechanism: Mechanism,
    plan: Plan | BayesPlan | None,
    dataset: Dataset,
    X_test: FloatArray,
    rng: np.random.Generator | None = None,
) -> Release:
    """One release, for real unless a generator is given, on the plan where there is one."""
    if isinstance(plan, Plan) and isinstance(mechanism, Planned):
        return mechanism.release_planned(plan, dataset, X_test, rng)
    if plan is not None and isinstance(mechanism, PlannedForBudget):
        return mechanism.measure(plan, dataset, X_test, rng)
    return mechanism.release(dataset, X_test, rng)


@contextmanager
def solvable() -> Iterator[None]:
    """Refuse what linear algebra cannot solve: an infinite or undefined number must never pass for noise.

    Raises:
        ValueError: a factorisation failed, or a number overflowed, was divided by zero or came out undefined.
    """
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            yield
    except (LinAlgError, FloatingPointError):
        raise ValueError(_SOLVE_FAILED) from None


def without_outputs(spec: ReleaseSpec, X: FloatArray, person: People | None = None) -> Dataset:
    """The public part of a table as it is measured, with every output at the middle of the bounds, or of no or none."""
    output = spec.output_scale
    low, high = output.measured_bounds
    middle = low + (high - low) / 2
    return Dataset(
        name="public part",
        X=X,
        y=np.full(len(X), np.ceil(low) if spec.measured_kind in ("count", "yes/no") else middle),
        x_names=spec.x,
        x_units=spec.measured_units,
        y_name=spec.y,
        y_unit=output.measured_unit,
        y_bounds=output.measured_bounds,
        x_box=spec.x_box,
        privacy_unit=spec.unit,
        source="",
        licence="",
        bounds_reason="",
        y_scale=spec.scale,
        y_kind=spec.measured_kind,
        x_levels=spec.x_levels,
        person=person,
    )


def decimals(step: float) -> int:
    """Decimals of multiples of a power of ten; negative above 1."""
    return -round(math.log10(step))


def half_widths(release: Release, of: Of) -> FloatArray:
    """Half of the interval of the first draw (P,)."""
    low, high = release.interval(LEVEL, of=of)
    return np.asarray((high[0] - low[0]) / 2)


def for_bounds(plan: ReleasePlan, spec: ReleaseSpec) -> ReleasePlan:
    """The plan of a release whose bounds were bought, for what is released within them."""
    return replace(plan, spec=spec, step=_step(spec, None))


def _step(spec: ReleaseSpec, half_width: FloatArray | None) -> float:
    narrowest = _UNKNOWN * spec.output_range if half_width is None else _ROUNDING * float(half_width.min())
    wanted = min(max(narrowest, _FINEST * spec.output_range), _COARSEST * spec.output_range)
    if spec.log:
        wanted *= spec.y_bounds[0]  # d exp(g) = exp(g) dg, least at the lower bound
    return float(10.0 ** math.floor(math.log10(wanted)))

"""Compute the public part of a release: the mechanism's plan, the expected widths of intervals, and the rounding step.

The module also predicts the error that other budgets would bring, before any budget is spent. All of this follows from
declarations and, if they are public, inputs, never from outputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from ..arrays import FloatArray
from ..gp.grid import BinPlan
from ..gp.regression import Inference
from ..levels import level_columns
from ..mechanisms.base import Plan, Release
from ..mechanisms.bayes_cloaking import BayesPlan
from ..table import Dataset, Kind, Outcome
from .private_table import check_declared
from .specification import ReleaseSpec

People = NDArray[np.generic]
"""Number of the person of each row (n,)."""
LEVEL = 0.95
"""Confidence level of every published interval."""
_ROUNDING = 0.01  # share of the narrowest half-width; rounding is for readers, and does not affect privacy
_FINEST, _COARSEST = 1e-6, 1e-2  # smallest and largest step, as shares of the bounds' width
_UNKNOWN = 1e-4  # share of the bounds' width, if intervals are known only after the release
_SOLVE_FAILED = (
    "the model cannot be computed on these inputs; try a lengthscale nearer to the spacing of the grid, "
    "a larger noise_variance or fewer cells"
)
_ANOTHER = "the plan was made for another specification or other inputs; make it anew"
_NOTHING_MEASURED = (
    "with this lengthscale nobody in the table moves any value on the grid, so nothing would be measured; declare a "
    "longer lengthscale, or a grid that is nearer to the inputs"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasePlan:
    """The public part of a release, computed once from the specification and from inputs that are public.

    Attributes:
        n: public number of people; if every row describes another person, number of records.
        X: the inputs (n, D) for which it was made; None if inputs are private.
        person: number of the person of each row (n,), if these and X are public.
        plan: the mechanism's plan, if it has one.
        half_width: half-width (P,) of the curve's interval at ``LEVEL``, in the unit that is measured; None if it is
            known only after the release.
        step: power of ten in ``y_unit``; released values are multiples of it.
    """

    spec: ReleaseSpec
    n: int
    X: FloatArray | None
    person: People | None
    plan: Plan | BinPlan | BayesPlan | None
    half_width: FloatArray | None
    step: float

    @property
    def X_test(self) -> FloatArray:
        """Points (P, D) at which values are predicted."""
        return self.spec.points()

    @property
    def inference(self) -> Inference | None:
        """How the model is computed, for mechanisms that have a choice."""
        return self.plan.inference if isinstance(self.plan, Plan) else None

    def with_spec(self, spec: ReleaseSpec) -> ReleasePlan:
        """Return the plan for a specification that differs only in its tolerance or centiles, which change no
        measurement.

        Raises:
            ValueError: the specifications differ in other declarations.
        """
        if spec != self.spec:
            raise ValueError(_ANOTHER)
        return replace(self, spec=spec)

    def check(self, dataset: Dataset) -> None:
        """Raise ValueError unless the plan was made for the public part of this data set."""
        check_declared(self.spec, dataset)
        pairs: Any = zip((self.X, self.person), (dataset.X, dataset.person), strict=True)
        if self.X is not None and not all(np.array_equal(planned, given) for planned, given in pairs):
            raise ValueError(_ANOTHER)


def plan_release(spec: ReleaseSpec, X: FloatArray, person: People | None = None) -> ReleasePlan:
    """Compute everything that does not depend on the outputs, nor on the inputs if they are private.

    Args:
        person: number of the person of each row (n,), if people may have several. If inputs are private, only the
            number of people, or rows, is used of ``person`` and X.

    Raises:
        ValueError: there are too many rows for the mechanism or too few people to buy bounds, or the model cannot be
            computed with these inputs.
    """
    X_test, mechanism, outcome = spec.points(), spec.built, spec.outcome
    n = len(X) if person is None else len(np.unique(person))
    if n > spec.max_rows:
        counted = "rows" if spec.person is None else "people"
        raise ValueError(
            f"mechanism {spec.mechanism!r} takes at most {spec.max_rows} {counted} of {len(spec.x)} inputs, got {n}; "
            "use 'sparse' or 'integral_bins'"
        )
    if spec.purchase is not None:
        spec.purchase.check(n)
        outcome = spec.purchase.widest  # a plan for these bounds serves for all bounds
    public, half_width = spec.public_table(X, person, outcome), None
    with solvable():
        plan = mechanism.plan_for(public, X_test)  # if inputs are private, the plan uses only their number
        if isinstance(plan, Plan) and not all(len(stage.strategy) for stage in plan.stages):
            raise ValueError(_NOTHING_MEASURED)
        if not spec.protects_inputs and not isinstance(plan, BayesPlan):
            # the widths of these intervals do not depend on the noise
            half_width = half_widths(mechanism.measure(plan, public, X_test, np.random.default_rng(0)))
    public_X = None if spec.protects_inputs else X
    return ReleasePlan(
        spec=spec,
        n=n,
        X=public_X,
        person=None if public_X is None else person,
        plan=plan,
        half_width=half_width,
        step=step_within(outcome, half_width),
    )


@contextmanager
def solvable() -> Iterator[None]:
    """Turn failures of linear algebra into a refusal, because an infinite or undefined number must never pass for
    noise.

    Raises:
        ValueError: a factorisation failed, or a number overflowed, was divided by zero or is undefined.
    """
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            yield
    except (LinAlgError, FloatingPointError):
        raise ValueError(_SOLVE_FAILED) from None


def decimals(step: float) -> int:
    """Return the number of decimals of multiples of a power of ten; it is negative if the power exceeds 1."""
    return -round(math.log10(step))


def half_widths(release: Release) -> FloatArray:
    """Return the half-width (P,) of the curve's interval in the first release."""
    low, high = release.interval(LEVEL, "function")
    return np.asarray((high[0] - low[0]) / 2)


def step_within(outcome: Outcome, half_width: FloatArray | None = None) -> float:
    """Return the rounding step: much smaller than the narrowest interval, or than the bounds if none is known."""
    width = outcome.measured.width
    narrowest = _UNKNOWN * width if half_width is None else _ROUNDING * float(half_width.min())
    wanted = min(max(narrowest, _FINEST * width), _COARSEST * width)
    if outcome.log:
        wanted *= outcome.bounds[0]  # d exp(g) = exp(g) dg, which is smallest at the lower bound
    return float(10.0 ** math.floor(math.log10(wanted)))


_WAVES = 200  # number R of cosines in a simulated curve
_SEED = 0
_TOTAL = 1000.0  # a limit for every epsilon; nothing is spent, so no ledger counts it


def expected_half_widths(plan: ReleasePlan, epsilons: Sequence[float]) -> FloatArray:
    """Return the expected half-width (E,) of the curve's 95 % interval at each epsilon, as the median over the grid.

    Widths are in the unit that is measured. If they depend on measured numbers, they are those for simulated outputs
    from the declared model: smooth curves with the declared lengthscale and scale, plus noise, clipped to the bounds.
    Measurements are those of this plan; a plan for the other budget may do a little better.

    Args:
        epsilons: values of epsilon (E,), each above 0.

    Raises:
        ValueError: an epsilon is out of range, or the model cannot be computed.
    """
    if plan.spec.bounds_unit is not None:
        raise ValueError(
            "no error can be predicted in the output's unit before bounds are bought; declare bounds for it"
        )
    widths = []
    for epsilon in epsilons:
        spec = replace(plan.spec, epsilon=float(epsilon), total_epsilon=_TOTAL)
        rng = np.random.default_rng(_SEED)
        with solvable():
            practice = spec.built.measure(plan.plan, _simulated_table(plan, rng), plan.X_test, rng)
            widths.append(float(np.median(half_widths(practice))))
    return np.array(widths)


def _simulated_table(plan: ReleasePlan, rng: np.random.Generator) -> Dataset:
    """Simulate a data set with a curve drawn from the declared model.

    The inputs are the true ones if they are public; otherwise each person has one record. The curve
    f(x) = sqrt(2 / R) sum_r cos(w_r^T x + b_r), w_r ~ N(0, l^-2), has nearly an EQ covariance (Rahimi & Recht 2007).
    """
    spec, X, person = plan.spec, plan.X, plan.person
    levels, (left, right) = list(level_columns(spec.x_box)), np.array(spec.x_box).T
    if X is None:
        person = None if spec.person is None else np.arange(plan.n)
        X = rng.uniform(left, right, (plan.n, len(left)))
        X[:, levels] = np.floor(X[:, levels] + 0.5)
    low, high = np.array([each.box for each in spec.numbers]).T
    half, automatic = spec.outcome.measured.width / 2, spec.choice.kind.automatic
    length = (high - low) / 4 if automatic else np.array(spec.lengths)
    size = half / math.sqrt(3) if automatic else spec.outcome.scale
    noise = 0.2 * half if automatic else math.sqrt(spec.noise_variance) * spec.outcome.scale
    numbers = np.delete(X, levels, axis=1)  # the same curve for all groups
    waves = numbers @ (rng.standard_normal((len(low), _WAVES)) / length[:, None]) + rng.uniform(0, 2 * math.pi, _WAVES)
    f = math.sqrt(2 / _WAVES) * np.cos(waves).sum(axis=1)
    bounds = spec.outcome.measured.bounds
    y = sum(bounds) / 2 + size * f + noise * rng.standard_normal(len(X))
    return replace(
        spec.public_table(X, person), y=_of_kind(spec.outcome.measured.kind, np.clip(y, *bounds), bounds, rng)
    )


def _of_kind(kind: Kind, y: FloatArray, bounds: tuple[float, float], rng: np.random.Generator) -> FloatArray:
    """Return simulated outputs (n,) of the declared kind: yes with probability y, or the nearest whole number."""
    if kind == "yes/no":
        return (rng.uniform(size=len(y)) < y).astype(float)
    return np.clip(np.rint(y), math.ceil(bounds[0]), None) if kind == "count" else y

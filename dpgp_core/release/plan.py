"""The public part of a release: measurements, how wide intervals will be, and the step of rounding.

And the error that other budgets would bring, before any is spent: from inputs and declarations, never from outputs.
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
_ANOTHER = "the plan was made for another specification or other inputs; make it anew"
_NOTHING_MEASURED = (
    "with this lengthscale nobody in the table moves any value on the grid, so nothing would be measured; declare a "
    "longer lengthscale, or a grid that is nearer to the inputs"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasePlan:
    """The public part of a release, computed once: it depends on the specification and on inputs that are public.

    Attributes:
        n: people, or records where every row is another person's; public.
        X: the inputs it was made for (n, D); None where inputs are private.
        person: whose row each is (n,), where that and X are public.
        plan: the mechanism's, where it has one.
        half_width: half of the curve's interval at ``LEVEL`` (P,), as measured; None if known after the release only.
        step: released values are multiples of it, a power of ten in ``y_unit``.
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
        """Where values are predicted (P, D)."""
        return self.spec.points()

    @property
    def inference(self) -> Inference | None:
        """How the model was computed, for mechanisms that have a choice."""
        return self.plan.inference if isinstance(self.plan, Plan) else None

    def with_spec(self, spec: ReleaseSpec) -> ReleasePlan:
        """The same for a specification that differs in its tolerance or centiles: measurements are the same.

        Raises:
            ValueError: it differs in more.
        """
        if spec != self.spec:
            raise ValueError(_ANOTHER)
        return replace(self, spec=spec)

    def check(self, dataset: Dataset) -> None:
        """Raise ValueError unless it was made for a data set, in all that is public of it."""
        check_declared(self.spec, dataset)
        pairs: Any = zip((self.X, self.person), (dataset.X, dataset.person), strict=True)
        if self.X is not None and not all(np.array_equal(planned, given) for planned, given in pairs):
            raise ValueError(_ANOTHER)


def plan_release(spec: ReleaseSpec, X: FloatArray, person: People | None = None) -> ReleasePlan:
    """Compute all that does not depend on the outputs, nor on the inputs where they are private.

    Args:
        person: whose row each is (n,), where people may have several. Where inputs are private, the number of people is
            all that is used of it and of X.

    Raises:
        ValueError: there are too many rows for the mechanism, or too few people to buy bounds, or the model cannot be
            computed on these inputs.
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
        outcome = spec.purchase.widest  # a plan within these bounds is one within any
    public, half_width = spec.public_table(X, person, outcome), None
    with solvable():
        plan = mechanism.plan_for(public, X_test)  # if inputs are private, of their number
        if isinstance(plan, Plan) and not all(len(stage.strategy) for stage in plan.stages):
            raise ValueError(_NOTHING_MEASURED)
        if not spec.protects_inputs and not isinstance(plan, BayesPlan):
            # how wide these intervals are does not depend on the draw
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
    """Refuse problems that linear algebra cannot solve: an infinite or undefined number must never pass for noise.

    Raises:
        ValueError: a factorisation failed, or a number overflowed, was divided by zero or came out undefined.
    """
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            yield
    except (LinAlgError, FloatingPointError):
        raise ValueError(_SOLVE_FAILED) from None


def decimals(step: float) -> int:
    """Decimals of multiples of a power of ten; negative above 1."""
    return -round(math.log10(step))


def half_widths(release: Release) -> FloatArray:
    """Half of the curve's interval of the first draw (P,)."""
    low, high = release.interval(LEVEL, "function")
    return np.asarray((high[0] - low[0]) / 2)


def step_within(outcome: Outcome, half_width: FloatArray | None = None) -> float:
    """The step of values within these bounds: much less than the narrowest interval, or the bounds if none is known."""
    width = outcome.measured.width
    narrowest = _UNKNOWN * width if half_width is None else _ROUNDING * float(half_width.min())
    wanted = min(max(narrowest, _FINEST * width), _COARSEST * width)
    if outcome.log:
        wanted *= outcome.bounds[0]  # d exp(g) = exp(g) dg, least at the lower bound
    return float(10.0 ** math.floor(math.log10(wanted)))


_WAVES = 200  # of a made-up curve
_SEED = 0
_TOTAL = 1000.0  # epsilon: no ledger counts it


def foreseen(plan: ReleasePlan, epsilons: Sequence[float]) -> FloatArray:
    """Half of the 95 % interval for the curve that each epsilon would bring, median over the grid (E,), as measured.

    Where intervals depend on measured numbers they are those about outputs that the declared model makes up: smooth
    curves of the declared lengthscale and scale with noise, cut to the bounds. Measurements are as planned: a plan
    for the other budget may do a little better.

    Args:
        epsilons: each above 0.

    Raises:
        ValueError: an epsilon is out of range, or the model cannot be computed.
    """
    if plan.spec.bounds_unit is not None:
        raise ValueError(
            "no error can be foreseen in the output's unit before bounds are bought; declare bounds for it"
        )
    widths = []
    for epsilon in epsilons:
        spec = replace(plan.spec, epsilon=float(epsilon), total_epsilon=_TOTAL)
        rng = np.random.default_rng(_SEED)
        with solvable():
            practice = spec.built.measure(plan.plan, _made_up(plan, rng), plan.X_test, rng)
            widths.append(float(np.median(half_widths(practice))))
    return np.array(widths)


def _made_up(plan: ReleasePlan, rng: np.random.Generator) -> Dataset:
    """Records of a curve drawn from the declared model, at the inputs where these are public; else one a person.

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
    numbers = np.delete(X, levels, axis=1)  # all groups alike
    waves = numbers @ (rng.standard_normal((len(low), _WAVES)) / length[:, None]) + rng.uniform(0, 2 * math.pi, _WAVES)
    f = math.sqrt(2 / _WAVES) * np.cos(waves).sum(axis=1)
    bounds = spec.outcome.measured.bounds
    y = sum(bounds) / 2 + size * f + noise * rng.standard_normal(len(X))
    return replace(
        spec.public_table(X, person), y=_of_kind(spec.outcome.measured.kind, np.clip(y, *bounds), bounds, rng)
    )


def _of_kind(kind: Kind, y: FloatArray, bounds: tuple[float, float], rng: np.random.Generator) -> FloatArray:
    """Made-up outputs (n,) as the declared kind has them: yes with the probability y, or the nearest whole number."""
    if kind == "yes/no":
        return (rng.uniform(size=len(y)) < y).astype(float)
    return np.clip(np.rint(y), math.ceil(bounds[0]), None) if kind == "count" else y

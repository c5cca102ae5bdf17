"""One real release: what was measured with noise, predictions that follow, and what its owner is told around it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

import numpy as np

from ..accounting.guarantee import Guarantee
from ..arrays import BoolArray, FloatArray
from ..bounds.buying import OutcomeCounts
from ..bounds.cells import MOST_UNIT
from ..measurement.fit import Fit
from ..mechanisms.base import NotPrivate, Plan, Release, TeachingRelease
from ..mechanisms.bayes_cloaking import BayesRelease
from ..reading.csv_file import read_dataset
from ..reading.rows import as_written
from ..table import Dataset, Outcome, of_kind
from .plan import LEVEL, ReleasePlan, decimals, plan_release, step_within
from .specification import CENTILES, ReleaseSpec

Interval = tuple[FloatArray, FloatArray]
FOR_YOUR_EYES = "For your eyes, in no file:"
_WELL = 0.75  # of the bounds' width, less than which the curve is not known
_LAST_DIGITS = 1e-9  # of a width: it may have been rounded


@dataclass(frozen=True, kw_only=True, eq=False)
class Published:
    """What may be handed out. All of it follows from ``statistics`` and public values.

    Attributes:
        spec: what was declared for it.
        values: released values (P,), multiples of ``step``, in ``y_unit``, cut to the bounds.
        curve: ends (P,), (P,) of the interval for the curve, at ``LEVEL``.
        outputs: the same for one further record's output.
        outcome: within the bounds that were declared, or bought.
        step: power of ten.
        centiles: of one further record's output, values (P,) of each of ``CENTILES``; none unless asked for.
        bought: noisy counts of outcomes, where bounds were bought.
        fit: how what was measured fits the models that read it; None for mechanisms that do not say.
        detail: how fine a curve it can show, in a sentence; "" where nothing is said of that.
        left_out: rows of the table that lacked a value, or people who had no complete row; public.
    """

    spec: ReleaseSpec
    X_test: FloatArray
    values: FloatArray
    curve: Interval
    outputs: Interval
    statistics: Sequence[Any]
    outcome: Outcome
    step: float
    n: int
    centiles: tuple[FloatArray, ...] = ()
    bought: OutcomeCounts | None = None
    fit: Fit | None = None
    detail: str = ""
    left_out: int = 0

    @property
    def guarantee(self) -> Guarantee:
        """The promise for it."""
        return self.spec.guarantee


def read_table(stream: BinaryIO, spec: ReleaseSpec) -> Dataset:
    """Read the columns that a specification names from a stream with a header line; outputs as measured.

    Raises:
        ValueError: see ``read_outcomes``.
    """
    return as_measured(spec.outcome, read_outcomes(stream, spec))


def declared_writing(stream: BinaryIO, spec: ReleaseSpec) -> ReleaseSpec:
    """The specification with separator and encoding, which the first line of the table and its byte order mark say.

    Args:
        stream: in binary mode; it stands where it stood afterwards.

    Raises:
        ValueError: there is no first line of column names.
    """
    return replace(spec, writing=as_written(stream, spec.writing))


def read_outcomes(stream: BinaryIO, spec: ReleaseSpec) -> Dataset:
    """Read the columns that a specification names; outputs as the table has them.

    Raises:
        ValueError: the stream is no such table or has too many rows for the mechanism. The message names the column
            and the line, never the content of a cell.
    """
    return read_dataset(
        stream,
        spec.columns,
        replace(spec.outcome, kind="number", log=False),
        privacy_unit=spec.unit,
        max_rows=spec.choice.kind.rows_for(len(spec.numbers)),
        private_inputs=spec.protects_inputs,
        writing=spec.writing,
        person=spec.person,
    )


def as_measured(outcome: Outcome, table: Dataset) -> Dataset:
    """What ``read_outcomes`` has read, with outputs as they are measured."""
    return replace(table, y=outcome.taken(table.y), outcome=outcome.measured)


def publish(spec: ReleaseSpec, dataset: Dataset, plan: ReleasePlan | None = None) -> Published:
    """Release once, for real: exact integers, noise from the operating system.

    Whoever keeps a ledger spends ``spec.guarantee`` on it before calling this.

    Raises:
        ValueError: data set or plan belong to another specification, or the model cannot be computed.
    """
    plan = _planned(spec, dataset, plan)
    outcome, step, bought = spec.outcome, plan.step, None
    if spec.purchase is not None:
        bought = spec.purchase.measure(dataset)
        outcome = bought.outcome
        dataset, step = as_measured(outcome, dataset), step_within(outcome)
    with np.errstate(all="ignore"):  # it is charged: nothing may fail now, and what came out is looked at below
        release = spec.built.measure(plan.plan, dataset, plan.X_test)
        value = release.samples[0]
        if plan.half_width is None or plan.half_outputs is None:
            both = release.interval(LEVEL, "function"), release.interval(LEVEL, "outputs")
            ends = [(low[0], high[0]) for low, high in both]
        else:  # they depend on public values alone
            ends = [(value - half, value + half) for half in (plan.half_width, plan.half_outputs)]
    value, ends = _finite(outcome, value, ends)
    curve, outputs = ((in_unit(outcome, low, step), in_unit(outcome, high, step)) for low, high in ends)
    return Published(
        spec=spec,
        X_test=plan.X_test,
        values=values_in_unit(outcome, value, step),
        curve=curve,
        outputs=outputs,
        statistics=release.statistics,
        outcome=outcome,
        step=step,
        n=dataset.people,
        left_out=dataset.left_out,
        centiles=_centiles(outcome, release, step) if spec.centiles else (),
        bought=bought,
        fit=release.fit if isinstance(release, BayesRelease) else None,
        detail=release.detail if isinstance(release, BayesRelease) else "",
    )


def _finite(
    outcome: Outcome, value: FloatArray, ends: list[tuple[FloatArray, FloatArray]]
) -> tuple[FloatArray, list[tuple[FloatArray, FloatArray]]]:
    """Values (P,) and ends; where rounding left no number, what was known before: the bounds and their middle."""
    low, high = outcome.measured.bounds
    finite = np.isfinite(value)
    for each in ends:
        finite &= np.isfinite(each[0]) & np.isfinite(each[1])
    cut = [(np.where(finite, a, low), np.where(finite, b, high)) for a, b in ends]
    return np.where(finite, value, low + (high - low) / 2), cut


def _centiles(outcome: Outcome, release: Release, step: float) -> tuple[FloatArray, ...]:
    if not isinstance(release, BayesRelease):
        return ()
    values = (np.clip(release.quantile(centile / 100)[0], *outcome.measured.bounds) for centile in CENTILES)
    return tuple(in_unit(outcome, each, step) for each in values)


def in_unit(outcome: Outcome, values: FloatArray, step: float) -> FloatArray:
    """What was measured and mapped, of any shape, as it is published: in ``y_unit``, in multiples of ``step``."""
    return rounded(outcome.given_back(values), step)


def values_in_unit(outcome: Outcome, values: FloatArray, step: float) -> FloatArray:
    """The same for the values, cut to the bounds that outputs keep: what noise drives beyond them is impossible."""
    return rounded(np.clip(outcome.given_back(values), *outcome.bounds), step)


def rounded(values: FloatArray, step: float) -> FloatArray:
    """Multiples of a power of ten; no negative zeros."""
    return np.round(values, decimals(step)) + 0.0


def within_tolerance(published: Published) -> BoolArray:
    """Which released values (P,) are known well enough to be of use: where the curve's interval is narrow enough.

    From what was released and declared alone. None, where bounds that were bought reach the end of their scale.
    """
    if is_off_scale(published):
        return np.zeros(len(published.values), dtype=bool)
    (low, high), width, error = published.curve, published.outcome.measured.width, published.spec.tolerance
    # as wide as the bounds is too wide; exactly as wide as declared is not
    slack = 1 + _LAST_DIGITS if error is not None else 1 - _LAST_DIGITS
    if published.spec.log:
        return np.asarray(high <= low * (math.exp(width / 2) if error is None else error) ** 2 * slack)
    return np.asarray(high - low <= (width if error is None else 2 * error) * slack)


def known_share(published: Published) -> FloatArray:
    """How well each released value is known (P,): 1 within a quarter of the bounds or better, 0 no better than these.

    From what was released and declared alone. Where nobody is, little is known: maps fade there.
    """
    outcome = published.outcome
    low, high = (outcome.taken(end) for end in published.curve) if outcome.log else published.curve
    return np.clip((1 - (high - low) / outcome.measured.width) / _WELL, 0.0, 1.0)


def is_off_scale(published: Published) -> bool:
    """Whether bounds that were bought reach the end of their scale, so that nothing within them is of use."""
    return published.bought is not None and published.bought.off_scale


def bounds_bought(published: Published) -> str:
    """What was bought, in a sentence; "" where bounds are declared."""
    bought = published.bought
    if bought is None:
        return ""
    low, high = bought.interval
    unit = f" {published.outcome.unit}" if published.outcome.unit else ""
    guess = "" if bought.clear else ", which hardly stood out of the noise: a guess"
    if bought.off_scale:
        guess = ", which reach the end of their scale"
    return (
        f" Bounds bought with a share of {bought.purchase.share:g} of the budget: {low:g} to {high:g}{unit}, from "
        f"noisy counts{guess}."
    )


def about(spec: ReleaseSpec, error: float) -> str:
    """An error as it is said: ± 5 cm, or a factor of 1.2."""
    unit = f" {spec.y_unit}" if spec.y_unit else ""
    return f"a factor of {error:g}" if spec.log else f"± {error:g}{unit}"


def useful(published: Published) -> str:
    """How many released values are of use, in a sentence."""
    fit = "" if published.fit is None or published.fit.fits else f" {published.fit}"
    detail = f" {published.detail}" if published.detail else ""
    return f"{_of_use(published)}{fit}{detail}"


def _of_use(published: Published) -> str:
    count, outside, spec = len(published.values), int((~within_tolerance(published)).sum()), published.spec
    if published.bought is not None and published.bought.off_scale:
        unit = published.bought.purchase.unit
        larger = "measure the output in a larger unit"
        remedy = larger if unit >= MOST_UNIT else f"give a smallest size larger than {unit:g}"
        return (
            f"None of the {count} values is of use. The bounds reach the end of their scale. Outcomes may lie far "
            f"beyond it and were clipped to it. To use more budget on it, {remedy}, or declare bounds."
        )
    if spec.tolerance is None:
        if not outside:
            return f"At none of the {count} points is the interval as wide as the bounds."
        return (
            f"At {outside} of {count} points the interval is at least as wide as the bounds: the values there say "
            "nothing that was not known before."
        )
    within = f"within {about(spec, spec.tolerance)} with {100 * LEVEL:g} % probability"
    if not outside:
        return f"All {count} values are known to {within}, if the model is right."
    return f"At {outside} of {count} points the curve is not known to {within}: the values there are of no use."


def preview(spec: ReleaseSpec, dataset: Dataset, plan: ReleasePlan | None = None) -> NotPrivate:
    """The fit without noise at ``spec.points()`` (P,), in ``y_unit``. Not private: for the eyes of who holds the data.

    Raises:
        ValueError: data set or plan belong to another specification, or the model cannot be computed.
    """
    plan = _planned(spec, dataset, plan)
    outcome = spec.outcome
    if spec.purchase is not None:
        outcome = spec.purchase.without_noise(dataset).outcome
        dataset = as_measured(outcome, dataset)
    if isinstance(plan.plan, Plan):
        fitted = dataset.in_data_units(plan.plan.weights @ dataset.standardised())
        return NotPrivate(outcome.given_back(fitted))
    # its mean does not depend on the generator
    numbered = spec.built.measure(plan.plan, dataset, plan.X_test, np.random.default_rng(0))
    assert isinstance(numbered, TeachingRelease)
    return NotPrivate(outcome.given_back(numbered.mean))


def _planned(spec: ReleaseSpec, dataset: Dataset, plan: ReleasePlan | None) -> ReleasePlan:
    """The plan, or one made anew. ValueError unless it, and all that is public of the data set, is as declared."""
    if (spec.person is None) != (dataset.person is None):
        raise ValueError("the data set and the specification differ in person; read it with read_table")
    same = ["x_names", "y_name", "y_bounds", "x_box", "x_levels", "privacy_unit", "y_scale", "y_kind"]
    same += ["x_units"] if spec.dates else []  # which say the first day
    declared = spec.public_table(dataset.X)
    differ = [name for name in same if getattr(dataset, name) != getattr(declared, name)]
    if differ:
        raise ValueError(f"the data set and the specification differ in {', '.join(differ)}; read it with read_table")
    most = spec.choice.kind.rows_for(len(spec.numbers))
    if dataset.people > most:
        counted = "rows" if spec.person is None else "people"
        raise ValueError(
            f"mechanism {spec.mechanism!r} takes at most {most} {counted} of {len(spec.x)} inputs, got "
            f"{dataset.people}; use 'sparse' or 'integral_bins'"
        )
    if plan is None:
        return plan_release(spec, dataset.X, dataset.person)
    if not plan.made_for(spec, dataset):
        raise ValueError("the plan was made for another specification or other inputs; make it anew")
    return plan


def to_owner(spec: ReleaseSpec, dataset: Dataset) -> str:
    """What whoever owns a table should see before anything is spent; "" for nothing. Not private.

    Args:
        dataset: from ``read_outcomes``, outcomes as the table has them.
    """
    outside = 0 if spec.bounds_unit is not None else dataset.clipped_count
    told = [*dataset.told]
    if outside:
        are, count = ("outcome lies", "counts") if outside == 1 else ("outcomes lie", "count")
        told.insert(
            0,
            f"{outside:,} of {dataset.n:,} {are} outside the bounds and {count} as the bound. If some of them only "
            "stand for a missing value, declare these codes as missing.",
        )
    return f"{FOR_YOUR_EYES} {' '.join(told)}" if told else ""


def not_of_its_kind(spec: ReleaseSpec, dataset: Dataset) -> str:
    """How many outcomes count as another; "" for none. Not private."""
    moved = int((of_kind(spec.y_kind, dataset.y) != dataset.y).sum())
    if not moved:
        return ""
    return (
        f"{FOR_YOUR_EYES} {moved:,} of {dataset.n:,} rows have an outcome that is not of its kind ({spec.y_kind}); "
        "each counts as the nearest one that is."
    )


def complete_rows(n: int, left_out: int, *, people: bool = False) -> str:
    """How many rows, or people, were read, of how many: "1,046 complete rows of 1,309"."""
    if people:
        return f"{n:,} people with a complete row of {n + left_out:,}" if left_out else f"{n:,} people"
    return f"{n:,} complete rows of {n + left_out:,}" if left_out else f"{n:,} rows"


def large_delta(delta: float, n: int) -> str:
    """What is wrong with a delta above 1/n, n records, or people where they may have several; "" for nothing."""
    if delta * n <= 1:
        return ""
    usual = 10.0 ** math.floor(math.log10(0.1 / n))
    return (
        f"delta = {delta:g} is above 1/n = {1 / n:.2g}: whoever published about {delta * n:,.0f} of the {n:,} records "
        f"as they are would keep this promise, too; declare {usual:g} or less."
    )

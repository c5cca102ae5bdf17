"""Make a real release: measure with exact noise, compute the values, and say which of them are useful."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accounting.guarantee import Guarantee
from ..arrays import BoolArray, FloatArray
from ..bounds.buying import OutcomeCounts
from ..bounds.cells import MOST_UNIT
from ..figures.export import new_axes
from ..measurement.fit import Fit
from ..mechanisms.bayes_cloaking import BayesRelease
from ..table import Dataset, Outcome
from .picture import Lines, draw_release
from .plan import LEVEL, ReleasePlan, decimals, step_within
from .private_table import as_measured
from .specification import CENTILES, ReleaseSpec

if TYPE_CHECKING:
    from ..figures.drawing import Axes

Interval = tuple[FloatArray, FloatArray]
_WELL = 0.75  # values are well known if their interval is narrower than the bounds by this share of them
_LAST_DIGITS = 1e-9  # relative tolerance of a width, because it may have been rounded


@dataclass(frozen=True, kw_only=True, eq=False)
class Published:
    """A release that may be published. All of it follows from ``statistics`` and public values.

    Attributes:
        spec: the specification.
        values: released values (P,) in ``y_unit``, multiples of ``step``, clipped to the bounds.
        curve: ends (P,), (P,) of the interval for the curve at ``LEVEL``.
        outputs: the same for one further record's output.
        outcome: the outcome with its declared or bought bounds.
        step: power of ten to whose multiples values are rounded.
        centiles: each of ``CENTILES`` (P,) of one further record's output; empty unless declared.
        bought: noisy counts of outcomes, if bounds were bought.
        fit: test whether the measured numbers fit the models; None for mechanisms without such a test.
        outliers: a sentence about how far hidden outliers could move the curve; "" if the noise can hide none.
        detail: a sentence about the narrowest features that it can show; "" for mechanisms without one.
        left_out: public number of rows that lacked a value, or of people without a complete row.
        rows_left_out: public number of rows that were left out; see ``Dataset``.
    """

    spec: ReleaseSpec
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
    outliers: str = ""
    left_out: int = 0
    rows_left_out: int = 0

    @property
    def X_test(self) -> FloatArray:
        """Points (P, D) at which values are predicted."""
        return self.spec.points()

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of the release."""
        return self.spec.guarantee

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the released curve of each group with its 95 % interval, or a map of two inputs.

        Only released and declared values are drawn. Shares of yes are in per cent. Values that are too uncertain to be
        useful are grey; colours of a map fade where little is known.

        Args:
            ax: matplotlib axes to draw on; None for those of a new figure.

        Returns:
            The axes.

        Raises:
            ValueError: matplotlib is not installed.
        """
        ax, outcome = ax or new_axes(), self.outcome
        scale, unit = (100.0, "% yes") if outcome.kind == "yes/no" else (1.0, outcome.unit)
        lines = Lines(
            title=f"{outcome.name} [{unit}]" if unit else outcome.name,
            bounds=(scale * outcome.bounds[0], scale * outcome.bounds[1]),
            values=scale * self.values,
            low=scale * self.curve[0],
            high=scale * self.curve[1],
            useful=within_tolerance(self),
            shares=known_share(self),
            centiles=[scale * each for each in self.centiles],
            counts=outcome.kind == "count",
        )
        draw_release(ax, self.spec, lines)
        return ax


def publish(plan: ReleasePlan, dataset: Dataset) -> Published:
    """Make one real release: exact integers with noise from the operating system.

    Whoever keeps a ledger must spend ``plan.spec.guarantee`` in it before calling this function.

    Raises:
        ValueError: data set and plan have different specifications, or different inputs although these are public.
    """
    plan.check(dataset)
    spec, outcome, step, bought = plan.spec, plan.spec.outcome, plan.step, None
    if spec.purchase is not None:
        bought = spec.purchase.measure(dataset)
        outcome = bought.outcome
        dataset, step = as_measured(outcome, dataset), step_within(outcome)
    with np.errstate(all="ignore"):  # the budget is charged, so nothing may fail now; the result is checked below
        release = spec.built.measure(plan.plan, dataset, plan.X_test)
        curve, outputs = release.interval(LEVEL, "function"), release.interval(LEVEL, "outputs")
    value, *ends = _finite(outcome, np.stack([each[0] for each in (release.samples, *curve, *outputs)]))
    low, high, least, most = (in_unit(outcome, end, step) for end in ends)
    published = Published(
        spec=spec,
        values=values_in_unit(outcome, value, step),
        curve=(low, high),
        outputs=(least, most),
        statistics=release.statistics,
        outcome=outcome,
        step=step,
        n=dataset.people,
        left_out=dataset.left_out,
        rows_left_out=dataset.rows_left_out,
        bought=bought,
    )
    if not isinstance(release, BayesRelease):
        return published
    quantiles = [release.quantile(centile / 100)[0] for centile in CENTILES if spec.centiles]
    centiles = tuple(in_unit(outcome, np.clip(each, *outcome.measured.bounds), step) for each in quantiles)
    outliers = unseen_outliers(spec, release.unseen_outliers)
    return replace(published, centiles=centiles, fit=release.fit, detail=release.detail, outliers=outliers)


def _finite(outcome: Outcome, lines: FloatArray) -> FloatArray:
    """Return values and interval ends (5, P) without undefined numbers.

    If rounding errors left no number, it is replaced by what was known before: the bounds, and their middle.
    """
    known = np.array([outcome.measured.midpoint, *outcome.measured.bounds, *outcome.measured.bounds])
    return np.where(np.isfinite(lines).all(axis=0), lines, known[:, None])


def in_unit(outcome: Outcome, values: FloatArray, step: float) -> FloatArray:
    """Return computed values of any shape as they are published: in ``y_unit``, rounded to multiples of ``step``."""
    return rounded(outcome.from_measured(values), step)


def values_in_unit(outcome: Outcome, values: FloatArray, step: float) -> FloatArray:
    """Return values as they are published, clipped to the bounds of the outputs, because others are impossible."""
    return rounded(np.clip(outcome.from_measured(values), *outcome.bounds), step)


def rounded(values: FloatArray, step: float) -> FloatArray:
    """Return the nearest multiples of a power of ten, without negative zeros."""
    return np.round(values, decimals(step)) + 0.0


def within_tolerance(published: Published) -> BoolArray:
    """Return which released values (P,) are useful, because the curve's interval there is narrow enough.

    The result follows from released and declared values. If bought bounds reach the end of their scale, no value is
    useful.
    """
    if is_off_scale(published):
        return np.zeros(len(published.values), dtype=bool)
    (low, high), width, error = published.curve, published.outcome.measured.width, published.spec.tolerance
    # an interval as wide as the bounds is too wide; one as wide as declared is not
    slack = 1 + _LAST_DIGITS if error is not None else 1 - _LAST_DIGITS
    if published.spec.log:
        return np.asarray(high <= low * (math.exp(width / 2) if error is None else error) ** 2 * slack)
    return np.asarray(high - low <= (width if error is None else 2 * error) * slack)


def known_share(published: Published) -> FloatArray:
    """Return how well each value is known (P,): 1 if within a quarter of the bounds, 0 if no better than the bounds.

    The result follows from released and declared values. Colours of maps fade by it.
    """
    outcome = published.outcome
    low, high = (outcome.to_measured(end) for end in published.curve) if outcome.log else published.curve
    return known_part(high - low, outcome.measured.width)


def known_part(widths: FloatArray, most: float) -> FloatArray:
    """Return how well values are known (P,), given the widths of their intervals (P,) and of the bounds."""
    return np.clip((1 - widths / most) / _WELL, 0.0, 1.0)


def is_off_scale(published: Published) -> bool:
    """Return whether bought bounds reach the end of their scale, so that no value within them is useful."""
    return published.bought is not None and published.bought.off_scale


def bounds_bought(published: Published) -> str:
    """Return a sentence about bought bounds; "" if bounds are declared."""
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
    """Return an error in words, such as ± 5 cm or a factor of 1.2."""
    unit = f" {spec.y_unit}" if spec.y_unit else ""
    return f"a factor of {error:g}" if spec.log else f"± {error:g}{unit}"


def unseen_outliers(spec: ReleaseSpec, shift: float) -> str:
    """Return a sentence that says how far outliers that are not excluded could move the curve; "" for none.

    Args:
        shift: how far, in the unit that was measured; 0 for none.
    """
    if not shift:
        return ""
    moved = about(spec, float(f"{math.exp(shift) if spec.log else shift:.2g}")).removeprefix("± ")
    return (
        "Outliers at an end of the bounds that are too few to be seen in the noise could move the curve by up to "
        f"{moved}, which its intervals do not include."
    )


def finding(published: Published) -> str:
    """Return the title of a picture: a sentence that says how well the curve is known at a typical useful point."""
    spec, (low, high), within = published.spec, published.curve, within_tolerance(published)
    what = f"{spec.y} by {' and '.join(spec.x)}"
    if not within.any():
        return f"At this budget nothing useful is known about {what}"
    if spec.log:
        half = float(np.sqrt(np.median(high[within] / low[within])))
    else:
        half = float(np.median(high[within] - low[within])) / 2
    error = about(spec, float(f"{half:.2g}")).removeprefix("± ")
    points = "" if within.all() else f" at {math.floor(100 * within.mean())} % of the points"
    return f"{what[0].upper()}{what[1:]} is known to within {error}{points}"


def useful(published: Published) -> str:
    """Return a sentence that says how many released values are useful."""
    fit = "" if published.fit is None or published.fit.fits else f" {published.fit}"
    detail = f" {published.detail}" if published.detail else ""
    outliers = f" {published.outliers}" if published.outliers else ""
    return f"{_of_use(published)}{fit}{detail}{outliers}"


def _of_use(published: Published) -> str:
    count, outside, spec = len(published.values), int((~within_tolerance(published)).sum()), published.spec
    if published.bought is not None and published.bought.off_scale:
        unit = published.bought.purchase.unit
        larger = "measure the output in a larger unit"
        remedy = larger if unit >= MOST_UNIT else f"give a smallest size larger than {unit:g}"
        return (
            f"None of the {count} values is useful. The bounds reach the end of their scale. Outcomes may lie far "
            f"beyond it and were clipped to it. To use more budget on it, {remedy}, or declare bounds."
        )
    if spec.tolerance is None:
        if not outside:
            return f"All {count} values are useful: at every point the interval is narrower than the bounds."
        return (
            f"At {outside} of {count} points the interval is at least as wide as the bounds: the values there say "
            "nothing that was not known before."
        )
    within = f"within {about(spec, spec.tolerance)} with {100 * LEVEL:g} % probability"
    if not outside:
        return f"All {count} values are known to {within}, if the model is right."
    return f"At {outside} of {count} points the curve is not known to {within}: the values there are not useful."

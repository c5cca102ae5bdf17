"""Private Gaussian process regression with the interface of scikit-learn, in which only ``fit`` spends budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ..accounting.guarantee import Guarantee, Protects
from ..bayes.refit import ReleasePosterior
from ..dates import Format
from ..kernels import Stationary
from ..levels import Interval, check_codes
from ..measurement.statistics import CellStatistics, Statistics
from ..mechanisms.bayes_cloaking import BayesCloaking
from ..reading.writing import Declared
from ..table import Dataset, Kind, Outcome, pair_of
from .declared import (
    check_inside,
    column_of,
    columns_of_X,
    grid_of,
    matrix_of,
    names_of,
    outcomes_in_numbers,
    table_in_numbers,
    width_of,
)
from .predicting import FittedPosterior, Predicting
from .spending import COUNTING, Copies, composed, warn


class DPGaussianProcessRegressor(Predicting):
    """Gaussian process regression with differential privacy, by Bayes cloaking; see ``mechanisms.BayesCloaking``.

    ``fit`` measures the private columns once, with noise, and stores nothing else of them. All other methods except
    ``score`` use these measurements only. They spend nothing, however often they are called. Inputs X are public unless
    ``protects="inputs and outputs"``.

    Records consist of finite numbers. NaN and infinity are refused before anything is measured; finite private numbers
    are never refused.

    Functions that copy an estimator, such as ``clone`` and cross-validation, make estimators whose ``guarantee_`` does
    not include the fits of this one. The fit of each copy spends budget again. A ``Ledger`` can add up their
    guarantees.

    Args:
        epsilon: budget of one fit.
        delta: delta of this budget.
        y_bounds: public (low, high) to which outputs are clipped, declared without looking at them.
        x_box: public domain of the inputs: a pair (low, high) for all columns, or one for each. Two dates, such as
            ("2019-01-01", "2023-12-31"), declare a column of dates in a table of pandas.
        protects: "outputs" if inputs are public, or "inputs and outputs" for 1 to 3 columns.
        kernels: declared kernels, in squared model units, with y in model units being (y - midpoint) / y_scale. Each is
            averaged with similar kernels and with the automatic models. None for automatic models only, which are made
            from box and bounds.
        noise_variances: noise variance of each kernel, in squared model units.
        y_scale: public scale > 0 of the model, in the unit of the output.
        stages: number of stages, from 1 to 10; None for six, three if n is small relative to the
            noise, or one for yes/no outcomes.
        gap: relative gap up to which the strategy of each stage is optimised, as a share of the cost of privacy.
        random_state: None for a real measurement with exact noise from the operating system. An int or a Generator
            gives a simulated release, which is not private, and ``guarantee_`` says so.
        outcome: declared kind of y: "number"; "amount" for skewed numbers of 0 or more; "count" for whole numbers of 0
            or more; "yes/no" for 0 or 1, whose curve is a rate, and whose bounds are 0 and 1 by default.
        x_levels: declared public categories of each column of X, None for a number; None if all are numbers. A column
            of categories holds their indices 0 ... L - 1, or their texts in a table of pandas, and has no entry in
            ``x_box``.
        yes, no: words or codes of a yes/no outcome, as in ``read_csv``. Anything else is refused as missing. None if y
            is 1 and 0.
        date_order: format of dates in texts, in a table of pandas; None for "year-month-day".

    Attributes:
        guarantee_: guarantee of all fits of this estimator together. A fit is counted before its noise is drawn, so
            that fits that were interrupted, or ran in several threads, are included.
        statistics_: measurements of the last finished fit, for files and ``refit``; None after a simulated release.
        posterior_: public posterior from which predictions are computed.
        n_features_in_: number of columns of X.
        feature_names_in_: names of the columns, if X was a table.
    """

    guarantee_: Guarantee
    statistics_: Statistics | CellStatistics | None

    def __init__(
        self,
        epsilon: float | None = None,
        delta: float | None = None,
        y_bounds: Interval | None = None,
        x_box: Sequence[float] | Sequence[Interval] | None = None,
        *,
        protects: Protects = "outputs",
        kernels: Sequence[Stationary] | None = None,
        noise_variances: Sequence[float] | None = None,
        y_scale: float = 1.0,
        stages: int | None = None,
        gap: float = 1e-3,
        random_state: int | np.random.Generator | None = None,
        outcome: Kind = "number",
        x_levels: Sequence[Sequence[str] | None] | None = None,
        yes: Declared = None,
        no: Declared = None,
        date_order: Format | None = None,
    ) -> None:
        self.epsilon, self.delta, self.y_bounds, self.x_box = epsilon, delta, y_bounds, x_box
        self.kernels, self.noise_variances, self.y_scale = kernels, noise_variances, y_scale
        self.stages, self.gap, self.random_state, self.protects = stages, gap, random_state, protects
        self.outcome, self.x_levels = outcome, x_levels
        self.yes, self.no, self.date_order = yes, no, date_order

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Measure with noise. This is the only method that spends budget.

        A further fit spends budget again. It warns before it measures, so a filter that turns warnings into errors
        prevents it. Predictions use the last finished fit only, and ``guarantee_`` covers all fits.

        Args:
            X: inputs (n, D), within ``x_box`` if they are public.
            y: private outputs (n,). Values that are not finite numbers are refused.
            groups: identifies the person of each row (n,), if people may have several. Every person then counts once,
                and all rows of a person are protected together. None if each row belongs to a different person.

        Raises:
            ValueError: epsilon, delta, y_bounds or x_box is not declared, a parameter is out of range, shapes disagree,
                or an earlier fit protected something else. No budget was spent then.
            TypeError: an array contains something other than numbers.
        """
        rng, mechanism = self._noise(), self._mechanism()
        dataset = self._dataset(X, y, groups, public_inputs=mechanism.protects == "outputs")
        promise = mechanism.guarantee_for(dataset)
        guarantee = promise = promise if rng is None else promise.for_simulation()
        before = vars(self).get("guarantee_")  # also set by an interrupted fit, unlike posterior_
        if before is not None:
            warn(composed(before, guarantee))
        grid = grid_of(dataset.columns)
        plan = mechanism.plan_for(dataset, grid)
        if rng is None:
            vars(self).setdefault("_copies", Copies()).count(promise)
        with COUNTING:
            earlier = vars(self).get("guarantee_")
            guarantee = guarantee if earlier is None else composed(earlier, guarantee)
            if earlier is not before:  # another thread has counted a fit in the meantime
                warn(guarantee)
            self.guarantee_ = guarantee  # set before the noise is drawn, so an interrupted fit is counted as well
        release = mechanism.measure(plan, dataset, grid, rng)
        self._keep(
            names_of(X),
            n_features_in_=dataset.dim,
            statistics_=release.statistics[0] if rng is None else None,
            posterior_=FittedPosterior(
                posterior=ReleasePosterior(
                    models=plan.models,
                    measured=release.measured[0],
                    x_box=plan.filtered.bins.box,
                    filtered=plan.filtered,
                ),
                outcome=dataset.outcome,
                columns=dataset.columns,
            ),
        )
        return self

    def _dataset(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None, *, public_inputs: bool) -> Dataset:
        """Return the arrays of a fit as a data set with the declarations."""
        bounds, titles = self._bounds(), names_of(X) or tuple(f"x{number}" for number in range(width_of(X)))
        assert bounds is not None  # as _mechanism checks
        columns = columns_of_X(titles, self.x_box, self.x_levels, self.date_order)
        inputs = matrix_of(table_in_numbers(X, columns))
        outputs = column_of(outcomes_in_numbers(y, self.yes, self.no), len(inputs))
        check_codes(inputs, [each.box for each in columns], titles)
        if public_inputs:
            check_inside(inputs, columns)
        unit, several = ("one record", "") if groups is None else ("one person", "s")
        return Dataset(
            name="fit",
            X=inputs,
            y=outputs,
            columns=columns,
            outcome=Outcome(name="y", bounds=pair_of(bounds, "y_bounds"), kind=self.outcome, scale=self.y_scale),
            privacy_unit=f"{unit}'s output{several}" if public_inputs else unit,
            bounds_reason="declared by the caller",
            person=None if groups is None else np.asarray(groups),
        )

    def _keep(self, names: tuple[str, ...] | None, **fitted: object) -> None:
        """Store all results of a fit at once, so that an interruption cannot mix those of two fits."""
        if names is not None:
            fitted["feature_names_in_"] = np.array(names, dtype=object)
        with COUNTING:
            vars(self).pop("feature_names_in_", None)
            vars(self).update(fitted)

    def _bounds(self) -> Interval | None:
        return (0.0, 1.0) if self.y_bounds is None and self.outcome == "yes/no" else self.y_bounds

    def _mechanism(self) -> BayesCloaking:
        declared = {"epsilon": self.epsilon, "delta": self.delta, "y_bounds": self._bounds(), "x_box": self.x_box}
        missing = [name for name, value in declared.items() if value is None]
        if missing or self.epsilon is None or self.delta is None:
            raise ValueError(
                f"declare {' and '.join(missing)}: budget, bounds and box are never inferred from the data, because "
                "what is computed from them is not private"
            )
        return BayesCloaking(
            epsilon=self.epsilon,
            delta=self.delta,
            kernels=self.kernels,
            noise_variances=self.noise_variances,
            stages=self.stages,
            gap=self.gap,
            protects=self.protects,
        )

    def _noise(self) -> np.random.Generator | None:
        state = self.random_state
        if state is None or isinstance(state, np.random.Generator):
            return state
        if isinstance(state, int | np.integer) and not isinstance(state, bool) and state >= 0:
            return np.random.default_rng(int(state))
        raise ValueError(
            f"random_state must be None for a real measurement, or a whole number or numpy.random.Generator for a "
            f"simulated release, got {state!r}"
        )

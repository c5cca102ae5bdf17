"""Private Gaussian process regression in the way of scikit-learn: fit measures once, predicting is free for ever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ..accounting.guarantee import Guarantee, Protects
from ..bayes.reading import ReleaseReading
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
from .predicting import FittedReading, Predicting
from .spending import COUNTING, Copies, composed, warn


class DPGaussianProcessRegressor(Predicting):
    """Gaussian process regression with differential privacy; see ``mechanisms.BayesCloaking``.

    ``fit`` measures the protected columns once, with noise, and keeps nothing else of them. All other methods but
    ``score`` compute from those measurements, so they spend nothing, wherever and however often they are called.
    Inputs X are public unless ``protects="inputs and outputs"``. Records are finite numbers by definition: NaN and
    infinity are refused before anything is measured, and no finite number that is private is refused. ``clone`` and
    everything that copies an estimator, like cross-validation, makes one that knows nothing of this one's spending:
    each copy's fit spends again, and a ``Ledger`` adds up their ``guarantee_``.

    Args:
        epsilon, delta: the budget of one fit.
        y_bounds: public (low, high) that outputs are clipped to, declared without looking at them.
        x_box: public domain of the inputs: a (low, high) pair for all columns, or one for each. Two dates, such as
            ("2019-01-01", "2023-12-31"), for a column of dates in a table of pandas.
        protects: "outputs", where inputs are public; "inputs and outputs", for 1 to 3 columns.
        kernels: declared covariances in squared model units, (y - midpoint) / y_scale, each mixed with its neighbours
            and with automatic models. None: automatic models alone, made from box and bounds.
        noise_variances: one per kernel, in squared model units.
        y_scale: public unit of the model, > 0, in the output's unit.
        stages: number of stages, from 1 to 10; None: six, or two where people are few for the budget.
        gap: of each stage's strategy, as a share of the cost of privacy.
        random_state: None for a real measurement, in integers with exact noise from the operating system. A whole
            number or a Generator gives a numbered draw for teaching, which is no release, and ``guarantee_`` says so.
        outcome: declared kind of y: "number"; "amount", 0 or more and skewed; "count", whole numbers of 0 or more;
            "yes/no", 0 or 1, whose curve is a rate and whose bounds are 0 and 1 unless declared otherwise.
        x_levels: of each column of X its declared public levels, where it is a category, and None where it is a number;
            such a column holds the number of a level, 0 ... L - 1, or its text in a table of pandas, and ``x_box`` has
            no entry for it. None: all are
            numbers.
        yes, no: words or codes of an outcome of yes and no, as ``read_csv`` has them; anything else is refused as
            missing. None: y is 1 and 0.
        date_order: of dates in texts, in a table of pandas; None for "year-month-day".

    Attributes:
        guarantee_: the promise for all fits of this estimator together, also those that were interrupted while they
            measured, and those of several threads at once: a fit is counted before its noise is drawn.
        statistics_: measurements of the last finished fit, for files and ``refit``; None after a teaching draw.
        reading_: the posterior behind predictions; public.
        n_features_in_, feature_names_in_: columns of X, and their names if it was a table.
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
        """Measure: the only method that spends. The strategy is planned for a public grid over the box.

        A further fit spends again and warns first, so that a warning turned into an error stops it; predictions then
        rest on the last finished fit alone, and ``guarantee_`` covers all of them.

        Args:
            X: inputs (n, D), within ``x_box`` where they are public.
            y: outputs (n,), private. Records are finite numbers by definition; anything else is refused.
            groups: whose row each is (n,), where people may have several: everybody counts once then, and all rows of
                a person are hidden together. None says that every row is another person's.

        Raises:
            ValueError: epsilon, delta, y_bounds or x_box is not declared, a parameter is out of range, shapes disagree,
                or an earlier fit protected something else. Nothing was spent then.
            TypeError: an array holds something else than numbers.
        """
        rng, mechanism = self._noise(), self._mechanism()
        dataset = self._dataset(X, y, groups, public_inputs=mechanism.protects == "outputs")
        promise = mechanism.promise_for(dataset)
        guarantee = promise = promise if rng is None else promise.taught()
        before = vars(self).get("guarantee_")  # there is no reading_ where an earlier fit was interrupted
        if before is not None:
            warn(composed(before, guarantee))
        grid = grid_of(dataset.columns)
        plan = mechanism.plan_for(dataset, grid)
        if rng is None:
            vars(self).setdefault("_copies", Copies()).count(promise)
        with COUNTING:
            earlier = vars(self).get("guarantee_")
            guarantee = guarantee if earlier is None else composed(earlier, guarantee)
            if earlier is not before:  # another thread has counted meanwhile
                warn(guarantee)
            self.guarantee_ = guarantee  # before the draw: an interruption may count too much, and never too little
        release = mechanism.measure(plan, dataset, grid, rng)
        self._keep(
            names_of(X),
            n_features_in_=dataset.dim,
            statistics_=release.statistics[0] if rng is None else None,
            reading_=FittedReading(
                reading=ReleaseReading(
                    models=plan.models,
                    measured=release.measured[0],
                    x_box=plan.outcome.x_box,
                    filtered=plan.filtered,
                ),
                outcome=dataset.outcome,
                columns=dataset.columns,
            ),
        )
        return self

    def _dataset(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None, *, public_inputs: bool) -> Dataset:
        """The arrays of a fit with all that is declared of them."""
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
        """Keep the results of a fit, all at once: an interruption must not mix those of two fits."""
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
            f"numbered teaching draw, got {state!r}"
        )

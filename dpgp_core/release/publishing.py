"""One real release: predictions on a public grid, with noise, rounded far below the noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from ..accounting.guarantee import Guarantee
from ..arrays import FloatArray
from ..data import Dataset
from ..linalg.dense import column_norms
from ..mechanisms import NotPrivate, SparseVariational
from ..mechanisms.base import Mechanism
from ..mechanisms.gaussian import GaussianMechanism
from ..reading.csv_table import read_dataset
from .plan import ReleasePlan, decimals, plan_release, solvable, without_outputs
from .specification import ReleaseSpec


@dataclass(frozen=True, kw_only=True, eq=False)
class Published:
    """What may be handed out.

    Attributes:
        X_test: prediction points (P, D), public.
        values: released values (P,), multiples of ``step``, in ``y_unit``.
        noise_sd: standard deviation of the privacy noise (P,), in ``y_unit``. Where inputs are private, to first
            order, computed from what was released.
        model_sd: see ``ReleasePlan``.
        total_sd: standard deviation of the curve about ``values``, privacy noise included (P,), in ``y_unit``, where
            inputs are private; None elsewhere.
        step: power of ten.
        n: number of records, public.
        guarantee: the promise.
    """

    X_test: FloatArray
    values: FloatArray
    noise_sd: FloatArray
    model_sd: FloatArray | None
    total_sd: FloatArray | None
    step: float
    n: int
    guarantee: Guarantee


def read_table(stream: BinaryIO, spec: ReleaseSpec) -> Dataset:
    """Read the columns that a specification names from a comma-separated UTF-8 stream with a header line.

    Raises:
        ValueError: the stream is no such table or has too many rows for the mechanism. The message names the column
            and the line, never the content of a cell.
    """
    return read_dataset(
        stream,
        x=spec.x,
        y=spec.y,
        y_bounds=spec.y_bounds,
        x_box=spec.x_box,
        unit=spec.unit,
        x_units=spec.x_units,
        y_unit=spec.y_unit,
        y_scale=spec.scale,
        max_rows=spec.choice.max_rows,
    )


def publish(
    spec: ReleaseSpec, dataset: Dataset, rng: np.random.Generator, plan: ReleasePlan | None = None
) -> Published:
    """Release once. Whoever keeps a ledger spends ``spec.guarantee`` on it before calling this.

    Args:
        spec: what to release.
        dataset: from ``read_table`` with the same specification.
        rng: source of the noise. For a real release ``numpy.random.default_rng()``, which the operating system seeds.
        plan: from ``plan_release``, if there is one already.

    Raises:
        ValueError: data set or plan belong to another specification, or the model cannot be computed.
    """
    _check_fit(spec, dataset)
    plan = plan_release(spec, dataset.X) if plan is None else plan
    if plan.spec != spec or (plan.X is not None and not np.array_equal(plan.X, dataset.X)):
        raise ValueError("the plan was made for another specification or other inputs; make it anew")
    with solvable():
        values, noise_sd, total_sd = _one_draw(spec.built, plan, dataset, rng)
    return Published(
        X_test=plan.X_test,
        values=np.round(values, decimals(plan.step)) + 0.0,  # + 0.0: no negative zeros
        noise_sd=noise_sd,
        model_sd=plan.model_sd,
        total_sd=total_sd,
        step=plan.step,
        n=dataset.n,
        guarantee=spec.guarantee,
    )


def preview(spec: ReleaseSpec, dataset: Dataset, plan: ReleasePlan | None = None) -> NotPrivate:
    """The fit without noise at ``spec.points()`` (P,), in ``y_unit``. Not private: for the eyes of who holds the data.

    Args:
        spec: what would be released.
        dataset: from ``read_table`` with the same specification.
        plan: from ``plan_release``, if there is one already.

    Raises:
        ValueError: the data set belongs to another specification, or the model cannot be computed.
    """
    _check_fit(spec, dataset)
    plan = plan_release(spec, dataset.X) if plan is None else plan
    if plan.weights is not None:
        return NotPrivate(dataset.in_data_units(plan.weights.weights @ dataset.standardised()))
    # its mean does not depend on the generator
    return spec.built.release(dataset, plan.X_test, np.random.default_rng(0)).mean


def _one_draw(
    mechanism: Mechanism, plan: ReleasePlan, dataset: Dataset, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Values, noise_sd and total_sd (P,) of one release, not yet rounded."""
    if isinstance(mechanism, SparseVariational):
        fit = mechanism.fit(dataset, rng)
        values, variance = fit.predict(plan.X_test)
        return values, np.sqrt(column_norms(fit.noise_factor(plan.X_test).T)), np.sqrt(variance)
    if plan.weights is not None and isinstance(mechanism, GaussianMechanism):
        release = mechanism.release_planned(plan.weights, dataset, plan.X_test, rng)
    else:
        release = mechanism.release(dataset, plan.X_test, rng)
    return release.samples[0], release.noise_sd if plan.noise_sd is None else plan.noise_sd, None


def _check_fit(spec: ReleaseSpec, dataset: Dataset) -> None:
    """Raise ValueError unless everything public about the data set is as the specification declares it."""
    declared = without_outputs(spec, dataset.X)
    same = ("x_names", "y_name", "y_bounds", "x_box", "unit", "y_scale")
    differ = [name for name in same if getattr(dataset, name) != getattr(declared, name)]
    if differ:
        raise ValueError(f"the data set and the specification differ in {', '.join(differ)}; read it with read_table")
    if dataset.n > spec.choice.max_rows:
        raise ValueError(
            f"mechanism {spec.mechanism!r} takes at most {spec.choice.max_rows} rows, got {dataset.n}; "
            "use 'sparse' or 'integral_bins'"
        )

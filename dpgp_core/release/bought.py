"""A release whose bounds are bought: first noisy counts of outcomes, then the rest of the budget within the bounds.

Both are one release, spent as one before either is drawn. What is planned for the rest does not depend on the bounds:
outputs are measured in quarters of the bounds' width, whatever that is. So it is planned before anything is spent.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..bounds.buying import OutcomeCounts, count_outcomes, cut
from ..bounds.cells import MOST_UNIT, RoundCells, sides_of
from ..bounds.purchase import Purchase
from ..mechanisms import BayesCloaking
from ..table import Dataset
from .specification import ReleaseSpec

FILE = "bounds.csv"
COUNT = "noisy_count"


def cells_of(spec: ReleaseSpec) -> RoundCells:
    """The cells of outcomes.

    Raises:
        ValueError: bounds are declared.
    """
    if spec.bounds_unit is None:
        raise ValueError("the bounds are declared and not bought")
    return RoundCells(unit=spec.bounds_unit, sides=sides_of(spec.y_kind, log=spec.log))


def settled(spec: ReleaseSpec, interval: tuple[float, float]) -> ReleaseSpec:
    """What is released with the rest of the budget, the bounds being known.

    Args:
        spec: of a release whose bounds are bought.
        interval: these bounds.
    """
    rest = Purchase(epsilon=spec.epsilon, delta=spec.delta, share=spec.bounds_share).rest
    least, most = replace(spec, y_bounds=interval, bounds_unit=None, tolerance=None).tolerances
    return replace(
        spec,
        y_bounds=interval,
        bounds_unit=None,
        epsilon=rest.epsilon,
        tolerance=None if spec.tolerance is None else min(max(spec.tolerance, least), most),
    )


def as_released(found: OutcomeCounts | None, spec: ReleaseSpec) -> ReleaseSpec:
    """What was declared, with the bounds that were bought where they were."""
    return spec if found is None or spec.bounds_unit is None else settled(spec, found.interval)


def stand_in(spec: ReleaseSpec) -> ReleaseSpec:
    """The rest within the widest bounds: what is planned for these is planned for any."""
    cells = cells_of(spec)
    return settled(spec, cut(cells.interval(0, cells.count - 1), spec.y_bounds))


def purchase_of(spec: ReleaseSpec) -> Purchase:
    """What the counts cost: the share of what the mechanism would spend on one row."""
    built = spec.built
    assert isinstance(built, BayesCloaking)  # as ``check_buyer`` sees to
    return Purchase(epsilon=built.epsilon, delta=built.delta, share=spec.bounds_share)


def check_enough(spec: ReleaseSpec, n: int) -> None:
    """Raise ValueError if bounds of so few people, a public number, are not to be had."""
    purchase_of(spec).check(cells_of(spec), n)


def buy(spec: ReleaseSpec, dataset: Dataset) -> OutcomeCounts:
    """Measure the counts, for real. Whoever keeps a ledger has spent ``spec.guarantee`` before.

    Args:
        spec: of the release.
        dataset: as read: outputs as they are.

    Raises:
        ValueError: there are too few people.
    """
    check_enough(spec, dataset.people)
    return count_outcomes(purchase_of(spec), cells_of(spec), dataset)


def without_noise(spec: ReleaseSpec, dataset: Dataset) -> ReleaseSpec:
    """The rest within bounds that the counts would give without noise. Not private: for who holds the data."""
    silent = np.bincount(cells_of(spec).of(dataset.y), minlength=cells_of(spec).count).astype(float)
    expected = _of(spec, silent * (dataset.people / dataset.n), dataset.people)
    return settled(spec, expected.interval)


def said(found: OutcomeCounts | None, spec: ReleaseSpec) -> str:
    """What was bought, in a sentence; nothing, where bounds are declared."""
    if found is None:
        return ""
    low, high = found.interval
    unit = f" {spec.y_unit}" if spec.y_unit else ""
    guess = "" if found.clear else ", which hardly stood out of the noise: a guess"
    if found.off_scale:
        guess = ", which reach the end of their scale"
    return (
        f" Bounds bought with a share of {spec.bounds_share:g} of the budget: {low:g} to {high:g}{unit}, from noisy "
        f"counts{guess}."
    )


def off_scale(found: OutcomeCounts) -> str:
    """Why nothing within such bounds is of use, and what to do about it."""
    unit = found.cells.unit
    remedy = (
        "measure the output in a larger unit" if unit >= MOST_UNIT else f"give a smallest size larger than {unit:g}"
    )
    return (
        "The bounds reach the end of their scale. Outcomes may lie far beyond it and were clipped to it. "
        f"To use more budget on it, {remedy}, or declare bounds."
    )


def counts_text(found: OutcomeCounts) -> str:
    """The file: each cell and its noisy count, to the last digit."""
    rows = zip(found.cells.ends[:-1], found.cells.ends[1:], found.counts, strict=True)
    lines = (f"{float(low)!r},{float(high)!r},{float(count)!r}" for low, high, count in rows)
    return "\r\n".join([f'"from","to","{COUNT}"', *lines, ""])


def counts_read(spec: ReleaseSpec, content: bytes, n: int) -> OutcomeCounts:
    """Read the file back.

    Args:
        spec: of the release.
        content: of the file.
        n: number of people, public.

    Raises:
        ValueError: it is damaged.
    """
    try:
        counts = [float(row[COUNT]) for row in csv.DictReader(content.decode().splitlines())]
        if len(counts) != cells_of(spec).count or not np.isfinite(counts).all():
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{FILE} is damaged; fetch the zip again") from None
    return _of(spec, counts, n)


def bounds_object(found: OutcomeCounts, spec: ReleaseSpec) -> dict[str, Any]:
    """What ``release.json`` says about bounds that were bought."""
    return {
        "interval": list(found.interval),
        "share": spec.bounds_share,
        "clear": found.clear,
        "off_scale": found.off_scale,
        "file": FILE,
        "noise_sd": found.noise_sd,
    }


def _of(spec: ReleaseSpec, counts: Sequence[float] | np.ndarray[Any, Any], n: int) -> OutcomeCounts:
    cells = cells_of(spec)
    sd = purchase_of(spec).counts(cells, people=spec.person is not None).noise_sd
    return OutcomeCounts(cells=cells, counts=np.asarray(counts, dtype=float), noise_sd=sd, n=n, within=spec.y_bounds)
